//! The transformers: each changes one thing about all objects.
//!
//! `run` reads the kustomization; what it does is in a function of its own that takes settings, so that a built-in
//! transformer under `transformers` can be given others.

pub(crate) mod images;
pub(crate) mod labels;
pub(crate) mod name;
pub(crate) mod namespace;
pub(crate) mod replacements;
pub(crate) mod replicas;

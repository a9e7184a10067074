//! The transformers: each one changes one aspect of all objects.
//!
//! `run` reads the kustomization. A separate function with explicit settings does the work, so that a plugin under
//! `transformers` can use it too.

pub(crate) mod images;
pub(crate) mod labels;
pub(crate) mod name;
pub(crate) mod namespace;
pub(crate) mod replacements;
pub(crate) mod replicas;

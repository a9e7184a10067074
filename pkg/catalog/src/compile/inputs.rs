//! The kinds of inputs, one module for each.

pub(super) mod copy;
pub(super) mod external;
pub(super) mod helm;
pub(super) mod jinja2;
pub(super) mod jsonnet;
pub(super) mod kustomize;
pub(super) mod remove;

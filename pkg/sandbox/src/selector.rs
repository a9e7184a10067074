//! Label and field selectors: parsing, validation and matching like the real server.
//!
//! Source: kube-apiserver 1.36, `apimachinery/pkg/labels`, `apimachinery/pkg/fields`, and the registered field labels
//! of each API group.

mod fields;
mod labels;

pub(crate) use self::{fields::FieldSelector, labels::LabelSelector};

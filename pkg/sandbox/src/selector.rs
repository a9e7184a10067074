//! Label and field selectors: read, checked and matched as the real server does.
//!
//! Source: kube-apiserver 1.36, `apimachinery/pkg/labels`, `apimachinery/pkg/fields`, and the field labels each API
//! group registers.

mod fields;
mod labels;

pub(crate) use self::{fields::FieldSelector, labels::LabelSelector};

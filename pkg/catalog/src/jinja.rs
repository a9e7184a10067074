//! Jinja2 templates, with the filters of Kapitan.
//!
//! Source: Kapitan 0.36 utils.py and jinja2_filters.py; Jinja2 3.1 for the text of values.
//! Differs: regular expressions have no look-around, and `shuffle` returns the same order for the same list and seed.

mod error;
mod filters;
mod merge;
mod methods;
mod mutable;
mod percent;
mod python;
mod regular_expressions;
mod render;
mod rewrite;
mod standard_filters;
#[cfg(test)]
mod tests;

pub(crate) use error::TemplateError;
pub(crate) use filters::check_indent;
pub(crate) use python::quoted;
pub(crate) use render::{environment, render};

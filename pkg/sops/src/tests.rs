//! Tests of whole files.

mod refusals;

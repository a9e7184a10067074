//! Tests of the whole crate.

mod composition;

//! Tests of whole files.

mod corpus;
mod refusals;

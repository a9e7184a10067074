//! Compares what the libraries give with what their peers gave for the same input.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends where its data is broken, and says so where it is skipped"
)]

mod api;
mod yaml;

//! Compares what the libraries give with what their peers gave for the same input.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends where its data is broken, and says what it compared"
)]

mod api;
mod yaml;

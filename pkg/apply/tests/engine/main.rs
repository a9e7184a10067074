//! The engine on the sandbox: what it asks and in which order, what holds it, and what a cut leaves behind.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod deletion;
mod faults;
mod guards;
mod lab;
mod order;
mod policies;
mod pruning;
mod waves;

//! Tests of the engine on the sandbox: its requests and their order, its barriers, and interrupted runs.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod deletion;
mod faults;
mod guards;
mod order;
mod policies;
mod pruning;
mod testing;
mod waves;

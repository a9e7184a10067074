//! A management cluster from its first provider to its last, on the sandbox and on a real API server.

mod faults;
mod journey;
mod peer;
mod plans;
#[cfg(unix)]
mod stopped;

pub(crate) use peer::{is_recording, peer_or_skip, shipped_providers};

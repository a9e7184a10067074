//! What tests share: fake hosts, the binary in a scrubbed world, builders.

pub mod api_server;
pub mod binary;
pub mod host;

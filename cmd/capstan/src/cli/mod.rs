//! Parses a command line to a verb with its flags.
//!
//! ```text
//! argv ─► command tree (clap, with the doc comments of the verbs) ─► clusterctl syntax ─► Invocation
//! ```

mod dialect;
mod help;
mod hoist;
mod parse;
mod shared_flags;
mod tree;
mod typed;
mod usage_error;

pub(crate) use dialect::switch;
pub(crate) use help::render_help;
pub(crate) use parse::{Invocation, Parsed, parse};
pub use tree::command;
pub(crate) use tree::named as tree_of;
pub(crate) use typed::{error_format, typed};
pub(crate) use usage_error::unknown_command;

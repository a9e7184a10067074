//! Parses a command line to a verb with its flags.
//!
//! ```text
//! argv ─► command tree (clap, with the doc comments of the verbs) ─► clusterctl syntax ─► Invocation
//! ```

mod dialect;
mod help;
mod lazy;
mod parse;
mod raw_flags;
mod shared_flags;
mod tree;
mod usage_error;
mod verb_path;

pub(crate) use dialect::{integer, switch};
pub(crate) use help::render_help;
pub(crate) use lazy::Lazy;
pub(crate) use parse::{Invocation, ParsedArgs, parse};
pub(crate) use raw_flags::{error_format, raw_flag_value};
pub use tree::command;
pub(crate) use tree::command_for_program as tree_of;
pub(crate) use usage_error::{suggestion, unknown_command};

//! The capstan command line: runs an argument list with an environment and three streams, and returns an exit status.
//!
//! ```text
//! argv ─► cli (flags) ─┐
//!                      ├─► settings (flag > environment > clusterctl.yaml > default) ─► verb ─► library calls
//! environment ─────────┘                                                                 │
//!            stdout: data ◄─ ui::Printer ◄───────────────────────────────────────────────┤
//!            stderr: status, warnings, progress, failure with causes and hints ◄─────────┘
//! ```
//!
//! The crate contains no decisions about objects, which belong to the libraries. It has no process-wide state, so
//! that two runs fit in one process.

mod cli;
mod completion;
mod environment;
mod events;
mod failure;
mod kustomizations;
mod panics;
mod process;
mod program;
mod run;
mod runtime;
mod sandboxes;
mod session;
mod settings;
mod suggested_commands;
mod ui;
mod verbs;

pub use cli::command;
pub use environment::Environment;
pub use panics::report_panics;
pub use run::run;
pub use ui::Streams;

pub(crate) use failure::{Failure, WithContext};

//! What to do next, made from the facts in library errors: one file for each crate, and `settings` for our own.

mod apply;
mod bundle;
mod git;
mod hosts;
mod inner;
mod lock;
mod management;
mod members;
mod provider;
mod registry;
mod repository;
mod rollout;
mod rules;
mod sandbox;
mod settings;
mod workload;

/// Stands in hints for the name that the program was called by.
pub(crate) const PROGRAM: &str = "{bin}";

pub(crate) use members::members;
pub(crate) use rules::for_error;

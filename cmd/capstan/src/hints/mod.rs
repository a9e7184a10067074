//! What to do next, made from the facts in library errors: one file for each crate, and `settings` for our own.

mod apply;
mod bundle;
mod git;
mod hosts;
mod inner;
mod kinds;
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

pub(crate) use kinds::kind_of;
pub(crate) use members::members;
pub(crate) use rules::for_error;

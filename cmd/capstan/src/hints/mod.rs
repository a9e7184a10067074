//! What to do next, made from the facts in library errors: one file for each crate, and `settings` for our own.

mod provider;
mod repository;
mod rules;
mod sandbox;
mod settings;

pub(crate) use rules::for_error;

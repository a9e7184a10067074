//! `component`: Components in files and on clusters.

mod apply;
mod controller_wait;
mod decrypt;
mod definition;
mod delete;
mod diff;
mod explain;
mod files;
mod hub;
mod inputs;
mod list;
mod listing;
mod render;
mod report;
mod source;
mod status;
mod substitute;
mod template;
mod test;
mod values;
mod wait;

use crate::{Failure, session::Session};

/// Render, apply, show and delete Components of component-operator
#[derive(clap::Subcommand)]
pub(crate) enum ComponentVerb {
    Render(Box<render::Render>),
    Apply(Box<apply::Apply>),
    /// Show what `component apply` would do, and write nothing
    ///
    /// Takes the flags of `component apply`. The API server validates every object in a dry run.
    #[command(after_help = "Examples:
  {bin} component plan components/
  {bin} component plan web.yaml --diff --out plan.json")]
    Plan(Box<apply::Apply>),
    Diff(Box<diff::Diff>),
    Explain(Box<explain::Explain>),
    Template(Box<template::Template>),
    Test(test::Test),
    Decrypt(decrypt::Decrypt),
    Substitute(substitute::Substitute),
    Delete(Box<delete::Delete>),
    List(list::List),
    Status(status::Status),
    Wait(wait::Wait),
    Definition(definition::Definition),
}

impl ComponentVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Render(args) => render::run(&args, session),
            Self::Apply(args) => apply::run(&args, session),
            Self::Plan(args) => apply::run(&args.without_writing(), session),
            Self::Diff(args) => diff::run(&args, session),
            Self::Explain(args) => explain::run(&args, session),
            Self::Template(args) => template::run(&args, session),
            Self::Test(args) => test::run(&args, session),
            Self::Decrypt(args) => decrypt::run(&args, session),
            Self::Substitute(args) => substitute::run(&args, session),
            Self::Delete(args) => delete::run(&args, session),
            Self::List(args) => list::run(&args, session),
            Self::Status(args) => status::run(&args, session),
            Self::Wait(args) => wait::run(&args, session),
            Self::Definition(args) => definition::run(&args, session),
        }
    }
}

//! `component`: Components in files and on clusters.

mod definition;
mod delete;
mod files;
mod hub;
mod list;
mod listing;
mod render;
mod source;
mod status;
mod template;
mod values;
mod wait;

use crate::{Failure, session::Session};

/// Render, show and delete Components of component-operator
#[derive(clap::Subcommand)]
pub(crate) enum ComponentVerb {
    Render(Box<render::Render>),
    Template(Box<template::Template>),
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
            Self::Template(args) => template::run(&args, session),
            Self::Delete(args) => delete::run(&args, session),
            Self::List(args) => list::run(&args, session),
            Self::Status(args) => status::run(&args, session),
            Self::Wait(args) => wait::run(&args, session),
            Self::Definition(args) => definition::run(&args, session),
        }
    }
}

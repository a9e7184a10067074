//! `chart`: renders and checks Helm charts.

mod cluster;
mod dependencies;
mod folder;
mod helm_flags;
mod lint;
mod output;
mod output_folder;
mod show;
mod source;
mod template;
mod values;

use crate::{Failure, session::Session};

pub(crate) use folder::read_files as read_chart_files;

/// Render and check Helm charts without helm and without a cluster
#[derive(clap::Subcommand)]
pub(crate) enum ChartVerb {
    Template(Box<template::Template>),
    Show(Box<show::Show>),
    Lint(Box<lint::Lint>),
}

impl ChartVerb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Template(args) => template::run(&args, session),
            Self::Show(args) => show::run(&args, session),
            Self::Lint(args) => lint::run(&args, session),
        }
    }
}

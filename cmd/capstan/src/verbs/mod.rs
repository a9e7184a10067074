//! The verbs: one file per family, with flags, help and the call of the library. This file lists them.

mod alpha;
mod backup;
mod bundle;
mod cache;
mod catalog;
mod chart;
mod completion;
mod component;
mod config;
mod controller;
mod convert;
mod delete;
mod describe;
mod explain;
mod generate;
mod get;
mod graph;
pub(crate) mod help;
mod image_digests;
mod init;
mod kustomize;
mod lifecycle;
mod lock;
pub(crate) mod r#move;
mod plan;
mod plugin;
mod provenance;
mod provider;
mod provider_flags;
mod publish;
mod quickstart;
mod render;
mod restore;
mod sandbox;
mod self_check;
mod status;
mod upgrade;
pub(crate) mod version;

use std::ffi::OsString;

use crate::{Failure, session::Session};

/// Every command of the first level.
#[derive(clap::Subcommand)]
pub(crate) enum Verb {
    Quickstart(Box<quickstart::Quickstart>),
    #[command(subcommand)]
    Generate(generate::Generate),
    Init(Box<init::Init>),
    #[command(subcommand)]
    Upgrade(upgrade::Upgrade),
    Delete(Box<delete::Delete>),
    Move(Box<r#move::Move>),
    Backup(Box<backup::Backup>),
    Restore(Box<restore::Restore>),
    #[command(subcommand)]
    Plan(plan::Plan),
    Status(status::Status),
    #[command(subcommand)]
    Describe(describe::Describe),
    Graph(Box<graph::Graph>),
    #[command(subcommand)]
    Get(get::Get),
    #[command(subcommand)]
    Alpha(alpha::Alpha),
    Render(Box<render::Render>),
    Lock(Box<lock::Lock>),
    #[command(subcommand)]
    Kustomize(kustomize::Kustomize),
    #[command(subcommand)]
    Chart(chart::ChartVerb),
    #[command(subcommand)]
    Catalog(catalog::CatalogVerb),
    #[command(subcommand)]
    Component(component::ComponentVerb),
    Controller(Box<controller::Controller>),
    #[command(subcommand)]
    Explain(explain::Explain),
    #[command(subcommand)]
    Config(config::Config),
    #[command(subcommand)]
    Provider(provider::Provider),
    #[command(subcommand)]
    Cache(cache::Cache),
    #[command(subcommand)]
    Bundle(bundle::Bundle),
    Publish(Box<publish::Publish>),
    Convert(convert::Convert),
    #[command(subcommand)]
    Sandbox(sandbox::Sandbox),
    #[command(name = "self", subcommand)]
    SelfVerb(self_check::SelfVerb),
    Completion(completion::Completion),
    Version(version::Version),
    Help(help::Help),
    /// Anything else is a plugin's name.
    #[command(external_subcommand)]
    Plugin(Vec<OsString>),
}

impl Verb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Quickstart(args) => quickstart::run(&args, session),
            Self::Generate(verb) => verb.run(session),
            Self::Init(args) => init::run(*args, session),
            Self::Upgrade(verb) => verb.run(session),
            Self::Delete(args) => args.run(session),
            Self::Move(args) => r#move::run(*args, session),
            Self::Backup(args) => backup::run(&args, session),
            Self::Restore(args) => restore::run(&args, session),
            Self::Plan(verb) => verb.run(session),
            Self::Describe(verb) => verb.run(session),
            Self::Status(args) => status::run(&args, session),
            Self::Graph(args) => graph::run(&args, session),
            Self::Get(verb) => verb.run(session),
            Self::Alpha(verb) => verb.run(session),
            Self::Lock(args) => lock::run(&args, session),
            Self::Render(args) => render::run(&args, session),
            Self::Kustomize(verb) => verb.run(session),
            Self::Chart(verb) => verb.run(session),
            Self::Catalog(verb) => verb.run(session),
            Self::Component(verb) => verb.run(session),
            Self::Controller(args) => controller::run(&args, session),
            Self::Explain(verb) => verb.run(session),
            Self::Config(verb) => verb.run(session),
            Self::Provider(verb) => verb.run(session),
            Self::Cache(verb) => verb.run(session),
            Self::Bundle(verb) => verb.run(session),
            Self::Publish(args) => publish::run(&args, session),
            Self::Sandbox(verb) => verb.run(session),
            Self::SelfVerb(verb) => verb.run(session),
            Self::Convert(args) => convert::run(&args, session),
            Self::Completion(args) => completion::run(&args, session),
            Self::Version(args) => version::run(&args, session),
            Self::Help(args) => help::run(&args, session),
            Self::Plugin(words) => plugin::run(&words, session),
        }
    }
}

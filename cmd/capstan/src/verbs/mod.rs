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
mod path_lock;
mod plan;
pub(crate) mod plugin;
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

use crate::{Failure, cli::Lazy, session::Session};

/// Every command of the first level.
#[derive(clap::Subcommand)]
pub(crate) enum Verb {
    Quickstart(Lazy<quickstart::Quickstart>),
    #[command(subcommand)]
    Generate(Lazy<generate::Generate>),
    Init(Lazy<init::Init>),
    #[command(subcommand)]
    Upgrade(Lazy<upgrade::Upgrade>),
    Delete(Lazy<delete::Delete>),
    Move(Lazy<r#move::Move>),
    Backup(Lazy<backup::Backup>),
    Restore(Lazy<restore::Restore>),
    #[command(subcommand)]
    Plan(Lazy<plan::Plan>),
    Status(Lazy<status::Status>),
    #[command(subcommand)]
    Describe(Lazy<describe::Describe>),
    Graph(Lazy<graph::Graph>),
    #[command(subcommand)]
    Get(Lazy<get::Get>),
    #[command(subcommand)]
    Alpha(Lazy<alpha::Alpha>),
    Render(Lazy<render::Render>),
    Lock(Lazy<lock::Lock>),
    #[command(subcommand)]
    Kustomize(Lazy<kustomize::Kustomize>),
    #[command(subcommand)]
    Chart(Lazy<chart::ChartVerb>),
    #[command(subcommand)]
    Catalog(Lazy<catalog::CatalogVerb>),
    #[command(subcommand)]
    Component(Lazy<component::ComponentVerb>),
    Controller(Lazy<controller::Controller>),
    #[command(subcommand)]
    Explain(Lazy<explain::Explain>),
    #[command(subcommand)]
    Config(Lazy<config::Config>),
    #[command(subcommand)]
    Provider(Lazy<provider::Provider>),
    #[command(subcommand)]
    Cache(Lazy<cache::Cache>),
    #[command(subcommand)]
    Bundle(Lazy<bundle::Bundle>),
    Publish(Lazy<publish::Publish>),
    Convert(Lazy<convert::Convert>),
    #[command(subcommand)]
    Sandbox(Lazy<sandbox::Sandbox>),
    #[command(name = "self", subcommand)]
    Binary(Lazy<self_check::SelfVerb>),
    Completion(Lazy<completion::Completion>),
    Version(Lazy<version::Version>),
    Help(Lazy<help::Help>),
    /// Anything else is a plugin's name.
    #[command(external_subcommand)]
    Plugin(Vec<OsString>),
}

impl Verb {
    pub(crate) fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Self::Quickstart(args) => quickstart::run(&args, session),
            Self::Generate(verb) => verb.into_inner().run(session),
            Self::Init(args) => init::run(args.into_inner(), session),
            Self::Upgrade(verb) => verb.into_inner().run(session),
            Self::Delete(args) => args.into_inner().run(session),
            Self::Move(args) => r#move::run(args.into_inner(), session),
            Self::Backup(args) => backup::run(&args, session),
            Self::Restore(args) => restore::run(&args, session),
            Self::Plan(verb) => verb.into_inner().run(session),
            Self::Describe(verb) => verb.into_inner().run(session),
            Self::Status(args) => status::run(&args, session),
            Self::Graph(args) => graph::run(&args, session),
            Self::Get(verb) => verb.into_inner().run(session),
            Self::Alpha(verb) => verb.into_inner().run(session),
            Self::Lock(args) => lock::run(&args, session),
            Self::Render(args) => render::run(&args, session),
            Self::Kustomize(verb) => verb.into_inner().run(session),
            Self::Chart(verb) => verb.into_inner().run(session),
            Self::Catalog(verb) => verb.into_inner().run(session),
            Self::Component(verb) => verb.into_inner().run(session),
            Self::Controller(args) => controller::run(&args, session),
            Self::Explain(verb) => verb.into_inner().run(session),
            Self::Config(verb) => verb.into_inner().run(session),
            Self::Provider(verb) => verb.into_inner().run(session),
            Self::Cache(verb) => verb.into_inner().run(session),
            Self::Bundle(verb) => verb.into_inner().run(session),
            Self::Publish(args) => publish::run(&args, session),
            Self::Sandbox(verb) => verb.into_inner().run(session),
            Self::Binary(verb) => verb.into_inner().run(session),
            Self::Convert(args) => convert::run(&args, session),
            Self::Completion(args) => completion::run(&args, session),
            Self::Version(args) => version::run(&args, session),
            Self::Help(args) => help::run(&args, session),
            Self::Plugin(words) => plugin::run(&words, session),
        }
    }
}

//! Builds kustomizations: what `kubectl kustomize` prints, from a file tree in memory.
//!
//! ```text
//! Tree ─► kustomization (strict) ─► target: one step a field, in a fixed order ─► finish: once, at the top ─► Output
//!              │                      │ resources and components build targets of their own
//!              │                      └ every step: fn(&mut Scope, &mut Accumulator)
//!              └ problems: all of them, each with the files that led there
//! ```
//!
//! | module | question |
//! |---|---|
//! | `build` | what happens in which order, how a folder becomes a target, what a step may do |
//! | `kustomization` | what does a file say |
//! | `accumulator`, `resource`, `id` | which objects are there, and what were they called |
//! | `fields` | which fields of which kinds are written |
//! | `generators`, `patches`, `transform`, `vars`, `plugins`, `helm` | the steps, a module a field |
//! | `selector`, `expression` | which objects does a `target` or a `select` mean |
//! | `schema`, `merge` | how is a list merged, and a patch |
//! | `hash`, `references`, `order`, `output` | what is done once, at the end |
//! | `request` | what is wanted from elsewhere: the caller fetches it, and builds again |
//!
//! Deliberately absent: reading disks, the network, running programs, printing.

mod accumulator;
mod build;
#[cfg(test)]
mod corpus;
mod expression;
mod fields;
#[cfg(test)]
mod fixtures;
mod generators;
mod hash;
mod helm;
mod id;
mod kustomization;
mod merge;
mod order;
mod output;
mod patches;
mod plugins;
mod problems;
mod references;
mod request;
mod resource;
mod schema;
mod selector;
mod transform;
mod tree;
mod vars;

pub use build::{Beneath, Build, Conflicts, Helm, LoadRestrictor, Options, Outcome, Reorder};
pub use fields::FieldProblem;
pub use generators::GeneratorProblem;
pub use helm::HelmProblem;
pub use id::{Gvk, ResId};
pub use kustomization::{DecodeProblem, FILE_NAMES, Kind};
pub use merge::MergeProblem;
pub use order::OrderProblem;
pub use output::Output;
pub use output::metadata::MetadataProblem;
pub use patches::{BadOperation, FailedOperation, PatchProblem};
pub use plugins::PluginProblem;
pub use problems::{BuildErrors, Place, Problem, ProblemKind};
pub use references::ReferenceProblem;
pub use request::{Answer, Answers, ChartPull, ChartTemplate, ChartValues, Checkout, Remote, Request, Way};
pub use resource::{Origin, Plugin};
pub use schema::SchemaProblem;
pub use selector::{LabelSelectorProblem, SelectorProblem};
pub use transform::images::ImageProblem;
pub use transform::namespace::NamespaceProblem;
pub use transform::replacements::{PathFault, PathProblem, ReplacementProblem};
pub use transform::replicas::ReplicaProblem;
pub use tree::{MemoryTree, Resolved, Tree, TreeError, TreePath};
pub use vars::VarProblem;

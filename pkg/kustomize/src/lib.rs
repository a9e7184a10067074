//! Builds kustomizations: the same objects that `kubectl kustomize` prints, from a file tree in memory.
//!
//! ```text
//! Tree ─► kustomization (strict) ─► target: one step a field, in a fixed order ─► finish: once, at the top ─► Output
//!              │                      │ resources and components build targets of their own
//!              │                      └ every step: fn(&mut Scope, &mut Accumulator)
//!              └ report: all problems, each with the files that led there
//! ```
//!
//! ```
//! use kustomize::{Build, BuildOptions, FetchResults, MemoryTree, TreePath};
//!
//! let files: [(&str, &[u8]); 2] = [
//!     ("/base/kustomization.yaml", b"namePrefix: prod-\nresources: [map.yaml]\n"),
//!     ("/base/map.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"),
//! ];
//! let tree: MemoryTree = files.into_iter().collect();
//! let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options: BuildOptions::default() };
//! let output = build.run(&TreePath::new("/base")).unwrap();
//! assert_eq!(output.objects[0].name(), "prod-settings");
//! ```
//!
//! | module | content |
//! |---|---|
//! | `build` | the order of the steps; how a folder becomes a target |
//! | `scope` | the context of a step: its kustomization, loading of files, reporting |
//! | `kustomization` | the content of a `kustomization.yaml` |
//! | `accumulator`, `resource`, `id`, `kinds` | the objects of a build, and their former names |
//! | `fields` | the fields of each kind that transformers write |
//! | `generators`, `patches`, `transform`, `vars`, `plugins`, `helm` | the steps, one module per field |
//! | `selector` | the objects that a `target` or a `select` matches |
//! | `schema`, `merge` | merge keys of lists, and strategic merge |
//! | `hash`, `references`, `order`, `output` | the steps that run once, at the end |
//! | `request` | requests for remote content: the caller fetches it and builds again |
//!
//! Every step owns its error type; a [`BuildProblem`] adds the place.
//!
//! Deliberately absent: disk access, network access, running programs, printing.

mod accumulator;
mod build;
mod fields;
mod generators;
mod hash;
mod helm;
mod id;
mod kinds;
mod kustomization;
mod merge;
mod options;
mod order;
mod output;
mod patches;
mod plugins;
mod references;
mod report;
mod request;
mod resource;
mod schema;
mod scope;
mod selector;
#[cfg(test)]
mod tests;
mod transform;
mod vars;

pub use build::{BaseObjects, Build};
pub use chart::{MemoryTree, ResolvedPath, Tree, TreeError, TreePath};
pub use id::{Gvk, ResId};
pub use kustomization::FILE_NAMES;
pub use options::{BuildOptions, ChartOptions, ConflictDetection, LoadRestrictor, Reorder};
pub use output::BuildOutput;
pub use report::{BuildLocation, BuildProblem, BuildReport, StepError};
pub use request::{
    ChartPull, Checkout, FetchMethod, FetchRequest, FetchResults, FetchedContent, RemoteEntry,
};
pub use selector::{LabelSelectorError, check_label_selector};

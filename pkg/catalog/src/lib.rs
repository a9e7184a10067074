//! Compiles the catalog of a cluster from a hierarchy of classes.
//!
//! | module | content |
//! |---|---|
//! | `cluster` | the description of a cluster by the API, and its targets |
//! | `compile` | the files of targets: programs, templates, charts, kustomizations |
//! | `component` | one component without a cluster |
//! | `cookiecutter` | templates of whole folders |
//! | `dependencies` | components, instances, packages and Jsonnet libraries |
//! | `file_reading` | reads of files and walks through folders, with limits |
//! | `fnmatch` | patterns as Python's `fnmatch` reads them |
//! | `folder_update` | folders that are changed to a wanted content |
//! | `jinja` | templates, with the filters of Kapitan |
//! | `json` | JSON as Python prints it |
//! | `jsonnet` | programs: imports, external variables, native functions |
//! | `libraries` | the libraries that every component may import |
//! | `lint` | findings in the files of a hierarchy |
//! | `login` | tokens for the API |
//! | `manifests` | the objects of a compiled catalog |
//! | `package` | one package without a cluster |
//! | `postprocess` | filters that change compiled files |
//! | `reclass` | the class hierarchy: classes, targets, merged parameters, references |
//! | `references` | references to secrets in parameters and compiled files |
//! | `repository` | the repositories of classes, and the repository of the catalog |
//! | `results` | the results of earlier compilations, and the facts that they depend on |
//! | `run` | the stages of a compilation |
//! | `scaffold` | new components and packages |
//! | `yaml` | YAML as PyYAML reads and prints it |

pub mod cluster;
pub mod compile;
pub mod component;
mod cookiecutter;
mod dependencies;
mod error;
mod file_reading;
mod fnmatch;
mod folder_update;
mod hints;
mod jinja;
mod json;
mod jsonnet;
mod libraries;
pub mod lint;
pub mod login;
pub mod manifests;
pub mod package;
mod postprocess;
pub mod reclass;
mod references;
pub mod repository;
mod results;
pub mod run;
pub mod scaffold;
mod step;
mod working_folder;
mod yaml;

pub use cookiecutter::CookiecutterError;
pub use error::CatalogError;
pub use file_reading::{FolderWalk, LinkPolicy, MAX_FILE_BYTES, WalkError, WalkedEntry, read_file};
pub use jsonnet::EvaluationControl;
pub use step::{Step, StepSink};
pub use working_folder::WorkingFolder;

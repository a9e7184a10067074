//! Errors of a hierarchy. Each names its file, its line, and the classes that led there.

use std::io;
use std::path::PathBuf;

use super::problem::{Location, ParameterProblem};

/// A hierarchy that cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InventoryError {
    /// A folder or file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// Two files define the same class or target.
    #[error(
        "Error while discovering {}: Definition of {kind} '{name}' in '{}' collides with definition in '{}'. \
         {} can only be defined once per inventory.",
        plural(kind), first.display(), second.display(), capitalized(plural(kind))
    )]
    Collision { kind: &'static str, name: String, first: PathBuf, second: PathBuf },
    /// A file of the hierarchy has a name that is not UTF-8.
    #[error("the name of `{}` is not UTF-8", path.display())]
    FileName { path: PathBuf },
}

fn plural(kind: &str) -> &'static str {
    if kind == "class" { "classes" } else { "nodes" }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

/// A target without parameters.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RenderError {
    /// The hierarchy has no such target.
    #[error("Unknown node {target}")]
    UnknownTarget { target: String, similar: Vec<String> },
    /// Classes or parameters of the target have problems; all are listed.
    #[error("cannot render target `{target}`")]
    Problems { target: String, problems: Vec<TargetProblem> },
}

/// One problem of a target.
#[derive(Debug, thiserror::Error)]
pub enum TargetProblem {
    /// A class cannot be used.
    #[error(transparent)]
    Class(ClassError),
    /// A parameter has no value.
    #[error(transparent)]
    Parameter(ParameterProblem),
}

/// A class that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ClassError {
    /// No file defines the class.
    #[error("{location}: Class {class} not found{}", path_text(path))]
    NotFound { class: String, location: Location, path: Vec<String>, similar: Vec<String> },
    /// A class includes itself.
    #[error("{location}: Class {class} includes itself{}", path_text(path))]
    Cycle { class: String, location: Location, path: Vec<String> },
    /// Classes include each other too deeply.
    #[error("{location}: classes are nested deeper than the limit of {limit}")]
    TooDeep { location: Location, limit: usize },
    /// The file cannot be read.
    #[error("cannot read class `{class}` in `{}`: {problem}", file.display())]
    Unreadable { class: String, file: PathBuf, problem: String },
    /// The file of a class is not valid.
    #[error("{location}: Deserializing {}: {reason}{}", location.class, path_text(path))]
    Invalid { location: Location, reason: String, path: Vec<String> },
    /// The file of a target is not valid.
    #[error("{location}: {reason}")]
    InvalidTarget { location: Location, reason: String },
}

/// Describes the classes that include each other, outermost first.
fn path_text(path: &[String]) -> String {
    if path.len() < 2 { String::new() } else { format!(" (included through {})", path[1..].join(", ")) }
}

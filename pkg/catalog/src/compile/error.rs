//! Errors of targets and their inputs.

use std::io;
use std::path::PathBuf;

use crate::file_reading::WalkError;
use crate::folder_update::FolderUpdateError;
use crate::jsonnet::JsonnetError;
use crate::references::ReferenceError;
use crate::yaml::YamlError;

/// A catalog that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CompileError {
    /// Some targets failed. The others were not written either.
    #[error("cannot compile {}", target_list(.0))]
    Targets(Vec<TargetError>),
    /// The output folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Output { path: PathBuf, source: io::Error },
}

impl From<FolderUpdateError> for CompileError {
    fn from(error: FolderUpdateError) -> Self {
        Self::Output { path: error.path, source: error.source }
    }
}

fn target_list(targets: &[TargetError]) -> String {
    let names: Vec<_> = targets.iter().map(|error| format!("`{}`", error.target)).collect();
    names.join(", ")
}

/// A target that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("Error compiling targets: Error compiling {target}: {error}")]
pub struct TargetError {
    /// The name of the target.
    pub target: String,
    /// The failed input.
    pub error: InputError,
}

/// An input that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InputError {
    /// `kapitan.compile` is no list.
    #[error("`parameters.kapitan.compile` is not a list")]
    NotAList,
    /// An entry of `kapitan.compile` is invalid.
    #[error("`parameters.kapitan.compile[{index}]` is invalid: {reason}")]
    Settings { index: usize, reason: String },
    /// A path matches no file.
    #[error("{path} not found in search_paths")]
    Missing { path: String, searched: Vec<PathBuf> },
    /// A pattern of paths is invalid.
    #[error("`{pattern}` is not a valid pattern: {reason}")]
    Pattern { pattern: String, reason: String },
    /// A file name leaves the folder of the target.
    #[error("`{path}` is outside of the output folder of the target")]
    Outside { path: String },
    /// A program failed.
    #[error(transparent)]
    Jsonnet(#[from] JsonnetError),
    /// A template failed.
    #[error("failed to render {}: {reason}", path.display())]
    Jinja2 { path: PathBuf, reason: String },
    /// A parameter of `helm_params` that is no flag of charts.
    #[error("{0}")]
    HelmParameter(String),
    /// A chart failed.
    #[error("cannot render chart `{}`: {reason}", path.display())]
    Helm { path: PathBuf, reason: String, hints: Vec<String> },
    /// A kustomization failed.
    #[error("cannot build kustomization `{}`: {reason}", path.display())]
    Kustomize { path: PathBuf, reason: String, hints: Vec<String> },
    /// A program failed, or may not be run.
    #[error("cannot run `{program}`: {reason}")]
    External {
        program: String,
        /// The exit status, or the standard error of the program.
        reason: String,
        hints: Vec<String>,
    },
    /// A number or boolean that cannot be written as documents.
    #[error("'{kind}' object is not iterable")]
    NotDocuments { kind: &'static str },
    /// A value that has no form in the format of the file.
    #[error("cannot write `{path}` as {format}: {reason}")]
    Format { path: String, format: &'static str, reason: String },
    /// A file that is no YAML.
    #[error("cannot read `{path}`: {error}")]
    Yaml { path: String, error: YamlError },
    /// A reference to a secret.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A file cannot be read or written.
    #[error("cannot {verb} `{}`: {error}", path.display())]
    Io {
        /// `read` or `write`.
        verb: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl From<WalkError> for InputError {
    fn from(WalkError { path, error }: WalkError) -> Self {
        Self::Io { verb: "read", path, error }
    }
}

impl InputError {
    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { verb: "read", path, error }
    }

    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { verb: "write", path, error }
    }
}

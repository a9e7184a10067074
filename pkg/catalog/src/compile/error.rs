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
pub enum CompileError {
    /// Some targets failed. The others were not written either.
    #[error("cannot compile {}", target_list(.0))]
    Targets(Vec<TargetError>),
    /// The output folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
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
pub enum InputError {
    /// `kapitan.compile` is no list.
    #[error("`parameters.kapitan.compile` is not a list")]
    NotAList,
    /// An entry of `kapitan.compile` is invalid.
    #[error("`parameters.kapitan.compile[{index}]` is invalid: {reason}")]
    Settings {
        /// The position in the list.
        index: usize,
        /// The problem.
        reason: String,
    },
    /// A path matches no file.
    #[error("{path} not found in search_paths")]
    Missing {
        /// The path or pattern.
        path: String,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// A pattern of paths is invalid.
    #[error("`{pattern}` is not a valid pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The problem.
        reason: String,
    },
    /// A file name leaves the folder of the target.
    #[error("`{path}` is outside of the output folder of the target")]
    Outside {
        /// The path.
        path: String,
    },
    /// A program failed.
    #[error(transparent)]
    Jsonnet(#[from] JsonnetError),
    /// A template failed.
    #[error("failed to render {}: {reason}", path.display())]
    Jinja2 {
        /// The template.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// A parameter of `helm_params` that is no flag of charts.
    #[error("{0}")]
    HelmParameter(String),
    /// A chart failed.
    #[error("cannot render chart `{}`: {reason}", path.display())]
    Helm {
        /// The folder of the chart.
        path: PathBuf,
        /// The problem.
        reason: String,
        /// Next steps for the user.
        hints: Vec<String>,
    },
    /// A kustomization failed.
    #[error("cannot build kustomization `{}`: {reason}", path.display())]
    Kustomize {
        /// The folder of the kustomization.
        path: PathBuf,
        /// The problem.
        reason: String,
        /// Next steps for the user.
        hints: Vec<String>,
    },
    /// A program failed, or may not be run.
    #[error("cannot run `{program}`: {reason}")]
    External {
        /// The program.
        program: String,
        /// The exit status, or the standard error of the program.
        reason: String,
        /// Next steps for the user.
        hints: Vec<String>,
    },
    /// A number or boolean that cannot be written as documents.
    #[error("'{kind}' object is not iterable")]
    NotDocuments {
        /// The type.
        kind: &'static str,
    },
    /// A value that has no form in the format of the file.
    #[error("cannot write `{path}` as {format}: {reason}")]
    Format {
        /// The file.
        path: String,
        /// The format.
        format: &'static str,
        /// The problem.
        reason: String,
    },
    /// A file that is no YAML.
    #[error("cannot read `{path}`: {error}")]
    Yaml {
        /// The file.
        path: String,
        /// The problem.
        error: YamlError,
    },
    /// A reference to a secret.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A file cannot be read or written.
    #[error("cannot {verb} `{}`: {error}", path.display())]
    Io {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
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

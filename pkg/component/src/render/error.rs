//! The problems of a source that cannot be rendered.

use std::fmt;

use api::Explain;
use chart::{ChartError, TreeError, TreePath};
use manifest::{ObjectRef, StreamError};

/// The error of a decryption.
pub type DecryptError = Box<dyn Explain + Send + Sync>;

/// All problems that were found. Never empty.
#[derive(Debug)]
pub struct RenderError {
    /// The problems, in the order of the files.
    pub problems: Vec<RenderProblem>,
}

/// A problem of one file, template or object.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RenderProblem {
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error("cannot read `{path}` in the source: no such file or directory")]
    PathMissing { path: TreePath },
    #[error("cannot read `{path}` in the source: not a directory")]
    PathNotAFolder { path: TreePath },
    #[error("cannot read `{path}` in the source: the path leads out of the source")]
    PathOutside { path: String },
    #[error("the source has more than the limit of {limit} files")]
    TooManyFiles { limit: usize },
    #[error("the files of the source have more than the limit of {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the folders of the source are nested deeper than the limit of {limit} at `{path}`")]
    TooDeep { path: TreePath, limit: usize },
    #[error("the templates print more than the limit of {limit} bytes")]
    OutputTooLarge { limit: usize },
    #[error("cannot decrypt `{path}`: {error}")]
    Decrypt { path: TreePath, error: DecryptError },
    #[error("cannot read `{path}`: {reason}")]
    Config { path: TreePath, reason: String },
    /// An entry of `includedFiles` or `includedKustomizations` that is not allowed.
    #[error("cannot include `{entry}` in `{folder}`: {reason}")]
    Include { folder: TreePath, entry: String, reason: &'static str },
    /// A kustomization that is included by itself, or lies in one that includes it.
    #[error("cannot include `{}`: it is part of `{}`", .chain[.chain.len() - 1], .part_of)]
    Cycle {
        /// The folders from the first kustomization to the problem.
        chain: Vec<TreePath>,
        part_of: TreePath,
    },
    #[error("the file name `{path}` has characters other than letters, digits and `-_.:#`")]
    FileName { path: TreePath },
    #[error("cannot render {}", .0)]
    Template(Box<ChartError>),
    #[error("cannot load the chart in `{path}`: {error}")]
    Chart { path: TreePath, error: Box<ChartError> },
    #[error("the chart in `{folder}` has no dependency `{name}` in `charts/`")]
    NoSubchart { folder: TreePath, name: String },
    #[error("the chart in `{folder}` cannot be part of a library chart")]
    ApplicationInLibrary { folder: TreePath },
    #[error("`{field}` of the chart `{chart}` is not {expected}")]
    ChartValues { chart: String, field: String, expected: &'static str },
    /// The output of a template is no YAML, or no object.
    #[error("the output of `{file}` is invalid: {error}")]
    Output { file: String, error: StreamError },
    #[error("cannot apply {object} of `{file}`: {reason}")]
    Annotation { file: String, object: ObjectRef, reason: String },
    /// A problem of the kustomization, by its file.
    #[error("{0}")]
    Kustomization(kustomize::BuildProblem),
    #[error("cannot fetch `{entry}`: a Component has no remote resources")]
    Remote { entry: String },
    /// A substitution of `postBuild` failed.
    #[error("cannot substitute the variables of {object}: {reason}")]
    Substitution { object: ObjectRef, reason: String },
}

impl RenderError {
    /// Collects problems; `Ok` without any.
    pub(super) fn check(problems: Vec<RenderProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl From<RenderProblem> for RenderError {
    fn from(problem: RenderProblem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [problem] => problem.fmt(f),
            problems => write!(f, "the source has {} problems", problems.len()),
        }
    }
}

impl std::error::Error for RenderError {}

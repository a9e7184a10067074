//! The errors and warnings of patches.

use crate::ResId;
use crate::merge::MergeError;
use crate::report::format_suggestions;

use super::operations::FailedOperation;

/// A patch that cannot be read or applied; the variants from `Unmatched` on are warnings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("the patch is missing: set `patch` or `path`")]
    NoBody,
    #[error("`patch` cannot be combined with `path`")]
    TwoBodies,
    #[error("the patch is empty")]
    Empty,
    #[error("a patch must be a mapping (strategic merge) or a list of operations (JSON patch), not {found}")]
    Form { found: &'static str },
    #[error("a list of operations requires a `target`")]
    NoTarget,
    #[error("{count} patches share one `target`: use one entry per patch, or remove the target")]
    SeveralWithTarget { count: usize },
    #[error("no object matches `{id}`{}", format_suggestions(suggestions))]
    NoObject { id: Box<ResId>, suggestions: Vec<String> },
    #[error("{count} objects match `{id}`: select one with `target`")]
    SeveralObjects { id: Box<ResId>, count: usize },
    #[error("cannot merge the patch into `{id}`: {problem}")]
    Merge { id: Box<ResId>, problem: MergeError },
    #[error("cannot apply the patch to `{id}`: {failed}")]
    Operation { id: Box<ResId>, failed: Box<FailedOperation> },
    /// A warning only: shared patches often match no objects.
    #[error("no object matches the `target`: the patch changes nothing")]
    Unmatched,
    #[error("the path `{path}` is read as `{suggestion}`: text before the first slash is ignored")]
    CutPath { path: String, suggestion: String },
    #[error("`{field}` is not a directive here and becomes a field; only `$patch` is a directive")]
    ForeignDirective { field: String },
    #[error("`$patch: replace` has no effect on an object; use it for fields and lists")]
    ReplacesObject,
    #[error("overwrites `{path}` of `{id}`, which {first} set to another value")]
    Conflict { id: Box<ResId>, path: String, first: String },
}

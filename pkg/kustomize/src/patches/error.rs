//! The errors and warnings of patches.

use crate::ResId;
use crate::merge::MergeError;
use crate::report::format_suggestions;

use super::operations::FailedOperation;

/// A patch that cannot be read or applied; the variants from `Unmatched` on are warnings.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PatchError {
    #[error("there is no patch: write it under `patch`, or the path of its file under `path`")]
    NoBody,
    #[error("both `patch` and `path` are given: keep one")]
    TwoBodies,
    #[error("holds no patch: it is empty")]
    Empty,
    #[error("this is {found}; a patch is a mapping (strategic merge) or a list of operations (JSON patch)")]
    Form { found: &'static str },
    #[error("a list of operations needs a `target` that says which objects it is for")]
    NoTarget,
    #[error("{count} patches share one `target`: give each an entry of its own, or leave out the target")]
    SeveralWithTarget { count: usize },
    #[error("no object is or was `{id}`{}", format_suggestions(suggestions))]
    NoObject { id: Box<ResId>, suggestions: Vec<String> },
    #[error("{count} objects are or were `{id}`: say which with a `target`")]
    SeveralObjects { id: Box<ResId>, count: usize },
    #[error("cannot be merged into `{id}`: {problem}")]
    Merge { id: Box<ResId>, problem: MergeError },
    #[error("cannot be applied to `{id}`: {failed}")]
    Operation { id: Box<ResId>, failed: Box<FailedOperation> },
    /// A warning only: shared patches often match no objects.
    #[error("no object matches the `target`: the patch changes nothing")]
    Unmatched,
    #[error("the path `{path}` is taken for `{meant}`: what is before the first slash does not count")]
    CutPath { path: String, meant: String },
    #[error("`{field}` is no directive here, it is written into the object; only `$patch` is one")]
    ForeignDirective { field: String },
    #[error("`$patch: replace` is for fields and lists; for a whole object it does nothing")]
    ReplacesObject,
    #[error("sets `{path}` of `{id}` to another value than {first} did")]
    Conflict { id: Box<ResId>, path: String, first: String },
}

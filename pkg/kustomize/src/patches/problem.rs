//! What is wrong with a patch.

use crate::ResId;
use crate::merge::MergeProblem;
use crate::problems::meant;

use super::operations::{BadOperation, FailedOperation};

/// A patch that cannot be read or applied; the variants from [`PatchProblem::Unmatched`] on are warnings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchProblem {
    /// Neither a patch nor a file with one.
    #[error("there is no patch: write it under `patch`, or the path of its file under `path`")]
    NoBody,
    /// Both.
    #[error("both `patch` and `path` are given: keep one")]
    TwoBodies,
    /// Entries that must hold one, and hold none.
    #[error("holds no patch: it is empty")]
    Empty,
    /// A text that is neither.
    #[error("this is {found}; a patch is a mapping (strategic merge) or a list of operations (JSON patch)")]
    Form {
        /// What it is, with its article.
        found: &'static str,
    },
    /// An element of a list of operations that is none.
    #[error(transparent)]
    BadOperation(#[from] BadOperation),
    /// A JSON patch that does not say of what.
    #[error("a list of operations needs a `target` that says which objects it is for")]
    NoTarget,
    /// Several documents for one target.
    #[error("{count} patches share one `target`: give each an entry of its own, or leave out the target")]
    SeveralWithTarget {
        /// How many there are.
        count: usize,
    },
    /// No object has the id of the patch.
    #[error("no object is or was `{id}`{}", meant(near))]
    NoObject {
        /// The id.
        id: Box<ResId>,
        /// Names of objects of that kind that may be meant, nearest first.
        near: Vec<String>,
    },
    /// Several objects have or had the id of the patch.
    #[error("{count} objects are or were `{id}`: say which with a `target`")]
    SeveralObjects {
        /// The id.
        id: Box<ResId>,
        /// How many there are.
        count: usize,
    },
    /// The patch does not go with the object.
    #[error("cannot be merged into `{id}`: {problem}")]
    Merge {
        /// The object.
        id: Box<ResId>,
        /// Why.
        problem: Box<MergeProblem>,
    },
    /// An operation that cannot be carried out.
    #[error("cannot be applied to `{id}`: {failed}")]
    Operation {
        /// The object.
        id: Box<ResId>,
        /// Which, and why.
        failed: Box<FailedOperation>,
    },
    /// A target without objects: a warning, since shared patches may well have none.
    #[error("no object matches the `target`: the patch changes nothing")]
    Unmatched,
    /// A path that does not begin with a slash: a warning.
    #[error("the path `{path}` is taken for `{meant}`: what is before the first slash does not count")]
    CutPath {
        /// As it is written.
        path: String,
        /// Where it leads.
        meant: String,
    },
    /// A directive of other programs: a warning.
    #[error("`{field}` is no directive here, it is written into the object; only `$patch` is one")]
    ForeignDirective {
        /// As it is written.
        field: String,
    },
    /// A patch that is to replace a whole object: a warning.
    #[error("`$patch: replace` is for fields and lists; for a whole object it does nothing")]
    ReplacesObject,
    /// Two patches of one list that disagree: a warning.
    #[error("sets `{path}` of `{id}` to another value than {first} did")]
    Conflict {
        /// The object.
        id: Box<ResId>,
        /// The field.
        path: String,
        /// The entry that set it before.
        first: String,
    },
}

//! What is wrong with a replacement. No value is told: it may come from a Secret.

use crate::ResId;
use crate::kustomization::entries::Selector;
use crate::problems::meant;

use super::path::{PathFault, PathProblem};

/// A replacement that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplacementProblem {
    /// An entry with a file and a replacement of its own.
    #[error("`path` stands beside `source` or `targets`: keep one of both")]
    PathAndReplacement,
    /// A replacement without a value.
    #[error("there is no `source` and no `sourceValue`")]
    NoSource,
    /// A replacement with two values.
    #[error("both `source` and `sourceValue` are given: keep one")]
    TwoSources,
    /// A replacement that goes nowhere.
    #[error("there are no `targets`")]
    NoTargets,
    /// A target that says not of what.
    #[error("there is no `select` that says which objects are meant")]
    NoSelect,
    /// A field path that is none.
    #[error("`{path}` is no path: {problem}")]
    Path {
        /// As it is written.
        path: String,
        /// Why.
        problem: PathProblem,
    },
    /// No object for the source.
    #[error("no object is or was {selector}{}", meant(near))]
    NotFound {
        /// What is asked for.
        selector: String,
        /// Names that may be meant, nearest first.
        near: Vec<String>,
    },
    /// Several objects for the source.
    #[error("{count} objects are or were {selector}: say more of the one that is meant")]
    Several {
        /// What is asked for.
        selector: String,
        /// How many there are.
        count: usize,
    },
    /// The field of the source cannot be taken.
    #[error("cannot take `{path}` of `{id}`: {fault}")]
    Source {
        /// The field.
        path: String,
        /// The object.
        id: Box<ResId>,
        /// Why.
        fault: Box<PathFault>,
    },
    /// The field of a target cannot be set.
    #[error("cannot set `{path}` of `{id}`: {fault}")]
    Target {
        /// The field.
        path: String,
        /// The object.
        id: Box<ResId>,
        /// Why.
        fault: Box<PathFault>,
    },
}

/// Spells what a selector asks for: `kind Service, name a`.
pub(super) fn spelled(selector: &Selector) -> String {
    let Selector { group, version, kind, name, namespace, .. } = selector;
    let fields =
        [("group", group), ("version", version), ("kind", kind), ("name", name), ("namespace", namespace)];
    let asked: Vec<String> = fields
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(field, text)| format!("of {field} `{text}`"))
        .collect();
    if asked.is_empty() { "any".to_owned() } else { asked.join(", ") }
}

//! The errors of replacements. They never contain a value, as it may come from a Secret.

use crate::ResId;
use crate::kustomization::entries::Selector;
use crate::report::format_suggestions;

use super::path::{PathLookupError, PathParseError};

/// A replacement that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplacementError {
    #[error("`path` stands beside `source` or `targets`: keep one of both")]
    PathAndReplacement,
    #[error("there is no `source` and no `sourceValue`")]
    NoSource,
    #[error("both `source` and `sourceValue` are given: keep one")]
    TwoSources,
    #[error("there are no `targets`")]
    NoTargets,
    #[error("there is no `select` that says which objects are meant")]
    NoSelect,
    #[error("`{path}` is no path: {problem}")]
    Path { path: String, problem: PathParseError },
    #[error("no object is or was {selector}{}", format_suggestions(suggestions))]
    NotFound { selector: String, suggestions: Vec<String> },
    #[error("{count} objects are or were {selector}: say more of the one that is meant")]
    Several { selector: String, count: usize },
    #[error("cannot take `{path}` of `{id}`: {fault}")]
    Source { path: String, id: Box<ResId>, fault: Box<PathLookupError> },
    #[error("cannot set `{path}` of `{id}`: {fault}")]
    Target { path: String, id: Box<ResId>, fault: Box<PathLookupError> },
}

/// Describes a selector: ``of kind `Service`, of name `a` ``.
pub(super) fn describe(selector: &Selector) -> String {
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

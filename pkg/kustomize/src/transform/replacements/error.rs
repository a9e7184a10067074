//! The errors of replacements. They never contain a value, as it may come from a Secret.

use crate::ResId;
use crate::kustomization::entries::Selector;
use crate::report::format_suggestions;

use super::path::{PathLookupError, PathParseError};

/// A replacement that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplacementError {
    #[error("`path` cannot be combined with `source` or `targets`")]
    PathAndReplacement,
    #[error("`source` or `sourceValue` is required")]
    NoSource,
    #[error("`source` cannot be combined with `sourceValue`")]
    TwoSources,
    #[error("`targets` is missing")]
    NoTargets,
    #[error("`select` is missing")]
    NoSelect,
    #[error("invalid path `{path}`: {problem}")]
    Path { path: String, problem: PathParseError },
    #[error("no object matches {selector}{}", format_suggestions(suggestions))]
    NotFound { selector: String, suggestions: Vec<String> },
    #[error("{count} objects match {selector}: make the selector more specific")]
    Several { selector: String, count: usize },
    #[error("cannot read `{path}` of `{id}`: {fault}")]
    Source { path: String, id: Box<ResId>, fault: Box<PathLookupError> },
    #[error("cannot set `{path}` of `{id}`: {fault}")]
    Target { path: String, id: Box<ResId>, fault: Box<PathLookupError> },
}

/// Describes a selector: ``kind `Service`, name `a` ``.
pub(super) fn describe(selector: &Selector) -> String {
    let Selector { group, version, kind, name, namespace, .. } = selector;
    let fields =
        [("group", group), ("version", version), ("kind", kind), ("name", name), ("namespace", namespace)];
    let requested: Vec<String> = fields
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(field, text)| format!("{field} `{text}`"))
        .collect();
    if requested.is_empty() { "an empty selector".to_owned() } else { requested.join(", ") }
}

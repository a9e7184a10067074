//! Selectors: the objects that a `target`, a `select` or a `reject` matches.

mod labels;

use manifest::{Object, expression};
use regex::Regex;

use crate::ResId;
use crate::accumulator::{Accumulator, ResourcePosition};

use crate::kustomization::entries::Selector;
use crate::resource::Resource;

pub use labels::LabelSelectorError;
use labels::Requirements;

/// Checks the text of a label selector, such as `app=web,tier notin (db)`.
///
/// # Errors
/// The first invalid requirement.
pub fn check_label_selector(text: &str) -> Result<(), LabelSelectorError> {
    Requirements::read(text).map(drop)
}

/// A selector that cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectorError {
    #[error("`{field}: {text}` is not a valid regular expression: {reason}")]
    Pattern { field: &'static str, text: String, reason: String },
    #[error("`{field}: {text}` is invalid: {problem}")]
    Labels { field: &'static str, text: String, problem: LabelSelectorError },
}

/// A parsed selector. Its texts are regular expressions for a whole name.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Requirements,
    annotations: Requirements,
}

/// A text of a selector; most texts are plain and need no regular expression.
#[derive(Debug)]
enum Pattern {
    Any,
    Plain(String),
    Regex(Regex),
}

impl Matcher {
    /// Parses a selector.
    /// # Errors
    /// Every invalid text of the selector.
    pub(crate) fn read(selector: &Selector) -> Result<Self, Vec<SelectorError>> {
        let mut problems = Vec::new();
        let mut pattern = |field, text: &str| {
            Pattern::read(text).unwrap_or_else(|reason| {
                problems.push(SelectorError::Pattern { field, text: text.to_owned(), reason });
                Pattern::Any
            })
        };
        let (group, version) = (pattern("group", &selector.group), pattern("version", &selector.version));
        let (kind, name) = (pattern("kind", &selector.kind), pattern("name", &selector.name));
        let namespace = pattern("namespace", &selector.namespace);
        let mut requirements = |field, text: &str| {
            Requirements::read(text).unwrap_or_else(|problem| {
                problems.push(SelectorError::Labels { field, text: text.to_owned(), problem });
                Requirements::default()
            })
        };
        let labels = requirements("labelSelector", &selector.labels);
        let annotations = requirements("annotationSelector", &selector.annotations);
        if problems.is_empty() {
            Ok(Self { group, version, kind, name, namespace, labels, annotations })
        } else {
            Err(problems)
        }
    }

    /// Finds the objects that match a patch target, in order. Name and namespace may be the current or the original
    /// ones; the kind is the current one.
    /// Source: kustomize v5.8.1 api/resmap (`Select`).
    pub(crate) fn find_targets(&self, objects: &mut Accumulator) -> Vec<ResourcePosition> {
        self.find(objects, |resource| {
            let (now, first) = (resource.id(), resource.original_id());
            self.matches_kind(now)
                && [now, first].iter().any(|id| self.name.matches(&id.name))
                && [now, first].iter().any(|id| self.namespace.matches(id.namespace()))
                && self.matches_metadata(&resource.object)
        })
    }

    /// Finds the objects with a matching current or former id, in order.
    /// Source: kustomize v5.8.1 api/filters/replacement.
    pub(crate) fn find_known(&self, objects: &mut Accumulator) -> Vec<ResourcePosition> {
        self.find(objects, |resource| {
            self.matches_any_id(resource) && self.matches_metadata(&resource.object)
        })
    }

    /// True if the current or a former id of an object matches. Only a former id without a written namespace counts as
    /// one in `default`.
    pub(crate) fn matches_any_id(&self, resource: &Resource) -> bool {
        let matches = |id: &ResId, namespace| {
            self.matches_kind(id) && self.name.matches(&id.name) && self.namespace.matches(namespace)
        };
        matches(resource.id(), resource.id().written_namespace())
            || resource.former_ids().iter().any(|id| matches(id, id.namespace()))
    }

    /// True if the labels and annotations of an object match.
    pub(crate) fn matches_metadata(&self, object: &Object) -> bool {
        self.labels.matches(|key| object.label(key)) && self.annotations.matches(|key| object.annotation(key))
    }

    /// True if the selector restricts the id.
    pub(crate) fn restricts_id(&self) -> bool {
        let selector = [&self.group, &self.version, &self.kind, &self.name, &self.namespace];
        selector.iter().any(|pattern| !matches!(pattern, Pattern::Any))
    }

    /// True if the selector restricts labels or annotations.
    pub(crate) fn restricts_metadata(&self) -> bool {
        !(self.labels.is_empty() && self.annotations.is_empty())
    }

    fn matches_kind(&self, id: &ResId) -> bool {
        self.kind.matches(&id.gvk.kind)
            && self.group.matches(&id.gvk.group)
            && self.version.matches(&id.gvk.version)
    }

    fn find(&self, objects: &mut Accumulator, is_meant: impl Fn(&Resource) -> bool) -> Vec<ResourcePosition> {
        if let Pattern::Plain(name) = &self.name {
            let named = objects.find_by_any_name(name);
            return named.into_iter().filter(|at| objects.get(*at).is_some_and(&is_meant)).collect();
        }
        objects.iter().filter(|(_, resource)| is_meant(resource)).map(|(position, _)| position).collect()
    }
}

impl Pattern {
    fn read(text: &str) -> Result<Self, String> {
        Ok(if text.is_empty() {
            Self::Any
        } else if text.chars().all(|each| each.is_alphanumeric() || matches!(each, '-' | '_' | '/' | ':')) {
            Self::Plain(text.to_owned())
        } else {
            Self::Regex(expression::read(&format!("^(?:{text})$"))?)
        })
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Plain(wanted) => wanted == text,
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

#[cfg(test)]
mod tests;

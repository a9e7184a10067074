use std::fmt;

use manifest::Object;
use regex::Regex;

/// The target of an entry. An absent field matches every object.
/// Source: kustomize (patch targets): regular expressions match whole fields.
#[derive(Clone, Debug, Default)]
pub struct CustomisationTarget {
    fields: Vec<(TargetField, Regex, String)>,
    labels: Vec<(String, String)>,
}

/// A field of an object that a target can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetField {
    Group,
    Version,
    Kind,
    Name,
    Namespace,
}

/// An invalid target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InvalidTarget {
    #[error(
        "unknown target field `{field}`; known fields: group, version, kind, name, namespace, labelSelector"
    )]
    Field { field: String },
    #[error("`{field}: {text}` is not a valid regular expression")]
    Expression { field: String, text: String },
    #[error("`labelSelector: {text}` is not of the form `key=value,key=value`")]
    Labels { text: String },
}

impl CustomisationTarget {
    /// True if the target matches every object.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.labels.is_empty()
    }

    /// Adds a condition.
    /// # Errors
    /// Fails if the field does not exist, or the text is invalid for the field.
    pub fn with(mut self, field: &str, text: &str) -> Result<Self, InvalidTarget> {
        let known = match field {
            "group" => TargetField::Group,
            "version" => TargetField::Version,
            "kind" => TargetField::Kind,
            "name" => TargetField::Name,
            "namespace" => TargetField::Namespace,
            "labelSelector" => {
                for pair in text.split(',') {
                    let Some((key, value)) = pair.split_once('=') else {
                        return Err(InvalidTarget::Labels { text: text.to_owned() });
                    };
                    self.labels
                        .push((key.trim().to_owned(), value.trim_start_matches('=').trim().to_owned()));
                }
                return Ok(self);
            }
            _ => return Err(InvalidTarget::Field { field: field.to_owned() }),
        };
        let expression = Regex::new(&format!("^(?:{text})$"))
            .map_err(|_| InvalidTarget::Expression { field: field.to_owned(), text: text.to_owned() })?;
        self.fields.push((known, expression, text.to_owned()));
        Ok(self)
    }

    /// The target that matches exactly this kind and name.
    pub(crate) fn of(kind: &str, name: &str) -> Self {
        let exactly = |field, text: &str| {
            let expression = Regex::new(&format!("^{}$", regex::escape(text)));
            (field, expression.expect("escaped text is an expression"), text.to_owned())
        };
        Self {
            fields: vec![exactly(TargetField::Kind, kind), exactly(TargetField::Name, name)],
            labels: Vec::new(),
        }
    }

    /// True if the target matches an object.
    pub fn matches(&self, object: &Object) -> bool {
        self.fields.iter().all(|(field, expression, _)| expression.is_match(field.of(object)))
            && self.labels.iter().all(|(key, value)| object.label(key) == Some(value))
    }

    /// True if the target matches the kind of an object, regardless of the name.
    pub(super) fn matches_kind(&self, object: &Object) -> bool {
        let kind = self.fields.iter().filter(|(field, ..)| *field == TargetField::Kind);
        kind.into_iter().all(|(field, expression, _)| expression.is_match(field.of(object)))
    }
}

impl TargetField {
    fn of(self, object: &Object) -> &str {
        match self {
            Self::Group => object.group(),
            Self::Version => object.version(),
            Self::Kind => object.kind(),
            Self::Name => object.name(),
            Self::Namespace => object.namespace(),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Version => "version",
            Self::Kind => "kind",
            Self::Name => "name",
            Self::Namespace => "namespace",
        }
    }
}

/// The form used in messages: `kind Deployment, name capa-.*`.
impl fmt::Display for CustomisationTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields.iter().map(|(field, _, text)| format!("{} {text}", field.as_str()));
        let labels = self.labels.iter().map(|(key, value)| format!("label {key}={value}"));
        let words: Vec<String> = fields.chain(labels).collect();
        f.write_str(if words.is_empty() { "any object" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}

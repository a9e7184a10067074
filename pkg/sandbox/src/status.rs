//! Answers that are not success.

use std::fmt;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use crate::go;

/// An answer that is not success: the `Status` object of a Kubernetes API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) code: u16,
    /// One word for programs, such as `NotFound`; empty when there is none.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// What it is about; boxed to keep results small.
    pub(crate) details: Option<Box<Details>>,
}

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    pub(crate) name: String,
    /// The API group of the resource.
    pub(crate) group: String,
    /// The plural of the resource; for `Invalid`, the kind.
    pub(crate) kind: String,
    pub(crate) uid: String,
    /// The single reasons, for `Invalid` one per field.
    pub(crate) causes: Vec<Cause>,
    /// When to try again.
    pub(crate) retry_after_seconds: u32,
}

/// One of the reasons of a [`Status`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cause {
    /// One word for programs, such as `FieldValueRequired`.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// The path of the field, such as `spec.containers[0].name`.
    pub(crate) field: String,
}

/// One thing that is wrong with a field. Printed as Go's `field.Error` is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldError {
    pub(crate) kind: FieldErrorKind,
    /// Where, such as `spec.containers[0].name`.
    pub(crate) path: String,
    /// What was there; printed by the sorts that quote it.
    pub(crate) value: Value,
    /// What is expected, for `NotSupported` the supported values as they are printed.
    pub(crate) detail: String,
}

/// The sorts of faults, by the words the real server prints (`apimachinery/pkg/util/validation/field`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldErrorKind {
    /// `Required value`.
    Required,
    /// `Invalid value`.
    Invalid,
    /// `Invalid value` of an object or a list, which is not quoted.
    InvalidUnquoted,
    /// `Invalid value` of the wrong type; its reason is `FieldValueTypeInvalid`.
    TypeInvalid,
    /// `Unsupported value`.
    NotSupported,
    /// `Duplicate value`.
    Duplicate,
    /// `Forbidden`.
    Forbidden,
    /// `Not found`.
    NotFound,
    /// `Too long`.
    TooLong,
    /// `Too many`.
    TooMany,
    /// `Internal error`.
    Internal,
}

impl FieldErrorKind {
    /// The words the error starts with.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::InvalidUnquoted | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not found",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Internal => "Internal error",
        }
    }

    /// The reason of its cause, for programs.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid | Self::InvalidUnquoted => "FieldValueInvalid",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::NotFound => "FieldValueNotFound",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Internal => "InternalError",
        }
    }

    fn quotes_the_value(self) -> bool {
        !matches!(
            self,
            Self::Required | Self::Forbidden | Self::TooLong | Self::Internal | Self::InvalidUnquoted
        )
    }
}

impl FieldError {
    /// A fault of this sort at this path.
    pub(crate) fn new(
        kind: FieldErrorKind,
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, path: path.into(), value: value.into(), detail: detail.into() }
    }

    /// Something that must be there is missing.
    pub(crate) fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, path, Value::Null, detail)
    }

    /// A value that may not be.
    pub(crate) fn invalid(
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(FieldErrorKind::Invalid, path, value, detail)
    }

    /// Something that may not be said here.
    pub(crate) fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, Value::Null, detail)
    }

    /// A value that is none of the supported ones.
    pub(crate) fn not_supported(
        path: impl Into<String>,
        value: impl Into<Value>,
        supported: &[&str],
    ) -> Self {
        let list: Vec<_> = supported.iter().map(|word| go::quoted(word)).collect();
        Self::new(FieldErrorKind::NotSupported, path, value, format!("supported values: {}", list.join(", ")))
    }

    /// The fault without its path: the message of its cause.
    pub(crate) fn body(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if self.kind.quotes_the_value() {
            text.push_str(": ");
            match &self.value {
                Value::String(value) => text.push_str(&go::quoted(value)),
                other => text.push_str(&other.to_string()),
            }
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.body())
    }
}

impl Status {
    /// An answer of this code and these words, about nothing in particular.
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    /// 400: the request itself is wrong.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// 500 with the bare words of an error inside the server, as the real server answers what it did not foresee.
    pub(crate) fn unforeseen(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// 500: something the server should have managed.
    pub(crate) fn internal(message: &str) -> Self {
        let cause = Cause { reason: "", message: message.to_owned(), field: String::new() };
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"))
            .about(Details { causes: vec![cause], ..Details::default() })
    }

    /// 404: no such object.
    pub(crate) fn not_found(group: &str, plural: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {} not found", qualified(plural, group), go::quoted(name)))
            .about_object(group, plural, name)
    }

    /// 404: no such address.
    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .about(Details::default())
    }

    /// 405: the address is known, the method is not.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
            .about(Details::default())
    }

    /// 409: such an object is there already.
    pub(crate) fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} {} already exists", qualified(plural, group), go::quoted(name)),
        )
        .about_object(group, plural, name)
    }

    /// 409: the object is not what the request supposes; `why` says how.
    pub(crate) fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let what = qualified(plural, group);
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {what} {}: {why}", go::quoted(name)),
        )
        .about_object(group, plural, name)
    }

    /// 409: somebody else wrote in between.
    pub(crate) fn modified(group: &str, plural: &str, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(group, plural, name, why)
    }

    /// 403: the server knows what is asked and does not do it.
    pub(crate) fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let what = qualified(plural, group);
        Self::new(403, "Forbidden", format!("{what} {} is forbidden: {why}", go::quoted(name)))
            .about_object(group, plural, name)
    }

    /// 410: what the request wants to start from is gone from the history.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// 422: the object breaks rules; there is at least one error.
    /// Source: apimachinery 1.36 `NewInvalid`: the message names each error once, the causes name all of them.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let texts: IndexSet<String> = errors.iter().map(ToString::to_string).collect();
        let list = match texts.into_iter().collect::<Vec<_>>().as_slice() {
            [single] => single.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let causes = errors
            .iter()
            .map(|error| Cause {
                reason: error.kind.reason(),
                message: error.body(),
                field: error.path.clone(),
            })
            .collect();
        let message = format!("{} {} is invalid: {list}", qualified(kind, group), go::quoted(name));
        Self::new(422, "Invalid", message).about(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes,
            ..Details::default()
        })
    }

    /// 422 for the options of a request: `CreateOptions`, `DeleteOptions`, `ListOptions`…
    pub(crate) fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid("meta.k8s.io", kind, "", errors)
    }

    /// 504: the server waits for a revision that is not there yet. (The real server waits three seconds first.)
    pub(crate) fn revision_too_large(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
        Self::new(504, "Timeout", message).about(details)
    }

    /// The same with what it is about.
    #[must_use]
    pub(crate) fn about(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    fn about_object(self, group: &str, kind: &str, name: &str) -> Self {
        let (name, group, kind) = (name.to_owned(), group.to_owned(), kind.to_owned());
        self.about(Details { name, group, kind, ..Details::default() })
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            value["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            value["details"] = details.to_value();
        }
        value
    }
}

impl Details {
    /// The part of the object that travels: only what is said.
    pub(crate) fn to_value(&self) -> Value {
        let mut fields =
            texts(&[("name", &self.name), ("group", &self.group), ("kind", &self.kind), ("uid", &self.uid)]);
        if !self.causes.is_empty() {
            let causes = self.causes.iter().map(Cause::to_value).collect();
            fields.insert("causes".to_owned(), Value::Array(causes));
        }
        if self.retry_after_seconds > 0 {
            fields.insert("retryAfterSeconds".to_owned(), self.retry_after_seconds.into());
        }
        Value::Object(fields)
    }
}

impl Cause {
    fn to_value(&self) -> Value {
        Value::Object(texts(&[("reason", self.reason), ("message", &self.message), ("field", &self.field)]))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

fn texts(pairs: &[(&str, &str)]) -> Map<String, Value> {
    pairs
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|&(key, text)| (key.to_owned(), text.into()))
        .collect()
}

/// `deployments.apps`, as messages name a resource or a kind; without the group in core.
pub(crate) fn qualified(what: &str, group: &str) -> String {
    if group.is_empty() { what.to_owned() } else { format!("{what}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_errors_stand_in_brackets_and_each_is_named_once() {
        let twice = FieldError::invalid("metadata.uid", "x", "field is immutable");
        let status = Status::invalid(
            "apps",
            "Deployment",
            "a",
            &[twice.clone(), FieldError::required("spec.selector", ""), twice],
        );
        assert_eq!(
            status.message,
            "Deployment.apps \"a\" is invalid: [metadata.uid: Invalid value: \"x\": field is immutable, \
             spec.selector: Required value]"
        );
        assert_eq!(status.details.map(|details| details.causes.len()), Some(3));
    }

    #[test]
    fn values_are_quoted_by_those_sorts_alone_that_do_so() {
        for (error, text) in [
            (FieldError::invalid("a", 3, "too big"), "a: Invalid value: 3: too big"),
            (FieldError::invalid("a", json!(["x"]), ""), "a: Invalid value: [\"x\"]"),
            (FieldError::forbidden("a", "never"), "a: Forbidden: never"),
            (
                FieldError::not_supported("a", "x", &["y", "z"]),
                "a: Unsupported value: \"x\": supported values: \"y\", \"z\"",
            ),
            (
                FieldError::new(FieldErrorKind::TooLong, "a", "xxx", "may not be more than 2 bytes"),
                "a: Too long: may not be more than 2 bytes",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn a_status_says_only_what_is_known() {
        let value = Status::not_found("apps", "deployments", "a").to_value();
        assert_eq!(value["details"], json!({"name": "a", "group": "apps", "kind": "deployments"}));
        assert_eq!(value["message"], "deployments.apps \"a\" not found");
        assert_eq!(Status::no_such_resource().to_value()["details"], json!({}));
        assert_eq!(Status::bad_request("x").to_value().get("details"), None);
    }
}

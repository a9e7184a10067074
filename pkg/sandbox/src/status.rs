//! Error responses.

use std::fmt;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use crate::go;

/// An error response: the `Status` object of a Kubernetes API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) code: u16,
    /// The machine-readable reason, such as `NotFound`; empty without a reason.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// The subject of the error; boxed to keep results small.
    pub(crate) details: Option<Box<Details>>,
}

/// The subject of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Details {
    pub(crate) name: String,
    /// The API group of the resource.
    pub(crate) group: String,
    /// The plural of the resource; for `Invalid`, the kind.
    pub(crate) kind: String,
    pub(crate) uid: String,
    /// The individual causes; for `Invalid`, one per field.
    pub(crate) causes: Vec<Cause>,
    /// The delay before a retry, in seconds.
    pub(crate) retry_after_seconds: u32,
}

/// One cause of a [`Status`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cause {
    /// The machine-readable reason, such as `FieldValueRequired`.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// The path of the field, such as `spec.containers[0].name`.
    pub(crate) field: String,
}

/// One error in a field. Printed like Go's `field.Error`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldError {
    pub(crate) kind: FieldErrorKind,
    /// The path of the field, such as `spec.containers[0].name`.
    pub(crate) path: String,
    /// The actual value, printed by the kinds that quote it.
    pub(crate) value: Value,
    /// The expectation; for `NotSupported`, the printed list of supported values.
    pub(crate) detail: String,
}

/// The kind of a field error, by the real server's words (`apimachinery/pkg/util/validation/field`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldErrorKind {
    Required,
    Invalid,
    /// An invalid object or list, without a quoted value.
    InvalidUnquoted,
    /// A value of the wrong type.
    TypeInvalid,
    NotSupported,
    Duplicate,
    Forbidden,
    NotFound,
    TooLong,
    TooMany,
    Internal,
}

impl FieldErrorKind {
    /// Returns the first words of the message.
    pub(crate) fn message(self) -> &'static str {
        self.words().0
    }

    /// Returns the machine-readable reason of the cause.
    pub(crate) fn reason(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Required => ("Required value", "FieldValueRequired"),
            Self::Invalid | Self::InvalidUnquoted => ("Invalid value", "FieldValueInvalid"),
            Self::TypeInvalid => ("Invalid value", "FieldValueTypeInvalid"),
            Self::NotSupported => ("Unsupported value", "FieldValueNotSupported"),
            Self::Duplicate => ("Duplicate value", "FieldValueDuplicate"),
            Self::Forbidden => ("Forbidden", "FieldValueForbidden"),
            Self::NotFound => ("Not found", "FieldValueNotFound"),
            Self::TooLong => ("Too long", "FieldValueTooLong"),
            Self::TooMany => ("Too many", "FieldValueTooMany"),
            Self::Internal => ("Internal error", "InternalError"),
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
    pub(crate) fn new(
        kind: FieldErrorKind,
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self { kind, path: path.into(), value: value.into(), detail: detail.into() }
    }

    /// Creates an error about a missing value.
    pub(crate) fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, path, Value::Null, detail)
    }

    /// Creates an error about an invalid value.
    pub(crate) fn invalid(
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(FieldErrorKind::Invalid, path, value, detail)
    }

    /// Creates an error about a field that is forbidden here.
    pub(crate) fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, path, Value::Null, detail)
    }

    /// Creates an error about an unsupported value.
    pub(crate) fn not_supported(
        path: impl Into<String>,
        value: impl Into<Value>,
        supported: &[&str],
    ) -> Self {
        let list: Vec<_> = supported.iter().map(|word| go::quoted(word)).collect();
        Self::new(FieldErrorKind::NotSupported, path, value, format!("supported values: {}", list.join(", ")))
    }

    /// Returns the error without its path: the message of its cause.
    pub(crate) fn body(&self) -> String {
        let mut text = self.kind.message().to_owned();
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
    /// Creates a status with this code, reason and message, without details.
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: None }
    }

    /// Returns status 400: the request is invalid.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    /// Returns status 500 with only the message of an internal error, like the real server for unforeseen errors.
    pub(crate) fn internal_without_details(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// Returns status 500: an internal failure of the server.
    pub(crate) fn internal(message: &str) -> Self {
        let cause = Cause { reason: "", message: message.to_owned(), field: String::new() };
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"))
            .with_details(Details { causes: vec![cause], ..Details::default() })
    }

    /// Returns status 404: the object does not exist.
    pub(crate) fn not_found(group: &str, plural: &str, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {} not found", qualified(plural, group), go::quoted(name)))
            .with_object(group, plural, name)
    }

    /// Returns status 404: the path does not exist.
    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(Details::default())
    }

    /// Returns status 405: the path does not support the method.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
            .with_details(Details::default())
    }

    /// Returns status 409: the object already exists.
    pub(crate) fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} {} already exists", qualified(plural, group), go::quoted(name)),
        )
        .with_object(group, plural, name)
    }

    /// Returns status 409: the object differs from the request's expectation; `why` gives the reason.
    pub(crate) fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let what = qualified(plural, group);
        Self::new(
            409,
            "Conflict",
            format!("Operation cannot be fulfilled on {what} {}: {why}", go::quoted(name)),
        )
        .with_object(group, plural, name)
    }

    /// Returns status 409: the object was modified concurrently.
    pub(crate) fn modified(group: &str, plural: &str, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(group, plural, name, why)
    }

    /// Returns status 403: the server understands the request and refuses it.
    pub(crate) fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let what = qualified(plural, group);
        Self::new(403, "Forbidden", format!("{what} {} is forbidden: {why}", go::quoted(name)))
            .with_object(group, plural, name)
    }

    /// Returns status 410: the requested revision is no longer in the history.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Returns status 422: the object has at least one error.
    /// Source: apimachinery 1.36 `NewInvalid`: the message lists each error once, the causes list all errors.
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
        Self::new(422, "Invalid", message).with_details(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes,
            ..Details::default()
        })
    }

    /// Returns status 422 for the options of a request: `CreateOptions`, `DeleteOptions`, `ListOptions`…
    pub(crate) fn invalid_options(kind: &str, errors: &[FieldError]) -> Self {
        Self::invalid("meta.k8s.io", kind, "", errors)
    }

    /// Returns status 504: the server has not reached the requested revision. (The real server first waits three
    /// seconds.)
    pub(crate) fn revision_too_large(requested: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {requested}, current: {current}");
        let cause = Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".to_owned(),
            field: String::new(),
        };
        let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
        Self::new(504, "Timeout", message).with_details(details)
    }

    #[must_use]
    pub(crate) fn with_details(mut self, details: Details) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    fn with_object(self, group: &str, kind: &str, name: &str) -> Self {
        let (name, group, kind) = (name.to_owned(), group.to_owned(), kind.to_owned());
        self.with_details(Details { name, group, kind, ..Details::default() })
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
    /// Returns the JSON form, without empty fields.
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

/// Returns the name of a resource or kind in messages, such as `deployments.apps`; without the group for core.
pub(crate) fn qualified(what: &str, group: &str) -> String {
    if group.is_empty() { what.to_owned() } else { format!("{what}.{group}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_errors_are_bracketed_and_deduplicated() {
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
    fn only_some_error_types_quote_their_value() {
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
    fn a_status_omits_unknown_fields() {
        let value = Status::not_found("apps", "deployments", "a").to_value();
        assert_eq!(value["details"], json!({"name": "a", "group": "apps", "kind": "deployments"}));
        assert_eq!(value["message"], "deployments.apps \"a\" not found");
        assert_eq!(Status::no_such_resource().to_value()["details"], json!({}));
        assert_eq!(Status::bad_request("x").to_value().get("details"), None);
    }
}

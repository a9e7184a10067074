//! Error responses.

use std::{borrow::Cow, fmt};

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::go;

/// An error response: the `Status` object of a Kubernetes API server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Status {
    pub(crate) code: u16,
    /// The machine-readable reason, such as `NotFound`; empty without a reason.
    pub(crate) reason: Cow<'static, str>,
    pub(crate) message: String,
    /// The subject of the error; boxed to keep results small.
    pub(crate) details: Option<Box<Details>>,
}

/// The subject of a [`Status`]. JSON omits empty fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// The API group of the resource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) group: String,
    /// The plural of the resource; for `Invalid`, the kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
    /// The individual causes; for `Invalid`, one per field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<Cause>,
    /// The delay before a retry, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_seconds: Option<u32>,
}

/// One cause of a [`Status`]. JSON omits empty fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cause {
    /// The machine-readable reason, such as `FieldValueRequired`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) reason: Cow<'static, str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    /// The path of the field, such as `spec.containers[0].name`.
    #[serde(skip_serializing_if = "String::is_empty")]
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
        Self::new(FieldErrorKind::NotSupported, path, value, supported_values(supported))
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

/// Collects errors, in the order of the real server.
pub(crate) trait FieldErrors {
    fn add(&mut self, kind: FieldErrorKind, path: impl fmt::Display, value: Value, detail: String);

    /// Reports a missing required field.
    fn required(&mut self, path: impl fmt::Display, detail: impl Into<String>) {
        self.add(FieldErrorKind::Required, path, Value::Null, detail.into());
    }

    fn invalid(&mut self, path: impl fmt::Display, value: impl Into<Value>, detail: impl Into<String>) {
        self.add(FieldErrorKind::Invalid, path, value.into(), detail.into());
    }

    /// Reports a field that must be absent or unchanged.
    fn forbidden(&mut self, path: impl fmt::Display, detail: impl Into<String>) {
        self.add(FieldErrorKind::Forbidden, path, Value::Null, detail.into());
    }

    /// Reports an unsupported value. The message lists the supported values in the given order.
    fn not_supported(&mut self, path: impl fmt::Display, value: impl Into<Value>, supported: &[&str]) {
        self.add(FieldErrorKind::NotSupported, path, value.into(), supported_values(supported));
    }

    fn duplicate(&mut self, path: impl fmt::Display, value: impl Into<Value>) {
        self.add(FieldErrorKind::Duplicate, path, value.into(), String::new());
    }

    /// Reports a value that exceeds the maximum size.
    fn too_long(&mut self, path: impl fmt::Display, max_bytes: usize) {
        let detail = format!("may not be more than {max_bytes} bytes");
        self.add(FieldErrorKind::TooLong, path, Value::Null, detail);
    }

    /// Reports a text that is not in the list of supported values.
    fn one_of(&mut self, path: impl fmt::Display, value: &Value, supported: &[&str]) {
        let text = value.as_str().unwrap_or_default();
        if !supported.contains(&text) || !value.is_string() {
            self.not_supported(path, text, supported);
        }
    }

    /// Reports a changed immutable field.
    fn immutable(&mut self, path: impl fmt::Display, old: &Value, new: &Value) {
        if old != new {
            self.invalid(path, new.clone(), "field is immutable");
        }
    }

    /// Reports a negative number.
    fn non_negative(&mut self, path: impl fmt::Display, value: &Value) {
        if let Some(number) = value.as_i64().filter(|number| *number < 0) {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// Reports every problem that a format check found.
    fn format(&mut self, path: impl fmt::Display, value: &str, problems: Vec<String>) {
        for problem in problems {
            self.invalid(&path, value, problem);
        }
    }
}

impl FieldErrors for Vec<FieldError> {
    fn add(&mut self, kind: FieldErrorKind, path: impl fmt::Display, value: Value, detail: String) {
        self.push(FieldError { kind, path: path.to_string(), value, detail });
    }
}

fn supported_values(supported: &[&str]) -> String {
    let list: Vec<_> = supported.iter().map(|word| go::quoted(word)).collect();
    format!("supported values: {}", list.join(", "))
}

impl Status {
    /// Creates a status with this code, reason and message, without details.
    pub(crate) fn new(code: u16, reason: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), message: message.into(), details: None }
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
        let cause = Cause { message: message.to_owned(), ..Cause::default() };
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
                reason: error.kind.reason().into(),
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
            reason: "ResourceVersionTooLarge".into(),
            message: "Too large resource version".to_owned(),
            ..Cause::default()
        };
        let details = Details { causes: vec![cause], retry_after_seconds: Some(1), ..Details::default() };
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
            value["reason"] = json!(self.reason);
        }
        if let Some(details) = &self.details {
            value["details"] = json!(details);
        }
        value
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

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

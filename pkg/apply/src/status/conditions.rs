//! `status.conditions` of an object.

use manifest::{Object, Value, type_name};

use super::Status;

/// All conditions of an object, in their order.
pub(super) struct Conditions<'a>(Vec<Condition<'a>>);

/// One condition; missing fields are empty.
#[derive(Clone, Copy)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    /// `True`, `False` or `Unknown`.
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) observed_generation: Option<i64>,
}

impl<'a> Conditions<'a> {
    /// Reads the conditions; entries that are not mappings are ignored.
    /// # Errors
    /// The type of the value if it is not a list.
    pub(super) fn of(object: &'a Object) -> Result<Self, String> {
        match object.get(&["status", "conditions"]) {
            None | Some(Value::Null) => Ok(Self(Vec::new())),
            Some(Value::Array(items)) => Ok(Self(items.iter().filter_map(Condition::read).collect())),
            Some(other) => Err(format!("`status.conditions` is {}, not a list", type_name(other))),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Condition<'a>> {
        self.0.iter()
    }

    pub(super) fn get(&self, kind: &str) -> Option<&Condition<'a>> {
        self.0.iter().find(|condition| condition.kind == kind)
    }

    /// Returns the condition if it is True.
    pub(super) fn get_true(&self, kind: &str) -> Option<&Condition<'a>> {
        self.get(kind).filter(|condition| condition.is_true())
    }
}

impl<'a> Condition<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        let fields = value.as_object()?;
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            observed_generation: fields.get("observedGeneration").and_then(Value::as_i64),
        })
    }

    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }

    /// Formats the condition: `Ready: no such zone (NoZone)`.
    pub(super) fn describe(&self) -> String {
        let Self { kind, status, reason, message, .. } = self;
        match (message.is_empty(), reason.is_empty()) {
            (false, false) => format!("{kind}: {message} ({reason})"),
            (false, true) => format!("{kind}: {message}"),
            (true, false) => format!("{kind}: {reason}"),
            (true, true) => format!("{kind} is {status}"),
        }
    }

    /// Formats the condition as a suffix: ` (NoZone: no such zone)`; empty without reason and message.
    pub(super) fn suffix(&self) -> String {
        match (self.message.is_empty(), self.reason.is_empty()) {
            (false, false) => format!(" ({}: {})", self.reason, self.message),
            (true, true) => String::new(),
            _ => format!(" ({}{})", self.reason, self.message),
        }
    }
}

/// Returns the status of an object that waits for a condition to become True.
pub(super) fn missing_condition_status(conditions: &Conditions<'_>, kind: &str) -> Status {
    let words = conditions.get(kind).map(Condition::describe);
    Status::in_progress(words.unwrap_or_else(|| format!("has no condition {kind} yet")))
}

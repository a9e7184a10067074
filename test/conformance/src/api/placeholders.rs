//! Replaces values that differ between runs by names, so that answers can be compared and equal values stay visible.

use std::{collections::HashMap, fmt::Write as _, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

static UID: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
/// Current times only. Pages contain times in the past, servers return the present.
static TIME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"20(2[5-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"));
static CLUSTER_IP: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b10\.0\.0\.\d{1,3}\b"));
static LOOPBACK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b127\.0\.0\.1:\d+\b"));
static AGE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+[smhd])+$"));
/// Revisions in messages: in preconditions, and in objects printed as JSON.
static REVISION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?<before>(?:precondition|record) \(|resourceVersion\\*":\\*")(?<rv>\d+)"#));
static NEWEST_REVISION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(resource version: \d+) \(\d+\)"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("our own pattern is valid")
}

/// Repetitions of one character longer than this are written as `{a*64}`.
const MAX_RUN: usize = 40;

/// Servers append this many characters to a `generateName`, after truncating it to the following length.
const SUFFIX: usize = 5;
const MAX_STEM: usize = 58;

/// The names assigned so far. Each case has its own.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    /// Texts that are replaced everywhere: the namespace, the id, generated names.
    texts: Vec<(String, String)>,
    uids: HashMap<String, usize>,
    revisions: HashMap<String, usize>,
    addresses: HashMap<String, usize>,
    generated: usize,
}

impl Placeholders {
    /// Replaces a text everywhere.
    pub(super) fn add(&mut self, text: &str, name: &str) {
        self.texts.push((text.to_owned(), name.to_owned()));
    }

    /// Inspects a full body or event before parts are removed. Finds generated names. Replaces the revision of the
    /// entire server, which other cases also change.
    pub(super) fn record_generated(&mut self, value: &mut Value) {
        self.find_generated(value);
        let is_list = value["kind"].as_str().is_some_and(|kind| kind.ends_with("List") || kind == "Table");
        let revision = match (is_list, value["type"] == "BOOKMARK") {
            (true, _) => value.pointer_mut("/metadata/resourceVersion"),
            (_, true) => value.pointer_mut("/object/metadata/resourceVersion"),
            _ => None,
        };
        if let Some(revision) = revision.filter(|revision| revision.as_str() != Some("")) {
            *revision = Value::from("<revision>");
        }
    }

    /// Replaces all values in the remaining parts of a body or an event.
    pub(super) fn normalise(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.normalise(item)),
            Value::Object(fields) => {
                let old = std::mem::take(fields);
                for (key, mut field) in old {
                    self.field(&key, &mut field);
                    fields.insert(self.text(&key), field);
                }
            }
            Value::String(text) => *text = self.text(text),
            _ => {}
        }
    }

    /// Replaces all values in a text.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for (found, name) in &self.texts {
            if text.contains(found) {
                text = text.replace(found, name);
            }
        }
        let text = replace(&UID, &text, |uid| numbered("uid", &mut self.uids, uid));
        let text = replace(&TIME, &text, |time| {
            (if time.contains('.') { "<micro time>" } else { "<time>" }).to_owned()
        });
        let text = replace(&CLUSTER_IP, &text, |ip| numbered("ip", &mut self.addresses, ip));
        let text = LOOPBACK.replace_all(&text, "<address>");
        let text = NEWEST_REVISION.replace_all(&text, "$1 (<revision>)");
        let text = REVISION.replace_all(&text, |found: &Captures<'_>| {
            format!("{}{}", &found["before"], numbered("rv", &mut self.revisions, &found["rv"]))
        });
        shorten_runs(&text)
    }

    fn field(&mut self, key: &str, value: &mut Value) {
        match (key, &*value) {
            ("resourceVersion", Value::String(text))
                if text.len() < 15 && text.parse::<u64>().is_ok_and(|rv| rv > 0) =>
            {
                *value = Value::from(numbered("rv", &mut self.revisions, text));
            }
            ("continue", Value::String(text)) if !text.is_empty() => *value = Value::from("<token>"),
            ("storageVersionHash", Value::String(text)) if !text.is_empty() => *value = Value::from("<hash>"),
            ("cells", Value::Array(_)) => {
                hide_ages(value);
                self.normalise(value);
            }
            ("nodePort" | "healthCheckNodePort", Value::Number(_)) => *value = Value::from("<port>"),
            _ => self.normalise(value),
        }
    }

    /// Records names that servers generated from a `generateName`, before any replacement.
    fn find_generated(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.find_generated(item)),
            Value::Object(fields) => {
                let text = |key| fields.get(key).and_then(Value::as_str);
                if let (Some(base), Some(name)) = (text("generateName"), text("name"))
                    && let Some(stem) = name.len().checked_sub(SUFFIX).and_then(|end| name.get(..end))
                    && (base == stem || (base.starts_with(stem) && stem.len() == MAX_STEM))
                    && !self.texts.iter().any(|(found, _)| found == name)
                {
                    self.generated += 1;
                    // Inserted before the namespace and the id, because the name may contain them.
                    let stem = self.text(stem);
                    self.texts.insert(0, (name.to_owned(), format!("{stem}<random {}>", self.generated)));
                }
                fields.values().for_each(|field| self.find_generated(field));
            }
            _ => {}
        }
    }
}

fn numbered(kind: &str, known: &mut HashMap<String, usize>, found: &str) -> String {
    let next = known.len() + 1;
    let number = *known.entry(found.to_owned()).or_insert(next);
    format!("<{kind} {number}>")
}

fn replace(pattern: &Regex, text: &str, mut name: impl FnMut(&str) -> String) -> String {
    pattern.replace_all(text, |found: &Captures<'_>| name(&found[0])).into_owned()
}

/// Replaces the ages in the cells of a row.
fn hide_ages(cells: &mut Value) {
    for cell in cells.as_array_mut().into_iter().flatten() {
        if cell.as_str().is_some_and(|text| AGE.is_match(text)) {
            *cell = Value::from("<age>");
        }
    }
}

fn shorten_runs(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let mut length = 1;
        while characters.next_if_eq(&character).is_some() {
            length += 1;
        }
        if length > MAX_RUN {
            let _ = write!(short, "{{{character}*{length}}}");
        } else {
            short.extend(std::iter::repeat_n(character, length));
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn varying_values_get_placeholders_and_equal_ones_share_one() {
        let mut names = Placeholders::default();
        names.add("ns-q7", "{ns}");
        let mut value = json!({
            "kind": "A",
            "metadata": {
                "creationTimestamp": "2026-01-02T03:04:05Z",
                "generateName": "a-", "name": "a-x2f4z", "namespace": "ns-q7",
                "resourceVersion": "123",
                "uid": "01234567-89ab-cdef-0123-456789abcdef",
            },
            "owner": {"uid": "01234567-89ab-cdef-0123-456789abcdef", "resourceVersion": "124"},
            "long": "b".repeat(64),
            "message": "the ResourceVersion in the precondition (123) does not match",
            "then": "2001-01-01T00:00:00Z",
        });
        names.record_generated(&mut value);
        names.normalise(&mut value);
        assert_eq!(
            value,
            json!({
                "kind": "A",
                "metadata": {
                    "creationTimestamp": "<time>",
                    "generateName": "a-", "name": "a-<random 1>", "namespace": "{ns}",
                    "resourceVersion": "<rv 1>",
                    "uid": "<uid 1>",
                },
                "owner": {"uid": "<uid 1>", "resourceVersion": "<rv 2>"},
                "long": "{b*64}",
                "message": "the ResourceVersion in the precondition (<rv 1>) does not match",
                "then": "2001-01-01T00:00:00Z",
            })
        );
    }

    #[test]
    fn the_revision_of_a_list_and_the_ages_of_a_table_are_hidden() {
        let mut names = Placeholders::default();
        let mut table = json!({
            "kind": "Table", "metadata": {"resourceVersion": "9"},
            "rows": [{"cells": ["a", "3s"]}],
        });
        names.record_generated(&mut table);
        names.normalise(&mut table);
        assert_eq!(table["metadata"]["resourceVersion"], "<revision>");
        assert_eq!(table["rows"][0]["cells"], json!(["a", "<age>"]));
    }
}

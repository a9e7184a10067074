//! YAML against Go: what `sigs.k8s.io/yaml` and the document reader of Kubernetes gave for hand-made input.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use manifest::{Value, YamlLimits, read_stream, yaml};
use serde::Deserialize;
use support::skip::golden;

/// One input and what Go gave for it.
#[derive(Deserialize)]
struct ReadCase {
    name: String,
    input: Option<String>,
    input_base64: Option<String>,
    /// The objects of the stream, one JSON text a line, or an error among them.
    clusterctl: String,
    /// The first document, duplicate keys refused.
    strict: String,
    /// The first document, printed back.
    reprinted: String,
}

/// One value and the text Go prints for it.
#[derive(Deserialize)]
struct WriteCase {
    value: Value,
    text: String,
}

impl ReadCase {
    fn bytes(&self) -> Vec<u8> {
        match (&self.input, &self.input_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(packed)) => BASE64_STANDARD.decode(packed).unwrap(),
            (None, None) => panic!("case {} has no input", self.name),
        }
    }

    /// Says in what we differ from Go; nothing where we agree.
    fn difference(&self) -> Option<String> {
        let bytes = self.bytes();
        // As deep as Go reads; the limit of every day is lower.
        let limits = YamlLimits { depth: 10_000, ..YamlLimits::default() };
        let stream = read_stream(&bytes, &limits)
            .map(|stream| stream.objects.into_iter().map(Value::from).collect::<Vec<_>>())
            .map_err(|error| error.to_string());
        let mut differences = String::new();
        let mut compare = |what: &str, expected: &str, agrees: bool, found: String| {
            if !agrees {
                let _ = writeln!(differences, "  {what}: expected {expected:?}, found {found}");
            }
        };
        compare("stream", &self.clusterctl, agrees(&self.clusterctl, &stream), format!("{stream:?}"));
        // One value is read from text, so that input which is none has nothing to compare here.
        if let Some(text) = &self.input {
            let strict = yaml::read_value_strict(text, &limits).map_err(|error| error.to_string());
            let one = strict.map(|value| vec![value]);
            compare("strict", &self.strict, agrees(&self.strict, &one), format!("{one:?}"));
            let reprinted = read_mapping(text, &limits).map(|value| yaml::write(&value));
            let printed_alike = match &reprinted {
                Ok(printed) => *printed == self.reprinted,
                Err(_) => self.reprinted.starts_with("ERR "),
            };
            compare("reprinted", &self.reprinted, printed_alike, format!("{reprinted:?}"));
        }
        (!differences.is_empty()).then_some(differences)
    }
}

fn read_mapping(text: &str, limits: &YamlLimits) -> Result<Value, String> {
    match yaml::read_value(text, limits).map_err(|error| error.to_string())? {
        value @ (Value::Object(_) | Value::Null) => Ok(value),
        _ => Err("expected a mapping".to_owned()),
    }
}

/// Any refusal agrees with any refusal; values agree as values.
fn agrees(expected: &str, found: &Result<Vec<Value>, String>) -> bool {
    let lines = || expected.lines().filter(|line| *line != "NIL");
    if lines().any(|line| line.starts_with("ERR ") || line.starts_with("READERR ")) {
        return found.is_err();
    }
    found.as_ref().is_ok_and(|found| {
        lines().count() == found.len() && lines().zip(found).all(|(line, value)| is_same_json(line, value))
    })
}

/// Compares a JSON text of Go, which marks no whole number as a float, with a value.
fn is_same_json(line: &str, value: &Value) -> bool {
    match serde_json::from_str(line) {
        Ok(expected) => whole_numbers(expected) == *value,
        // Nested too deep for that parser: the texts are the same where no number is in them.
        Err(_) => serde_json::to_string(value).is_ok_and(|text| text == line),
    }
}

fn whole_numbers(value: Value) -> Value {
    match value {
        // `-0` is the only whole number serde_json keeps as a float.
        Value::Number(number) if number.as_f64() == Some(0.0) => Value::from(0),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

fn cases<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The cases where we differ on purpose, with the reason of each.
fn departures() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("yaml-departures.txt");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, reason) = line.split_once(": ").unwrap_or_else(|| panic!("no reason given: {line}"));
            (name.to_owned(), reason.to_owned())
        })
        .collect()
}

// Row: D-44, D-46
#[test]
fn yaml_is_parsed_like_go_except_for_known_differences() {
    let Some(path) = golden().map(|folder| folder.join("yaml/read.jsonl")) else { return };
    // The deepest case is dropped and printed by functions that call themselves.
    let run = thread::Builder::new().stack_size(256 << 20).spawn(move || compare_reading(&path)).unwrap();
    let problems = run.join().unwrap();
    assert!(problems.is_empty(), "{problems}");
}

fn compare_reading(path: &Path) -> String {
    let mut departures = departures();
    let mut problems = String::new();
    for case in cases::<ReadCase>(path) {
        match (case.difference(), departures.remove(&case.name)) {
            (Some(difference), None) => {
                let _ = write!(problems, "{} differs:\n{difference}", case.name);
            }
            (None, Some(reason)) => {
                let _ =
                    writeln!(problems, "{} now matches, but is listed as a departure: {reason}", case.name);
            }
            _ => {}
        }
    }
    for name in departures.keys() {
        let _ = writeln!(problems, "{name} is listed as a departure, but is not a case");
    }
    problems
}

// Row: D-47
#[test]
fn values_are_printed_like_go() {
    let Some(path) = golden().map(|folder| folder.join("yaml/emit.jsonl")) else { return };
    let mut problems = String::new();
    for (index, case) in cases::<WriteCase>(&path).into_iter().enumerate() {
        let printed = yaml::write(&case.value);
        if case.text == "ERR yaml: control characters are not allowed" {
            // Go refuses to print these; here they are escaped.
            let is_refused = |character| matches!(character, '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}');
            assert!(!printed.contains(is_refused), "{printed}");
        } else if printed != case.text {
            let line = index + 1;
            let _ = writeln!(
                problems,
                "line {line}: {}\n  expected {:?}\n  printed  {printed:?}",
                case.value, case.text
            );
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

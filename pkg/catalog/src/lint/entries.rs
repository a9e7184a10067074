//! The checks of Commodore: removed references, and entries of dependencies that cannot be used.

use std::fs;
use std::path::Path;

use manifest::{Value, YamlLimits, yaml};

use super::class_file::visit_texts;
use super::files::MAX_FILE_BYTES;
use super::finding::{LintCode, LintFinding, LintRule};

/// References that Commodore no longer supports.
pub(super) const REMOVED: [&str; 4] =
    ["${customer:name}", "${cloud:provider}", "${cloud:region}", "${cluster:dist}"];
/// The fields of an entry of a dependency.
const FIELDS: [&str; 3] = ["url", "version", "path"];

/// Checks one file.
pub(super) fn check_file(path: &Path, rules: &[LintRule], findings: &mut Vec<LintFinding>) {
    if fs::metadata(path).map_or(true, |metadata| metadata.len() > MAX_FILE_BYTES) {
        return;
    }
    let Ok(text) = fs::read_to_string(path) else { return };
    let needs = |rule: &LintRule| match rule {
        LintRule::Components => text.contains("components"),
        LintRule::Packages => text.contains("packages"),
        LintRule::DeprecatedParameters => REMOVED.iter().any(|removed| text.contains(removed)),
        _ => false,
    };
    if !rules.iter().any(needs) {
        return;
    }
    let Ok(content @ Value::Object(_)) = yaml::read_settings(&text, &YamlLimits::default()) else { return };
    let mut file = LintedFile { path, text: &text, findings };
    for rule in rules.iter().filter(|rule| needs(rule)) {
        match rule {
            LintRule::Components => {
                file.check_dependencies(&content, "components", "Component", LintCode::InvalidComponent);
            }
            LintRule::Packages => {
                file.check_dependencies(&content, "packages", "Package", LintCode::InvalidPackage);
            }
            _ => file.check_references(&content),
        }
    }
}

/// A file during its checks.
struct LintedFile<'a> {
    path: &'a Path,
    text: &'a str,
    findings: &'a mut Vec<LintFinding>,
}

impl LintedFile<'_> {
    fn add(&mut self, code: LintCode, field: &str, message: String) {
        let line = yaml::line_of(self.text, field);
        self.findings.push(LintFinding { code, file: self.path.to_owned(), line, message });
    }

    fn check_references(&mut self, content: &Value) {
        visit_texts(content, "", &mut |field, text| {
            for removed in REMOVED.iter().filter(|removed| text.contains(**removed)) {
                let file = self.path.display();
                let message =
                    format!("Field '{field}' in file '{file}' contains deprecated parameter '{removed}'");
                self.add(LintCode::RemovedReference, field, message);
            }
        });
    }

    fn check_dependencies(&mut self, content: &Value, key: &str, kind: &str, code: LintCode) {
        let file = self.path.display().to_string();
        let Some(parameters) = content.get("parameters") else { return };
        if !parameters.is_object() {
            return self.add(code, "parameters", format!("Key 'parameters' isn't a dictionary in {file}"));
        }
        let entries = parameters.get(key).and_then(Value::as_object);
        for (name, entry) in entries.into_iter().flatten() {
            let field = format!("parameters.{key}.{name}");
            let Some(entry) = entry.as_object() else {
                self.add(
                    code,
                    &field,
                    format!("{kind} specification for {name} isn't a dictionary in {file}"),
                );
                continue;
            };
            if !entry.contains_key("version") {
                let message = format!("{kind} specification for {name} is missing key 'version' in {file}");
                self.add(code, &field, message);
            }
            let unknown: Vec<&str> =
                entry.keys().map(String::as_str).filter(|key| !FIELDS.contains(key)).collect();
            if !unknown.is_empty() {
                let unknown = unknown.join("', '");
                let message =
                    format!("{kind} specification for {name} contains unknown key(s) '{unknown}' in {file}");
                self.add(code, &field, message);
            }
            for part in ["url", "version"] {
                if entry.get(part).is_some_and(|value| !value.is_string()) {
                    let message = format!("{kind} {name} {part} is no text in {file}");
                    self.add(code, &format!("{field}.{part}"), message);
                }
            }
        }
    }
}

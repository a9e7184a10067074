//! The checks of Commodore: removed references, and entries of dependencies that cannot be used.

use std::path::Path;

use manifest::Value;

use super::class_file::{ClassFile, visit_texts};
use super::finding::{LintCode, LintFinding, LintRule};

/// References that Commodore no longer supports.
pub(super) const REMOVED: [&str; 4] =
    ["${customer:name}", "${cloud:provider}", "${cloud:region}", "${cluster:dist}"];
/// The fields of an entry of a dependency.
const FIELDS: [&str; 3] = ["url", "version", "path"];

/// Checks one file.
pub(super) fn check_file(path: &Path, rules: &[LintRule], findings: &mut Vec<LintFinding>) {
    let needs = |rule: &LintRule, text: &str| match rule {
        LintRule::Components => text.contains("components"),
        LintRule::Packages => text.contains("packages"),
        LintRule::DeprecatedParameters => REMOVED.iter().any(|removed| text.contains(removed)),
        _ => false,
    };
    let mut needed = Vec::new();
    let file = ClassFile::read_if(path, |text| {
        needed.extend(rules.iter().filter(|rule| needs(rule, text)));
        !needed.is_empty()
    });
    let Some(file) = file else { return };
    let mut checked = CheckedFile { file: &file, findings };
    for rule in needed {
        match rule {
            LintRule::Components => {
                checked.check_dependencies("components", "Component", LintCode::InvalidComponent);
            }
            LintRule::Packages => {
                checked.check_dependencies("packages", "Package", LintCode::InvalidPackage);
            }
            _ => checked.check_references(),
        }
    }
}

/// A file during its checks.
struct CheckedFile<'a> {
    file: &'a ClassFile,
    findings: &'a mut Vec<LintFinding>,
}

impl CheckedFile<'_> {
    fn add(&mut self, code: LintCode, field: &str, message: String) {
        self.findings.push(self.file.finding(code, field, message));
    }

    fn check_references(&mut self) {
        visit_texts(&self.file.content, "", &mut |field, text| {
            for removed in REMOVED.iter().filter(|removed| text.contains(**removed)) {
                let file = self.file.path.display();
                let message =
                    format!("Field '{field}' in file '{file}' contains deprecated parameter '{removed}'");
                self.findings.push(self.file.finding(LintCode::RemovedReference, field, message));
            }
        });
    }

    fn check_dependencies(&mut self, key: &str, kind: &str, code: LintCode) {
        let file = self.file.path.display().to_string();
        let Some(parameters) = self.file.content.get("parameters") else { return };
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

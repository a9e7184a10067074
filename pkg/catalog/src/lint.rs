//! Findings in the files of a hierarchy: removed references, and entries of dependencies that cannot be used.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use manifest::{Value, YamlLimits, yaml};

use crate::error::CatalogError;
use crate::step::{Step, StepSink};

/// References that Commodore no longer supports.
const REMOVED: [&str; 4] = ["${customer:name}", "${cloud:provider}", "${cloud:region}", "${cluster:dist}"];
/// The fields of an entry of a dependency.
const FIELDS: [&str; 3] = ["url", "version", "path"];
/// The maximum size of a checked file.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The maximum nesting of folders.
const MAX_FOLDERS: usize = 64;

/// A check of the files of a hierarchy. The names are those of Commodore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LintRule {
    /// The entries of `parameters.components`.
    Components,
    /// The entries of `parameters.packages`.
    Packages,
    /// References that are no longer supported.
    DeprecatedParameters,
}

/// A finding in a file. The texts are those of Commodore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    /// The file with the finding.
    pub file: PathBuf,
    /// The line in the file, from 1, if it is known.
    pub line: Option<usize>,
    /// The text, with the name of the file.
    pub message: String,
}

impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "> {}", self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// Checks files and folders. Hidden files, and files that are no YAML mapping, have no findings.
pub fn lint(paths: &[PathBuf], rules: &[LintRule]) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for path in paths {
        check_path(path, 0, rules, &mut findings);
    }
    findings
}

/// Checks files and folders for removed references.
///
/// # Errors
/// There are such references; each is reported.
pub(crate) fn check_removed_references(
    location: &str,
    paths: &[PathBuf],
    report: StepSink<'_>,
) -> Result<(), CatalogError> {
    let findings = lint(paths, &[LintRule::DeprecatedParameters]);
    for finding in &findings {
        report(Step::Text(format!("> {}", finding.message)));
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(CatalogError::rule_with_hint(
        format!(
            "Found {} usages of removed reclass variables in the {location}. See individual lint errors for details.",
            findings.len()
        ),
        "use `${cluster:tenant}`, `${facts:cloud}`, `${facts:region}` and `${facts:distribution}` instead",
    ))
}

fn check_path(path: &Path, depth: usize, rules: &[LintRule], findings: &mut Vec<LintFinding>) {
    if !path.is_dir() {
        return check_file(path, rules, findings);
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
        if depth < MAX_FOLDERS {
            check_path(&path.join(name), depth + 1, rules, findings);
        }
    }
}

fn check_file(path: &Path, rules: &[LintRule], findings: &mut Vec<LintFinding>) {
    if fs::metadata(path).map_or(true, |metadata| metadata.len() > MAX_FILE_BYTES) {
        return;
    }
    let Ok(text) = fs::read_to_string(path) else { return };
    let needs = |rule: &LintRule| match rule {
        LintRule::Components => text.contains("components"),
        LintRule::Packages => text.contains("packages"),
        LintRule::DeprecatedParameters => REMOVED.iter().any(|removed| text.contains(removed)),
    };
    if !rules.iter().any(needs) {
        return;
    }
    let Ok(content @ Value::Object(_)) = yaml::read_settings(&text, &YamlLimits::default()) else { return };
    let mut file = LintedFile { path, text: &text, findings };
    for rule in rules.iter().filter(|rule| needs(rule)) {
        match rule {
            LintRule::Components => file.check_dependencies(&content, "components", "Component"),
            LintRule::Packages => file.check_dependencies(&content, "packages", "Package"),
            LintRule::DeprecatedParameters => file.check_references("", &content),
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
    fn add(&mut self, field: &str, message: String) {
        let line = yaml::line_of(self.text, field);
        self.findings.push(LintFinding { file: self.path.to_owned(), line, message });
    }

    fn check_references(&mut self, field: &str, value: &Value) {
        match value {
            Value::String(text) => {
                for removed in REMOVED.iter().filter(|removed| text.contains(**removed)) {
                    let file = self.path.display();
                    let message =
                        format!("Field '{field}' in file '{file}' contains deprecated parameter '{removed}'");
                    self.add(field, message);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check_references(&format!("{field}[{index}]"), item);
                }
            }
            Value::Object(fields) => {
                let dot = if field.is_empty() { "" } else { "." };
                for (key, value) in fields {
                    self.check_references(&format!("{field}{dot}{key}"), value);
                }
            }
            _ => {}
        }
    }

    fn check_dependencies(&mut self, content: &Value, key: &str, kind: &str) {
        let file = self.path.display().to_string();
        let Some(parameters) = content.get("parameters") else { return };
        if !parameters.is_object() {
            return self.add("parameters", format!("Key 'parameters' isn't a dictionary in {file}"));
        }
        let entries = parameters.get(key).and_then(Value::as_object);
        for (name, entry) in entries.into_iter().flatten() {
            let field = format!("parameters.{key}.{name}");
            let Some(entry) = entry.as_object() else {
                self.add(&field, format!("{kind} specification for {name} isn't a dictionary in {file}"));
                continue;
            };
            if !entry.contains_key("version") {
                let message = format!("{kind} specification for {name} is missing key 'version' in {file}");
                self.add(&field, message);
            }
            let unknown: Vec<&str> =
                entry.keys().map(String::as_str).filter(|key| !FIELDS.contains(key)).collect();
            if !unknown.is_empty() {
                let unknown = unknown.join("', '");
                let message =
                    format!("{kind} specification for {name} contains unknown key(s) '{unknown}' in {file}");
                self.add(&field, message);
            }
            for part in ["url", "version"] {
                if entry.get(part).is_some_and(|value| !value.is_string()) {
                    let message = format!("{kind} {name} {part} is no text in {file}");
                    self.add(&format!("{field}.{part}"), message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn each_field_with_a_removed_reference_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.yml",
            "# ${cluster:dist}\nparameters: {x: ['${cloud:region}', 1], y: '${cluster:dist}${customer:name}'}\n",
        );
        write(".hidden.yml", "a: ${cluster:dist}");
        write("list.yml", "- ${cluster:dist}");
        let lines = RefCell::new(Vec::new());
        let report = |step: Step| lines.borrow_mut().push(step.to_string());
        let checked = check_removed_references("hierarchy", &[folder.path().to_owned()], &report);
        assert_eq!(
            checked.unwrap_err().to_string(),
            "Found 3 usages of removed reclass variables in the hierarchy. See individual lint errors for details."
        );
        let file = folder.path().join("a.yml");
        let line = |field: &str, reference: &str| {
            format!(
                "> Field '{field}' in file '{}' contains deprecated parameter '{reference}'",
                file.display()
            )
        };
        assert_eq!(
            lines.into_inner(),
            [
                line("parameters.x[0]", "${cloud:region}"),
                line("parameters.y", "${customer:name}"),
                line("parameters.y", "${cluster:dist}"),
            ]
        );
    }

    #[test]
    fn entries_of_dependencies_have_known_fields_and_texts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yml");
        fs::write(
            &file,
            "parameters:\n  components:\n    a: {url: u, version: 1.10}\n    b: {url: u, verison: v1}\n    c: v1\n    d: {version: v2}\n  packages:\n    p: {url: 1}\n",
        )
        .unwrap();
        let rules = [LintRule::Components, LintRule::Packages];
        let found = lint(&[folder.path().to_owned()], &rules);
        let shown: Vec<String> = found
            .iter()
            .map(|finding| finding.to_string().replace(&file.display().to_string(), "FILE"))
            .collect();
        assert_eq!(
            shown,
            [
                "> Component a version is no text in FILE (line 3)",
                "> Component specification for b is missing key 'version' in FILE (line 4)",
                "> Component specification for b contains unknown key(s) 'verison' in FILE (line 4)",
                "> Component specification for c isn't a dictionary in FILE (line 5)",
                "> Package specification for p is missing key 'version' in FILE (line 8)",
                "> Package p url is no text in FILE (line 8)",
            ]
        );
    }
}

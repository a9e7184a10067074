//! References that Commodore no longer supports.

use std::fs;
use std::path::{Path, PathBuf};

use manifest::{Value, YamlLimits, yaml};

use crate::error::CatalogError;
use crate::step::{Step, StepSink};

const REMOVED: [&str; 4] = ["${customer:name}", "${cloud:provider}", "${cloud:region}", "${cluster:dist}"];
/// The maximum size of a checked file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Checks files and folders for removed references. Comments, hidden files and files that are no YAML mapping may have
/// them.
///
/// # Errors
/// There are such references; each is reported.
pub(crate) fn check_removed_references(
    location: &str,
    paths: &[PathBuf],
    report: StepSink<'_>,
) -> Result<(), CatalogError> {
    let mut count = 0;
    for path in paths {
        count += check_path(path, 0, report);
    }
    if count == 0 {
        return Ok(());
    }
    Err(CatalogError::rule_with_hint(
        format!(
            "Found {count} usages of removed reclass variables in the {location}. See individual lint errors for details."
        ),
        "use `${cluster:tenant}`, `${facts:cloud}`, `${facts:region}` and `${facts:distribution}` instead",
    ))
}

/// The maximum nesting of folders.
const MAX_FOLDERS: usize = 64;

fn check_path(path: &Path, depth: usize, report: StepSink<'_>) -> usize {
    if !path.is_dir() {
        return check_file(path, report);
    }
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    let visible = names.iter().filter(|name| !name.to_string_lossy().starts_with('.'));
    if depth == MAX_FOLDERS {
        return 0;
    }
    visible.map(|name| check_path(&path.join(name), depth + 1, report)).sum()
}

fn check_file(path: &Path, report: StepSink<'_>) -> usize {
    if fs::metadata(path).map_or(true, |metadata| metadata.len() > MAX_FILE_BYTES) {
        return 0;
    }
    let Ok(text) = fs::read_to_string(path) else { return 0 };
    if !REMOVED.iter().any(|removed| text.contains(removed)) {
        return 0;
    }
    match yaml::read_settings(&text, &YamlLimits::default()) {
        Ok(Value::Object(fields)) => check_value(path, "", &Value::Object(fields), report),
        _ => 0,
    }
}

fn check_value(file: &Path, field: &str, value: &Value, report: StepSink<'_>) -> usize {
    match value {
        Value::String(text) => {
            let found: Vec<_> = REMOVED.iter().filter(|removed| text.contains(**removed)).collect();
            for removed in &found {
                report(Step::Text(format!(
                    "> Field '{field}' in file '{}' contains deprecated parameter '{removed}'",
                    file.display()
                )));
            }
            found.len()
        }
        Value::Array(items) => {
            let check = |(index, item)| check_value(file, &format!("{field}[{index}]"), item, report);
            items.iter().enumerate().map(check).sum()
        }
        Value::Object(fields) => {
            let dot = if field.is_empty() { "" } else { "." };
            fields
                .iter()
                .map(|(key, value)| check_value(file, &format!("{field}{dot}{key}"), value, report))
                .sum()
        }
        _ => 0,
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
}

//! Findings in the files of a hierarchy, before a compilation.
//!
//! ```text
//! each file ─► removed references, entries of dependencies, secrets ──────────────────────────┐
//! working folder: classes, components ─► unused parameters, references without value, unused ─┴─► findings
//! ```
//!
//! | module | content |
//! |---|---|
//! | `finding` | the checks, and what they find |
//! | `files` | the checked files, and the working folders around them |
//! | `class_file` | a file of a hierarchy, with the fields and lines of its texts |
//! | `entries` | removed references, and entries of dependencies that cannot be used: the checks of Commodore |
//! | `secrets` | values that look like secrets |
//! | `hierarchy` | the classes and components of a working folder |
//! | `references` | references that no class gives a value |
//! | `unused` | parameters that nothing reads, and dependencies that no application includes |

mod class_file;
mod entries;
mod files;
mod finding;
mod hierarchy;
mod references;
mod secrets;
#[cfg(test)]
mod tests;
mod unused;

use std::path::PathBuf;

use class_file::ClassFile;
use files::{files_below, own_files, working_folders};
pub use finding::{LintCode, LintFinding, LintReport, LintRule};
use hierarchy::Hierarchy;

use crate::error::CatalogError;
use crate::step::{Step, StepSink};

/// Checks files and folders. Hidden files, and files that are no YAML mapping, have no findings.
pub fn lint(paths: &[PathBuf], rules: &[LintRule]) -> LintReport {
    let mut report = LintReport::default();
    for path in paths {
        for file in files_below(path) {
            entries::check_file(&file, rules, &mut report.findings);
        }
    }
    let own = own_files(paths);
    if rules.contains(&LintRule::Secrets) {
        let mut findings = Vec::new();
        for class in own.values().filter_map(|shown| ClassFile::read(shown)) {
            secrets::check(&class, &mut findings);
        }
        report.findings.extend(in_order(findings));
    }
    let rules: Vec<LintRule> = rules.iter().copied().filter(|rule| rule.needs_hierarchy()).collect();
    if rules.is_empty() {
        return report;
    }
    let (folders, outside) = working_folders(paths);
    for path in outside {
        let names: Vec<_> = rules.iter().map(|rule| rule.name()).collect();
        report.skipped.push(format!("{}: `{}` is in no working folder", names.join(", "), path.display()));
    }
    for folder in folders {
        let hierarchy = Hierarchy::read(&folder, &own);
        for rule in &rules {
            let checked = match rule {
                LintRule::UnknownReferences => references::check(&hierarchy),
                LintRule::UnusedDependencies => unused::check_dependencies(&hierarchy),
                _ => unused::check_parameters(&hierarchy),
            };
            report.findings.extend(in_order(checked.findings));
            report.skipped.extend(checked.skipped);
        }
    }
    report
}

/// Sorts findings by their files and lines.
fn in_order(mut findings: Vec<LintFinding>) -> Vec<LintFinding> {
    findings.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
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
    let findings = lint(paths, &[LintRule::DeprecatedParameters]).findings;
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

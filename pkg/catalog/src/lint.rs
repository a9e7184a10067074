//! Findings in the files of a hierarchy, before a compilation.
//!
//! ```text
//! each file ─► removed references, entries of dependencies, secrets ──────────────────────────┐
//! working folder: classes, components ─► unused parameters, references without value, unused ─┴─► findings
//! ```
//!
//! | module | content |
//! |---|---|
//! | `class_file` | a file of a hierarchy, with the fields and lines of its texts |
//! | `entries` | removed references, and entries of dependencies that cannot be used: the checks of Commodore |
//! | `secrets` | values that look like secrets |
//! | `hierarchy` | the classes and components of a working folder |
//! | `references` | references that no class gives a value |
//! | `unused` | parameters that nothing reads, and dependencies that no application includes |

mod class_file;
mod entries;
mod hierarchy;
mod references;
mod secrets;
#[cfg(test)]
mod tests;
mod unused;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use class_file::ClassFile;
use hierarchy::Hierarchy;

use crate::error::CatalogError;
use crate::step::{Step, StepSink};

/// The maximum size of a checked file.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The maximum nesting of folders.
const MAX_FOLDERS: usize = 64;
/// The folders of a working folder that compilations fill.
const FILLED_FOLDERS: [&str; 4] = ["catalog", "compiled", "dependencies", "vendor"];
/// The folder with the test cases of a component or package.
const TESTS: &str = "tests";

/// A check of the files of a hierarchy. The first three are those of Commodore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LintRule {
    /// The entries of `parameters.components`.
    Components,
    /// The entries of `parameters.packages`.
    Packages,
    /// References that are no longer supported.
    DeprecatedParameters,
    /// Values that look like secrets.
    Secrets,
    /// References that no class gives a value.
    UnknownReferences,
    /// Components and packages that no application includes.
    UnusedDependencies,
    /// Parameters that nothing reads.
    UnusedParameters,
}

impl LintRule {
    /// All checks of a hierarchy.
    pub const ALL: [Self; 7] = [
        Self::Components,
        Self::Packages,
        Self::DeprecatedParameters,
        Self::Secrets,
        Self::UnknownReferences,
        Self::UnusedDependencies,
        Self::UnusedParameters,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Components => "components",
            Self::Packages => "packages",
            Self::DeprecatedParameters => "deprecated-parameters",
            Self::Secrets => "secrets",
            Self::UnknownReferences => "unknown-references",
            Self::UnusedDependencies => "unused-dependencies",
            Self::UnusedParameters => "unused-parameters",
        }
    }

    /// True if the check needs all classes and components of a working folder.
    fn needs_hierarchy(self) -> bool {
        matches!(self, Self::UnknownReferences | Self::UnusedDependencies | Self::UnusedParameters)
    }
}

/// The kind of a finding. The words never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LintCode {
    /// An entry of `parameters.components` that cannot be used.
    InvalidComponent,
    /// An entry of `parameters.packages` that cannot be used.
    InvalidPackage,
    /// A reference that is no longer supported.
    RemovedReference,
    /// A value that looks like a secret.
    Secret,
    /// A reference that no class gives a value.
    UnknownReference,
    /// A component that no application includes.
    UnusedComponent,
    /// A package that no application includes.
    UnusedPackage,
    /// A parameter that nothing reads.
    UnusedParameter,
}

impl LintCode {
    /// The word for the kind in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidComponent => "invalid-component",
            Self::InvalidPackage => "invalid-package",
            Self::RemovedReference => "removed-reference",
            Self::Secret => "secret",
            Self::UnknownReference => "unknown-reference",
            Self::UnusedComponent => "unused-component",
            Self::UnusedPackage => "unused-package",
            Self::UnusedParameter => "unused-parameter",
        }
    }

    /// True for a check of Commodore, whose output has no next step.
    pub fn is_of_commodore(self) -> bool {
        matches!(self, Self::InvalidComponent | Self::InvalidPackage | Self::RemovedReference)
    }

    /// The next step after a finding.
    pub fn advice(self) -> &'static str {
        match self {
            Self::InvalidComponent | Self::InvalidPackage => {
                "write `url` and `version` as texts, and `path` if needed"
            }
            Self::RemovedReference => {
                "use `${cluster:tenant}`, `${facts:cloud}`, `${facts:region}` or `${facts:distribution}`"
            }
            Self::Secret => {
                "move the value to Vault, change it, and write a reference such as `?{vaultkv:path/key}`"
            }
            Self::UnknownReference => {
                "correct the reference, set the parameter, or give a default: `${a:b::value}`"
            }
            Self::UnusedComponent | Self::UnusedPackage => {
                "add it to `applications` of a class, or delete the entry"
            }
            Self::UnusedParameter => "correct its name, or delete it",
        }
    }
}

/// A finding in a file. The texts of the checks of Commodore are those of Commodore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    /// The kind of the finding.
    pub code: LintCode,
    /// The file with the finding.
    pub file: PathBuf,
    /// The line in the file, from 1, if it is known.
    pub line: Option<usize>,
    /// The text, with the name of the file. It never has the value of a secret.
    pub message: String,
}

impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "> {}", self.message)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

/// The findings in files, and the checks that were not possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// The findings of all checks.
    pub findings: Vec<LintFinding>,
    /// A text for each check that was not possible, with the reason.
    pub skipped: Vec<String>,
}

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

/// Returns all files below a path, except for hidden ones. Links are followed.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(path, 0, &|_| true, &mut files);
    files
}

/// Adds the files below a path whose paths are wanted, except for hidden ones.
fn collect(path: &Path, depth: usize, is_wanted: &dyn Fn(&Path) -> bool, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        return files.push(path.to_owned());
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
        let path = path.join(name);
        if depth < MAX_FOLDERS && is_wanted(&path) {
            collect(&path, depth + 1, is_wanted, files);
        }
    }
}

/// Returns the files that the user writes: without links, test cases, and what compilations fetch and write. A path of the
/// user is always wanted. The keys are the paths without links.
fn own_files(paths: &[PathBuf]) -> BTreeMap<PathBuf, PathBuf> {
    let is_wanted = |path: &Path| {
        let is_filled = FILLED_FOLDERS.iter().any(|name| path.ends_with(name));
        let is_work = || path.parent().is_some_and(|parent| parent.join("inventory/classes").is_dir());
        !(path.is_symlink() || path.ends_with(TESTS) || is_filled && is_work())
    };
    let mut files = Vec::new();
    for path in paths {
        collect(path, 0, &is_wanted, &mut files);
    }
    files.into_iter().filter_map(|file| Some((file.canonicalize().ok()?, file))).collect()
}

/// Returns the working folders around paths, and the paths without one.
fn working_folders(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<&PathBuf>) {
    let (mut folders, mut outside) = (Vec::new(), Vec::new());
    for path in paths {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        match real.ancestors().find(|folder| folder.join("inventory/classes").is_dir()) {
            Some(folder) if !folders.iter().any(|known| known == folder) => folders.push(folder.to_owned()),
            Some(_) => {}
            None => outside.push(path),
        }
    }
    (folders, outside)
}

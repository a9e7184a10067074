//! The checks, and what they find.

use std::fmt;
use std::path::PathBuf;

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
    pub(super) fn needs_hierarchy(self) -> bool {
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

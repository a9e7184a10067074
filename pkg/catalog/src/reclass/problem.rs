//! Problems of parameters, with positions and the references that led to them.

use std::fmt;
use std::path::PathBuf;

/// A position in a file of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The class; the target if the file is that of a target.
    pub class: String,
    /// The file, as found from the folder of the inventory.
    pub file: PathBuf,
    /// The line in the file, from 1.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A parameter without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterProblem {
    /// The path of the parameter, such as `a.b[0]`; empty for the name of a class.
    pub parameter: String,
    /// The position of the value that causes the problem.
    pub location: Location,
    /// The references that are being resolved, outermost first.
    pub references: Vec<String>,
    /// The kind of the problem, with its facts.
    pub kind: ProblemKind,
}

impl std::error::Error for ParameterProblem {}

/// The kind of a problem of a parameter. The texts are those of reclass-rs, so that they can be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ProblemKind {
    /// A part of the path of a reference does not exist.
    MissingKey { reference: String, key: String, similar: Vec<String> },
    /// The path of a reference leads through a value that is no mapping.
    NoMapping { reference: String, key: String, reason: String },
    /// The default of a reference is not valid YAML.
    Default { reference: String, reason: String },
    /// A reference has no end, or is empty.
    Syntax { text: String },
    /// A reference needs its own value.
    Loop { references: Vec<String> },
    /// References are nested too deeply.
    Depth { references: Vec<String>, limit: usize },
    /// A value cannot be merged over a value of another type.
    Mismatch { value: &'static str, over: &'static str, earlier: Location },
    /// A class changes a constant parameter.
    Constant { key: String, earlier: Location },
    /// Lists and mappings are nested too deeply.
    Nesting { limit: usize },
    /// All values together are too large.
    Size { limit_bytes: usize },
}

impl ProblemKind {
    /// Returns the reference that the text of the problem has.
    pub(super) fn reference(&self) -> Option<&str> {
        match self {
            Self::MissingKey { reference, .. }
            | Self::NoMapping { reference, .. }
            | Self::Default { reference, .. } => Some(reference),
            _ => None,
        }
    }
}

impl fmt::Display for ParameterProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameter, location, .. } = self;
        write!(f, "{location}: ")?;
        match &self.kind {
            ProblemKind::MissingKey { reference, key, .. } => write!(
                f,
                "lookup error for reference '${{{reference}}}' in parameter '{parameter}': key '{key}' not found"
            ),
            ProblemKind::NoMapping { reference, key, reason } => write!(
                f,
                "While looking up key '{key}' in reference '${{{reference}}}' for parameter '{parameter}': {reason}"
            ),
            ProblemKind::Default { reference, reason } => write!(
                f,
                "Error parsing default value for reference '{reference}' in parameter '{parameter}': {reason}"
            ),
            ProblemKind::Syntax { text } => {
                write!(
                    f,
                    "Error while parsing ref: Error parsing reference '{text}' in parameter '{parameter}'"
                )
            }
            ProblemKind::Loop { references } => {
                write!(f, "Detected reference loop with reference paths {references:?}.")
            }
            ProblemKind::Depth { references, limit } => write!(
                f,
                "Token resolution exceeded recursion depth of {limit} for parameter '{parameter}'. \
                 We've seen the following reference paths: {references:?}."
            ),
            ProblemKind::Mismatch { value, over, earlier } => {
                write!(f, "In {parameter}: Can't merge {value} over {over}, which is set at {earlier}")
            }
            ProblemKind::Constant { key, earlier } => {
                write!(f, "Can't overwrite constant key {key:?}, which is set at {earlier}")
            }
            ProblemKind::Nesting { limit } => {
                write!(f, "In {parameter}: lists and mappings are nested deeper than the limit of {limit}")
            }
            ProblemKind::Size { limit_bytes } => {
                write!(f, "In {parameter}: the values exceed the limit of {limit_bytes} bytes")
            }
        }?;
        match &self.references[..] {
            [] => Ok(()),
            references => write!(f, " (through ${{{}}})", references.join("}, ${")),
        }
    }
}

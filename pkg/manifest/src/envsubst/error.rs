//! Errors of parsing and rendering.

use std::fmt;

use super::{MAX_DEPTH, TextPosition};

/// A text with invalid substitutions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The invalid substitutions, in the order of the text; never empty.
    pub faults: Vec<SubstitutionError>,
}

impl ParseError {
    /// The maximum number of faults; parsing stops after that many.
    pub const MAX_FAULTS: usize = 20;
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults.as_slice() {
            [only] => write!(f, "cannot read the substitution {only}"),
            faults => {
                write!(f, "cannot read {} substitutions: ", faults.len())?;
                list(f, faults, "; ")
            }
        }
    }
}

/// One invalid substitution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstitutionError {
    /// The kind of the fault.
    pub kind: SubstitutionErrorKind,
    /// The position of its `${`.
    pub position: TextPosition,
    /// The text from `${` up to the first `}` or the end of the line.
    pub excerpt: String,
}

impl fmt::Display for SubstitutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.excerpt, self.position, self.kind)
    }
}

/// The kind of a fault in a substitution.
///
/// Source: parse/parse.go of drone/envsubst. The first line of each variant is the message there, and the choice of the
/// variant is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubstitutionErrorKind {
    /// `missing closing brace`
    ///
    /// Neither an operator nor `}` follows the name: `${V.x}`, `${V-x}`, `${V`.
    MissingClosingBrace,
    /// `unable to parse variable name`
    ///
    /// No name follows `${`: `${}`, `${!x}`, `${ V:=x }`.
    VariableName,
    /// `unable to parse substitution within function`
    ///
    /// An argument is missing or has no end: `${V#}`, `${V:=x`.
    Argument,
    /// `bad substitution`
    ///
    /// The operator has an invalid form: `${V/x}`, `${#V:1}`, `${V^x}`.
    BadSubstitution,
    /// More than [`MAX_DEPTH`] nested substitutions. Differs: drone/envsubst has no limit.
    TooDeep,
}

impl fmt::Display for SubstitutionErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingClosingBrace => f.write_str("expected `}` or an operator after the name"),
            Self::VariableName => f.write_str("expected a name after `${`"),
            Self::Argument => f.write_str("the operator has a missing or unterminated argument"),
            Self::BadSubstitution => f.write_str("the operator is invalid here"),
            Self::TooDeep => write!(f, "substitutions are nested more than {MAX_DEPTH} levels deep"),
        }
    }
}

/// A text that cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum RenderError {
    /// Some names have neither value nor default.
    #[error(transparent)]
    Missing(MissingVariables),
    /// A substring has a negative length. Differs: drone/envsubst crashes.
    #[error("`{written}` at {at} requests a substring of {length} bytes")]
    NegativeLength { length: i64, at: TextPosition, written: String },
    /// Nested replacements give too long a text. Differs: drone/envsubst takes all memory.
    #[error("`{written}` at {at} produces more than the limit of {limit_bytes} bytes")]
    TooLong { limit_bytes: usize, at: TextPosition, written: String },
    /// Patterns with several `*` need too many comparisons on a long value. Differs: drone/envsubst has no limit.
    #[error("`{written}` at {at} needs more than the limit of {limit_steps} comparisons")]
    PatternTooSlow { limit_steps: u64, at: TextPosition, written: String },
    /// A substitution leaves half a character. Differs: drone/envsubst prints the broken text.
    #[error("`{written}` at {at} splits a character of its value")]
    CutCharacter { at: TextPosition, written: String },
}

/// The names that have neither value nor default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariables {
    /// The missing variables, sorted by name as in clusterctl; never empty.
    pub variables: Vec<MissingVariable>,
}

impl std::error::Error for MissingVariables {}

impl fmt::Display for MissingVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.variables.len() == 1 { "variable not set: " } else { "variables not set: " })?;
        list(f, &self.variables, ", ")
    }
}

/// One name that has neither value nor default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariable {
    /// The name without `$` and braces.
    pub name: String,
    /// Every position outside of arguments, in the order of the text; never empty.
    pub positions: Vec<TextPosition>,
}

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (line ", self.name)?;
        let mut lines: Vec<_> = self.positions.iter().map(|place| place.line).collect();
        lines.dedup();
        list(f, &lines, ", ")?;
        f.write_str(")")
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, item)| {
        let before = if index == 0 { "" } else { separator };
        write!(f, "{before}{item}")
    })
}

/// The maximum length of an excerpt, in characters.
const EXCERPT: usize = 60;

/// Returns the text at an offset, up to the first `}` or the end of the line, shortened.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let line = text[at..].split(['\n', '\r', '\0']).next().unwrap_or_default();
    let whole = line.find('}').map_or(line, |brace| &line[..=brace]);
    match whole.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    }
}

//! What can be wrong with a text or with the values for it.

use std::fmt;

use super::{MAX_DEPTH, Position};

/// A text with substitutions that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// In the order of the text; never empty.
    pub faults: Vec<Fault>,
}

impl ParseError {
    /// How many faults are looked for; reading stops after that many.
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

/// One substitution that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong with it.
    pub kind: FaultKind,
    /// Where its `${` is.
    pub at: Position,
    /// What is written there, up to its first `}` or the end of the line.
    pub written: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at {}: {}", self.written, self.at, self.kind)
    }
}

/// What is wrong with a substitution.
///
/// Source: parse/parse.go; the peer's text of each is its first line here. Which of them it is follows the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// `missing closing brace`
    ///
    /// Something else than an operator or `}` follows the name: `${V.x}`, `${V-x}`, `${V`.
    MissingClosingBrace,
    /// `unable to parse variable name`
    ///
    /// No name follows `${`: `${}`, `${!x}`, `${ V:=x }`.
    VariableName,
    /// `unable to parse substitution within function`
    ///
    /// An argument is missing or does not end: `${V#}`, `${V:=x`.
    Argument,
    /// `bad substitution`
    ///
    /// The operator is used in another way than it can be: `${V/x}`, `${#V:1}`, `${V^x}`.
    BadSubstitution,
    /// More than [`MAX_DEPTH`] substitutions inside each other. Differs: the peer has no limit.
    TooDeep,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingClosingBrace => f.write_str("expected `}` or an operator after the name"),
            Self::VariableName => f.write_str("expected a name after `${`"),
            Self::Argument => f.write_str("an argument of its operator is missing or has no end"),
            Self::BadSubstitution => f.write_str("its operator cannot be used like this"),
            Self::TooDeep => write!(f, "more than {MAX_DEPTH} substitutions inside each other"),
        }
    }
}

/// Why a text could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// Names have neither value nor default.
    #[error(transparent)]
    Missing(MissingVariables),
    /// A substring is asked for with a length below zero. Differs: the peer crashes.
    #[error("`{written}` at {at} asks for a part of {length} bytes")]
    NegativeLength {
        /// The length.
        length: i64,
        /// Where the substitution is.
        at: Position,
        /// What is written there.
        written: String,
    },
    /// Replacements inside each other give more than anybody can want. Differs: the peer takes all memory there is.
    #[error("`{written}` at {at} gives more than the limit of {limit_bytes} bytes")]
    TooLong {
        /// The limit.
        limit_bytes: usize,
        /// Where the substitution is.
        at: Position,
        /// What is written there.
        written: String,
    },
    /// Patterns with several `*` take too much work on a long value. Differs: the peer has no limit.
    #[error("`{written}` at {at} needs more than the limit of {limit_steps} comparisons")]
    PatternTooSlow {
        /// The limit.
        limit_steps: u64,
        /// Where the substitution is.
        at: Position,
        /// What is written there.
        written: String,
    },
    /// A substitution leaves half a character behind. Differs: the peer prints the broken text.
    #[error("`{written}` at {at} cuts a character of its value in two")]
    CutCharacter {
        /// Where the substitution is.
        at: Position,
        /// What is written there.
        written: String,
    },
}

/// The names that have neither value nor default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariables {
    /// By name, as the peer lists them; never empty.
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
    /// The name.
    pub name: String,
    /// Every place outside of arguments, in the order of the text; never empty.
    pub places: Vec<Position>,
}

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (line ", self.name)?;
        let mut lines: Vec<_> = self.places.iter().map(|place| place.line).collect();
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

/// Longest excerpt, in characters.
const EXCERPT: usize = 60;

/// Cuts out what is written at an offset: up to the first `}` or the end of the line, and not too much of it.
pub(super) fn excerpt(text: &str, at: usize) -> String {
    let line = text[at..].split(['\n', '\r', '\0']).next().unwrap_or_default();
    let whole = line.find('}').map_or(line, |brace| &line[..=brace]);
    match whole.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    }
}

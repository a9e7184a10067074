//! Why a YAML document cannot be read, and where.

use std::borrow::Cow;

/// Why one YAML document cannot be read, with the place.
///
/// The text holds no value of the document, which may be a secret; keys, anchors and tags may appear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct YamlError {
    /// What is wrong.
    pub problem: Problem,
    /// The line in the text that was read, from 1.
    pub line: usize,
    /// The column in that line, in characters, from 1.
    pub column: usize,
}

/// What is wrong with a YAML document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text breaks the grammar of YAML.
    #[error("{0}")]
    Syntax(Cow<'static, str>),
    /// A byte sequence is not UTF-8.
    #[error("invalid UTF-8 at byte {offset}, YAML is read as UTF-8 text only")]
    InvalidUtf8 {
        /// The place of the first bad byte in the text, from 0.
        offset: usize,
    },
    /// A character that YAML keeps out of text.
    #[error(
        "character U+{code:04X} at byte {offset} is not allowed in YAML, write it as an escape in double quotes"
    )]
    ForbiddenCharacter {
        /// Its code point.
        code: u32,
        /// Its place in the text, from 0.
        offset: usize,
    },
    /// An alias names an anchor that is not defined before it in the document.
    #[error("alias `*{0}` has no anchor `&{0}` before it in the document")]
    UnknownAnchor(String),
    /// An alias stands inside the value its anchor is set on.
    #[error("the value of anchor `&{0}` contains itself")]
    AnchorInItself(String),
    /// A value is not of the type its tag asks for.
    #[error("the value cannot be read as `{0}`")]
    TagMismatch(String),
    /// The text under `!!binary` is not base64.
    #[error("the value under `!!binary` is not valid base64")]
    InvalidBase64,
    /// A key that has no text form: `null`, a list, a mapping, or an integer over 63 bits.
    #[error("{0} cannot be a key")]
    UnusableKey(&'static str),
    /// The value of a merge key is neither a mapping nor a list of mappings.
    #[error("the value of merge key `<<` must be a mapping or a list of mappings")]
    MergeNotMapping,
    /// Infinity or not-a-number, which JSON has no form for.
    #[error("infinity and not-a-number cannot be represented in JSON")]
    NotFinite,
    /// A key is written twice in one mapping, where that was to be refused.
    #[error("key `{0}` is already set in this mapping")]
    DuplicateKey(String),
    /// A document that is no mapping, where an object was to be read.
    #[error("expected a mapping, found {0}")]
    NotAMapping(&'static str),
    /// Something else than a comment follows a document separator on its line.
    #[error("only a comment may follow the document separator `---` on its line")]
    Separator,
    /// Lists and mappings are nested deeper than the limit.
    #[error("nested deeper than the limit of {limit}")]
    TooDeep {
        /// The limit: levels of lists and mappings.
        limit: usize,
    },
    /// The text is longer than the limit.
    #[error("{size_bytes} bytes of text are over the limit of {limit_bytes}")]
    TooLarge {
        /// The length of the text.
        size_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The text and its aliases together are longer than the limit.
    #[error("the text and its aliases take more than the limit of {limit_bytes} bytes")]
    AliasesTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// Nearly all of the document would come from repeated aliases.
    #[error("the document expands its aliases excessively")]
    ExcessiveAliases,
}

/// A problem at a byte of the text; the line and the column are counted once it is known that somebody needs them.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) problem: Problem,
    /// From 0.
    pub(super) offset: u32,
}

impl Problem {
    pub(super) fn from(self, offset: u32) -> Fault {
        Fault { problem: self, offset }
    }
}

impl Fault {
    pub(super) fn locate(self, text: &str) -> YamlError {
        let (line, column) = line_and_column(text.as_bytes(), self.offset as usize);
        YamlError { problem: self.problem, line, column }
    }
}

/// Finds the line and the column of a byte, both from 1; columns count characters.
pub(crate) fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let column = 1 + before[start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    (line, column)
}

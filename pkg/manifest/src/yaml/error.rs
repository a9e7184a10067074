//! Errors of reading YAML, with their positions.

use std::{borrow::Cow, str::Utf8Error};

/// A YAML document that cannot be read, with the position of the error.
///
/// The message contains no values of the document, which may be secret; keys, anchors and tags may appear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct YamlError {
    /// The problem at the position.
    pub kind: YamlErrorKind,
    /// The line in the text, from 1.
    pub line: usize,
    /// The column in the line, in characters, from 1.
    pub column: usize,
}

/// A problem of a YAML document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum YamlErrorKind {
    /// The text violates the grammar of YAML.
    #[error("{0}")]
    Syntax(Cow<'static, str>),
    /// A byte sequence is not UTF-8.
    #[error("invalid UTF-8 at byte {offset}: YAML must be UTF-8 text")]
    InvalidUtf8 {
        /// The offset of the first invalid byte, from 0.
        offset: usize,
    },
    /// A character that YAML forbids.
    #[error("character U+{code:04X} at byte {offset} is not allowed in YAML: use an escape in double quotes")]
    ForbiddenCharacter {
        /// The code point of the character.
        code: u32,
        /// The offset of the character, from 0.
        offset: usize,
    },
    /// An alias refers to an anchor without an earlier definition in the document.
    #[error("alias `*{0}` has no anchor `&{0}` before it in the document")]
    UnknownAnchor(String),
    /// An alias is inside the value of its own anchor.
    #[error("the value of anchor `&{0}` contains itself")]
    AnchorInItself(String),
    /// A value does not have the type of its tag.
    #[error("the value cannot be read as `{0}`")]
    TagMismatch(String),
    /// The text of a `!!binary` value is no base64.
    #[error("the value under `!!binary` is not valid base64")]
    InvalidBase64,
    /// A key without a text form: `null`, a list, a mapping, or an integer of more than 63 bits.
    #[error("{0} cannot be a key")]
    UnusableKey(&'static str),
    /// The value of a merge key is neither a mapping nor a list of mappings.
    #[error("the value of merge key `<<` must be a mapping or a list of mappings")]
    MergeNotMapping,
    /// Infinity or not-a-number, which JSON cannot represent.
    #[error("infinity and not-a-number cannot be represented in JSON")]
    NotFinite,
    /// A key occurs twice in one mapping, and the reader rejects this.
    #[error("key `{0}` is already set in this mapping")]
    DuplicateKey(String),
    /// The document is no mapping, but the reader expects an object.
    #[error("expected a mapping, found {0}")]
    NotAMapping(&'static str),
    /// A document separator is followed by text other than a comment.
    #[error("only a comment may follow the document separator `---` on its line")]
    Separator,
    /// Lists and mappings exceed the nesting limit.
    #[error("nested deeper than the limit of {limit}")]
    TooDeep { limit: usize },
    /// The text exceeds the size limit.
    #[error("{size_bytes} bytes of text exceed the limit of {limit_bytes}")]
    TooLarge { size_bytes: usize, limit_bytes: usize },
    /// The text with its expanded aliases exceeds the size limit.
    #[error("the text with expanded aliases exceeds the limit of {limit_bytes} bytes")]
    AliasesTooLarge { limit_bytes: usize },
    /// Nearly all of the document comes from repeated aliases.
    #[error("the document expands its aliases excessively")]
    ExcessiveAliases,
}

/// A problem at an offset; the line and column are computed only if needed.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: YamlErrorKind,
    /// The byte offset, from 0.
    pub(super) offset: u32,
}

impl YamlErrorKind {
    pub(super) fn at_offset(self, offset: u32) -> Fault {
        Fault { kind: self, offset }
    }
}

impl Fault {
    pub(super) fn locate(self, text: &str) -> YamlError {
        let (line, column) = line_and_column(text.as_bytes(), self.offset as usize);
        YamlError { kind: self.kind, line, column }
    }
}

impl YamlError {
    /// Returns the error of bytes that are not UTF-8, with the position of the first invalid one.
    pub fn invalid_utf8(bytes: &[u8], error: Utf8Error) -> Self {
        let offset = error.valid_up_to();
        let (line, column) = line_and_column(bytes, offset);
        Self { kind: YamlErrorKind::InvalidUtf8 { offset }, line, column }
    }
}

/// Returns the line and the column of a byte, both from 1; columns count characters.
pub(crate) fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    let column = 1 + before[start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count();
    (line, column)
}

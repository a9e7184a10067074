//! Streams of documents: splits a file into objects, and joins objects into a file.
//!
//! ```text
//! bytes ─► split at `---` lines ─► document ─► yaml ─► Object
//!              └─ all invalid documents ─► StreamError
//! ```
//!
//! Source: apimachinery 0.36.3 util/yaml/decoder.go (YAMLReader) for the boundaries of documents; Cluster API 1.14
//! util/yaml/yaml.go (ToUnstructured, JoinYaml) for skipped documents. Differs: the original stops at the first invalid
//! document, and its error contains the whole text.

mod split;

use std::borrow::Cow;
use std::fmt;

use memchr::memchr_iter;

use crate::yaml::{self, Note, NoteKind, YamlError, YamlErrorKind};
use crate::{Object, YamlLimits};
use split::{Chunk, Chunks};

/// The objects of a stream, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectStream {
    /// The objects; a document without content gives none.
    pub objects: Vec<Object>,
    /// The first line of the content of each object, from 1.
    pub lines: Vec<usize>,
    /// For each object, the fields that are null without a written value, as JSON pointers. Only [`read_resources`]
    /// fills them in.
    pub empty_fields: Vec<Vec<String>>,
    /// The warnings, by line.
    pub warnings: Vec<StreamWarning>,
}

/// A construct in a stream that may surprise its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamWarning {
    /// The line of the stream, from 1.
    pub line: usize,
    /// The kind of the warning.
    pub kind: StreamWarningKind,
}

/// The kind of a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamWarningKind {
    /// A key without quotes was read as a boolean or a number; the text is its new spelling.
    RespelledKey(String),
    /// A key occurs twice in one mapping; the last value counts.
    DuplicateKey(String),
    /// The document ends before its text; the rest is ignored.
    TextAfterEnd,
}

/// The invalid documents of a stream.
///
/// The message names all of them and contains no values, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct StreamError {
    /// The invalid documents, in the order of the stream; never empty.
    pub documents: Vec<InvalidDocument>,
}

/// One invalid document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {index}, line {}, column {}: {}", error.line, error.column, error.kind)]
pub struct InvalidDocument {
    /// The number of the document among those with content, from 1.
    pub index: usize,
    /// The error; its line and byte offset count from the start of the stream.
    pub error: YamlError,
}

/// Parses all documents of a stream.
///
/// # Errors
/// All invalid documents, so that an author can fix them at once.
pub fn read_stream(bytes: &[u8], limits: &YamlLimits) -> Result<ObjectStream, StreamError> {
    read(bytes, limits, |text, limits| {
        // The last line of a document always ends with a line feed, which matters for a block scalar at its end.
        let ended = if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) };
        yaml::read_lenient(&ended, limits)
    })
}

/// Parses all documents of a stream as kustomize reads resources.
///
/// `yes` and `on` are texts, a date becomes `2020-01-01T00:00:00Z`, annotations keep their written text, and a repeated
/// key is an error. The text may be in UTF-16 with a byte order mark.
/// Source: kyaml 0.21 kio/byteio_reader.go, and what kustomize v5.8.1 prints.
/// # Errors
/// All invalid documents, so that an author can fix them at once.
pub fn read_resources(bytes: &[u8]) -> Result<ObjectStream, StreamError> {
    let limits = YamlLimits::default();
    if !matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return read(bytes, &limits, yaml::read_resource);
    }
    let text = yaml::decode(bytes)
        .map_err(|error| StreamError { documents: vec![InvalidDocument { index: 1, error }] })?;
    read(text.as_bytes(), &limits, yaml::read_resource)
}

/// A parser for the first document of a text.
type ReadDocument = fn(&str, &YamlLimits) -> Result<yaml::Document, YamlError>;

fn read(bytes: &[u8], limits: &YamlLimits, read: ReadDocument) -> Result<ObjectStream, StreamError> {
    let (size_bytes, limit_bytes) = (bytes.len(), limits.size_bytes);
    if size_bytes > limit_bytes {
        let error =
            YamlError { kind: YamlErrorKind::TooLarge { size_bytes, limit_bytes }, line: 1, column: 1 };
        return Err(StreamError { documents: vec![InvalidDocument { index: 1, error }] });
    }
    let mut stream = ObjectStream::default();
    let mut bad = Vec::new();
    let mut limits = *limits;
    for chunk in Chunks::new(bytes) {
        let index = stream.objects.len() + bad.len() + 1;
        if let Err(error) = read_document(&chunk, &mut limits, read, &mut stream) {
            bad.push(InvalidDocument { index, error });
        }
    }
    if bad.is_empty() { Ok(stream) } else { Err(StreamError { documents: bad }) }
}

/// Parses one document into the stream; ignores a document without content. All documents share one limit for expanded
/// aliases.
fn read_document(
    chunk: &Chunk<'_>,
    limits: &mut YamlLimits,
    read: ReadDocument,
    stream: &mut ObjectStream,
) -> Result<(), YamlError> {
    let bytes = match chunk {
        Chunk::Document { bytes, .. } => *bytes,
        Chunk::InvalidSeparator { lines_before } => {
            return Err(YamlError { kind: YamlErrorKind::Separator, line: lines_before + 1, column: 1 });
        }
    };
    let text = str::from_utf8(bytes)
        .map_err(|error| relocate_error(YamlError::invalid_utf8(bytes, error), chunk))?;
    let read = read(text, limits).map_err(|error| relocate_error(error, chunk))?;
    limits.size_bytes = limits.size_bytes.saturating_sub(read.aliased_bytes);
    if read.value.is_null() {
        return Ok(());
    }
    let (line, column) = yaml::line_and_column(bytes, read.offset);
    let line = line + chunk.lines_before();
    let object = Object::try_from(read.value).map_err(|error| YamlError {
        kind: YamlErrorKind::NotAMapping(error.found),
        line,
        column,
    })?;
    stream.objects.push(object);
    stream.empty_fields.push(read.empty_fields);
    stream.lines.push(line);
    stream.warnings.append(&mut warnings(read.notes, bytes, chunk.lines_before()));
    Ok(())
}

/// Finds the lines of notes, in one pass over the document.
fn warnings(mut notes: Vec<Note>, bytes: &[u8], lines_before: usize) -> Vec<StreamWarning> {
    notes.sort_by_key(|note| note.offset);
    let (mut line, mut seen) = (lines_before + 1, 0);
    let place = |note: Note| {
        let offset = (note.offset as usize).min(bytes.len());
        line += memchr_iter(b'\n', &bytes[seen..offset]).count();
        seen = offset;
        let kind = match note.kind {
            NoteKind::RespelledKey(key) => StreamWarningKind::RespelledKey(key),
            NoteKind::DuplicateKey(key) => StreamWarningKind::DuplicateKey(key),
            NoteKind::TextAfterEnd => StreamWarningKind::TextAfterEnd,
        };
        StreamWarning { line, kind }
    };
    notes.into_iter().map(place).collect()
}

/// Converts the position of an error from its document to the stream.
fn relocate_error(mut error: YamlError, chunk: &Chunk<'_>) -> YamlError {
    let Chunk::Document { offset: start, .. } = chunk else { return error };
    error.line += chunk.lines_before();
    if let YamlErrorKind::InvalidUtf8 { offset } | YamlErrorKind::ForbiddenCharacter { offset, .. } =
        &mut error.kind
    {
        *offset += start;
    }
    error
}

/// Prints objects as one stream with a `---` line between two documents. The last line has no line feed; the caller
/// adds it.
pub fn write_stream(objects: &[Object]) -> String {
    write_each(objects, yaml::write_object_into)
}

/// Prints objects like [`write_stream`], with comments on provenance. The origin of a traced object stands above it;
/// other setters stand behind the values they set.
pub fn write_traced_stream(objects: &[Object]) -> String {
    write_each(objects, yaml::write_traced_into)
}

fn write_each(objects: &[Object], write: impl Fn(&mut String, &Object)) -> String {
    let mut out = String::new();
    for (index, object) in objects.iter().enumerate() {
        if index > 0 {
            out.push_str("---\n");
        }
        write(&mut out, object);
    }
    if out.ends_with('\n') {
        out.pop();
    }
    out
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, document) in self.documents.iter().enumerate() {
            if index > 0 {
                formatter.write_str("; ")?;
            }
            document.fmt(formatter)?;
        }
        Ok(())
    }
}

impl fmt::Display for StreamWarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RespelledKey(key) => {
                write!(formatter, "an unquoted key is read as `{key}`: quote the key")
            }
            Self::DuplicateKey(key) => write!(formatter, "duplicate key `{key}`: the last value is used"),
            Self::TextAfterEnd => formatter.write_str("text after the end of the document is ignored"),
        }
    }
}

#[cfg(test)]
mod tests;

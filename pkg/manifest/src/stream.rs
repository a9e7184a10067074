//! Streams of documents: what a file of several objects holds, and how several objects become one file.
//!
//! ```text
//! bytes ─► split at `---` lines ─► document ─► yaml ─► Object
//!              └─ bad ones are kept, all of them ─► StreamError
//! ```
//!
//! Source: apimachinery 0.36.3 util/yaml/decoder.go (YAMLReader) for where documents end; Cluster API 1.14
//! util/yaml/yaml.go (ToUnstructured, JoinYaml) for which of them count. differs: there, reading ends at the first bad
//! document, and its whole text is in the error.

mod split;

use std::borrow::Cow;
use std::fmt;

use memchr::memchr_iter;

use crate::yaml::{self, Note, NoteKind, Problem, YamlError};
use crate::{Limits, Object};
use split::{Chunk, Chunks};

/// The objects of a stream, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    /// The objects; documents without content give none.
    pub objects: Vec<Object>,
    /// For each object the line of the stream its content starts on, from 1.
    pub lines: Vec<usize>,
    /// For each object the fields that are null because no value is written, as JSON pointers; told of resources alone.
    pub empty_fields: Vec<Vec<String>>,
    /// What a reader of the file should know although it could be read, by line.
    pub warnings: Vec<Warning>,
}

/// Something in a stream that was read in a way its author may not expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line of the stream, from 1.
    pub line: usize,
    /// What it is.
    pub kind: WarningKind,
}

/// What may be unexpected in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarningKind {
    /// A key without quotes was taken for a boolean or a number, and is now spelled like this.
    RespelledKey(String),
    /// A key is written twice in one mapping; the last one counts.
    DuplicateKey(String),
    /// The document ends before its text does; the rest was left out.
    TextAfterEnd,
}

/// Why a stream cannot be read: every bad document in it.
///
/// The text names all of them and holds none of their values, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct StreamError {
    /// The bad documents, in the order of the stream; never empty.
    pub documents: Vec<BadDocument>,
}

/// One document that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {index}, line {}, column {}: {}", error.line, error.column, error.problem)]
pub struct BadDocument {
    /// The number of the document among those with content, from 1.
    pub index: usize,
    /// What is wrong; the line and byte count from the start of the stream.
    pub error: YamlError,
}

/// Reads all documents of a stream.
///
/// # Errors
/// All documents that cannot be read, so that they can be mended in one go.
pub fn read_stream(bytes: &[u8], limits: &Limits) -> Result<Stream, StreamError> {
    read(bytes, limits, |text, limits| {
        // The last line of a document always ends, which a block text at its end can tell.
        let ended = if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) };
        yaml::read_lenient(&ended, limits)
    })
}

/// Reads all documents of a stream as kustomize reads resources: `yes` and `on` are text, a date becomes
/// `2020-01-01T00:00:00Z`, annotations are texts as they are written, a key that is set twice is refused.
///
/// Source: kyaml 0.21 kio/byteio_reader.go, and what kustomize v5.8.1 prints.
/// # Errors
/// All documents that cannot be read, so that they can be mended in one go.
pub fn read_resources(bytes: &[u8], limits: &Limits) -> Result<Stream, StreamError> {
    read(bytes, limits, yaml::read_resource)
}

/// A reader of the first document of a text.
type ReadDocument = fn(&str, &Limits) -> Result<yaml::Document, YamlError>;

fn read(bytes: &[u8], limits: &Limits, read: ReadDocument) -> Result<Stream, StreamError> {
    let (size_bytes, limit_bytes) = (bytes.len(), limits.size_bytes);
    if size_bytes > limit_bytes {
        let error = YamlError { problem: Problem::TooLarge { size_bytes, limit_bytes }, line: 1, column: 1 };
        return Err(StreamError { documents: vec![BadDocument { index: 1, error }] });
    }
    let mut stream = Stream::default();
    let mut bad = Vec::new();
    let mut limits = *limits;
    for chunk in Chunks::new(bytes) {
        let index = stream.objects.len() + bad.len() + 1;
        if let Err(error) = read_document(&chunk, &mut limits, read, &mut stream) {
            bad.push(BadDocument { index, error });
        }
    }
    if bad.is_empty() { Ok(stream) } else { Err(StreamError { documents: bad }) }
}

/// Reads one document into the stream, which stays as it is where the document has no content. All documents share one
/// limit of what aliases may add.
fn read_document(
    chunk: &Chunk<'_>,
    limits: &mut Limits,
    read: ReadDocument,
    stream: &mut Stream,
) -> Result<(), YamlError> {
    let bytes = match chunk {
        Chunk::Document { bytes, .. } => *bytes,
        Chunk::BadSeparator { lines_before } => {
            return Err(YamlError { problem: Problem::Separator, line: lines_before + 1, column: 1 });
        }
    };
    let text = str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let (line, column) = yaml::line_and_column(bytes, offset);
        moved(YamlError { problem: Problem::InvalidUtf8 { offset }, line, column }, chunk)
    })?;
    let read = read(text, limits).map_err(|error| moved(error, chunk))?;
    limits.size_bytes = limits.size_bytes.saturating_sub(read.aliased_bytes);
    if read.value.is_null() {
        return Ok(());
    }
    let (line, column) = yaml::line_and_column(bytes, read.offset);
    let line = line + chunk.lines_before();
    let object = Object::try_from(read.value).map_err(|error| YamlError {
        problem: Problem::NotAMapping(error.found),
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
fn warnings(mut notes: Vec<Note>, bytes: &[u8], lines_before: usize) -> Vec<Warning> {
    notes.sort_by_key(|note| note.offset);
    let (mut line, mut seen) = (lines_before + 1, 0);
    let place = |note: Note| {
        let offset = (note.offset as usize).min(bytes.len());
        line += memchr_iter(b'\n', &bytes[seen..offset]).count();
        seen = offset;
        let kind = match note.kind {
            NoteKind::RespelledKey(key) => WarningKind::RespelledKey(key),
            NoteKind::DuplicateKey(key) => WarningKind::DuplicateKey(key),
            NoteKind::TextAfterEnd => WarningKind::TextAfterEnd,
        };
        Warning { line, kind }
    };
    notes.into_iter().map(place).collect()
}

/// Moves the place of an error from its document to the stream.
fn moved(mut error: YamlError, chunk: &Chunk<'_>) -> YamlError {
    let Chunk::Document { offset: start, .. } = chunk else { return error };
    error.line += chunk.lines_before();
    if let Problem::InvalidUtf8 { offset } | Problem::ForbiddenCharacter { offset, .. } = &mut error.problem {
        *offset += start;
    }
    error
}

/// Prints objects as one stream: a `---` line between two documents, none in front, and no end of the last line, which
/// whoever prints the stream adds.
pub fn write_stream(objects: &[Object]) -> String {
    write_each(objects, yaml::write_object_into)
}

/// Prints objects as [`write_stream`] does, with comments that tell what set their fields: above each object that is traced
/// its origin, behind each value that something else set what did.
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

impl fmt::Display for WarningKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RespelledKey(key) => {
                write!(formatter, "a key without quotes is read as `{key}`: quote it")
            }
            Self::DuplicateKey(key) => write!(formatter, "key `{key}` stands twice, the last one counts"),
            Self::TextAfterEnd => formatter.write_str("what follows the end of the document is left out"),
        }
    }
}

#[cfg(test)]
mod tests;

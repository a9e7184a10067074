//! YAML as Go's `sigs.k8s.io/yaml` reads and prints it.
//!
//! ```text
//! text ─► parse (granit-parser) ─► tree (nodes, aliases unresolved) ─► compose ─► Value ─► write ─► text
//!           │ view: the text for the parser        └─ scalar: the meaning of `yes`, `0644`, `1e3`, `!!str 1`
//!           └ refuse: input that Go rejects
//! ```

mod characters;
mod compose;
mod error;
mod folded;
mod key_order;
mod lines;
mod parse;
mod parser_text;
mod reject;
mod scalar;
pub mod scalars;
mod timestamp;
mod tree;
mod write;

pub use crate::limits::YamlLimits;
pub use characters::decode;
pub use error::{YamlError, YamlErrorKind};
pub use lines::{line_of, value_ranges};
pub use parser_text::read_events;

pub(crate) use compose::{Note, NoteKind};
pub(crate) use error::line_and_column;

use compose::{Duplicates, Rules};
use scalar::Dialect;

use crate::provenance::ProvenanceCursor;
use crate::{Object, Value};

/// Parses the first document of a text; a text without documents is `null`.
///
/// Source: sigs.k8s.io/yaml 1.6.0 (YAMLToJSON). Differs: integers keep all 64 bits, and JSON is accepted with all its
/// escapes (`\/`, surrogate pairs).
pub fn read_value(text: &str, limits: &YamlLimits) -> Result<Value, YamlError> {
    read_document(text, limits, OBJECTS).map(|document| document.value)
}

/// Parses the first document of a settings file; a text without documents is `null`, a repeated key is an error.
///
/// `yes`, `no`, `on` and `off` are text, and so are infinity and not-a-number. A date becomes a time with zone
/// (`2020-01-01 00:00:00 +0000 UTC`). The own fields of a mapping override the fields merged with `<<`.
/// Source: go.yaml.in/yaml/v3 3.0.4 as used by viper 1.21. Differs: a key that is a number or a date has the spelling
/// of its value.
pub fn read_settings(text: &str, limits: &YamlLimits) -> Result<Value, YamlError> {
    let rules = Rules { duplicates: Duplicates::Rejected, dialect: Dialect::Settings };
    read_document(text, limits, rules).map(|document| document.value)
}

/// Parses the first document of a text; a key repeated in one mapping is an error, even by a merge.
pub fn read_value_strict(text: &str, limits: &YamlLimits) -> Result<Value, YamlError> {
    let rules = Rules { duplicates: Duplicates::Rejected, ..OBJECTS };
    read_document(text, limits, rules).map(|document| document.value)
}

/// True if Go prints a value: it refuses texts and keys with DEL, other control characters and noncharacters.
///
/// Source: sigs.k8s.io/yaml 1.6.0 (Marshal), which reads the JSON text of a value as YAML.
pub fn is_printable(value: &Value) -> bool {
    match value {
        Value::String(text) => characters::is_printable(text),
        Value::Array(items) => items.iter().all(is_printable),
        Value::Object(fields) => {
            fields.iter().all(|(key, value)| characters::is_printable(key) && is_printable(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Prints one value.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    write_into(&mut out, value);
    out
}

/// Appends one value to a text.
pub fn write_into(out: &mut String, value: &Value) {
    write::write_into(out, value);
}

/// Appends one object to a text.
pub(crate) fn write_object_into(out: &mut String, object: &Object) {
    write::write_map_into(out, object.as_map(), ProvenanceCursor::default());
}

/// Appends one object to a text, with comments on provenance: the origin above the object, other setters behind their
/// values.
pub(crate) fn write_traced_into(out: &mut String, object: &Object) {
    let Some(provenance) = object.provenance() else { return write_object_into(out, object) };
    out.push_str("# ");
    write::push_comment(out, &provenance.object_origin().to_string());
    out.push('\n');
    write::write_map_into(out, object.as_map(), provenance.cursor());
}

/// A parsed document with additional information.
pub(crate) struct Document {
    pub(crate) value: Value,
    /// The fields without a written value, which are null, as JSON pointers; filled in only for resources.
    pub(crate) empty_fields: Vec<String>,
    /// The start of the content, in bytes.
    pub(crate) offset: usize,
    pub(crate) notes: Vec<Note>,
    /// The number of bytes that aliases add to the text.
    pub(crate) aliased_bytes: usize,
}

/// Parses the first document of a text as kustomize reads resources. Annotations of an object keep their written text,
/// unless they are null.
pub(crate) fn read_resource(text: &str, limits: &YamlLimits) -> Result<Document, YamlError> {
    read_document(text, limits, Rules { duplicates: Duplicates::Rejected, dialect: Dialect::Resources })
}

/// Parses the first document of a text by the rules for objects.
pub(crate) fn read_lenient(text: &str, limits: &YamlLimits) -> Result<Document, YamlError> {
    read_document(text, limits, OBJECTS)
}

const OBJECTS: Rules = Rules { duplicates: Duplicates::LastWins, dialect: Dialect::Objects };

fn read_document(text: &str, limits: &YamlLimits, rules: Rules) -> Result<Document, YamlError> {
    let limit_bytes = limits.size_bytes.min(u32::MAX as usize / 2);
    if text.len() > limit_bytes {
        return Err(YamlErrorKind::TooLarge { size_bytes: text.len(), limit_bytes }
            .at_offset(0)
            .locate(text));
    }
    let read = || {
        characters::check(text)?;
        let mut notes = Vec::new();
        let parsed = parse::parse(text, limits.depth, rules.dialect)?;
        let offset = parsed.tree.nodes.first().map_or(0, |node| node.offset as usize);
        if let Some(rest) = parsed.text_after_end {
            notes.push(Note { offset: rest, kind: NoteKind::TextAfterEnd });
        }
        let (mut empty_fields, mut aliased_bytes) = (Vec::new(), 0);
        let reported = compose::DocumentExtras {
            notes: &mut notes,
            empty_fields: &mut empty_fields,
            aliased_bytes: &mut aliased_bytes,
        };
        let value = compose::compose(parsed.tree, text, limits, rules, reported)?;
        Ok(Document { value, empty_fields, offset, notes, aliased_bytes })
    };
    read().map_err(|fault: error::Fault| fault.locate(text))
}

#[cfg(test)]
mod tests;

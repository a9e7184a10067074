//! Prints values as Go's `sigs.k8s.io/yaml` does.
//!
//! Source: go.yaml.in/yaml/v2 2.4.3 encode.go, emitterc.go (layout, styles, wrapping). Differs: characters that Go
//! cannot print (DEL, C1, U+FFFE, U+FFFF) are escaped.

mod style;
mod text;

use std::fmt::Write as _;

use super::key_order;
use super::scalar::push_float;
use crate::provenance::ProvenanceCursor;
use crate::{Map, Value};
use style::{Style, TextTraits};

/// True if a text may be written as a block scalar, by this printer and by version 3.
pub(super) fn may_be_block(text: &str) -> bool {
    TextTraits::of(text).may_be_block()
}

/// The maximum length in bytes of a key without `? `.
const MAX_SIMPLE_KEY_BYTES: usize = 128;
const INDENT: usize = 2;

/// Prints one value and ends its last line.
pub(super) fn write_into(out: &mut String, value: &Value) {
    let mut writer = Writer { out, column: 0, line_is_open: true };
    writer.node(value, NodePosition::Root, ProvenanceCursor::default());
    writer.finish();
}

/// Prints one mapping and ends its last line. A comment behind each value names its setter, if `trail` knows one.
pub(super) fn write_map_into(out: &mut String, fields: &Map<String, Value>, trail: ProvenanceCursor<'_>) {
    let mut writer = Writer { out, column: 0, line_is_open: true };
    writer.fields(fields, NodePosition::Root, trail);
    writer.finish();
}

/// Prints one text without wrapping its lines, by the rules of version 3. A comment follows the text, or the `|` of a
/// block scalar, whose lines start at `column`.
pub(super) fn write_text_into(out: &mut String, text: &str, column: usize, indent: usize, comment: &str) {
    if text == "<<" {
        // Version 3 keeps the tag of a merge key.
        out.push_str("!!merge ");
    }
    let style = TextTraits::of(text).version_3_style_of(text);
    let mut writer = Writer { out, column: 0, line_is_open: true };
    match style {
        Style::Plain => writer.plain(text, column, false),
        Style::Single => writer.single_quoted(text, column, false),
        Style::Double => writer.double_quoted(text, column, false),
        Style::Literal => {
            writer.literal_header(text, indent);
            writer.out.push_str(comment);
            return writer.literal_lines(text, column);
        }
    }
    writer.out.push_str(comment);
}

struct Writer<'a> {
    out: &'a mut String,
    /// The number of characters in the current line.
    column: usize,
    /// True if a list or mapping may start on this line, which is empty or contains only `-`, `?` and `:` of its
    /// parents.
    line_is_open: bool,
}

/// The position of a node.
#[derive(Clone, Copy)]
enum NodePosition {
    Root,
    /// After the `-` of a list in this column.
    Item(usize),
    /// After the `key:` of a mapping in this column.
    Field(usize),
    /// After a separate `:` of a mapping in this column.
    LongField(usize),
}

/// Appends a text to a comment. Replaces line breaks with spaces, as they would end the comment.
pub(super) fn push_comment(out: &mut String, text: &str) {
    let is_shown = |character| style::is_printable(character) && !style::is_break(character);
    out.extend(text.chars().map(|character| if is_shown(character) { character } else { ' ' }));
}

impl NodePosition {
    /// The column of continuation lines.
    fn inner(self) -> usize {
        match self {
            Self::Root => INDENT,
            Self::Item(column) | Self::Field(column) | Self::LongField(column) => column + INDENT,
        }
    }

    fn mapping_column(self) -> usize {
        match self {
            Self::Root => 0,
            _ => self.inner(),
        }
    }

    fn list_column(self) -> usize {
        match self {
            Self::Root => 0,
            // A list has the same column as its key.
            Self::Field(column) => column,
            Self::Item(_) | Self::LongField(_) => self.inner(),
        }
    }
}

impl Writer<'_> {
    fn node(&mut self, value: &Value, place: NodePosition, trail: ProvenanceCursor<'_>) {
        match value {
            Value::Null => self.word("null"),
            Value::Bool(true) => self.word("true"),
            Value::Bool(false) => self.word("false"),
            Value::Number(number) => self.number(number),
            Value::String(text) => {
                let traits = TextTraits::of(text);
                let style = traits.style_of(text);
                return self.text(text, style, place.inner(), true, trail);
            }
            Value::Array(items) if items.is_empty() => self.word("[]"),
            Value::Array(items) => return self.list(items, place.list_column(), trail),
            Value::Object(fields) => return self.fields(fields, place, trail),
        }
        self.comment(trail);
    }

    fn fields(&mut self, fields: &Map<String, Value>, place: NodePosition, trail: ProvenanceCursor<'_>) {
        if fields.is_empty() {
            self.word("{}");
            self.comment(trail);
        } else {
            self.mapping(fields, place.mapping_column(), trail);
        }
    }

    /// Writes a comment with the setter of a value; nothing if the origin of the object set it.
    fn comment(&mut self, trail: ProvenanceCursor<'_>) {
        if let Some(reported) = trail.describe_origin() {
            self.out.push_str(" # ");
            push_comment(self.out, &reported);
        }
    }

    fn finish(self) {
        if self.column > 0 {
            self.out.push('\n');
        }
    }

    fn list(&mut self, items: &[Value], column: usize, trail: ProvenanceCursor<'_>) {
        for (index, item) in items.iter().enumerate() {
            self.start_line(column);
            self.push("-");
            self.line_is_open = true;
            self.node(item, NodePosition::Item(column), trail.item(index));
        }
    }

    fn mapping(&mut self, fields: &Map<String, Value>, column: usize, trail: ProvenanceCursor<'_>) {
        let mut entries: Vec<(&str, &Value)> =
            fields.iter().map(|(key, value)| (key.as_str(), value)).collect();
        key_order::sort(&mut entries);
        for (key, value) in entries {
            self.start_line(column);
            let traits = TextTraits::of(key);
            let style = traits.style_of(key);
            if traits.is_multiline() || key.len() > MAX_SIMPLE_KEY_BYTES {
                self.push("?");
                self.text(key, style, column + INDENT, true, ProvenanceCursor::default());
                self.start_line(column);
                self.push(":");
                self.line_is_open = true;
                self.node(value, NodePosition::LongField(column), trail.field(key));
            } else {
                self.text(key, style, column + INDENT, false, ProvenanceCursor::default());
                self.push(":");
                self.line_is_open = false;
                self.node(value, NodePosition::Field(column), trail.field(key));
            }
        }
    }

    fn text(&mut self, text: &str, style: Style, column: usize, may_wrap: bool, trail: ProvenanceCursor<'_>) {
        self.space();
        match style {
            Style::Plain => self.plain(text, column, may_wrap),
            Style::Single => self.single_quoted(text, column, may_wrap),
            Style::Double => self.double_quoted(text, column, may_wrap),
            // A comment behind a block scalar would become a line of it.
            Style::Literal => return self.literal(text, column, trail),
        }
        self.comment(trail);
    }

    fn number(&mut self, number: &serde_json::Number) {
        self.space();
        let start = self.out.len();
        if number.is_f64() {
            self.float(number.as_f64().unwrap_or_default());
        } else {
            let _ = write!(self.out, "{number}");
        }
        self.column += self.out.len() - start;
        self.line_is_open = false;
    }

    fn float(&mut self, float: f64) {
        match super::scalar::float_value(float) {
            Value::Number(whole) if !whole.is_f64() => {
                let _ = write!(self.out, "{whole}");
            }
            _ => push_float(self.out, float),
        }
    }

    fn word(&mut self, word: &str) {
        self.space();
        self.push(word);
        self.line_is_open = false;
    }

    /// Separates a value from the preceding indicator.
    fn space(&mut self) {
        if self.column > 0 && !self.out.ends_with(' ') {
            self.push(" ");
        }
    }

    /// Moves to a column, on a new line unless the current line is still open.
    fn start_line(&mut self, column: usize) {
        if self.column > 0 && !self.line_is_open {
            self.new_line();
        }
        self.pad(column);
        self.line_is_open = false;
    }

    fn pad(&mut self, column: usize) {
        const SPACES: &str = "                                                                ";
        while self.column < column {
            let missing = (column - self.column).min(SPACES.len());
            self.push(&SPACES[..missing]);
        }
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Appends ASCII text.
    fn push(&mut self, ascii: &str) {
        self.out.push_str(ascii);
        self.column += ascii.len();
    }
}

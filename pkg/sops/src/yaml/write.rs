//! Prints YAML documents.
//!
//! Go's printer keeps a comment until it reaches a place where it writes such comments. So a comment behind the last
//! element of a list may appear later, if this element is a list or mapping.
//! Source: sops v3.13 stores/yaml; go.yaml.in/yaml/v3 3.0.4.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use manifest::yaml::scalars;
use zeroize::Zeroizing;

use super::INDENT;
use super::arrange::{Arranged, arrange_branch, arrange_list};
use crate::tree::{Branch, Comment, Secret, Value};

/// The maximum length in bytes of a key without `? `.
const MAX_SIMPLE_KEY_BYTES: usize = 128;
/// The length of the lines of `!!binary`.
const BASE64_LINE_BYTES: usize = 70;
/// The columns that a list in a list, or a mapping in a list, adds.
const ITEM_INDENT: usize = 2;

/// Prints documents, with `---` between them.
pub(crate) fn write(documents: &[Branch]) -> Secret {
    let mut writer = Writer::default();
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            writer.out.push_str("---\n");
        }
        writer.document(document);
    }
    Zeroizing::new(std::mem::take(&mut *writer.out).into_bytes())
}

#[derive(Default)]
struct Writer {
    out: Zeroizing<String>,
    /// The length of the current line, if it has only `-`, `?` and `:` so far, so that a list or mapping may start on it.
    open_column: Option<usize>,
    /// The comment to be written above the next element.
    head: Zeroizing<String>,
    /// The comment to be written behind the next scalar.
    foot: Zeroizing<String>,
    /// The column of the last comment behind an element. An empty line separates it from the next element.
    foot_column: Option<usize>,
}

impl Writer {
    fn document(&mut self, document: &Branch) {
        let arranged = arrange_branch(document);
        (self.open_column, self.foot_column) = (Some(0), None);
        self.set_head(&arranged.leading);
        self.write_head(0);
        if arranged.elements.is_empty() {
            self.push("{}");
        } else {
            self.mapping(&arranged, 0);
        }
        self.foot_column = Some(0);
        self.write_foot(0);
        self.foot_column = None;
        self.start_line(0);
    }

    fn mapping(&mut self, arranged: &Arranged<'_, (&str, &Value)>, column: usize) {
        for element in &arranged.elements {
            self.set_head(&element.above);
            self.write_head(column);
            let (key, value) = element.item;
            self.key(key, column);
            self.field_value(value, &element.inline, column);
        }
        if !arranged.trailing.is_empty() {
            self.comment(&joined(&arranged.trailing), column);
            self.foot_column = Some(column);
        }
        self.write_head(column);
    }

    fn key(&mut self, key: &str, column: usize) {
        self.start_line(column);
        let start = self.out.len();
        scalars::write_text(&mut self.out, key, aligned(column), INDENT, "");
        let is_simple = self.out.len() - start <= MAX_SIMPLE_KEY_BYTES && !key.contains('\n');
        self.open_column = None;
        if !is_simple {
            self.out.insert_str(start, "? ");
            self.after_text();
            self.start_line(column);
        }
        self.push(":");
        self.open_column = (!is_simple).then_some(column + 1);
    }

    fn field_value(&mut self, value: &Value, inline: &[&Comment], column: usize) {
        match value {
            Value::Branch(branch) => {
                let arranged = arrange_branch(branch);
                self.set_head(&arranged.leading);
                if arranged.elements.is_empty() {
                    self.empty_mapping(column);
                    self.write_foot(column);
                } else {
                    self.write_foot(column);
                    self.mapping(&arranged, aligned(column));
                }
            }
            Value::List(items) => {
                let arranged = arrange_list(items);
                self.set_head(&arranged.leading);
                if arranged.elements.is_empty() {
                    self.push(" []");
                    self.write_foot(column);
                } else {
                    self.write_foot(column);
                    self.list(&arranged, aligned(column));
                }
            }
            scalar => {
                self.scalar(scalar, inline, aligned(column));
                self.write_foot(column);
            }
        }
    }

    fn list(&mut self, arranged: &Arranged<'_, &Value>, column: usize) {
        let count = arranged.elements.len();
        for (index, element) in arranged.elements.iter().enumerate() {
            let trailing = if index + 1 == count { arranged.trailing.as_slice() } else { &[] };
            match element.item {
                Value::Branch(branch) => {
                    let inner = arrange_branch(branch);
                    self.dash(&[&element.above[..], &element.inline, &inner.leading].concat(), column);
                    if inner.elements.is_empty() {
                        self.set_foot(trailing);
                        self.push(" {}");
                        self.write_foot(column);
                    } else {
                        self.write_foot(column);
                        self.mapping(&inner, column + ITEM_INDENT);
                        self.set_foot(trailing);
                    }
                }
                Value::List(items) => {
                    let inner = arrange_list(items);
                    self.dash(&[&element.above[..], &element.inline, &inner.leading].concat(), column);
                    if inner.elements.is_empty() {
                        self.set_foot(trailing);
                        self.push(" []");
                        self.write_foot(column);
                    } else {
                        self.write_foot(column);
                        self.list(&inner, column + ITEM_INDENT);
                        self.set_foot(trailing);
                    }
                }
                scalar => {
                    self.dash(&element.above, column);
                    self.set_foot(trailing);
                    self.scalar(scalar, &element.inline, column + ITEM_INDENT);
                    self.write_foot(column);
                }
            }
        }
    }

    /// Writes the comments above an element of a list, and its `-`.
    fn dash(&mut self, above: &[&Comment], column: usize) {
        self.set_head(above);
        self.write_head(column);
        self.start_line(column);
        self.push("-");
        self.open_column = Some(column + 1);
    }

    /// Writes `{}` as the value of a key; a comment in it needs its own line.
    fn empty_mapping(&mut self, column: usize) {
        self.push(" {");
        self.write_head(aligned(column));
        self.push("}");
    }

    /// Writes a scalar behind a key or `-`. The lines of a block scalar start at a column.
    fn scalar(&mut self, value: &Value, inline: &[&Comment], column: usize) {
        let mut comment = joined(inline);
        if !comment.is_empty() {
            comment =
                Zeroizing::new(format!(" {}", comment.replace('\n', &format!("\n{}", " ".repeat(column)))));
        }
        self.push(" ");
        let out = &mut *self.out;
        match value {
            Value::Text(text) => {
                if let Ok(text) = str::from_utf8(text) {
                    scalars::write_text(out, text, column, INDENT, &comment);
                } else {
                    out.push_str("!!binary ");
                    scalars::write_text(out, &base64(text), column, INDENT, &comment);
                }
                return self.after_text();
            }
            Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
            Value::Int(number) => out.push_str(&Zeroizing::new(number.to_string())),
            Value::Float(number) => scalars::write_float(out, *number),
            Value::Time(time) => out.push_str(time),
            Value::Null | Value::Comment(_) | Value::List(_) | Value::Branch(_) => out.push_str("null"),
        }
        out.push_str(&comment);
    }

    /// Notes that a text was written, which may have ended its last line.
    fn after_text(&mut self) {
        self.open_column = self.out.ends_with('\n').then_some(0);
    }

    /// Replaces the comment for the next element; none leaves it as it is.
    fn set_head(&mut self, comments: &[&Comment]) {
        if !comments.is_empty() {
            self.head = joined(comments);
        }
    }

    fn set_foot(&mut self, comments: &[&Comment]) {
        if !comments.is_empty() {
            self.foot = joined(comments);
        }
    }

    fn write_head(&mut self, column: usize) {
        let head = std::mem::take(&mut self.head);
        if !head.is_empty() {
            self.comment(&head, column);
        }
    }

    fn write_foot(&mut self, column: usize) {
        let foot = std::mem::take(&mut self.foot);
        if !foot.is_empty() {
            self.comment(&foot, column);
            self.foot_column = Some(column);
        }
    }

    /// Writes the lines of a comment.
    fn comment(&mut self, text: &str, column: usize) {
        for line in text.split('\n') {
            self.start_line(column);
            self.out.push_str(line);
            self.out.push('\n');
            self.open_column = Some(0);
        }
    }

    /// Moves to a column, on a new line unless the current line is still open.
    fn start_line(&mut self, column: usize) {
        let mut current = match self.open_column {
            Some(current) if current < column || current == 0 => current,
            _ => {
                self.out.push('\n');
                0
            }
        };
        if self.foot_column.take() == Some(column) {
            self.out.push('\n');
            current = 0;
        }
        self.out.extend(std::iter::repeat_n(' ', column - current));
        self.open_column = Some(column);
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.open_column = None;
    }
}

/// Returns the next multiple of the indent.
fn aligned(column: usize) -> usize {
    (column / INDENT + 1) * INDENT
}

fn joined(comments: &[&Comment]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::new());
    for comment in comments {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push('#');
        text.push_str(&String::from_utf8_lossy(&comment.text));
    }
    text
}

fn base64(bytes: &[u8]) -> Zeroizing<String> {
    let text = Zeroizing::new(BASE64_STANDARD.encode(bytes));
    if text.len() < BASE64_LINE_BYTES {
        return text;
    }
    let mut lines = Zeroizing::new(String::with_capacity(text.len() + text.len() / BASE64_LINE_BYTES + 1));
    for line in text.as_bytes().chunks(BASE64_LINE_BYTES) {
        lines.extend(line.iter().map(|byte| char::from(*byte)));
        lines.push('\n');
    }
    lines
}

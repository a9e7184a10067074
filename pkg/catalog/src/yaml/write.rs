//! Mappings, lists and documents.
//!
//! Source: PyYAML 6.0.3 with the settings of Kapitan 0.36 and Commodore 1.35, in block style with sorted keys.

use serde_json::{Map, Value};

use super::analysis::{AllowedStyles, allowed_styles};
use super::layout::Layout;
use super::number::yaml_text;
use super::scalar::{PlainKind, kind};
use super::text::{ScalarPlace, push_double_quoted, push_literal, push_plain, push_single_quoted};

/// The number of columns of one level.
const STEP: usize = 2;
/// A longer key is printed behind `?`.
const MAX_SIMPLE_KEY: usize = 122;

/// The choices of a printed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct YamlStyle {
    /// The position of the items of a list in a mapping.
    pub(crate) list_indent: ListIndent,
    /// The style of texts with several lines.
    pub(crate) multi_line: MultiLine,
    /// Prints a float without fraction as an integer.
    pub(crate) whole_floats_as_integers: bool,
}

/// The position of the items of a list in a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListIndent {
    /// Two columns behind the key.
    Indented,
    /// The column of the key.
    AtKey,
}

/// The style of texts with several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MultiLine {
    /// A literal block, if the text allows it.
    Literal,
    /// Quotes.
    Quoted,
}

impl YamlStyle {
    /// The style of the files of a catalog.
    pub(crate) const CATALOG: Self = Self {
        list_indent: ListIndent::Indented,
        multi_line: MultiLine::Literal,
        whole_floats_as_integers: true,
    };
    /// The style of texts inside of files, such as a value of a ConfigMap.
    pub(crate) const EMBEDDED: Self = Self {
        list_indent: ListIndent::AtKey,
        multi_line: MultiLine::Quoted,
        whole_floats_as_integers: false,
    };
}

/// Prints one document.
pub(crate) fn write_document(value: &Value, style: YamlStyle) -> String {
    write_documents([value], style)
}

/// Prints documents, separated by `---`.
pub(crate) fn write_documents<'a>(values: impl IntoIterator<Item = &'a Value>, style: YamlStyle) -> String {
    let mut writer = Writer { layout: Layout::new(), style };
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            writer.layout.indent(0);
            writer.layout.indicator("---");
        }
        writer.root(value);
        if writer.layout.column() > 0 {
            writer.layout.line_break();
        }
    }
    if writer.layout.is_open_ended {
        writer.layout.indicator("...");
        writer.layout.line_break();
    }
    writer.layout.into_text()
}

struct Writer {
    layout: Layout,
    style: YamlStyle,
}

impl Writer {
    fn root(&mut self, value: &Value) {
        match value {
            Value::Object(fields) if !fields.is_empty() => self.mapping(fields, 0),
            Value::Array(items) if !items.is_empty() => self.list(items, 0),
            _ => {
                let style = self.scalar(value, ScalarPlace { indent: STEP, may_fold: true });
                self.layout.is_open_ended |= style == ScalarStyle::Plain;
            }
        }
    }

    fn mapping(&mut self, fields: &Map<String, Value>, indent: usize) {
        for (key, value) in fields {
            self.layout.indent(indent);
            let styles = allowed_styles(key);
            if key.is_empty() || styles.is_multi_line || key.chars().count() > MAX_SIMPLE_KEY {
                self.layout.block_indicator("?");
                self.text(key, styles, ScalarPlace { indent: indent + STEP, may_fold: true });
                self.layout.indent(indent);
                self.layout.block_indicator(":");
                self.item(value, indent);
            } else {
                self.text(key, styles, ScalarPlace { indent, may_fold: false });
                self.layout.key_end();
                self.field(value, indent);
            }
        }
    }

    /// Appends the value of a key on the same line.
    fn field(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(fields) if !fields.is_empty() => self.mapping(fields, indent + STEP),
            Value::Array(items) if !items.is_empty() => match self.style.list_indent {
                ListIndent::Indented => self.list(items, indent + STEP),
                ListIndent::AtKey => self.list(items, indent),
            },
            _ => {
                self.scalar(value, ScalarPlace { indent: indent + STEP, may_fold: true });
            }
        }
    }

    fn list(&mut self, items: &[Value], indent: usize) {
        for item in items {
            self.layout.indent(indent);
            self.layout.block_indicator("-");
            self.item(item, indent);
        }
    }

    /// Appends a value behind `-`, `?` or `:`. A nested block starts on the same line.
    fn item(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(fields) if !fields.is_empty() => self.mapping(fields, indent + STEP),
            Value::Array(items) if !items.is_empty() => self.list(items, indent + STEP),
            _ => {
                self.scalar(value, ScalarPlace { indent: indent + STEP, may_fold: true });
            }
        }
    }

    fn scalar(&mut self, value: &Value, place: ScalarPlace) -> ScalarStyle {
        let word = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Number(number) => yaml_text(number, self.style.whole_floats_as_integers),
            Value::String(text) => return self.text(text, allowed_styles(text), place),
            Value::Array(_) => "[]".to_owned(),
            Value::Object(_) => "{}".to_owned(),
        };
        self.layout.separate();
        self.layout.push(&word);
        if value.is_array() || value.is_object() {
            self.layout.is_open_ended = false;
            return ScalarStyle::Quoted;
        }
        ScalarStyle::Plain
    }

    fn text(&mut self, text: &str, styles: AllowedStyles, place: ScalarPlace) -> ScalarStyle {
        let wants_literal = styles.is_multi_line && self.style.multi_line == MultiLine::Literal;
        let is_text = matches!(kind(text), PlainKind::Text);
        if wants_literal && styles.literal {
            push_literal(&mut self.layout, text, place);
        } else if styles.plain && is_text {
            push_plain(&mut self.layout, text, place);
            return ScalarStyle::Plain;
        } else if styles.single_quoted && !wants_literal {
            push_single_quoted(&mut self.layout, text, place);
        } else {
            push_double_quoted(&mut self.layout, text, place);
        }
        ScalarStyle::Quoted
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarStyle {
    Plain,
    Quoted,
}

#[cfg(test)]
mod tests;

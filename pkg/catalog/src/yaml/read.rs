//! Documents: parser events to values, with aliases and merges resolved.

use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, ScanError, options};
use manifest::yaml;
use serde_json::{Map, Value};

use super::number::float_text;
use super::scalar::{self, PlainKind};

/// The maximum size of a text in bytes.
const MAX_BYTES: usize = 256 << 20;
/// The maximum nesting of lists and mappings.
const MAX_DEPTH: usize = 500;
/// The maximum number of values that aliases may add.
const MAX_ALIASED: usize = 4_000_000;

/// The prefix of the tags that YAML itself defines.
const CORE_TAGS: &str = "tag:yaml.org,2002:";

/// A text that is no YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum YamlError {
    /// A fault in the grammar.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The description by the parser.
        problem: String,
    },
    /// An alias without a complete anchor.
    #[error("line {line}: an alias refers to no earlier value")]
    Alias {
        /// From 1.
        line: usize,
    },
    /// A value with a tag of an application.
    #[error("line {line}: could not determine a constructor for the tag `{tag}`")]
    Tag {
        /// From 1.
        line: usize,
        tag: String,
    },
    /// A list or a mapping as the key of a mapping.
    #[error("line {line}: a list or mapping is used as a key")]
    Key {
        /// From 1.
        line: usize,
    },
    /// A merge of something that is no mapping.
    #[error("line {line}: `<<` needs a mapping or a list of mappings")]
    Merge {
        /// From 1.
        line: usize,
    },
    /// A limit is exceeded.
    #[error("the text has more than {limit} {unit}")]
    TooLarge { limit: usize, unit: &'static str },
}

/// Reads all documents of a text. A text without documents gives none.
pub(crate) fn read_documents(text: &str) -> Result<Vec<Value>, YamlError> {
    if text.len() > MAX_BYTES {
        return Err(YamlError::TooLarge { limit: MAX_BYTES, unit: "bytes" });
    }
    let mut options = options! {
        emit_anchor_events: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(false);
    let refuse = |error: &ScanError, line, column| YamlError::Syntax { line, column, problem: error.info() };
    yaml::read_events(text, &options, Reader::handle, refuse).map(|reader| reader.documents)
}

/// The documents read so far, and the open lists and mappings.
#[derive(Default)]
struct Reader {
    documents: Vec<Value>,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Value>,
    aliased: usize,
}

/// An open list or mapping.
struct Frame {
    content: Content,
    anchor: usize,
}

enum Content {
    List(Vec<Value>),
    Mapping { fields: Map<String, Value>, merged: Vec<Map<String, Value>>, key: Option<Key> },
}

enum Key {
    Merge,
    Text(String),
}

impl Reader {
    fn handle(&mut self, event: Event<'_>, line: usize) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                let plain = style == ScalarStyle::Plain && tag.is_none();
                if plain && self.expects_key() && scalar::kind(&text) == PlainKind::Merge {
                    self.set_key(Key::Merge);
                    return Ok(());
                }
                let value = match tag {
                    Some(tag) => tagged(&text, &tag, line)?,
                    None if plain => scalar::value(&text),
                    None => Value::from(text.as_ref()),
                };
                self.finish(value, anchor, line)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(Content::List(Vec::new()), anchor, line)?,
            Event::MappingStart(_, anchor, _) => {
                let content = Content::Mapping { fields: Map::new(), merged: Vec::new(), key: None };
                self.open(content, anchor, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.stack.pop() {
                    let anchor = frame.anchor;
                    self.finish(frame.content.into_value(), anchor, line)?;
                }
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).cloned().ok_or(YamlError::Alias { line })?;
                self.aliased += size(&value);
                if self.aliased > MAX_ALIASED {
                    return Err(YamlError::TooLarge { limit: MAX_ALIASED, unit: "values from aliases" });
                }
                self.finish(value, 0, line)?;
            }
            Event::UnresolvedAlias(_) => return Err(YamlError::Alias { line }),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, content: Content, anchor: usize, line: usize) -> Result<(), YamlError> {
        if self.expects_key() {
            return Err(YamlError::Key { line });
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(YamlError::TooLarge { limit: MAX_DEPTH, unit: "nested levels" });
        }
        self.stack.push(Frame { content, anchor });
        Ok(())
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { content: Content::Mapping { key: None, .. }, .. }))
    }

    fn set_key(&mut self, new: Key) {
        if let Some(Frame { content: Content::Mapping { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some(new);
        }
    }

    /// Adds a complete value to its list, mapping or document.
    fn finish(&mut self, value: Value, anchor: usize, line: usize) -> Result<(), YamlError> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.stack.last_mut().map(|frame| &mut frame.content) {
            None => self.documents.push(value),
            Some(Content::List(items)) => items.push(value),
            Some(Content::Mapping { fields, merged, key }) => match key.take() {
                None => *key = Some(Key::Text(key_text(value, line)?)),
                Some(Key::Text(text)) => {
                    fields.insert(text, value);
                }
                Some(Key::Merge) => add_merge(merged, value, line)?,
            },
        }
        Ok(())
    }
}

impl Content {
    /// The own fields of a mapping override the merged ones; of those, the first mapping wins.
    fn into_value(self) -> Value {
        match self {
            Self::List(items) => Value::Array(items),
            Self::Mapping { mut fields, merged, .. } => {
                for mapping in merged {
                    for (key, value) in mapping {
                        fields.entry(key).or_insert(value);
                    }
                }
                Value::Object(fields)
            }
        }
    }
}

fn add_merge(merged: &mut Vec<Map<String, Value>>, value: Value, line: usize) -> Result<(), YamlError> {
    match value {
        Value::Object(fields) => merged.push(fields),
        Value::Array(items) => {
            for item in items {
                let Value::Object(fields) = item else { return Err(YamlError::Merge { line }) };
                merged.push(fields);
            }
        }
        _ => return Err(YamlError::Merge { line }),
    }
    Ok(())
}

fn key_text(value: Value, line: usize) -> Result<String, YamlError> {
    Ok(match value {
        Value::String(text) => text,
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float_text(float),
            None => number.to_string(),
        },
        Value::Array(_) | Value::Object(_) => return Err(YamlError::Key { line }),
    })
}

fn tagged(text: &str, tag: &str, line: usize) -> Result<Value, YamlError> {
    let unknown = || YamlError::Tag { line, tag: tag.to_owned() };
    let Some(core) = tag.strip_prefix(CORE_TAGS) else {
        return if tag == "!" { Ok(Value::from(text)) } else { Err(unknown()) };
    };
    let value = scalar::value(text);
    match core {
        "str" | "value" | "timestamp" | "binary" => Ok(Value::from(text)),
        "null" => Ok(Value::Null),
        "bool" if value.is_boolean() => Ok(value),
        "int" if value.is_i64() || value.is_u64() => Ok(value),
        "float" => match text.replace('_', "").parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Value::from(float)),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// Counts a value and all values in it.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_keep_their_order_and_their_nulls() {
        let text = "# only a comment\n---\na: 1\n---\n---\n- x\n...\n";
        assert_eq!(read_documents(text).unwrap(), [json!({"a": 1}), json!(null), json!(["x"])]);
        assert!(read_documents("").unwrap().is_empty());
    }

    #[test]
    fn own_fields_override_merged_fields() {
        let text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {y: 3, <<: [*a, *b]}\n";
        let documents = read_documents(text).unwrap();
        assert_eq!(documents[0]["c"], json!({"x": 1, "y": 3, "z": 2}));
    }

    // Row: D-450
    #[test]
    fn keys_become_text_and_tags_choose_types() {
        let documents = read_documents("1: a\ntrue: b\n1.5: c\nt: !!str 5\nf: !!float 5\nn: ! 5\n").unwrap();
        assert_eq!(documents[0], json!({"1": "a", "true": "b", "1.5": "c", "t": "5", "f": 5.0, "n": "5"}));
    }

    #[test]
    fn invalid_documents_name_their_line() {
        let problem = |text: &str| read_documents(text).unwrap_err().to_string();
        assert_eq!(problem("a: 1\nb: *c\n"), "line 2: an alias refers to no earlier value");
        assert_eq!(problem("a: 1\nb: !x y\n"), "line 2: could not determine a constructor for the tag `!x`");
        assert_eq!(problem("? [a]\n: 1\n"), "line 1: a list or mapping is used as a key");
        assert_eq!(problem("a: &a [*a]\n"), "line 1: an alias refers to no earlier value");
        assert_eq!(problem("<<: 1\n"), "line 1: `<<` needs a mapping or a list of mappings");
    }

    #[test]
    fn syntax_of_libyaml_is_read() {
        let text = "a: 'one\ntwo'\nb: \"x\"#c\nc: [d]#c\nd: \"e\n\n f\"\ne: |#c\n  x\u{85}f: !x y\n";
        assert_eq!(
            read_documents(text).unwrap_err(),
            YamlError::Tag { line: 10, tag: "!x".to_owned() },
            "the line counts the breaks in quotes"
        );
        let documents = read_documents(&text.replace("!x ", "")).unwrap();
        let expected = json!({"a": "one two", "b": "x", "c": ["d"], "d": "e\nf", "e": "x\n", "f": "y"});
        assert_eq!(documents, [expected]);
        assert!(read_documents("a: \"it\\'s\"\n").is_err(), "only Go reads this escape");
        let error = read_documents("a: 'one\ntwo'\nb: 'three\nfour' five\n").unwrap_err();
        assert!(matches!(error, YamlError::Syntax { line: 4, column: 7, .. }), "{error}");
    }

    #[test]
    fn a_block_at_the_end_of_a_text_has_no_line_feed_of_its_own() {
        for block in ["|", "|+", ">"] {
            assert_eq!(read_documents(&format!("a: {block}\n  x")).unwrap(), [json!({"a": "x"})], "{block}");
        }
        assert_eq!(read_documents("a: |\n  x\n").unwrap(), [json!({"a": "x\n"})]);
    }

    #[test]
    fn aliases_and_nesting_are_limited() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = level - 1;
            let items = vec![format!("*a{before}"); 10].join(", ");
            bomb = format!("{bomb}a{level}: &a{level} [{items}]\n");
        }
        assert_eq!(
            read_documents(&bomb).unwrap_err(),
            YamlError::TooLarge { limit: MAX_ALIASED, unit: "values from aliases" }
        );
        assert!(read_documents(&"[".repeat(100_000)).is_err());
    }
}

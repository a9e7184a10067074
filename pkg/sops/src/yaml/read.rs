//! Reads YAML documents.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle, options};
use manifest::yaml::scalars::{self, ScalarValue};
use zeroize::Zeroizing;

use super::comments::PendingComments;
use crate::SopsError;
use crate::error;
use crate::tree::{Branch, Comment, Entry, MAX_DEPTH, Value};

/// The maximum number of characters from the start of a key to its `:`, which must be on the same line.
const MAX_KEY_CHARACTERS: usize = 1024;
/// The maximum number of values and text bytes that aliases add.
const MAX_ALIASED: usize = 16 << 20;

/// Reads all documents of a text.
///
/// # Errors
/// `Syntax` for invalid YAML, for a document that is no mapping, for a key that is no text, and for a repeated key.
pub(crate) fn read(text: &str) -> Result<Vec<Branch>, SopsError> {
    let mut options = options! {
        simple_key_max_lookahead: MAX_KEY_CHARACTERS,
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    options.set_emit_comments(true);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut reader = Reader { text, line: 1, ..Reader::default() };
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| syntax(error.marker().line(), "invalid YAML"))?;
        reader.line = span.start.line();
        reader.handle(event, span)?;
    }
    Ok(reader.documents)
}

#[derive(Default)]
struct Reader<'t> {
    text: &'t str,
    documents: Vec<Branch>,
    stack: Vec<Frame>,
    comments: PendingComments,
    /// The anchored values, by the number that the parser assigned.
    anchors: HashMap<usize, Value>,
    aliased: usize,
    last: LastEvent,
    line: usize,
}

/// An unfinished list or mapping.
struct Frame {
    content: Content,
    anchor: usize,
    /// The column of its first element or key; none in brackets.
    column: Option<usize>,
}

enum Content {
    List(Vec<Value>),
    Mapping { branch: Branch, keys: HashSet<String>, key: Option<String> },
}

/// The last event, to which a comment on the same line belongs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastEvent {
    Scalar,
    FlowEnd,
    #[default]
    Other,
}

impl Reader<'_> {
    fn handle(&mut self, event: Event<'_>, span: Span) -> Result<(), SopsError> {
        let column = span.start.col();
        let mut last = LastEvent::Other;
        match event {
            Event::Comment(text, _) => {
                self.comment(&text, span);
                last = self.last;
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                let text = self.without_added_break(&text, style, &span);
                let value = scalars::read(text, tag.as_deref(), style == ScalarStyle::Plain)
                    .map_err(|problem| error::yaml(self.line, &problem))?;
                let is_value = self.scalar(value, anchor)?;
                last = if is_value { LastEvent::Scalar } else { LastEvent::Other };
            }
            Event::Alias(anchor) => {
                let value = self.repeat(anchor)?;
                self.before_value(None);
                self.add(value)?;
                last = LastEvent::Scalar;
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(Content::List(Vec::new()), anchor, column, style)?;
            }
            Event::MappingStart(style, anchor, _) => {
                let content = Content::Mapping { branch: Branch::new(), keys: HashSet::new(), key: None };
                self.open(content, anchor, column, style)?;
            }
            Event::SequenceEnd | Event::MappingEnd => last = self.close()?,
            Event::DocumentEnd => self.anchors.clear(),
            _ => {}
        }
        self.last = last;
        Ok(())
    }

    /// Places a comment behind a value at once; keeps other comments until the next event.
    fn comment(&mut self, text: &str, span: Span) {
        let range = byte_range(span);
        let line_start = memchr::memrchr(b'\n', &self.text.as_bytes()[..range.start]).map_or(0, |at| at + 1);
        let is_behind = !self.text[line_start..range.start].trim().is_empty();
        match (self.last, self.stack.last_mut()) {
            (LastEvent::Scalar, Some(frame)) if is_behind => frame.insert_inline(text),
            (LastEvent::FlowEnd, Some(frame)) if is_behind => frame.insert_into_last(text),
            _ => self.comments.push(text, span.start.col(), is_behind),
        }
    }

    /// Removes the line feed that the parser adds to a block scalar at the end of a text without one.
    fn without_added_break<'e>(&self, text: &'e str, style: ScalarStyle, span: &Span) -> &'e str {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let is_last = is_block && byte_range(*span).end >= self.text.len() && !self.text.ends_with('\n');
        if is_last { text.strip_suffix('\n').unwrap_or(text) } else { text }
    }

    /// Adds a scalar as a key or a value. Returns true if it is a value.
    fn scalar(&mut self, value: ScalarValue, anchor: usize) -> Result<bool, SopsError> {
        if let Some(Frame { content: Content::Mapping { branch, keys, key: key @ None }, .. }) =
            self.stack.last_mut()
        {
            let ScalarValue::Text(name) = value else {
                return Err(syntax(self.line, "a key is no text; only texts can be keys"));
            };
            if !keys.insert(name.clone()) {
                return Err(syntax(self.line, "a key occurs twice in its mapping"));
            }
            branch.extend(self.comments.take().map(Entry::Comment));
            *key = Some(name);
            return Ok(false);
        }
        let value = match value {
            ScalarValue::Null => Value::Null,
            ScalarValue::Bool(flag) => Value::Bool(flag),
            ScalarValue::Int(number) => Value::Int(number),
            ScalarValue::Float(number) => Value::Float(number),
            ScalarValue::Time(time) => Value::Time(time),
            ScalarValue::Text(text) => Value::Text(Zeroizing::new(text.into_bytes())),
            ScalarValue::Uint(_) => return Err(syntax(self.line, "an integer exceeds 64 bits with a sign")),
        };
        if self.stack.is_empty() {
            if !matches!(value, Value::Null) {
                return Err(syntax(self.line, "a document is no mapping"));
            }
            self.documents.push(self.comments.take().map(Entry::Comment).collect());
            return Ok(false);
        }
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        let behind = self.comments.take_behind();
        self.before_value(None);
        self.add(value)?;
        if let (Some(comment), Some(frame)) = (behind, self.stack.last_mut()) {
            frame.insert_comment(Comment { is_inline: true, ..comment });
        }
        Ok(true)
    }

    /// Places the comments before a value. The value is a list or mapping whose column is given, or a scalar.
    fn before_value(&mut self, column: Option<usize>) {
        match self.stack.last_mut() {
            Some(Frame { content: Content::Mapping { branch, .. }, .. }) => match column {
                // The other comments are inside of the list or mapping.
                Some(_) => branch.extend(self.comments.take_behind().map(Entry::Comment)),
                None => branch.extend(self.comments.take().map(Entry::Comment)),
            },
            Some(Frame { content: Content::List(items), column: own, .. }) => match (column, own) {
                (Some(_), Some(own)) => items.extend(self.comments.take_up_to(*own).map(Value::Comment)),
                _ => items.extend(self.comments.take().map(Value::Comment)),
            },
            None => {}
        }
    }

    fn open(
        &mut self,
        content: Content,
        anchor: usize,
        column: usize,
        style: StructureStyle,
    ) -> Result<(), SopsError> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(syntax(self.line, "lists and mappings are nested too deeply"));
        }
        if self.stack.is_empty() && matches!(content, Content::List(_)) {
            return Err(syntax(self.line, "a document is a list, not a mapping"));
        }
        if let Some(Frame { content: Content::Mapping { key: None, .. }, .. }) = self.stack.last() {
            return Err(syntax(self.line, "a key is no text; only texts can be keys"));
        }
        self.before_value(Some(column));
        let mut frame = Frame { content, anchor, column: (style == StructureStyle::Block).then_some(column) };
        // Comments before the first element of a list precede its `-`; those of a mapping are placed at its first key.
        if let Content::List(items) = &mut frame.content {
            items.extend(self.comments.take_up_to(column).map(Value::Comment));
        }
        self.stack.push(frame);
        Ok(())
    }

    /// Closes the innermost list or mapping.
    fn close(&mut self) -> Result<LastEvent, SopsError> {
        let Some(mut frame) = self.stack.pop() else { return Ok(LastEvent::Other) };
        // A list may have the column of the key before it; comments there belong to the next key.
        let is_list = matches!(frame.content, Content::List(_));
        let shares_column = is_list && self.stack.last().is_some_and(|parent| parent.column == frame.column);
        let from = frame.column.map_or(0, |column| column + usize::from(shares_column));
        frame.extend(self.comments.take_from(from));
        let is_flow = frame.column.is_none();
        let value = match frame.content {
            Content::List(items) => Value::List(items),
            Content::Mapping { branch, .. } => Value::Branch(branch),
        };
        if frame.anchor != 0 {
            self.anchors.insert(frame.anchor, value.clone());
        }
        match (self.stack.is_empty(), value) {
            (true, Value::Branch(branch)) => self.documents.push(branch),
            (_, value) => self.add(value)?,
        }
        Ok(if is_flow { LastEvent::FlowEnd } else { LastEvent::Other })
    }

    fn add(&mut self, value: Value) -> Result<(), SopsError> {
        match self.stack.last_mut().map(|frame| &mut frame.content) {
            Some(Content::List(items)) => items.push(value),
            Some(Content::Mapping { branch, key, .. }) => match key.take() {
                Some(key) => branch.push(Entry::Field { key, value }),
                None => return Err(syntax(self.line, "a key is no text; only texts can be keys")),
            },
            None => return Err(syntax(self.line, "a document is no mapping")),
        }
        Ok(())
    }

    /// Returns a copy of an anchored value.
    fn repeat(&mut self, anchor: usize) -> Result<Value, SopsError> {
        let Some(value) = self.anchors.get(&anchor) else {
            return Err(syntax(self.line, "an alias has no anchor before it, or is inside of its own value"));
        };
        self.aliased += size(value);
        if self.aliased > MAX_ALIASED {
            return Err(syntax(self.line, "the document expands its aliases excessively"));
        }
        Ok(value.clone())
    }
}

impl Frame {
    fn extend(&mut self, comments: impl Iterator<Item = Comment>) {
        match &mut self.content {
            Content::List(items) => items.extend(comments.map(Value::Comment)),
            Content::Mapping { branch, .. } => branch.extend(comments.map(Entry::Comment)),
        }
    }

    /// Inserts a comment before the last element or field, which it follows on its line.
    fn insert_inline(&mut self, text: &str) {
        self.insert_comment(Comment { is_inline: true, ..Comment::new(text.as_bytes()) });
    }

    fn insert_comment(&mut self, comment: Comment) {
        match &mut self.content {
            Content::List(items) => items.insert(items.len().saturating_sub(1), Value::Comment(comment)),
            Content::Mapping { branch, .. } => {
                branch.insert(branch.len().saturating_sub(1), Entry::Comment(comment));
            }
        }
    }

    /// Inserts a comment at the start of the last value, which is a list or mapping in brackets.
    fn insert_into_last(&mut self, text: &str) {
        let comment = Comment::new(text.as_bytes());
        let last = match &mut self.content {
            Content::List(items) => items.last_mut(),
            Content::Mapping { branch, .. } => match branch.last_mut() {
                Some(Entry::Field { value, .. }) => Some(value),
                _ => None,
            },
        };
        match last {
            Some(Value::List(items)) => items.insert(0, Value::Comment(comment)),
            Some(Value::Branch(branch)) => branch.insert(0, Entry::Comment(comment)),
            _ => {}
        }
    }
}

/// Returns the number of values and text bytes.
fn size(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(size).sum(),
            Value::Branch(branch) => {
                branch.iter().filter_map(Entry::as_field).map(|(key, value)| key.len() + size(value)).sum()
            }
            _ => 0,
        }
}

fn byte_range(span: Span) -> Range<usize> {
    span.byte_range().expect("invariant: a parser made from a string knows its bytes")
}

fn syntax(line: usize, problem: &str) -> SopsError {
    SopsError::Syntax { format: "YAML", problem: format!("line {line}: {problem}") }
}

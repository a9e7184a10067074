//! Composes the value of a parsed document: resolves aliases, applies merges, converts keys to text.
//!
//! Source: go.yaml.in/yaml/v2 2.4.3 decode.go for the counted nodes and the order of merges; sigs.k8s.io/yaml 1.6.0 for
//! keys; go.yaml.in/yaml/v3 3.0.4 for settings, in which own fields override merged fields.
//! Uses an explicit stack, so only [`YamlLimits`](crate::Limits) bound the depth.

use super::error::{Fault, YamlErrorKind};
use super::scalar::{Dialect, Scalar, float_key, float_value};
use super::tree::{Node, NodeKind, Tree};
use crate::{Map, Value, YamlLimits};

/// A document with at most this many nodes from aliases, or at most [`FREE_NODES`] in total, is always accepted.
const FREE_ALIASED: u64 = 100;
const FREE_NODES: u64 = 1_000;
/// Up to this size, 99 % of the nodes may come from aliases; above, the share falls to 10 % at [`LARGE_DOCUMENT_NODES`].
const SMALL_DOCUMENT_NODES: u64 = 400_000;
const LARGE_DOCUMENT_NODES: u64 = 4_000_000;

/// Composes the value of a document.
pub(super) fn compose(
    tree: Tree,
    text: &str,
    limits: &YamlLimits,
    rules: Rules,
    extras: DocumentExtras<'_>,
) -> Result<Value, Fault> {
    let mut composer = Composer {
        tree,
        text,
        depth: limits.depth,
        size_bytes: limits.size_bytes,
        rules,
        extras,
        stack: Vec::new(),
        nodes: 1,
        aliased: 0,
    };
    composer.run()
}

/// A construct that is read in a way its author may not expect.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) offset: u32,
    pub(crate) kind: NoteKind,
}

#[derive(Debug)]
pub(crate) enum NoteKind {
    /// A key was converted to this text, which differs from its spelling.
    RespelledKey(String),
    /// A key occurs twice in its mapping.
    DuplicateKey(String),
    /// Text after the end of the document was ignored.
    TextAfterEnd,
}

/// The additional results for a document.
pub(super) struct DocumentExtras<'a> {
    pub(super) notes: &'a mut Vec<Note>,
    /// The fields without a written value, as JSON pointers.
    pub(super) empty_fields: &'a mut Vec<String>,
    /// The number of bytes that aliases add to the text.
    pub(super) aliased_bytes: &'a mut usize,
}

/// The rules that differ between readers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) duplicates: Duplicates,
    pub(super) dialect: Dialect,
}

/// The treatment of a repeated key in one mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    LastWins,
    Rejected,
}

struct Composer<'a> {
    tree: Tree,
    text: &'a str,
    depth: usize,
    size_bytes: usize,
    rules: Rules,
    extras: DocumentExtras<'a>,
    stack: Vec<Frame>,
    /// The number of visited nodes; a repeated alias counts each time.
    nodes: u64,
    /// The number of visited nodes that came from aliases.
    aliased: u64,
}

/// An unfinished list or mapping.
struct Frame {
    content: Content,
    /// The remaining nodes; the last source comes first.
    sources: Vec<Source>,
}

enum Content {
    List(Vec<Value>),
    Mapping {
        fields: Map<String, Value>,
        /// The key of the current value.
        key: Option<Key>,
        /// True if a merge has set fields, so repeating one of them is valid.
        merged: bool,
    },
}

struct Key {
    text: String,
    offset: u32,
    /// True if the key comes from a merge that must not override existing keys.
    gives_way: bool,
}

/// A range of nodes.
#[derive(Clone, Copy)]
struct Source {
    next: u32,
    end: u32,
    through_alias: bool,
    gives_way: bool,
}

/// The next step of the innermost frame.
enum Step {
    Element { index: u32, through_alias: bool },
    Entry { index: u32, through_alias: bool, gives_way: bool },
    Done,
}

impl Composer<'_> {
    fn run(&mut self) -> Result<Value, Fault> {
        if self.tree.nodes.is_empty() {
            return Ok(Value::Null);
        }
        let mut ready = self.enter(0, false)?;
        loop {
            if let Some(value) = ready.take() {
                match self.stack.last_mut() {
                    None => return Ok(value),
                    Some(frame) => {
                        if let Some(key) = frame.add(value) {
                            self.record_duplicate(key)?;
                        }
                    }
                }
            }
            ready = match self.step() {
                Step::Element { index, through_alias } => self.enter(index, through_alias)?,
                Step::Entry { index, through_alias, gives_way } => {
                    self.enter_entry(index, through_alias, gives_way)?
                }
                Step::Done => self.stack.pop().map(Frame::into_value),
            };
        }
    }

    /// Takes the next node from the innermost frame.
    fn step(&mut self) -> Step {
        let Some(frame) = self.stack.last_mut() else { return Step::Done };
        while let Some(source) = frame.sources.last_mut() {
            if source.next >= source.end {
                frame.sources.pop();
                continue;
            }
            let Source { next: index, through_alias, gives_way, .. } = *source;
            source.next = self.tree.after(index);
            return match &frame.content {
                Content::List(_) => Step::Element { index, through_alias },
                Content::Mapping { .. } => {
                    source.next = self.tree.after(source.next);
                    Step::Entry { index, through_alias, gives_way }
                }
            };
        }
        Step::Done
    }

    /// Enters a node: returns the value of a scalar, or opens a frame.
    fn enter(&mut self, index: u32, through_alias: bool) -> Result<Option<Value>, Fault> {
        let (index, through_alias) = self.follow(index, through_alias)?;
        self.count_bytes(index, through_alias)?;
        let next = index + 1;
        let (content, end) = match &self.tree.node(index).kind {
            NodeKind::List { end } => (Content::List(Vec::new()), *end),
            NodeKind::Mapping { end } => {
                (Content::Mapping { fields: Map::new(), key: None, merged: false }, *end)
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {
                let offset = self.tree.node(index).offset;
                let scalar = self.take_scalar(index);
                if scalar == Scalar::Empty {
                    let pointer = self.pointer();
                    self.extras.empty_fields.push(pointer);
                }
                return scalar.into_value().map(Some).map_err(|problem| problem.at_offset(offset));
            }
        };
        if self.stack.len() >= self.depth {
            return Err(YamlErrorKind::TooDeep { limit: self.depth }.at_offset(self.tree.node(index).offset));
        }
        self.stack
            .push(Frame { content, sources: vec![Source { next, end, through_alias, gives_way: false }] });
        Ok(None)
    }

    /// Returns the JSON pointer of the next value.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for frame in &self.stack {
            pointer.push('/');
            match &frame.content {
                Content::List(items) => pointer.push_str(&items.len().to_string()),
                Content::Mapping { key, .. } => {
                    let key = key.as_ref().map(|key| key.text.as_str()).unwrap_or_default();
                    pointer.push_str(&crate::pointer::step(key));
                }
            }
        }
        pointer
    }

    /// Enters a key and its value.
    fn enter_entry(
        &mut self,
        index: u32,
        through_alias: bool,
        gives_way: bool,
    ) -> Result<Option<Value>, Fault> {
        let value = self.tree.after(index);
        if matches!(self.tree.node(index).kind, NodeKind::Scalar(Scalar::Merge)) {
            self.merge(value, through_alias)?;
            return Ok(None);
        }
        let offset = self.tree.node(index).offset;
        let (target, key_through_alias) = self.follow(index, through_alias)?;
        self.count_bytes(target, key_through_alias)?;
        let text = match &self.tree.node(target).kind {
            NodeKind::List { .. } => return Err(YamlErrorKind::UnusableKey("a list").at_offset(offset)),
            NodeKind::Mapping { .. } => return Err(YamlErrorKind::UnusableKey("a mapping").at_offset(offset)),
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => self.take_key(target)?,
        };
        if let Some(Frame { content: Content::Mapping { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some(Key { text, offset, gives_way });
        }
        self.enter(value, through_alias)
    }

    /// Inserts the mappings of a merge at the current position of the innermost mapping.
    fn merge(&mut self, index: u32, through_alias: bool) -> Result<(), Fault> {
        let mut sources = Vec::new();
        if let NodeKind::List { end } = self.tree.node(index).kind {
            let mut item = index + 1;
            while item < end {
                sources.push(self.merge_source(item, through_alias)?);
                item = self.tree.after(item);
            }
        } else {
            sources.push(self.merge_source(index, through_alias)?);
        }
        if let Some(frame) = self.stack.last_mut() {
            match self.rules.dialect {
                // The first mapping wins, so it must be read last: the last source is read first.
                Dialect::Objects => frame.sources.append(&mut sources),
                // The first mapping is read first, after the own fields; later mappings do not override.
                Dialect::Settings | Dialect::Resources => {
                    let current = frame.sources.len().saturating_sub(1);
                    frame.sources.splice(current..current, sources.into_iter().rev());
                }
            }
            if let Content::Mapping { merged, .. } = &mut frame.content {
                *merged = true;
            }
        }
        Ok(())
    }

    fn merge_source(&mut self, index: u32, through_alias: bool) -> Result<Source, Fault> {
        let offset = self.tree.node(index).offset;
        let (target, through_alias) = self.follow(index, through_alias)?;
        match self.tree.node(target).kind {
            NodeKind::Mapping { end } => {
                let gives_way = self.rules.dialect.is_v3();
                Ok(Source { next: target + 1, end, through_alias, gives_way })
            }
            _ => Err(YamlErrorKind::MergeNotMapping.at_offset(offset)),
        }
    }

    /// Counts a node, and the target of an alias.
    fn follow(&mut self, index: u32, through_alias: bool) -> Result<(u32, bool), Fault> {
        self.count(index, through_alias)?;
        match self.tree.node(index).kind {
            NodeKind::Alias { target } => {
                self.count(index, true)?;
                Ok((target, true))
            }
            _ => Ok((index, through_alias)),
        }
    }

    fn count(&mut self, index: u32, through_alias: bool) -> Result<(), Fault> {
        self.nodes += 1;
        if through_alias {
            self.aliased += 1;
            if self.aliased > FREE_ALIASED
                && self.nodes > FREE_NODES
                && is_excessive(self.aliased, self.nodes)
            {
                return Err(YamlErrorKind::ExcessiveAliases.at_offset(self.tree.node(index).offset));
            }
        }
        Ok(())
    }

    /// Counts the bytes of a repeated node, because a few nodes may repeat much text.
    fn count_bytes(&mut self, index: u32, through_alias: bool) -> Result<(), Fault> {
        if through_alias {
            let node = self.tree.node(index);
            let text = if let NodeKind::Scalar(Scalar::Text(text)) = &node.kind { text.len() } else { 0 };
            *self.extras.aliased_bytes += size_of::<Value>() + text;
            if self.text.len() + *self.extras.aliased_bytes > self.size_bytes {
                return Err(
                    YamlErrorKind::AliasesTooLarge { limit_bytes: self.size_bytes }.at_offset(node.offset)
                );
            }
        }
        Ok(())
    }

    /// Moves a scalar out of the tree, or copies it if an alias may repeat it.
    fn take_scalar(&mut self, index: u32) -> Scalar {
        let keep = self.tree.has_aliases;
        match &mut self.tree.nodes[index as usize].kind {
            NodeKind::Scalar(scalar) if keep => scalar.clone(),
            NodeKind::Scalar(scalar) => std::mem::replace(scalar, Scalar::Null),
            _ => Scalar::Null,
        }
    }

    fn take_key(&mut self, index: u32) -> Result<String, Fault> {
        let offset = self.tree.node(index).offset;
        let scalar = self.take_scalar(index);
        let written_as_text = matches!(scalar, Scalar::Text(_) | Scalar::Merge);
        let key = scalar.into_key(self.rules.dialect).map_err(|problem| problem.at_offset(offset))?;
        if !written_as_text && !self.text.as_bytes()[offset as usize..].starts_with(key.as_bytes()) {
            self.extras.notes.push(Note { offset, kind: NoteKind::RespelledKey(key.clone()) });
        }
        Ok(key)
    }

    fn record_duplicate(&mut self, key: Key) -> Result<(), Fault> {
        if self.rules.duplicates == Duplicates::Rejected {
            return Err(YamlErrorKind::DuplicateKey(key.text).at_offset(key.offset));
        }
        if let Some(Frame { content: Content::Mapping { merged: false, .. }, .. }) = self.stack.last() {
            self.extras.notes.push(Note { offset: key.offset, kind: NoteKind::DuplicateKey(key.text) });
        }
        Ok(())
    }
}

impl Frame {
    /// Adds a value. Returns the key if it was already set.
    fn add(&mut self, value: Value) -> Option<Key> {
        match &mut self.content {
            Content::List(items) => {
                items.push(value);
                None
            }
            Content::Mapping { fields, key, .. } => {
                let Key { text, offset, gives_way } = key.take()?;
                match fields.entry(text) {
                    serde_json::map::Entry::Vacant(free) => {
                        free.insert(value);
                        None
                    }
                    serde_json::map::Entry::Occupied(_) if gives_way => None,
                    serde_json::map::Entry::Occupied(mut taken) => {
                        taken.insert(value);
                        Some(Key { text: taken.key().clone(), offset, gives_way })
                    }
                }
            }
        }
    }

    fn into_value(self) -> Value {
        match self.content {
            Content::List(items) => Value::Array(items),
            Content::Mapping { fields, .. } => Value::Object(fields),
        }
    }
}

impl Tree {
    fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    /// Returns the index after a node and its content.
    fn after(&self, index: u32) -> u32 {
        match self.node(index).kind {
            NodeKind::List { end } | NodeKind::Mapping { end } => end,
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => index + 1,
        }
    }
}

impl Scalar {
    fn into_value(self) -> Result<Value, YamlErrorKind> {
        Ok(match self {
            Self::Null | Self::Empty => Value::Null,
            Self::Bool(flag) => Value::Bool(flag),
            Self::Int(number) => Value::from(number),
            Self::Uint(number) => Value::from(number),
            Self::Float(number) if number.is_finite() => float_value(number),
            Self::Float(_) => return Err(YamlErrorKind::NotFinite),
            Self::Text(text) => Value::String(text),
            Self::Merge => Value::from("<<"),
        })
    }

    fn into_key(self, dialect: Dialect) -> Result<String, YamlErrorKind> {
        Ok(match self {
            Self::Null | Self::Empty if dialect.is_v3() => String::new(),
            Self::Uint(number) if dialect.is_v3() => number.to_string(),
            Self::Null | Self::Empty => return Err(YamlErrorKind::UnusableKey("`null`")),
            Self::Uint(_) => return Err(YamlErrorKind::UnusableKey("an integer over 63 bits")),
            Self::Bool(flag) => flag.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Float(number) => float_key(number),
            Self::Text(text) => text,
            Self::Merge => "<<".to_owned(),
        })
    }
}

/// True if more nodes come from aliases than allowed for the size of the document.
fn is_excessive(aliased: u64, nodes: u64) -> bool {
    // In thousandths, to use integers.
    let allowed = match nodes {
        ..=SMALL_DOCUMENT_NODES => 990,
        LARGE_DOCUMENT_NODES.. => 100,
        _ => 990 - 890 * (nodes - SMALL_DOCUMENT_NODES) / (LARGE_DOCUMENT_NODES - SMALL_DOCUMENT_NODES),
    };
    aliased * 1_000 > allowed * nodes
}

//! One YAML document with the lines of its values. Aliases and merge keys are resolved by sharing, not by copying.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use granit_parser::{Event, ScalarStyle, ScanError, options};
use manifest::yaml;

/// The maximum nesting of lists and mappings, as in serde_yaml.
pub(super) const MAX_DEPTH: usize = 128;
/// The maximum number of characters from the start of a key to its `:`, which must be on the same line.
const MAX_KEY_CHARACTERS: usize = 1024;

/// A problem of a document.
#[derive(Debug)]
pub(super) struct DocumentProblem {
    /// The line, from 1.
    pub(super) line: u32,
    /// The reason, in the words of the YAML reader.
    pub(super) reason: String,
}

/// A parsed document.
#[derive(Debug, Default)]
pub(super) struct Document {
    nodes: Vec<DocumentNode>,
    root: Option<NodeId>,
}

/// The number of a node in its document.
pub(super) type NodeId = u32;

#[derive(Debug)]
pub(super) struct DocumentNode {
    pub(super) line: u32,
    pub(super) content: NodeContent,
}

#[derive(Debug)]
pub(super) enum NodeContent {
    Scalar {
        text: String,
        /// The full tag.
        tag: Option<String>,
        is_plain: bool,
    },
    List(Vec<NodeId>),
    Map(Vec<(NodeId, NodeId)>),
}

impl Document {
    /// Parses a text with at most one document.
    pub(super) fn parse(text: &str) -> Result<Self, DocumentProblem> {
        let mut options = options! {
            simple_key_max_lookahead: MAX_KEY_CHARACTERS,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        // Another crate may have enabled the feature for comments.
        options.set_emit_comments(false);
        let handle = |builder: &mut Builder, event: Event<'_>, line| builder.handle(event, line_number(line));
        let refuse = |error: &ScanError, line, _| DocumentProblem {
            line: line_number(line),
            reason: error.kind().to_string(),
        };
        yaml::read_events(text, &options, handle, refuse).map(|builder| builder.document)
    }

    /// Returns the root node. `None` for an empty text.
    pub(super) fn root(&self) -> Option<NodeId> {
        self.root
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, id: NodeId) -> &DocumentNode {
        &self.nodes[id as usize]
    }

    fn scalar_text(&self, id: NodeId) -> Option<&str> {
        match &self.node(id).content {
            NodeContent::Scalar { text, .. } => Some(text),
            NodeContent::List(_) | NodeContent::Map(_) => None,
        }
    }
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[derive(Default)]
struct Builder {
    document: Document,
    /// The unfinished lists and mappings.
    open: Vec<OpenNode>,
    /// The finished nodes with an anchor, by the number that the parser assigned.
    anchors: HashMap<usize, NodeId>,
    documents: usize,
}

struct OpenNode {
    id: NodeId,
    anchor: usize,
    /// The key whose value is not read yet.
    key: Option<NodeId>,
}

impl Builder {
    fn handle(&mut self, event: Event<'_>, line: u32) -> Result<(), DocumentProblem> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let reason = "deserializing from YAML containing more than one document is not supported";
                    return Err(DocumentProblem { line, reason: reason.to_owned() });
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let text = text.into_owned();
                let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                let is_plain = style == ScalarStyle::Plain;
                let id = self.push(line, NodeContent::Scalar { text, tag, is_plain });
                self.finish(id, anchor);
            }
            Event::Alias(anchor) => {
                let Some(&id) = self.anchors.get(&anchor) else {
                    return Err(DocumentProblem { line, reason: "unknown anchor".to_owned() });
                };
                self.add(id);
            }
            Event::SequenceStart(_, anchor, _) => self.open(line, NodeContent::List(Vec::new()), anchor)?,
            Event::MappingStart(_, anchor, _) => self.open(line, NodeContent::Map(Vec::new()), anchor)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(done) = self.open.pop() {
                    self.finish(done.id, done.anchor);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, line: u32, content: NodeContent) -> NodeId {
        let id = NodeId::try_from(self.document.nodes.len()).unwrap_or(NodeId::MAX);
        self.document.nodes.push(DocumentNode { line, content });
        id
    }

    fn open(&mut self, line: u32, content: NodeContent, anchor: usize) -> Result<(), DocumentProblem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(line));
        }
        let id = self.push(line, content);
        self.open.push(OpenNode { id, anchor, key: None });
        Ok(())
    }

    fn finish(&mut self, id: NodeId, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
        self.add(id);
    }

    /// Adds a finished node to the list or mapping around it.
    fn add(&mut self, id: NodeId) {
        let Some(parent) = self.open.last_mut() else {
            self.document.root = Some(id);
            return;
        };
        match &mut self.document.nodes[parent.id as usize].content {
            NodeContent::List(items) => items.push(id),
            NodeContent::Map(pairs) => match parent.key.take() {
                Some(key) => pairs.push((key, id)),
                None => parent.key = Some(id),
            },
            NodeContent::Scalar { .. } => {}
        }
    }
}

/// The pairs of mappings after the resolution of merge keys (`<<`).
pub(super) struct MergedPairs<'d> {
    document: &'d Document,
    known: HashMap<NodeId, Rc<[(NodeId, NodeId)]>>,
}

impl<'d> MergedPairs<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Self { document, known: HashMap::new() }
    }

    /// Returns the pairs of a mapping. Own fields have precedence over merged fields, and earlier mappings over later
    /// ones.
    ///
    /// # Errors
    /// The value of a merge key is neither a mapping nor a list of mappings.
    pub(super) fn of(&mut self, id: NodeId) -> Result<Rc<[(NodeId, NodeId)]>, DocumentProblem> {
        self.merge(id, 0)
    }

    fn merge(&mut self, id: NodeId, depth: usize) -> Result<Rc<[(NodeId, NodeId)]>, DocumentProblem> {
        if let Some(known) = self.known.get(&id) {
            return Ok(Rc::clone(known));
        }
        let document = self.document;
        let NodeContent::Map(pairs) = &document.node(id).content else { return Ok(Rc::new([])) };
        if depth > MAX_DEPTH {
            return Err(too_deep(document.node(id).line));
        }
        let (merges, mut merged): (Vec<_>, Vec<_>) =
            pairs.iter().copied().partition(|(key, _)| document.scalar_text(*key) == Some("<<"));
        let mut keys: HashSet<&str> =
            merged.iter().filter_map(|(key, _)| document.scalar_text(*key)).collect();
        for (_, source) in merges {
            for mapping in self.merge_sources(source)? {
                for &(key, value) in &*self.merge(mapping, depth + 1)? {
                    if document.scalar_text(key).is_none_or(|text| keys.insert(text)) {
                        merged.push((key, value));
                    }
                }
            }
        }
        let merged: Rc<[_]> = merged.into();
        self.known.insert(id, Rc::clone(&merged));
        Ok(merged)
    }

    fn merge_sources(&self, id: NodeId) -> Result<Vec<NodeId>, DocumentProblem> {
        let is_map = |id: &NodeId| matches!(self.document.node(*id).content, NodeContent::Map(_));
        match &self.document.node(id).content {
            NodeContent::Map(_) => Ok(vec![id]),
            NodeContent::List(items) if items.iter().all(is_map) => Ok(items.clone()),
            _ => Err(DocumentProblem {
                line: self.document.node(id).line,
                reason: "the value of merge key `<<` must be a mapping or a list of mappings".to_owned(),
            }),
        }
    }
}

/// Returns the problem of a document that is nested too deeply.
pub(super) fn too_deep(line: u32) -> DocumentProblem {
    DocumentProblem { line, reason: format!("recursion limit exceeded: more than {MAX_DEPTH} levels") }
}

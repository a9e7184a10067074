//! One parsed document with unresolved aliases: a flat list of nodes in document order.
//!
//! The content of a list or mapping follows its node, which stores the end of the range. Keys and values of a mapping
//! alternate. An alias stores the index of the repeated node.

use std::collections::HashMap;

use super::YamlErrorKind;
use super::error::Fault;
use super::scalar::Scalar;

/// One node of a document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// The start of the node in the text, in bytes.
    pub(super) offset: u32,
}

/// The kind of a node.
#[derive(Debug)]
pub(super) enum NodeKind {
    Scalar(Scalar),
    List {
        /// The index after the last node of the content.
        end: u32,
    },
    Mapping {
        /// The index after the last node of the content.
        end: u32,
    },
    Alias {
        /// The index of the repeated node.
        target: u32,
    },
}

/// The nodes of one document, and a flag for aliases.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) has_aliases: bool,
}

/// Builds the tree during parsing.
#[derive(Debug, Default)]
pub(super) struct Builder {
    tree: Tree,
    /// The unfinished lists and mappings.
    open: Vec<u32>,
    /// The anchored nodes, by the number that the parser assigned.
    anchors: HashMap<usize, u32>,
    /// The nesting limit.
    depth: usize,
}

impl Builder {
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar, anchor: Option<usize>, offset: u32) {
        self.push(NodeKind::Scalar(scalar), anchor, offset);
    }

    pub(super) fn open_list(&mut self, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        self.open(NodeKind::List { end: 0 }, anchor, offset)
    }

    pub(super) fn open_mapping(&mut self, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        self.open(NodeKind::Mapping { end: 0 }, anchor, offset)
    }

    /// True if the next node is a key or value of annotations.
    ///
    /// The annotations belong to the document, or to an item if the document is a list.
    pub(super) fn is_in_annotations(&self) -> bool {
        let is_called = |index: u32, name: &str| {
            let before = index.checked_sub(1).and_then(|before| self.tree.nodes.get(before as usize));
            matches!(before, Some(Node { kind: NodeKind::Scalar(Scalar::Text(text)), .. }) if text == name)
        };
        match *self.open {
            [_, metadata, annotations] => {
                is_called(metadata, "metadata") && is_called(annotations, "annotations")
            }
            [_, items, _, metadata, annotations] => {
                is_called(items, "items")
                    && is_called(metadata, "metadata")
                    && is_called(annotations, "annotations")
            }
            _ => false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tree.nodes.is_empty()
    }

    /// Closes the innermost list or mapping.
    pub(super) fn close(&mut self) {
        let end = self.next_index();
        let Some(index) = self.open.pop() else { return };
        match &mut self.tree.nodes[index as usize].kind {
            NodeKind::List { end: last } | NodeKind::Mapping { end: last } => *last = end,
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => {}
        }
    }

    pub(super) fn alias(&mut self, anchor: usize, name: &str, offset: u32) -> Result<(), Fault> {
        let Some(&target) = self.anchors.get(&anchor) else {
            return Err(YamlErrorKind::UnknownAnchor(name.to_owned()).at_offset(offset));
        };
        if self.open.contains(&target) {
            return Err(YamlErrorKind::AnchorInItself(name.to_owned()).at_offset(offset));
        }
        self.tree.has_aliases = true;
        self.push(NodeKind::Alias { target }, None, offset);
        Ok(())
    }

    pub(super) fn finish(self) -> Tree {
        self.tree
    }

    fn open(&mut self, kind: NodeKind, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        if self.open.len() >= self.depth {
            return Err(YamlErrorKind::TooDeep { limit: self.depth }.at_offset(offset));
        }
        self.open.push(self.next_index());
        self.push(kind, anchor, offset);
        Ok(())
    }

    fn push(&mut self, kind: NodeKind, anchor: Option<usize>, offset: u32) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, self.next_index());
        }
        self.tree.nodes.push(Node { kind, offset });
    }

    /// There are fewer nodes than bytes, and the length of a text fits the index type.
    fn next_index(&self) -> u32 {
        u32::try_from(self.tree.nodes.len()).unwrap_or(u32::MAX)
    }
}

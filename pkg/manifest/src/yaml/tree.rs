//! One parsed document before its aliases are followed: a flat list of nodes in document order.
//!
//! Shape: a list or mapping is followed by its content and says where that ends, so that the content of a node is a
//! range; keys and values of a mapping alternate. An alias points back at the node it repeats.

use std::collections::HashMap;

use super::Problem;
use super::error::Fault;
use super::scalar::Scalar;

/// One node of a document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Where it starts in the text, in bytes.
    pub(super) offset: u32,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    List {
        /// The index after the last node of its content.
        end: u32,
    },
    Mapping {
        /// The index after the last node of its content.
        end: u32,
    },
    Alias {
        /// The index of the node it repeats.
        target: u32,
    },
}

/// The nodes of one document, and whether any of them is an alias.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) has_aliases: bool,
}

/// Puts a tree together while the document is being parsed.
#[derive(Debug, Default)]
pub(super) struct Builder {
    tree: Tree,
    /// The lists and mappings that are not finished.
    open: Vec<u32>,
    /// By the number the parser gave them.
    anchors: HashMap<usize, u32>,
    /// The deepest nesting that is accepted.
    depth: usize,
}

impl Builder {
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar, anchor: Option<usize>, offset: u32) {
        self.push(Kind::Scalar(scalar), anchor, offset);
    }

    pub(super) fn open_list(&mut self, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        self.open(Kind::List { end: 0 }, anchor, offset)
    }

    pub(super) fn open_mapping(&mut self, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        self.open(Kind::Mapping { end: 0 }, anchor, offset)
    }

    /// Whether the next node is a key or a value of the annotations of an object: of the document, or of an item of a list
    /// that is the document.
    pub(super) fn is_in_annotations(&self) -> bool {
        let is_called = |index: u32, name: &str| {
            let before = index.checked_sub(1).and_then(|before| self.tree.nodes.get(before as usize));
            matches!(before, Some(Node { kind: Kind::Scalar(Scalar::Text(text)), .. }) if text == name)
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

    /// Ends the innermost list or mapping.
    pub(super) fn close(&mut self) {
        let end = self.next_index();
        let Some(index) = self.open.pop() else { return };
        match &mut self.tree.nodes[index as usize].kind {
            Kind::List { end: last } | Kind::Mapping { end: last } => *last = end,
            Kind::Scalar(_) | Kind::Alias { .. } => {}
        }
    }

    pub(super) fn alias(&mut self, anchor: usize, name: &str, offset: u32) -> Result<(), Fault> {
        let Some(&target) = self.anchors.get(&anchor) else {
            return Err(Problem::UnknownAnchor(name.to_owned()).from(offset));
        };
        if self.open.contains(&target) {
            return Err(Problem::AnchorInItself(name.to_owned()).from(offset));
        }
        self.tree.has_aliases = true;
        self.push(Kind::Alias { target }, None, offset);
        Ok(())
    }

    pub(super) fn finish(self) -> Tree {
        self.tree
    }

    fn open(&mut self, kind: Kind, anchor: Option<usize>, offset: u32) -> Result<(), Fault> {
        if self.open.len() >= self.depth {
            return Err(Problem::TooDeep { limit: self.depth }.from(offset));
        }
        self.open.push(self.next_index());
        self.push(kind, anchor, offset);
        Ok(())
    }

    fn push(&mut self, kind: Kind, anchor: Option<usize>, offset: u32) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, self.next_index());
        }
        self.tree.nodes.push(Node { kind, offset });
    }

    /// Nodes are fewer than bytes of text, and a text is held under the range of the index.
    fn next_index(&self) -> u32 {
        u32::try_from(self.tree.nodes.len()).unwrap_or(u32::MAX)
    }
}

//! The objects of one resource, sorted.
//!
//! A list of blocks, each a sorted list of objects. Unlike a `BTreeMap`, it counts the objects between two positions
//! without a walk and stores no second copy of the keys. A clone costs one pointer per block: blocks are shared until
//! one of the owners changes them.

use std::{cmp::Ordering, ops::Range, sync::Arc};

use super::{Key, StoredObject};

/// The maximum block size; a larger block is split in two. A write to a shared block copies this many pointers, and a
/// count adds one number per block. Tests use smaller blocks.
const BLOCK: usize = if cfg!(test) { 16 } else { 512 };

/// The sort key of an object in its resource: the bytes of `namespace/name`, like the keys of etcd. `-` and `.` come
/// before `/`, so objects of `a-b` come before those of `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortKey<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// The objects of one resource, sorted by [`SortKey`].
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// Contains no empty block.
    blocks: Vec<Arc<Vec<Arc<StoredObject>>>>,
    len: usize,
}

/// A position between objects, given by the next object and its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    block: usize,
    index: usize,
}

impl<'a> From<&'a Key> for SortKey<'a> {
    fn from(key: &'a Key) -> Self {
        Self { namespace: &key.namespace, name: &key.name }
    }
}

impl Ord for SortKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.namespace == other.namespace {
            return self.name.cmp(other.name);
        }
        compare_namespaces(self.namespace, other.namespace)
    }
}

impl PartialOrd for SortKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares namespaces as if both ended with `/`.
fn compare_namespaces(a: &str, b: &str) -> Ordering {
    a.bytes().chain([b'/']).cmp(b.bytes().chain([b'/']))
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<StoredObject>> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    pub(super) fn get(&self, sort_key: SortKey<'_>) -> Option<&Arc<StoredObject>> {
        let position = self.find(sort_key).ok()?;
        Some(&self.blocks[position.block][position.index])
    }

    /// Inserts an object. Returns the replaced object.
    pub(super) fn insert(&mut self, object: Arc<StoredObject>) -> Option<Arc<StoredObject>> {
        let position = match self.find(SortKey::from(&object.key)) {
            Ok(Position { block, index }) => {
                return Some(std::mem::replace(&mut Arc::make_mut(&mut self.blocks[block])[index], object));
            }
            Err(position) => position,
        };
        self.len += 1;
        // Appends to the previous block rather than creating a block before the next one.
        let (at, index) = match position {
            Position { block: 0, index: 0 } if self.blocks.is_empty() => {
                self.blocks.push(Arc::default());
                (0, 0)
            }
            Position { block, index: 0 } if block > 0 => (block - 1, self.blocks[block - 1].len()),
            Position { block, index } => (block, index),
        };
        let block = Arc::make_mut(&mut self.blocks[at]);
        block.insert(index, object);
        if block.len() > BLOCK {
            let upper = block.split_off(block.len() / 2);
            self.blocks.insert(at + 1, Arc::new(upper));
        }
        None
    }

    pub(super) fn remove(&mut self, sort_key: SortKey<'_>) -> Option<Arc<StoredObject>> {
        let Position { block: at, index } = self.find(sort_key).ok()?;
        self.len -= 1;
        let block = Arc::make_mut(&mut self.blocks[at]);
        let removed = block.remove(index);
        if block.is_empty() {
            self.blocks.remove(at);
        } else if let Some(next) = self.blocks.get(at + 1)
            && self.blocks[at].len() + next.len() <= BLOCK / 4
        {
            // Merges small neighbours, so that a shrunk list does not keep its old blocks.
            let next = self.blocks.remove(at + 1);
            Arc::make_mut(&mut self.blocks[at]).extend(next.iter().cloned());
        }
        Some(removed)
    }

    pub(super) fn range(&self, namespace: Option<&str>) -> Range<Position> {
        let Some(namespace) = namespace else {
            return Position { block: 0, index: 0 }..Position { block: self.blocks.len(), index: 0 };
        };
        let border = |before: &[Ordering]| {
            self.partition(|object| before.contains(&compare_namespaces(&object.key.namespace, namespace)))
        };
        border(&[Ordering::Less])..border(&[Ordering::Less, Ordering::Equal])
    }

    /// Returns the position after a place, even if no object is there.
    pub(super) fn position_after(&self, sort_key: SortKey<'_>) -> Position {
        self.partition(|object| SortKey::from(&object.key) <= sort_key)
    }

    /// Returns the objects between two positions, in order, each with the position after it.
    pub(super) fn between(
        &self,
        range: Range<Position>,
    ) -> impl Iterator<Item = (Position, &Arc<StoredObject>)> {
        let Range { start, end } = range;
        let blocks = self.blocks.iter().enumerate().take(end.block + 1).skip(start.block);
        blocks.flat_map(move |(block, objects)| {
            let first = if block == start.block { start.index } else { 0 };
            let last = if block == end.block { end.index } else { objects.len() };
            let objects = objects.get(first..last).unwrap_or_default().iter().enumerate();
            objects.map(move |(index, object)| (Position { block, index: first + index + 1 }, object))
        })
    }

    /// Returns the number of objects between two positions.
    pub(super) fn count(&self, range: Range<Position>) -> usize {
        let before = |position: Position| {
            self.blocks[..position.block].iter().map(|block| block.len()).sum::<usize>() + position.index
        };
        before(range.end).saturating_sub(before(range.start))
    }

    /// Returns the position of the object at this place. Returns the insertion position as an error if there is no such
    /// object.
    fn find(&self, sort_key: SortKey<'_>) -> Result<Position, Position> {
        let position = self.partition(|object| SortKey::from(&object.key) < sort_key);
        let there = self.blocks.get(position.block).and_then(|block| block.get(position.index));
        if there.is_some_and(|object| SortKey::from(&object.key) == sort_key) {
            Ok(position)
        } else {
            Err(position)
        }
    }

    /// Returns the position before the first object for which `is_before` is false. The index names an object, except
    /// at the end of the list.
    fn partition(&self, is_before: impl Fn(&StoredObject) -> bool) -> Position {
        let block = self.blocks.partition_point(|block| block.last().is_some_and(|object| is_before(object)));
        let index =
            self.blocks.get(block).map_or(0, |objects| objects.partition_point(|object| is_before(object)));
        Position { block, index }
    }
}

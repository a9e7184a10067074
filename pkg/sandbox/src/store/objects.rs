//! The objects of one resource, sorted.
//!
//! A list of blocks, each a sorted list of objects. Compared with a `BTreeMap` it can tell how many objects stand
//! between two places without walking there, it keeps no second copy of the keys, and a clone costs a pointer per
//! block: blocks are shared until one of the two owners writes to one.

use std::{cmp::Ordering, ops::Range, sync::Arc};

use super::{Key, Stored};

/// A block of this size is split in halves. A write to a shared block copies so many pointers, and a count adds up one
/// number per block. Tests get by with fewer objects.
const BLOCK: usize = if cfg!(test) { 16 } else { 512 };

/// Where an object stands among those of its resource: sorted by the bytes of `namespace/name`, as the keys of etcd
/// are. `-` and `.` come before `/`, so objects of `a-b` come before those of `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

/// The objects of one resource, sorted by [`Place`].
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    /// None is empty.
    blocks: Vec<Arc<Vec<Arc<Stored>>>>,
    len: usize,
}

/// A position between objects: the block and the object that come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    block: usize,
    index: usize,
}

impl<'a> From<&'a Key> for Place<'a> {
    fn from(key: &'a Key) -> Self {
        Self { namespace: &key.namespace, name: &key.name }
    }
}

impl Ord for Place<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.namespace == other.namespace {
            return self.name.cmp(other.name);
        }
        compare_namespaces(self.namespace, other.namespace)
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares as if a `/` stood at the end of both.
fn compare_namespaces(a: &str, b: &str) -> Ordering {
    a.bytes().chain([b'/']).cmp(b.bytes().chain([b'/']))
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Stored>> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    pub(super) fn get(&self, place: Place<'_>) -> Option<&Arc<Stored>> {
        let position = self.find(place).ok()?;
        Some(&self.blocks[position.block][position.index])
    }

    /// Puts an object in its place and returns what was there.
    pub(super) fn insert(&mut self, object: Arc<Stored>) -> Option<Arc<Stored>> {
        let position = match self.find(Place::from(&object.key)) {
            Ok(Position { block, index }) => {
                return Some(std::mem::replace(&mut Arc::make_mut(&mut self.blocks[block])[index], object));
            }
            Err(position) => position,
        };
        self.len += 1;
        // Behind the last object of a block is better than a new block before the next.
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

    /// Takes an object out.
    pub(super) fn remove(&mut self, place: Place<'_>) -> Option<Arc<Stored>> {
        let Position { block: at, index } = self.find(place).ok()?;
        self.len -= 1;
        let block = Arc::make_mut(&mut self.blocks[at]);
        let removed = block.remove(index);
        if block.is_empty() {
            self.blocks.remove(at);
        } else if let Some(next) = self.blocks.get(at + 1)
            && self.blocks[at].len() + next.len() <= BLOCK / 4
        {
            // Leftovers are put together, so that a shrunk list does not keep the blocks of its best days.
            let next = self.blocks.remove(at + 1);
            Arc::make_mut(&mut self.blocks[at]).extend(next.iter().cloned());
        }
        Some(removed)
    }

    /// All of one namespace; all of all without one.
    pub(super) fn range(&self, namespace: Option<&str>) -> Range<Position> {
        let Some(namespace) = namespace else {
            return Position { block: 0, index: 0 }..Position { block: self.blocks.len(), index: 0 };
        };
        let border = |before: &[Ordering]| {
            self.partition(|object| before.contains(&compare_namespaces(&object.key.namespace, namespace)))
        };
        border(&[Ordering::Less])..border(&[Ordering::Less, Ordering::Equal])
    }

    /// The position behind a place, whether or not an object is there.
    pub(super) fn behind(&self, place: Place<'_>) -> Position {
        self.partition(|object| Place::from(&object.key) <= place)
    }

    /// The objects between two positions, in order, each with the position behind it.
    pub(super) fn between(&self, range: Range<Position>) -> impl Iterator<Item = (Position, &Arc<Stored>)> {
        let Range { start, end } = range;
        let blocks = self.blocks.iter().enumerate().take(end.block + 1).skip(start.block);
        blocks.flat_map(move |(block, objects)| {
            let first = if block == start.block { start.index } else { 0 };
            let last = if block == end.block { end.index } else { objects.len() };
            let objects = objects.get(first..last).unwrap_or_default().iter().enumerate();
            objects.map(move |(index, object)| (Position { block, index: first + index + 1 }, object))
        })
    }

    /// How many objects stand between two positions.
    pub(super) fn count(&self, range: Range<Position>) -> usize {
        let before = |position: Position| {
            self.blocks[..position.block].iter().map(|block| block.len()).sum::<usize>() + position.index
        };
        before(range.end).saturating_sub(before(range.start))
    }

    /// Where the object at this place is, or else would be.
    fn find(&self, place: Place<'_>) -> Result<Position, Position> {
        let position = self.partition(|object| Place::from(&object.key) < place);
        let there = self.blocks.get(position.block).and_then(|block| block.get(position.index));
        if there.is_some_and(|object| Place::from(&object.key) == place) {
            Ok(position)
        } else {
            Err(position)
        }
    }

    /// The position before the first object that `is_before` says no to. Its index is that of an object, unless it is
    /// the end of all.
    fn partition(&self, is_before: impl Fn(&Stored) -> bool) -> Position {
        let block = self.blocks.partition_point(|block| block.last().is_some_and(|object| is_before(object)));
        let index =
            self.blocks.get(block).map_or(0, |objects| objects.partition_point(|object| is_before(object)));
        Position { block, index }
    }
}

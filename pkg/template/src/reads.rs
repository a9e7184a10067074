//! The entries of maps that actions read, for the provenance of the output.

use crate::value::{Map, MapId, Str};

/// An entry of a map that an action read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The identity of the map.
    pub map: MapId,
    /// The key of the entry in the map.
    pub key: Str,
}

/// The reads that a value comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadRange {
    start: usize,
    end: usize,
}

/// The reads of one render in their order. Without a trace there are none.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    list: Vec<Read>,
    is_recording: bool,
}

impl Reads {
    /// The most reads of a value that count again when the value is used, so that loops over a variable end.
    const REPEATED: usize = 32;

    pub(crate) fn new(is_recording: bool) -> Self {
        Self { list: Vec::new(), is_recording }
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    /// Records the read of an entry.
    pub(crate) fn record(&mut self, map: &Map, key: &Str) {
        self.list.push(Read { map: map.id(), key: key.clone() });
    }

    /// The number of reads.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the reads behind the first ones.
    pub(crate) fn since(&self, start: usize) -> ReadRange {
        ReadRange { start, end: self.list.len() }
    }

    /// Records the reads of a value again, because an action uses the value.
    pub(crate) fn repeat(&mut self, range: ReadRange) {
        let end = range.end.min(range.start + Self::REPEATED);
        self.list.extend_from_within(range.start..end);
    }

    pub(crate) fn of(&self, range: ReadRange) -> &[Read] {
        &self.list[range.start..range.end]
    }
}

//! Encoding of journal records.
//!
//! ```text
//! file    = "capstan store 1\n" record…
//! record  = length u32, CRC-32 of the payload u32, CRC-32 of these eight bytes u32, payload
//! payload = 1 start:  revision u64, number of objects u64
//!         | 2 object: object        an initial object, as many as the start record says
//!         | 3 put:    object        a change; revisions are consecutive
//!         | 4 delete: object        a change; the last state
//! object  = revision u64, schema generation u64, group, plural, namespace, name, version (texts),
//!           number of labels u32, label (text, text)…, body (the rest)
//! text    = length u32, UTF-8
//! ```
//!
//! Numbers are little-endian. The length has its own checksum. A record with a valid length that exceeds the file was
//! interrupted during its write, and is distinct from one with a damaged length.

use std::{
    io::{self, Read},
    sync::Arc,
};

use bytes::Bytes;

use super::{Key, ResourceName, Revision, StoredObject};

/// The first bytes of a journal; the number is the format version.
pub(super) const MAGIC: &[u8; 16] = b"capstan store 1\n";

/// The part of [`MAGIC`] that all formats share.
pub(super) const MAGIC_PREFIX: &[u8; 14] = b"capstan store ";

/// The size of a record header, in bytes.
pub(super) const HEADER_BYTES: usize = 12;

const START: u8 = 1;
const OBJECT: u8 = 2;
const PUT: u8 = 3;
const DELETE: u8 = 4;

#[derive(Debug)]
pub(super) enum Record {
    /// The revision and the number of objects of the initial state.
    Start(Revision, u64),
    Object(StoredObject),
    /// A created or replaced object.
    Put(StoredObject),
    Delete(StoredObject),
}

/// The next item of a journal.
#[derive(Debug)]
pub(super) enum JournalItem {
    Record(Record),
    /// The end of the journal, after a complete record.
    End,
    /// An incomplete last record: the writer was interrupted.
    Incomplete,
    /// Damage that an interrupted writer cannot cause.
    Damaged(&'static str),
}

/// Reads a journal record by record.
#[derive(Debug)]
pub(super) struct RecordReader<R> {
    input: R,
    /// The start of the next record.
    offset: u64,
    /// The size of the file.
    size: u64,
    payload: Vec<u8>,
}

/// Appends a start record to a buffer.
pub(super) fn start(buffer: &mut Vec<u8>, revision: Revision, objects: u64) -> io::Result<()> {
    frame(buffer, |payload| {
        payload.push(START);
        payload.extend(revision.0.to_le_bytes());
        payload.extend(objects.to_le_bytes());
        Ok(())
    })
}

/// Appends an initial object to a buffer.
pub(super) fn object(buffer: &mut Vec<u8>, object: &StoredObject) -> io::Result<()> {
    frame(buffer, |payload| write_object(payload, OBJECT, object))
}

/// Appends a change to a buffer.
///
/// # Errors
/// Fails if a part of the change is larger than 4 GiB. The buffer may then contain a partial record.
pub(super) fn change(buffer: &mut Vec<u8>, deleted: bool, object: &StoredObject) -> io::Result<()> {
    frame(buffer, |payload| write_object(payload, if deleted { DELETE } else { PUT }, object))
}

/// Returns the size of an object's record, in bytes.
pub(super) fn size(object: &StoredObject) -> u64 {
    let key = &object.key;
    let texts = [&key.resource.group, &key.resource.plural, &key.namespace, &key.name, &object.version];
    let texts = texts.iter().map(|text| 4 + text.len()).sum::<usize>();
    let labels = object.labels.iter().map(|(name, value)| 8 + name.len() + value.len()).sum::<usize>();
    (HEADER_BYTES + 1 + 16 + texts + 4 + labels + object.body.len()) as u64
}

fn frame(buffer: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    let start = buffer.len();
    buffer.extend([0; HEADER_BYTES]);
    write(buffer)?;
    let payload = &buffer[start + HEADER_BYTES..];
    let (length, checksum) = (length(payload)?, crc32fast::hash(payload));
    let head = &mut buffer[start..start + HEADER_BYTES];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..8].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc32fast::hash(&head[..8]);
    head[8..].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}

fn write_object(payload: &mut Vec<u8>, tag: u8, object: &StoredObject) -> io::Result<()> {
    let StoredObject { key, revision, version, schema_generation, body, labels } = object;
    payload.push(tag);
    payload.extend(revision.0.to_le_bytes());
    payload.extend(schema_generation.to_le_bytes());
    for text in [&key.resource.group, &key.resource.plural, &key.namespace, &key.name, version] {
        write_text(payload, text)?;
    }
    let count = u32::try_from(labels.len()).map_err(io::Error::other)?;
    payload.extend(count.to_le_bytes());
    for text in labels.iter().flat_map(|(name, value)| [name, value]) {
        write_text(payload, text)?;
    }
    payload.extend_from_slice(body);
    Ok(())
}

fn write_text(payload: &mut Vec<u8>, text: &str) -> io::Result<()> {
    payload.extend(length(text.as_bytes())?.to_le_bytes());
    payload.extend_from_slice(text.as_bytes());
    Ok(())
}

fn length(bytes: &[u8]) -> io::Result<u32> {
    u32::try_from(bytes.len())
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 GiB"))
}

impl<R: Read> RecordReader<R> {
    /// Creates a reader that starts at `offset` in a file of `size` bytes.
    pub(super) fn new(input: R, offset: u64, size: u64) -> Self {
        Self { input, offset, size, payload: Vec::new() }
    }

    /// Returns the start of the next record: the end of the last valid one.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn next(&mut self) -> io::Result<JournalItem> {
        let left = self.size - self.offset;
        if left == 0 {
            return Ok(JournalItem::End);
        }
        if left < HEADER_BYTES as u64 {
            return Ok(JournalItem::Incomplete);
        }
        let mut head = [0; HEADER_BYTES];
        self.input.read_exact(&mut head)?;
        let [length, checksum, checksum_of_head] = numbers(head);
        if crc32fast::hash(&head[..8]) != checksum_of_head {
            // A file system may have extended the file without filling it before a power failure.
            let is_blank = head == [0; HEADER_BYTES] && self.is_blank()?;
            return Ok(if is_blank {
                JournalItem::Incomplete
            } else {
                JournalItem::Damaged("a record has an invalid length")
            });
        }
        let record_end = HEADER_BYTES as u64 + u64::from(length);
        if record_end > left {
            return Ok(JournalItem::Incomplete);
        }
        self.payload.resize(length as usize, 0);
        self.input.read_exact(&mut self.payload)?;
        if crc32fast::hash(&self.payload) != checksum {
            let is_last = record_end == left;
            return Ok(if is_last {
                JournalItem::Incomplete
            } else {
                JournalItem::Damaged("a record has an invalid checksum")
            });
        }
        let Some(record) = Fields(&self.payload).record() else {
            return Ok(JournalItem::Damaged("a record has an unknown format"));
        };
        self.offset += record_end;
        Ok(JournalItem::Record(record))
    }

    /// True if only zeros follow.
    fn is_blank(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 4096];
        loop {
            match self.input.read(&mut chunk)? {
                0 => return Ok(true),
                read if chunk[..read].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }
}

fn numbers(head: [u8; HEADER_BYTES]) -> [u32; 3] {
    [0, 4, 8].map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]))
}

/// The rest of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn record(mut self) -> Option<Record> {
        let [tag] = self.array()?;
        let record = match tag {
            START => Record::Start(Revision(self.number()?), self.number()?),
            OBJECT => Record::Object(self.object()?),
            PUT => Record::Put(self.object()?),
            DELETE => Record::Delete(self.object()?),
            _ => return None,
        };
        self.0.is_empty().then_some(record)
    }

    fn object(&mut self) -> Option<StoredObject> {
        let revision = Revision(self.number()?);
        let schema_generation = self.number()?;
        let resource = ResourceName { group: self.shared_text()?, plural: self.shared_text()? };
        let key = Key { resource, namespace: self.shared_text()?, name: self.shared_text()? };
        let version = self.shared_text()?;
        let count = u32::from_le_bytes(self.array()?);
        let labels =
            (0..count).map(|_| Some((self.text()?.into(), self.text()?.into()))).collect::<Option<_>>()?;
        let body = Bytes::from(Box::from(std::mem::take(&mut self.0)));
        Some(StoredObject { key, revision, version, schema_generation, body, labels })
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn shared_text(&mut self) -> Option<Arc<str>> {
        self.text().map(Arc::from)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = u32::from_le_bytes(self.array()?);
        let (text, rest) = self.0.split_at_checked(length as usize)?;
        self.0 = rest;
        str::from_utf8(text).ok()
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

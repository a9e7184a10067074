//! The journal, which preserves the state beyond the process.
//!
//! ```text
//! DIRECTORY/lock         held while a process uses the directory
//! DIRECTORY/journal      a state, then every change since; the format is described in `record`
//! DIRECTORY/journal.new  the next journal during its creation; renamed once complete
//! ```
//!
//! A change is one write at the end of the file, before any reader sees the change. Written changes survive a kill of
//! the process; a power failure may lose the latest ones. After a failed write, the file is truncated to the last
//! record. When the journal is much longer than the live objects, a new one starts from the current state. The earlier
//! history then exists in memory only.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Change, Revision, StoredObject,
    directory::{Directory, DirectoryOptions, OpenError},
    objects::Objects,
    record::{self, JournalItem, MAGIC, MAGIC_PREFIX, Record, RecordReader},
    state::State,
};

/// A journal is replaced if its length exceeds this multiple of the live records by more than `MAX_EXCESS_BYTES`.
const MAX_LENGTH_RATIO: u64 = 4;
/// See `MAX_LENGTH_RATIO`.
const MAX_EXCESS_BYTES: u64 = 8 << 20;
/// The maximum size of a record buffer that is reused for the next record.
const MAX_REUSED_BUFFER: usize = 64 << 10;

/// The open journal of a data directory.
#[derive(Debug)]
pub(super) struct Journal {
    directory: Directory,
    medium: Box<dyn JournalFile>,
    /// The end of the last valid record.
    end: u64,
    /// True if data may follow the end: both a write and the truncation failed.
    has_trailing_data: bool,
    /// The total size of the records of live objects, in bytes.
    live_bytes: u64,
    /// The minimum length of the journal before the next replacement, after a failed one.
    min_replacement_size: u64,
    buffer: Vec<u8>,
    report: JournalReport,
}

/// The state of a data directory, for callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    /// The invalid end that was removed on opening.
    pub truncated_end: Option<TruncatedEnd>,
    /// The failure to replace the journal by a shorter one. The long journal stays usable.
    pub failed_replacement: Option<String>,
}

/// The incomplete end of a journal. Its cause is a killed process, whose change was never acknowledged, or a power
/// failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncatedEnd {
    /// The path of the journal.
    pub file: PathBuf,
    /// The offset of the cut: the current size.
    pub offset: u64,
    /// The number of removed bytes.
    pub bytes: u64,
}

/// The file of a journal, replaceable so that tests can simulate failures.
pub(super) trait JournalFile: fmt::Debug + Send {
    /// Appends bytes to the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn truncate(&mut self, size: u64) -> io::Result<()>;
}

impl JournalFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)?;
        self.seek(SeekFrom::Start(size)).map(drop)
    }
}

impl Journal {
    /// Locks a data directory and reads its content. A new or empty directory becomes an empty store.
    ///
    /// # Errors
    /// Fails if the directory is in use, damaged or inaccessible. The directory is then unchanged.
    pub(super) fn open(path: &Path, options: &DirectoryOptions) -> Result<(Self, State), OpenError> {
        let directory = Directory::lock(path, options.owner)?;
        let journal = directory.journal();
        let mut state = State::new(options.history);
        let (file, end, cut_off) = match File::open(&journal) {
            Ok(file) => reopen(file, &journal, &mut state)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (revision, objects) = state.snapshot();
                let write = |file: &mut File| write_state(file, revision, &objects);
                let file = directory.replace_journal(write).map_err(OpenError::io("create", &journal))?;
                let end = file.metadata().map_err(OpenError::io("read", &journal))?.len();
                (file, end, None)
            }
            Err(error) => return Err(OpenError::io("open", &journal)(error)),
        };
        directory.remove_leftovers()?;
        let live = live_bytes(&state.snapshot().1);
        let journal = Self {
            directory,
            medium: Box::new(file),
            end,
            has_trailing_data: false,
            live_bytes: live,
            min_replacement_size: 0,
            buffer: Vec::new(),
            report: JournalReport { truncated_end: cut_off, failed_replacement: None },
        };
        Ok((journal, state))
    }

    pub(super) fn report(&self) -> &JournalReport {
        &self.report
    }

    /// Writes a change.
    ///
    /// # Errors
    /// Fails if the operating system refuses. The journal is then unchanged, or is repaired before the next change.
    pub(super) fn append(&mut self, change: &Change) -> io::Result<()> {
        self.buffer.clear();
        record::change(&mut self.buffer, change.deleted, &change.after)?;
        if self.has_trailing_data {
            self.medium.truncate(self.end)?;
            self.has_trailing_data = false;
        }
        if let Err(error) = self.medium.append(&self.buffer) {
            self.has_trailing_data = self.medium.truncate(self.end).is_err();
            return Err(error);
        }
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(MAX_REUSED_BUFFER);
        let before = change.before.as_deref().map_or(0, record::size);
        let after = if change.deleted { 0 } else { record::size(&change.after) };
        self.live_bytes = (self.live_bytes + after).saturating_sub(before);
        Ok(())
    }

    /// True if the journal is much longer than the live objects.
    pub(super) fn is_long(&self) -> bool {
        self.end > (self.live_bytes * MAX_LENGTH_RATIO + MAX_EXCESS_BYTES).max(self.min_replacement_size)
    }

    /// Replaces the journal by one that starts from this state. After a failure, the old journal stays in use, and the
    /// next attempt waits until its length has doubled.
    pub(super) fn replace(&mut self, revision: Revision, objects: &[Objects]) {
        let mut end = 0;
        let replaced = self.directory.replace_journal(|file| {
            write_state(file, revision, objects)?;
            end = file.stream_position()?;
            Ok(())
        });
        let replaced = replaced
            .map(|file| (self.medium, self.end, self.has_trailing_data) = (Box::new(file), end, false));
        self.report.failed_replacement = replaced.as_ref().err().map(ToString::to_string);
        self.min_replacement_size = if replaced.is_ok() { 0 } else { self.end * 2 };
    }

    #[cfg(test)]
    pub(super) fn set_medium(&mut self, medium: impl FnOnce(Box<dyn JournalFile>) -> Box<dyn JournalFile>) {
        let nothing = Box::new(File::open(self.directory.journal()).unwrap());
        self.medium = medium(std::mem::replace(&mut self.medium, nothing));
    }
}

/// Reads a journal and removes an incomplete end. Returns the file for appends and its size.
fn reopen(
    file: File,
    path: &Path,
    state: &mut State,
) -> Result<(File, u64, Option<TruncatedEnd>), OpenError> {
    let size = file.metadata().map_err(OpenError::io("read", path))?.len();
    let end = load(BufReader::with_capacity(256 << 10, file), path, size, state)?;
    let open = || {
        let mut file = OpenOptions::new().write(true).open(path)?;
        if end < size { file.truncate(end) } else { file.seek(SeekFrom::Start(end)).map(drop) }?;
        Ok(file)
    };
    let file = open().map_err(OpenError::io("write", path))?;
    let cut_off =
        (end < size).then(|| TruncatedEnd { file: path.to_owned(), offset: end, bytes: size - end });
    Ok((file, end, cut_off))
}

/// Reads a journal into an empty state. Returns the end of the last valid record.
fn load(mut input: impl Read, path: &Path, size: u64, state: &mut State) -> Result<u64, OpenError> {
    let mut magic = Vec::new();
    input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(OpenError::io("read", path))?;
    if magic != MAGIC {
        let is_ours = magic.starts_with(MAGIC_PREFIX) && magic.len() == MAGIC.len();
        let file = path.to_owned();
        return Err(if is_ours { OpenError::UnknownFormat { file } } else { OpenError::Foreign { file } });
    }
    let mut records = RecordReader::new(input, MAGIC.len() as u64, size);
    let mut replay = Replay { state, missing: None };
    loop {
        let offset = records.offset();
        let has_state = replay.missing == Some(0);
        let damaged = |reason| OpenError::Damaged { file: path.to_owned(), offset, reason, has_state };
        match records.next().map_err(OpenError::io("read", path))? {
            JournalItem::Record(record) => replay.apply(record).map_err(damaged)?,
            JournalItem::Damaged(reason) => return Err(damaged(reason)),
            // Journals are replaced atomically, so an interruption never leaves one that is shorter than its state.
            JournalItem::End | JournalItem::Incomplete if !has_state => {
                return Err(damaged("the rest of the file is missing"));
            }
            JournalItem::End | JournalItem::Incomplete => return Ok(offset),
        }
    }
}

/// A state under reconstruction from records.
struct Replay<'a> {
    state: &'a mut State,
    /// The number of remaining objects of the initial state; `None` before the start record.
    missing: Option<u64>,
}

impl Replay<'_> {
    fn apply(&mut self, record: Record) -> Result<(), &'static str> {
        match (record, self.missing) {
            (Record::Start(revision, objects), None) => {
                self.state.start_at(revision);
                self.missing = Some(objects);
            }
            (Record::Object(object), Some(missing @ 1..)) => {
                self.missing = Some(missing - 1);
                self.state.restore(object);
            }
            (Record::Put(object), Some(0)) => self.change(object, false)?,
            (Record::Delete(object), Some(0)) => self.change(object, true)?,
            _ => return Err("a record is out of order"),
        }
        Ok(())
    }

    fn change(&mut self, mut object: StoredObject, deleted: bool) -> Result<(), &'static str> {
        let before = self.state.get(&object.key).cloned();
        if object.revision != self.state.revision().next() || (deleted && before.is_none()) {
            return Err("a change does not follow the previous one");
        }
        object.key =
            before.as_ref().map_or_else(|| self.state.shared_key(&object.key), |before| before.key.clone());
        let change = Change { revision: object.revision, before, after: Arc::new(object), deleted };
        self.state.apply(change);
        Ok(())
    }
}

/// Writes the first part of a journal: the whole state.
fn write_state(file: &mut File, revision: Revision, objects: &[Objects]) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(256 << 10, file);
    let mut buffer = MAGIC.to_vec();
    let count = objects.iter().map(Objects::len).sum::<usize>();
    record::start(&mut buffer, revision, count as u64)?;
    output.write_all(&buffer)?;
    for object in objects.iter().flat_map(Objects::iter) {
        buffer.clear();
        record::object(&mut buffer, object)?;
        output.write_all(&buffer)?;
    }
    output.flush()
}

fn live_bytes(objects: &[Objects]) -> u64 {
    objects.iter().flat_map(Objects::iter).map(|object| record::size(object)).sum()
}

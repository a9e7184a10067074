//! The journal: what makes the state survive the process.
//!
//! ```text
//! DIRECTORY/lock         held while a process uses the directory
//! DIRECTORY/journal      a state, then every change since; the form is told in `record`
//! DIRECTORY/journal.new  the next journal while it is written; renamed when it is complete
//! ```
//!
//! A change is one write at the end of the file, done before anybody can see the change. What was written is safe when
//! the process is killed; a power cut may take the latest changes. When a write fails, the file is cut back to the last
//! record. When the journal is much longer than what lives, it is replaced by one that starts from
//! the state of now; the history before that is known in memory only.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Change, Revision, Stored,
    directory::{Directory, DirectoryOptions, OpenError},
    objects::Objects,
    record::{self, MAGIC, MAGIC_OF_ALL, Record, Records, Step},
    state::State,
};

/// The journal is replaced when it is longer than so many times the live objects…
const MOST_TIMES: u64 = 4;
/// …and this many bytes.
const MOST_BYTES: u64 = 8 << 20;
/// The buffer of one record is kept for the next when it is not larger.
const KEPT_BUFFER: usize = 64 << 10;

/// The open journal of a data directory.
#[derive(Debug)]
pub(super) struct Journal {
    directory: Directory,
    medium: Box<dyn Medium>,
    /// Where the last sound record ends.
    end: u64,
    /// Something may stand behind the end: a write failed, and so did the cut.
    is_ragged: bool,
    /// The records of the live objects, in bytes.
    live: u64,
    /// No replacement before the journal is this long: the last one failed.
    not_before: u64,
    buffer: Vec<u8>,
    report: JournalReport,
}

/// What a caller may want to tell about a data directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    /// What was cut off when it was opened.
    pub cut_off: Option<CutOff>,
    /// Why the journal could not be replaced by a shorter one; the long one is as good.
    pub failed_replacement: Option<String>,
}

/// The end of a journal that is no whole record: a change whose process was killed while it wrote, which nobody was
/// told of, or what a power cut left of the last ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// The journal.
    pub file: PathBuf,
    /// Where it was cut off: its size now.
    pub offset: u64,
    /// How many bytes went.
    pub bytes: u64,
}

/// The file under a journal, so that tests can let it fail.
pub(super) trait Medium: fmt::Debug + Send {
    /// Writes at the end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn cut(&mut self, size: u64) -> io::Result<()>;
}

impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn cut(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)?;
        self.seek(SeekFrom::Start(size)).map(drop)
    }
}

impl Journal {
    /// Takes a data directory and reads what is there. A new or empty directory becomes an empty store.
    ///
    /// # Errors
    /// When the directory is in use, damaged or refused. Nothing has changed then.
    pub(super) fn open(path: &Path, options: &DirectoryOptions) -> Result<(Self, State), OpenError> {
        let directory = Directory::take(path, options.owner)?;
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
        directory.clean()?;
        let live = live_bytes(&state.snapshot().1);
        let journal = Self {
            directory,
            medium: Box::new(file),
            end,
            is_ragged: false,
            live,
            not_before: 0,
            buffer: Vec::new(),
            report: JournalReport { cut_off, failed_replacement: None },
        };
        Ok((journal, state))
    }

    pub(super) fn report(&self) -> &JournalReport {
        &self.report
    }

    /// Writes a change.
    ///
    /// # Errors
    /// When the system refuses; the journal is then as it was, or will be before the next change.
    pub(super) fn append(&mut self, change: &Change) -> io::Result<()> {
        self.buffer.clear();
        record::change(&mut self.buffer, change.deleted, &change.after)?;
        if self.is_ragged {
            self.medium.cut(self.end)?;
            self.is_ragged = false;
        }
        if let Err(error) = self.medium.append(&self.buffer) {
            self.is_ragged = self.medium.cut(self.end).is_err();
            return Err(error);
        }
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BUFFER);
        let before = change.before.as_deref().map_or(0, record::size);
        let after = if change.deleted { 0 } else { record::size(&change.after) };
        self.live = (self.live + after).saturating_sub(before);
        Ok(())
    }

    /// Whether it has grown much longer than what lives.
    pub(super) fn is_long(&self) -> bool {
        self.end > (self.live * MOST_TIMES + MOST_BYTES).max(self.not_before)
    }

    /// Replaces the journal by one that starts from this state. When that fails, the old one goes on, and the next
    /// attempt waits until it is twice as long.
    pub(super) fn replace(&mut self, revision: Revision, objects: &[Objects]) {
        let mut end = 0;
        let replaced = self.directory.replace_journal(|file| {
            write_state(file, revision, objects)?;
            end = file.stream_position()?;
            Ok(())
        });
        let replaced =
            replaced.map(|file| (self.medium, self.end, self.is_ragged) = (Box::new(file), end, false));
        self.report.failed_replacement = replaced.as_ref().err().map(ToString::to_string);
        self.not_before = if replaced.is_ok() { 0 } else { self.end * 2 };
    }

    #[cfg(test)]
    pub(super) fn set_medium(&mut self, medium: impl FnOnce(Box<dyn Medium>) -> Box<dyn Medium>) {
        let nothing = Box::new(File::open(self.directory.journal()).unwrap());
        self.medium = medium(std::mem::replace(&mut self.medium, nothing));
    }
}

/// Reads a journal, then cuts off the end that is not whole. Returns the file to append to and its size.
fn reopen(file: File, path: &Path, state: &mut State) -> Result<(File, u64, Option<CutOff>), OpenError> {
    let size = file.metadata().map_err(OpenError::io("read", path))?.len();
    let end = load(BufReader::with_capacity(256 << 10, file), path, size, state)?;
    let open = || {
        let mut file = OpenOptions::new().write(true).open(path)?;
        if end < size { file.cut(end) } else { file.seek(SeekFrom::Start(end)).map(drop) }?;
        Ok(file)
    };
    let file = open().map_err(OpenError::io("write", path))?;
    let cut_off = (end < size).then(|| CutOff { file: path.to_owned(), offset: end, bytes: size - end });
    Ok((file, end, cut_off))
}

/// Reads a journal into an empty state. Returns where the last sound record ends.
fn load(mut input: impl Read, path: &Path, size: u64, state: &mut State) -> Result<u64, OpenError> {
    let mut magic = Vec::new();
    input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(OpenError::io("read", path))?;
    if magic != MAGIC {
        let is_ours = magic.starts_with(MAGIC_OF_ALL) && magic.len() == MAGIC.len();
        let file = path.to_owned();
        return Err(if is_ours { OpenError::UnknownFormat { file } } else { OpenError::Foreign { file } });
    }
    let mut records = Records::new(input, MAGIC.len() as u64, size);
    let mut replay = Replay { state, missing: None };
    loop {
        let offset = records.offset();
        let has_state = replay.missing == Some(0);
        let damaged = |reason| OpenError::Damaged { file: path.to_owned(), offset, reason, has_state };
        match records.next().map_err(OpenError::io("read", path))? {
            Step::Record(record) => replay.apply(record).map_err(damaged)?,
            Step::Damaged(reason) => return Err(damaged(reason)),
            // Replacing a journal as a whole leaves none behind that is too short for its state.
            Step::End | Step::CutOff if !has_state => return Err(damaged("the rest of the file is missing")),
            Step::End | Step::CutOff => return Ok(offset),
        }
    }
}

/// A state that is made again from records.
struct Replay<'a> {
    state: &'a mut State,
    /// How many objects of the start are still to come; `None` before the start.
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
            _ => return Err("a record is out of place"),
        }
        Ok(())
    }

    fn change(&mut self, mut object: Stored, deleted: bool) -> Result<(), &'static str> {
        let before = self.state.get(&object.key).cloned();
        if object.revision != self.state.revision().next() || (deleted && before.is_none()) {
            return Err("a change does not follow from the one before");
        }
        object.key = before.as_ref().map_or_else(|| self.state.own(&object.key), |before| before.key.clone());
        let change = Change { revision: object.revision, before, after: Arc::new(object), deleted };
        self.state.apply(change);
        Ok(())
    }
}

/// Writes the beginning of a journal: all that a state consists of.
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

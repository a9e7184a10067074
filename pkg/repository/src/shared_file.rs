use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// An open file that several read, each at a place of its own. Cheap to clone; one without a name will do.
#[derive(Clone, Debug)]
pub(crate) struct SharedFile(Arc<Mutex<File>>);

impl SharedFile {
    pub(crate) fn new(file: File) -> Self {
        Self(Arc::new(Mutex::new(file)))
    }

    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self::new)
    }

    /// Fills a piece with what is so many bytes from the start.
    /// # Errors
    /// When it cannot be read, or ends before.
    pub(crate) fn read_at(&self, offset: u64, piece: &mut [u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(piece)
    }
}

//! Packed charts: files of a gzipped tar archive, in memory.
//!
//! Source: Helm 3.22 pkg/chart/loader. Differs: links are refused, and all archives of a chart share one size limit.

use std::io::{self, Read};

use tar::{Archive, EntryType};

use crate::files::ChartFile;

/// The largest file, as in Helm.
pub(crate) const MAX_FILE_BYTES: u64 = 5 << 20;
/// The most bytes of all files, as in Helm.
pub(crate) const MAX_CHART_BYTES: u64 = 100 << 20;

/// The bytes that the archives of one chart may still unpack.
#[derive(Debug)]
pub(crate) struct Budget(pub(crate) u64);

/// An archive that is not accepted.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ArchiveError {
    #[error("the content does not appear to be a gzipped archive")]
    NotGzip,
    #[error("the archive cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("no files in chart archive")]
    Empty,
    #[error("chart illegally contains absolute paths")]
    AbsolutePath { entry: String },
    #[error("chart illegally contains content outside the base directory: {entry:?}")]
    OutsideBase { entry: String },
    #[error("chart illegally references parent directory")]
    ParentDirectory { entry: String },
    #[error("chart contains illegally named files")]
    IllegalName { entry: String },
    #[error("chart yaml not in base directory")]
    ChartFileOutsideBase,
    #[error("chart contains a link: {entry:?}")]
    Link { entry: String },
    #[error("decompressed chart is larger than the maximum file size {limit}")]
    TooLarge { limit: u64 },
    #[error("decompressed chart file {entry:?} is larger than the maximum file size {limit}")]
    FileTooLarge { entry: String, limit: u64 },
}

/// The error of the decoder for damaged data.
const WRONG_CHECKSUM: &str = "corrupt gzip stream does not have a matching checksum";

/// Reads the files of a packed chart.
///
/// # Errors
/// An archive that is not accepted.
pub fn read_archive(bytes: &[u8]) -> Result<Vec<ChartFile>, ArchiveError> {
    read(bytes, &mut Budget(MAX_CHART_BYTES))
}

/// Reads the files of an archive, without the folder that they all are in.
pub(crate) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Vec<ChartFile>, ArchiveError> {
    if !bytes.starts_with(&[0x1F, 0x8B, 0x08]) {
        return Err(ArchiveError::NotGzip);
    }
    // The headers count too, so that an archive without content cannot be endless.
    let unpacked = flate2::bufread::MultiGzDecoder::new(bytes).take(MAX_CHART_BYTES * 2);
    let mut archive = Archive::new(unpacked);
    let unreadable = |error| ArchiveError::Unreadable(api::tar_error(error));
    let mut files = Vec::new();
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let kind = entry.header().entry_type();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match kind {
            EntryType::Directory | EntryType::XGlobalHeader | EntryType::XHeader => continue,
            EntryType::Symlink | EntryType::Link => return Err(ArchiveError::Link { entry: name }),
            _ if name.ends_with('/') => continue,
            _ => {}
        }
        let path = path_in_chart(&name)?;
        let size = entry.size();
        if size > budget.0 {
            return Err(ArchiveError::TooLarge { limit: MAX_CHART_BYTES });
        }
        if size > MAX_FILE_BYTES {
            return Err(ArchiveError::FileTooLarge { entry: name, limit: MAX_FILE_BYTES });
        }
        budget.0 -= size;
        let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        entry.read_to_end(&mut content).map_err(unreadable)?;
        files.push(ChartFile::new(path, content));
    }
    if files.is_empty() {
        return Err(ArchiveError::Empty);
    }
    // The checksum follows the end of the archive. What comes behind it is not part of the archive.
    match io::copy(&mut archive.into_inner(), &mut io::sink()) {
        Err(error) if error.to_string() == WRONG_CHECKSUM => Err(unreadable(error)),
        _ => Ok(files),
    }
}

/// Removes the first folder of a path and resolves `.` and `..`.
fn path_in_chart(name: &str) -> Result<String, ArchiveError> {
    let entry = || name.to_owned();
    // Archives of Windows may have `\`.
    let delimiter = if name.contains('\\') { '\\' } else { '/' };
    let (folder, path) = name.split_once(delimiter).unwrap_or((name, ""));
    let path = path.replace(delimiter, "/");
    if path.starts_with('/') {
        return Err(ArchiveError::AbsolutePath { entry: entry() });
    }
    let mut names: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(names.pop().ok_or_else(|| ArchiveError::ParentDirectory { entry: entry() })?),
            part => names.push(part),
        }
    }
    if folder == "Chart.yaml" {
        return Err(ArchiveError::ChartFileOutsideBase);
    }
    let path = names.join("/");
    let mut start = path.bytes();
    let has_drive = start.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && start.next() == Some(b':')
        && start.next() == Some(b'/');
    if path.is_empty() {
        Err(ArchiveError::OutsideBase { entry: entry() })
    } else if has_drive {
        Err(ArchiveError::IllegalName { entry: entry() })
    } else {
        Ok(path)
    }
}

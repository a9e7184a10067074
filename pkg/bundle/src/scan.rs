//! Lists the entries of an archive without reading their content.

use std::{
    collections::BTreeMap,
    io::{Read, Seek, SeekFrom},
};

use tar::{Archive, EntryType};
use transport::Digest;

use crate::{
    BundleFormatError,
    layout::{BLOBS_FOLDER, INDEX_FILE, LAYOUT_FILE},
};

/// The maximum number of entries; more than any real bundle has.
pub(super) const MAX_ENTRIES: usize = 100_000;

const BLOCK_BYTES: u64 = 512;

/// The location of content in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArchiveRange {
    /// Offset from the start of the archive in bytes.
    pub(super) offset: u64,
    pub(super) size_bytes: u64,
}

/// The locations of all content in an OCI layout.
#[derive(Debug, Default)]
pub(super) struct ArchiveRanges {
    pub(super) layout: Option<ArchiveRange>,
    pub(super) index: Option<ArchiveRange>,
    pub(super) blobs: BTreeMap<Digest, ArchiveRange>,
}

/// Lists the entries of an archive. A layout contains two files, and blobs named by their digest. All other names,
/// links, devices and extension headers are rejected, so an archive cannot choose a write location.
/// # Errors
/// Returns the first problem.
pub(super) fn scan(file: &mut (impl Read + Seek)) -> Result<ArchiveRanges, BundleFormatError> {
    let damaged = |error| BundleFormatError::Tar(api::tar_error(error));
    let end = file.seek(SeekFrom::End(0)).map_err(damaged)?;
    file.seek(SeekFrom::Start(0)).map_err(damaged)?;
    let mut archive = Archive::new(file);
    let (mut places, mut last_end) = (ArchiveRanges::default(), 0);
    let entries = archive.entries_with_seek().map_err(damaged)?.raw(true);
    for (count, entry) in entries.enumerate() {
        let entry = entry.map_err(damaged)?;
        if count == MAX_ENTRIES {
            return Err(BundleFormatError::TooMany { limit: MAX_ENTRIES });
        }
        let header = entry.header();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let shown = || name.escape_debug().take(120).collect::<String>();
        let flaw = |reason| BundleFormatError::Entry { name: shown(), reason };
        let size_bytes = header.entry_size().map_err(damaged)?;
        match header.entry_type() {
            EntryType::Regular => {}
            EntryType::Directory if size_bytes == 0 && is_folder_of_layout(&name) => continue,
            _ => return Err(flaw("is not a regular file")),
        }
        let place = ArchiveRange { offset: entry.raw_file_position(), size_bytes };
        if place.offset.checked_add(size_bytes).is_none_or(|entry_end| entry_end > end) {
            return Err(BundleFormatError::Truncated { name: shown() });
        }
        last_end = place.offset + size_bytes.next_multiple_of(BLOCK_BYTES);
        let before = match entry_role(&name) {
            Some(EntryRole::Layout) => places.layout.replace(place),
            Some(EntryRole::Index) => places.index.replace(place),
            Some(EntryRole::Blob(digest)) => places.blobs.insert(digest, place),
            None => return Err(flaw("is not part of a bundle")),
        };
        if before.is_some() {
            return Err(flaw("occurs twice"));
        }
    }
    // A complete archive ends with two empty blocks.
    if end < last_end.saturating_add(2 * BLOCK_BYTES) {
        return Err(BundleFormatError::Truncated { name: "the end of the archive".to_owned() });
    }
    Ok(places)
}

enum EntryRole {
    Layout,
    Index,
    Blob(Digest),
}

/// Returns the role of an entry. `tar` writes a leading `./` when it packs a folder.
fn entry_role(name: &str) -> Option<EntryRole> {
    let name = name.strip_prefix("./").unwrap_or(name);
    match name {
        LAYOUT_FILE => Some(EntryRole::Layout),
        INDEX_FILE => Some(EntryRole::Index),
        _ => {
            let hex = name.strip_prefix(BLOBS_FOLDER)?.strip_prefix('/')?;
            format!("sha256:{hex}").parse().ok().map(EntryRole::Blob)
        }
    }
}

fn is_folder_of_layout(name: &str) -> bool {
    matches!(name.trim_start_matches("./").trim_end_matches('/'), "" | "blobs" | BLOBS_FOLDER)
}

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use repository::{LockFile, chart_archive, chart_layer};
use transport::{
    Digest, Digester,
    disk::SharedFile,
    http::RequestBody,
    names::check_file,
    registry::{Descriptor, MAX_MANIFEST_BYTES, ManifestDocument, ManifestError, parse_manifest},
};

use crate::{
    BundleError, BundleFormatError, BundleItem,
    index::{self, MAX_INDEX_BYTES},
    layout::{INDEX_FILE, LAYOUT_FILE},
    scan::{ArchiveRange, scan},
    writer::StoppableReader,
};

const MAX_LAYOUT_BYTES: u64 = 4096;

/// The total size limit of the manifests in a bundle; more than any real bundle needs.
const MAX_MANIFESTS_BYTES: u64 = 64 * 1024 * 1024;

/// The size limit of a file that is read into memory.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// The number of bytes that are copied at once.
const PIECE_BYTES: usize = 64 * 1024;

/// An open bundle. Opening checks that all referenced content exists and has the expected size.
#[derive(Debug)]
pub struct Bundle {
    path: PathBuf,
    file: SharedFile,
    blobs: BTreeMap<Digest, ArchiveRange>,
    entries: Vec<BundleEntry>,
    stop: Arc<AtomicBool>,
}

/// An entry of a bundle.
#[derive(Clone, Debug)]
pub struct BundleEntry {
    /// Kind and name of the entry.
    pub item: BundleItem,
    /// Digest of the manifest, or of the index of all platforms.
    pub digest: Digest,
    /// Size of the whole content in bytes.
    pub size_bytes: u64,
    /// Files of a release or of the settings, sorted by name; the archive of a chart; empty for an image.
    pub files: Vec<BundledFile>,
    /// Manifests. An index follows its manifests, so the manifest of the entry is the last one.
    pub(super) manifests: Vec<Descriptor>,
    pub(super) blobs: Vec<Descriptor>,
}

/// A file in an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundledFile {
    /// Name of the file.
    pub name: String,
    /// Digest of the content.
    pub digest: Digest,
    /// Size of the content in bytes.
    pub size_bytes: u64,
}

impl Bundle {
    /// Opens a bundle file.
    /// # Errors
    /// [`BundleError::Read`]; [`BundleError::InvalidBundle`] with the problem.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        let unread = |source| BundleError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(unread)?;
        if file.metadata().map_err(unread)?.is_dir() {
            return Err(unread(io::ErrorKind::IsADirectory.into()));
        }
        Self::from_file(file, path)
    }

    /// Copies a stream to a temporary file and opens the file as a bundle. Errors contain `name` instead of a path.
    /// # Errors
    /// Errors of [`Bundle::open`].
    pub fn from_stream(stream: &mut dyn Read, name: &str) -> Result<Self, BundleError> {
        let path = PathBuf::from(name);
        let file = tempfile::tempfile().and_then(|mut file| io::copy(stream, &mut file).map(|_| file));
        match file {
            Ok(file) => Self::from_file(file, &path),
            Err(source) => Err(BundleError::Read { path, source }),
        }
    }

    /// Ends reads of content with [`BundleError::Stopped`] once the flag is true.
    #[must_use]
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    fn from_file(mut file: File, path: &Path) -> Result<Self, BundleError> {
        let flawed = |flaw| BundleError::InvalidBundle { path: path.to_owned(), problem: flaw };
        let places = scan(&mut file).map_err(flawed)?;
        let missing = |name: &str| flawed(BundleFormatError::Missing { name: name.to_owned() });
        let layout = places.layout.ok_or_else(|| missing(LAYOUT_FILE))?;
        let index = places.index.ok_or_else(|| missing(INDEX_FILE))?;
        let mut bundle = Self {
            stop: Arc::default(),
            path: path.to_owned(),
            file: SharedFile::new(file),
            blobs: places.blobs,
            entries: Vec::new(),
        };
        let layout = bundle.read_text(LAYOUT_FILE, layout, MAX_LAYOUT_BYTES)?;
        index::check_layout(&layout).map_err(flawed)?;
        let index = bundle.read_text(INDEX_FILE, index, MAX_INDEX_BYTES)?;
        let mut left_bytes = MAX_MANIFESTS_BYTES;
        for (item, descriptor) in index::parse(&index).map_err(flawed)? {
            let entry = bundle.read_entry(item, descriptor, &mut left_bytes)?;
            bundle.entries.push(entry);
        }
        bundle.check_items().map_err(flawed)?;
        Ok(bundle)
    }

    /// Returns the entries: settings, releases, charts, images and signatures, each sorted by name.
    pub fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    /// Returns the files of the settings.
    pub fn configuration(&self) -> &[BundledFile] {
        let found = self.entries.iter().find(|entry| entry.item == BundleItem::Configuration);
        found.map(|entry| entry.files.as_slice()).unwrap_or_default()
    }

    /// Reads a file of the settings.
    /// # Errors
    /// Fails if the file does not exist or is damaged.
    pub fn read_setting(&self, name: &str) -> Result<Bytes, BundleError> {
        let file = self.configuration().iter().find(|file| file.name == name);
        let file =
            file.ok_or_else(|| self.format_error(BundleFormatError::Missing { name: name.to_owned() }))?;
        self.read(&file.digest)
    }

    /// Reads the lock of the releases.
    /// # Errors
    /// Fails if the lock does not exist or is invalid.
    pub fn read_lock(&self) -> Result<LockFile, BundleError> {
        let bytes = self.read_setting(LockFile::FILE)?;
        let unreadable = |source: Box<dyn std::error::Error + Send + Sync>| {
            self.format_error(index::parse_error(&format!("`{}`", LockFile::FILE), source))
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| unreadable(Box::new(error)))?;
        LockFile::parse(text).map_err(|error| unreadable(Box::new(error)))
    }

    /// Reads content and verifies its digest.
    /// # Errors
    /// Fails if the content does not exist, is damaged or is too large for memory.
    pub fn read(&self, digest: &Digest) -> Result<Bytes, BundleError> {
        let mut bytes = Vec::new();
        if self.blob_range(digest)?.size_bytes > MAX_FILE_BYTES {
            let name = digest.to_string();
            return Err(self
                .format_error(BundleFormatError::Entry { name, reason: "is too large for a release file" }));
        }
        self.read_verified(digest, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes.into())
    }

    /// Verifies all digests, and compares the releases and charts with the lock. Returns the digests of unreferenced content,
    /// which is harmless.
    /// # Errors
    /// Returns the first problem.
    pub fn verify(&self) -> Result<Vec<Digest>, BundleError> {
        for digest in self.blobs.keys() {
            self.read_verified(digest, |_| Ok(()))?;
        }
        self.check_lock()?;
        let named: BTreeSet<Digest> = self
            .entries
            .iter()
            .flat_map(|it| it.manifests.iter().chain(&it.blobs))
            .map(|it| it.digest)
            .collect();
        Ok(self.blobs.keys().filter(|digest| !named.contains(digest)).copied().collect())
    }

    fn check_lock(&self) -> Result<(), BundleError> {
        let lock = self.read_lock()?;
        for entry in &self.entries {
            if let BundleItem::Chart { url, version } = &entry.item {
                let locked = lock.charts.get(url).and_then(|versions| versions.get(version));
                if entry.files.iter().any(|archive| locked != Some(&archive.digest)) {
                    let (label, file) = (url.clone(), version.clone());
                    return Err(self.format_error(BundleFormatError::LockMismatch { label, file }));
                }
            }
            let BundleItem::Release { label, version } = &entry.item else { continue };
            let locked = lock.providers.get(label).filter(|locked| locked.version == *version);
            let not_locked = |file: &str| {
                self.format_error(BundleFormatError::LockMismatch {
                    label: label.clone(),
                    file: file.to_owned(),
                })
            };
            let locked = locked.ok_or_else(|| not_locked(version))?;
            let is_locked =
                |it: &&BundledFile| locked.files.get(&it.name).is_some_and(|f| f.digest == it.digest);
            if let Some(other) = entry.files.iter().find(|file| !is_locked(file)) {
                return Err(not_locked(&other.name));
            }
            let is_there = |name: &&String| entry.files.iter().any(|file| file.name == **name);
            if let Some(missing) = locked.files.keys().find(|name| !is_there(name)) {
                return Err(not_locked(missing));
            }
        }
        Ok(())
    }

    /// Copies content piece by piece to the writer of `path`, and verifies its digest. The copy is valid only if this
    /// function succeeds.
    /// # Errors
    /// [`BundleFormatError::Digest`]; fails if the bundle cannot be read or the copy cannot be written.
    pub(super) fn copy_blob(
        &self,
        digest: &Digest,
        path: &Path,
        to: &mut dyn Write,
    ) -> Result<(), BundleError> {
        let failed = |source| BundleError::Write { path: path.to_owned(), source };
        self.read_verified(digest, |piece| to.write_all(piece).map_err(failed))
    }

    /// Returns content for an upload, which reads the bundle while it sends. Only the registry verifies the digest.
    /// # Errors
    /// Fails if the content does not exist.
    pub(super) fn upload_body(&self, digest: &Digest) -> Result<RequestBody, BundleError> {
        let ArchiveRange { offset, size_bytes } = self.blob_range(digest)?;
        Ok(RequestBody::Part { file: self.file.clone(), offset, size_bytes })
    }

    /// Passes content on piece by piece, and verifies its digest at the end.
    fn read_verified(
        &self,
        digest: &Digest,
        mut take: impl FnMut(&[u8]) -> Result<(), BundleError>,
    ) -> Result<(), BundleError> {
        let range = self.blob_range(digest)?;
        let mut digester = Digester::default();
        self.read_pieces(range, |piece| {
            digester.update(piece);
            take(piece)
        })?;
        let found = digester.finish();
        if found != *digest {
            return Err(self.format_error(BundleFormatError::Digest { expected: *digest, found }));
        }
        Ok(())
    }

    /// Returns the digest of a file outside of the bundle.
    pub(super) fn digest_of_file(&self, path: &Path) -> Result<Digest, BundleError> {
        let read =
            File::open(path).and_then(|input| Digester::read(StoppableReader { input, stop: &self.stop }));
        self.check_stop()?;
        let (digest, _) = read.map_err(|source| BundleError::Read { path: path.to_owned(), source })?;
        Ok(digest)
    }

    fn check_stop(&self) -> Result<(), BundleError> {
        if self.stop.load(Ordering::Relaxed) { Err(BundleError::Stopped) } else { Ok(()) }
    }

    fn read_pieces(
        &self,
        range: ArchiveRange,
        mut take: impl FnMut(&[u8]) -> Result<(), BundleError>,
    ) -> Result<(), BundleError> {
        let failed = |source| BundleError::Read { path: self.path.clone(), source };
        let (mut offset, end) = (range.offset, range.offset + range.size_bytes);
        let mut piece = vec![0; PIECE_BYTES];
        while offset < end {
            self.check_stop()?;
            let wanted = usize::try_from(end - offset).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            self.file.read_at(offset, &mut piece[..wanted]).map_err(failed)?;
            take(&piece[..wanted])?;
            offset += wanted as u64;
        }
        Ok(())
    }

    fn read_text(&self, name: &str, range: ArchiveRange, limit_bytes: u64) -> Result<Vec<u8>, BundleError> {
        if range.size_bytes > limit_bytes {
            return Err(
                self.format_error(BundleFormatError::Entry { name: name.to_owned(), reason: "is too large" })
            );
        }
        let mut bytes = Vec::new();
        self.read_pieces(range, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    fn blob_range(&self, digest: &Digest) -> Result<ArchiveRange, BundleError> {
        let place = self.blobs.get(digest).copied();
        place.ok_or_else(|| self.format_error(BundleFormatError::Missing { name: digest.to_string() }))
    }

    fn format_error(&self, flaw: BundleFormatError) -> BundleError {
        BundleError::InvalidBundle { path: self.path.clone(), problem: flaw }
    }

    /// Reads the manifests of a descriptor in the index, and checks the size of all referenced content.
    fn read_entry(
        &self,
        item: BundleItem,
        descriptor: Descriptor,
        remaining_bytes: &mut u64,
    ) -> Result<BundleEntry, BundleError> {
        let digest = descriptor.digest;
        let is_image = matches!(item, BundleItem::Image { .. });
        let has_files = matches!(item, BundleItem::Configuration | BundleItem::Release { .. });
        let mut entry = BundleEntry {
            item,
            digest,
            size_bytes: 0,
            files: Vec::new(),
            manifests: Vec::new(),
            blobs: Vec::new(),
        };
        let flaw = |reason| self.format_error(BundleFormatError::Manifest { digest, reason });
        match self.read_manifest(&descriptor, remaining_bytes)? {
            ManifestDocument::Manifest(manifest) => {
                if has_files {
                    entry.files = self.list_files(&manifest.layers)?;
                }
                if let BundleItem::Chart { url, version } = &entry.item {
                    let archive = chart_layer(&manifest);
                    let Descriptor { digest, size, .. } =
                        archive.ok_or_else(|| flaw("has no archive of a chart"))?;
                    let name = chart_archive(url, version);
                    entry.files = vec![BundledFile { name, digest: *digest, size_bytes: *size }];
                }
                entry.blobs.extend(manifest.layers);
                entry.blobs.push(manifest.config);
            }
            ManifestDocument::Index(_) if !is_image => {
                return Err(flaw("is an index, which only images may have"));
            }
            ManifestDocument::Index(index) => {
                for inner in index.manifests {
                    let ManifestDocument::Manifest(manifest) = self.read_manifest(&inner, remaining_bytes)?
                    else {
                        return Err(flaw("contains another index"));
                    };
                    entry.blobs.extend(manifest.layers);
                    entry.blobs.push(manifest.config);
                    entry.manifests.push(inner);
                }
            }
        }
        entry.manifests.push(descriptor);
        for blob in entry.blobs.iter().chain(&entry.manifests) {
            self.check_size(blob)?;
            entry.size_bytes = entry.size_bytes.saturating_add(blob.size);
        }
        Ok(entry)
    }

    fn read_manifest(
        &self,
        descriptor: &Descriptor,
        remaining_bytes: &mut u64,
    ) -> Result<ManifestDocument, BundleError> {
        self.check_size(descriptor)?;
        let digest = descriptor.digest;
        let flaw = |reason| self.format_error(BundleFormatError::Manifest { digest, reason });
        if descriptor.size > MAX_MANIFEST_BYTES {
            return Err(flaw("is too large"));
        }
        // A manifest counts once for every reference to it.
        *remaining_bytes = remaining_bytes
            .checked_sub(descriptor.size)
            .ok_or_else(|| flaw("exceeds the limit for all manifests"))?;
        let bytes = self.read(&digest)?;
        let (media_type, document) =
            parse_manifest(&bytes, Some(&descriptor.media_type)).map_err(|error| match error {
                ManifestError::MediaType(_) => flaw("has an unknown kind"),
                error => self.format_error(index::parse_error(&format!("manifest {digest}"), error)),
            })?;
        if media_type != descriptor.media_type {
            return Err(flaw("has another media type than its descriptor"));
        }
        Ok(document)
    }

    fn check_size(&self, descriptor: &Descriptor) -> Result<(), BundleError> {
        let Descriptor { digest, size: expected_bytes, .. } = descriptor;
        let found_bytes = self.blob_range(digest)?.size_bytes;
        if found_bytes == *expected_bytes {
            return Ok(());
        }
        let expected_bytes = *expected_bytes;
        Err(self.format_error(BundleFormatError::Size { digest: *digest, expected_bytes, found_bytes }))
    }

    fn list_files(&self, layers: &[Descriptor]) -> Result<Vec<BundledFile>, BundleError> {
        let mut files = BTreeMap::new();
        for layer in layers {
            let name = layer.title().unwrap_or_default().to_owned();
            let flaw = |reason| {
                let name = name.escape_debug().to_string();
                self.format_error(BundleFormatError::Name { what: "the file", name, reason })
            };
            check_file(&name).map_err(|_| flaw("is not a plain name"))?;
            let file = BundledFile { name: name.clone(), digest: layer.digest, size_bytes: layer.size };
            if files.insert(name.clone(), file).is_some() {
                return Err(flaw("occurs twice"));
            }
        }
        // If `a` is a file, `a/b` cannot be a file.
        let parent =
            files.keys().find(|name| name.match_indices('/').any(|(at, _)| files.contains_key(&name[..at])));
        if let Some(name) = parent {
            let name = name.escape_debug().to_string();
            return Err(self.format_error(BundleFormatError::Name {
                what: "the file",
                name,
                reason: "is inside another file",
            }));
        }
        Ok(files.into_values().collect())
    }

    /// Returns the release, chart or image that a signature refers to by name.
    pub(super) fn find_signed(&self, name: &str) -> Option<&BundleEntry> {
        let may_be_signed =
            |it: &&BundleEntry| !matches!(it.item, BundleItem::Configuration | BundleItem::Signature { .. });
        self.entries.iter().filter(may_be_signed).find(|entry| entry.item.name() == name)
    }

    fn check_items(&mut self) -> Result<(), BundleFormatError> {
        self.entries.sort_by(|a, b| a.item.cmp(&b.item));
        if let Some([twice, _]) = self.entries.array_windows().find(|[a, b]| a.item.name() == b.item.name()) {
            let name = twice.item.name().escape_debug().to_string();
            return Err(BundleFormatError::Name { what: "the entry", name, reason: "occurs twice" });
        }
        for entry in &self.entries {
            if let BundleItem::Signature { signed_entry: of } = &entry.item
                && self.find_signed(of).is_none()
            {
                return Err(BundleFormatError::Missing { name: of.escape_debug().to_string() });
            }
        }
        match self.entries.first().map(|entry| &entry.item) {
            Some(BundleItem::Configuration) => Ok(()),
            _ => Err(BundleFormatError::Missing { name: "configuration".to_owned() }),
        }
    }
}

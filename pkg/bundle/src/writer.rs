use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use repository::{CHART_ARCHIVES, CHART_CONFIG};
use tar::{Builder, EntryType, Header};
use transport::{
    Context, Digest,
    disk::folder_of,
    registry::{Descriptor, MANIFEST_MEDIA_TYPE, Manifest},
};

use crate::{
    BundleError, BundleItem, ImageAddress, Platforms,
    atomic_write::{writable_file, write_atomically},
    image, index,
    layout::{BLOBS_FOLDER, INDEX_FILE, LAYOUT, LAYOUT_FILE},
    spool::Spool,
};
use crate::{Package, PackageContent, PackageFile, package::CONFIGURATION_ARTIFACT};

/// Collects the content of a bundle in a folder next to the bundle, and then writes the bundle.
#[derive(Debug)]
pub struct BundleWriter {
    path: PathBuf,
    spool: Spool,
    entries: Mutex<Vec<(BundleItem, Descriptor)>>,
    stop: Arc<AtomicBool>,
}

impl BundleWriter {
    /// Starts a bundle for this path. Only [`BundleWriter::finish`] writes the file.
    /// # Errors
    /// Fails if the folder of the path is not writable, or if the path is no file.
    pub fn create(path: &Path) -> Result<Self, BundleError> {
        let path = writable_file(path)?;
        let spool = Spool::create_in(folder_of(&path))?;
        Ok(Self { path, spool, entries: Mutex::default(), stop: Arc::default() })
    }

    /// Ends [`BundleWriter::finish`] with an error once the flag is true.
    #[must_use]
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// Adds the files of a release by name.
    /// # Errors
    /// Fails if a file name is unsafe, or if the disk is full.
    pub fn add_release(
        &self,
        label: &str,
        version: &str,
        files: BTreeMap<String, Bytes>,
    ) -> Result<(), BundleError> {
        let package = Package::new(package_files(files), BTreeMap::new(), None)?;
        self.add_package(
            BundleItem::Release { label: label.to_owned(), version: version.to_owned() },
            &package,
        )
    }

    /// Adds a chart as the artifact that `helm push` makes. `metadata` is `Chart.yaml` as JSON.
    /// # Errors
    /// [`BundleError::DuplicateChart`]; fails if the disk is full.
    pub fn add_chart(
        &self,
        url: &str,
        version: &str,
        archive: &[u8],
        metadata: &[u8],
    ) -> Result<(), BundleError> {
        let item = self.chart_item(url, version)?;
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST_MEDIA_TYPE.to_owned()),
            artifact_type: None,
            config: Descriptor::of(CHART_CONFIG, metadata),
            layers: vec![Descriptor::of(CHART_ARCHIVES[0], archive)],
            subject: None,
            annotations: BTreeMap::new(),
        };
        let manifest = serde_json::to_vec(&manifest).expect("texts and numbers can be written as JSON");
        for content in [archive, metadata, &manifest] {
            self.spool.add(content)?;
        }
        self.add(item, Descriptor::of(MANIFEST_MEDIA_TYPE, &manifest));
        Ok(())
    }

    /// Returns the entry of a chart. Two charts cannot have one path.
    pub(super) fn chart_item(&self, url: &str, version: &str) -> Result<BundleItem, BundleError> {
        let item = BundleItem::Chart { url: url.to_owned(), version: version.to_owned() };
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.iter().find(|(other, _)| other.name() == item.name()) {
            Some(_) => Err(BundleError::DuplicateChart { name: item.name() }),
            None => Ok(item),
        }
    }

    /// Adds the files of the settings by name.
    /// # Errors
    /// Errors of [`BundleWriter::add_release`].
    pub fn add_configuration(&self, files: BTreeMap<String, Bytes>) -> Result<(), BundleError> {
        let package =
            Package::with_artifact_type(CONFIGURATION_ARTIFACT, package_files(files), BTreeMap::new(), None)?;
        self.add_package(BundleItem::Configuration, &package)
    }

    /// Copies an image and its signatures from the registry. `known` is the expected digest, if known. Returns the
    /// digest of the image in the registry; for a multi-platform image, the digest of the index.
    /// # Errors
    /// [`BundleError::NoImage`], [`BundleError::ImageName`]; errors of the requests.
    pub async fn add_image(
        &self,
        context: &Context,
        reference: &str,
        expected: Option<Digest>,
        platforms: &Platforms,
    ) -> Result<Digest, BundleError> {
        let mut address = ImageAddress::parse(reference)?;
        address.digest = address.digest.or(expected);
        let copied = image::copy_image(&self.spool, context, reference, &address, platforms).await?;
        let platform = platforms.selected().map(str::to_owned);
        let item = BundleItem::Image { reference: reference.to_owned(), platform };
        self.add_signed(item, copied.manifest, copied.signature);
        Ok(copied.digest)
    }

    /// Writes the bundle and returns its size in bytes.
    /// # Errors
    /// Fails if the bundle cannot be written. An existing file at the path then stays unchanged.
    pub fn finish(self) -> Result<u64, BundleError> {
        let failed = |source| BundleError::Write { path: self.path.clone(), source };
        let index = index::render(self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let written = write_atomically(&self.path, |file| {
            write_archive(file, &index, &self.spool, &self.stop).map_err(failed)
        })?;
        Ok(written.metadata().map_err(failed)?.len())
    }

    fn add_package(&self, item: BundleItem, package: &Package) -> Result<(), BundleError> {
        for content in package.contents() {
            match content {
                PackageContent::Bytes(bytes) => self.spool.add(&bytes)?,
                PackageContent::Path(path) => {
                    let read = fs::read(&path).map_err(|source| BundleError::Read { path, source })?;
                    self.spool.add(&read)?
                }
            };
        }
        let manifest = package.manifest();
        self.spool.add(&manifest)?;
        let descriptor = Descriptor {
            artifact_type: Some(package.artifact_type().to_owned()),
            ..Descriptor::of(MANIFEST_MEDIA_TYPE, &manifest)
        };
        self.add(item, descriptor);
        Ok(())
    }

    pub(super) fn spool(&self) -> &Spool {
        &self.spool
    }

    pub(super) fn add_signed(&self, item: BundleItem, descriptor: Descriptor, signature: Option<Descriptor>) {
        let of = item.name();
        self.add(item, descriptor);
        if let Some(signature) = signature {
            self.add(BundleItem::Signature { signed_entry: of }, signature);
        }
    }

    fn add(&self, item: BundleItem, descriptor: Descriptor) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push((item, descriptor));
    }
}

fn package_files(files: BTreeMap<String, Bytes>) -> Vec<PackageFile> {
    let content = |(name, bytes)| PackageFile { name, content: PackageContent::Bytes(bytes) };
    files.into_iter().map(content).collect()
}

/// Writes the archive. Its bytes do not depend on time, location or user.
fn write_archive(file: &File, index: &[u8], spool: &Spool, stop: &AtomicBool) -> io::Result<()> {
    let mut builder = Builder::new(io::BufWriter::new(file));
    append(&mut builder, LAYOUT_FILE, LAYOUT.len() as u64, LAYOUT)?;
    append(&mut builder, INDEX_FILE, index.len() as u64, index)?;
    for (digest, size_bytes) in spool.blobs() {
        let path = spool.path(&digest);
        let content = StoppableReader { input: File::open(&path)?, stop };
        append(&mut builder, &format!("{BLOBS_FOLDER}/{}", digest.hex()), size_bytes, content)?;
        // Removes written blobs, because the disk may lack space for two copies.
        fs::remove_file(&path)?;
    }
    builder.into_inner()?.flush()
}

/// A file whose reads fail once the flag is true.
pub(super) struct StoppableReader<'s> {
    pub(super) input: File,
    pub(super) stop: &'s AtomicBool,
}

impl Read for StoppableReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("the run was interrupted"));
        }
        self.input.read(buffer)
    }
}

fn append(
    builder: &mut Builder<impl Write>,
    name: &str,
    size_bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size_bytes);
    header.set_cksum();
    builder.append(&header, content)
}

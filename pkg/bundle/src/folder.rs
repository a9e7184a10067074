//! Loads a bundle as a local repository: `{label}/{version}/{file}`, `charts` with archives, and `images` with an OCI
//! layout.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use api::output::{LoadedContent, LoadedContentState};
use repository::CHART_FOLDER;
use transport::{Digest, disk, registry::Descriptor};

use crate::{
    Bundle, BundleEntry, BundleError, BundleItem, BundledFile,
    atomic_write::{TEMPORARY_PREFIX, write_atomically},
    index,
    layout::{BLOBS_FOLDER, ExistingContent, IMAGES_FOLDER, INDEX_FILE, LAYOUT, LAYOUT_FILE},
};

/// Loads the releases, charts and images of a bundle into a folder.
///
/// Before the first write, the whole bundle is verified and existing releases, charts and image names are compared. A release
/// or chart is never partially visible.
/// # Errors
/// Errors of [`Bundle::verify`]; [`BundleError::Exists`]; [`BundleError::Write`]; [`BundleError::Stopped`].
pub fn load_into_folder(
    bundle: &Bundle,
    folder: &Path,
    existing: ExistingContent,
) -> Result<Vec<LoadedContent>, BundleError> {
    bundle.verify()?;
    let mut loaded = Vec::new();
    for entry in bundle.entries() {
        let (path, state) = match (&entry.item, entry.files.as_slice()) {
            (BundleItem::Release { label, version }, files) => {
                let path = folder.join(label).join(version);
                let state = compare_content(&path, files)?;
                (path, state)
            }
            (BundleItem::Chart { .. }, [archive]) => {
                let path = folder.join(CHART_FOLDER).join(&archive.name);
                let state = compare_archive(&path, archive)?;
                (path, state)
            }
            _ => continue,
        };
        loaded.push((entry, path, state));
    }
    let conflicts = loaded.iter().filter(|(_, _, state)| *state == LoadedContentState::Replaced);
    let mut paths: Vec<PathBuf> = conflicts.map(|(_, path, _)| path.clone()).collect();
    let images_folder = folder.join(IMAGES_FOLDER);
    let known = read_loaded_images(&images_folder)?;
    paths.extend(retagged_images(bundle, &known).map(|name| images_folder.join(name)));
    if existing == ExistingContent::Refuse && !paths.is_empty() {
        return Err(BundleError::Exists { paths });
    }
    for (entry, path, _) in loaded.iter().filter(|(_, _, state)| *state != LoadedContentState::Unchanged) {
        match (&entry.item, entry.files.as_slice()) {
            (BundleItem::Chart { .. }, [archive]) => {
                make_folder(path.parent().unwrap_or(path))?;
                write_atomically(path, |file| bundle.copy_blob(&archive.digest, path, file))?;
            }
            _ => write_release(bundle, entry, path)?,
        }
    }
    let content =
        |(entry, path, state): (&BundleEntry, PathBuf, _)| entry.item.loaded_content(path.display(), state);
    let mut loaded: Vec<LoadedContent> = loaded.into_iter().map(content).collect();
    loaded.extend(load_images(bundle, &images_folder, known)?);
    Ok(loaded)
}

/// Compares a file with the archive of a chart.
fn compare_archive(path: &Path, archive: &BundledFile) -> Result<LoadedContentState, BundleError> {
    match disk::read_limited(path, archive.size_bytes) {
        Ok(None) => Ok(LoadedContentState::New),
        Ok(Some(bytes)) if Digest::of(&bytes) == archive.digest => Ok(LoadedContentState::Unchanged),
        Ok(Some(_)) | Err(transport::Error::TooLarge { .. }) => Ok(LoadedContentState::Replaced),
        Err(error) => Err(error.into()),
    }
}

/// Compares a folder with its expected files. Additional files count as a difference.
fn compare_content(path: &Path, files: &[BundledFile]) -> Result<LoadedContentState, BundleError> {
    let failed = |source| BundleError::Read { path: path.to_owned(), source };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LoadedContentState::New),
        Err(error) => return Err(failed(error)),
        Ok(_) => {}
    }
    let is_same = |file: &BundledFile| {
        let path = path.join(&file.name);
        fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() == file.size_bytes)
            && fs::read(&path).is_ok_and(|bytes| Digest::of(&bytes) == file.digest)
    };
    let same = files.iter().all(is_same) && count_files(path).map_err(failed)? == files.len();
    Ok(if same { LoadedContentState::Unchanged } else { LoadedContentState::Replaced })
}

fn count_files(folder: &Path) -> io::Result<usize> {
    if !folder.is_dir() {
        return Ok(1);
    }
    fs::read_dir(folder)?.map(|entry| count_files(&entry?.path())).sum()
}

fn write_release(bundle: &Bundle, entry: &BundleEntry, path: &Path) -> Result<(), BundleError> {
    let parent = path.parent().unwrap_or(path);
    make_folder(parent)?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| BundleError::Write { path, source }
    };
    // The release is a subfolder of the temporary folder: temporary folders are private, release folders have default
    // permissions.
    let temporary =
        tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempdir_in(parent).map_err(failed(parent))?;
    let new = temporary.path().join("new");
    for file in &entry.files {
        let to = new.join(&file.name);
        make_folder(to.parent().unwrap_or(&to))?;
        let mut written = File::create(&to).map_err(failed(&to))?;
        bundle.copy_blob(&file.digest, &to, &mut written)?;
        written.sync_all().map_err(failed(&to))?;
    }
    if fs::symlink_metadata(path).is_ok() {
        // The old release is removed with the temporary folder, after the new release is in place.
        fs::rename(path, temporary.path().join("old")).map_err(failed(path))?;
    }
    disk::rename(&new, path).map_err(failed(path))
}

/// Returns the names of images in a bundle that belong to other images in a folder.
fn retagged_images(bundle: &Bundle, known: &[(BundleItem, Descriptor)]) -> impl Iterator<Item = String> {
    images(bundle).map(|entry| (entry.item.name(), entry.digest)).filter_map(|(name, digest)| {
        let is_other = known.iter().any(|(item, before)| item.name() == name && before.digest != digest);
        is_other.then_some(name)
    })
}

fn images(bundle: &Bundle) -> impl Iterator<Item = &BundleEntry> {
    bundle.entries().iter().filter(|it| matches!(it.item, BundleItem::Image { .. }))
}

/// Adds images to an OCI layout, which may contain images of other bundles.
fn load_images(
    bundle: &Bundle,
    folder: &Path,
    mut known: Vec<(BundleItem, Descriptor)>,
) -> Result<Vec<LoadedContent>, BundleError> {
    if images(bundle).next().is_none() {
        return Ok(Vec::new());
    }
    make_folder(&folder.join(BLOBS_FOLDER))?;
    let mut loaded = Vec::new();
    for entry in images(bundle) {
        let mut is_written = false;
        for blob in entry.blobs.iter().chain(&entry.manifests) {
            is_written |= write_blob(bundle, blob, &folder.join(BLOBS_FOLDER).join(blob.digest.hex()))?;
        }
        let name = entry.item.name();
        let before = known.iter().position(|(item, _)| item.name() == name).map(|at| known.remove(at));
        let state = match &before {
            None => LoadedContentState::New,
            Some((_, before)) if before.digest == entry.digest && !is_written => {
                LoadedContentState::Unchanged
            }
            Some(_) => LoadedContentState::Replaced,
        };
        known.extend(entry.manifests.last().map(|it| (entry.item.clone(), it.clone())));
        loaded.push(entry.item.loaded_content(folder.display(), state));
    }
    write_if_changed(&folder.join(LAYOUT_FILE), LAYOUT)?;
    write_if_changed(&folder.join(INDEX_FILE), &index::render(known))?;
    Ok(loaded)
}

fn read_loaded_images(folder: &Path) -> Result<Vec<(BundleItem, Descriptor)>, BundleError> {
    let path = folder.join(INDEX_FILE);
    match fs::read(&path) {
        Ok(bytes) => index::parse(&bytes).map_err(|flaw| BundleError::InvalidBundle { path, problem: flaw }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(BundleError::Read { path, source }),
    }
}

/// Writes a blob, also over damaged content. False if the folder has the blob.
fn write_blob(bundle: &Bundle, blob: &Descriptor, path: &Path) -> Result<bool, BundleError> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.len() == blob.size)
        && bundle.digest_of_file(path)? == blob.digest
    {
        return Ok(false);
    }
    write_atomically(path, |file| bundle.copy_blob(&blob.digest, path, file)).map(|_| true)
}

fn write_if_changed(path: &Path, content: &[u8]) -> Result<(), BundleError> {
    if fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    write_atomically(path, |file| {
        let write = io::Write::write_all(file, content);
        write.map_err(|source| BundleError::Write { path: path.to_owned(), source })
    })
    .map(drop)
}

fn make_folder(path: &Path) -> Result<(), BundleError> {
    fs::create_dir_all(path).map_err(|source| BundleError::Write { path: path.to_owned(), source })
}

use std::path::Path;

use bytes::Bytes;
use chart::{Chart, ChartFile, ResolvedPath, Tree as _, read_folder};
use repository::RepositoryContext;
use transport::disk::read_limited;

use crate::{
    Environment, Failure, WithContext as _,
    failure::Foreign as _,
    kustomizations::{DiskTree, tree_path},
};

/// The maximum size of an archive.
const MAX_ARCHIVE_BYTES: u64 = 100 << 20;

/// Loads a chart from a folder or from a `.tgz` archive.
pub(super) fn load(place: &str, environment: &Environment) -> Result<Chart, Failure> {
    let path = environment.resolve(place);
    let context = || format!("cannot load chart `{place}`");
    if path.is_dir() {
        let files = read_files(&path).with_context(context)?;
        return Chart::from_files(files).with_context(context);
    }
    Chart::from_archive(&read_packed(place, &path)?).with_context(context)
}

/// Reads an archive. `place` is its path as the user wrote it.
pub(super) fn read_packed(place: &str, path: &Path) -> Result<Bytes, Failure> {
    let archive = read_limited(path, MAX_ARCHIVE_BYTES);
    let archive = archive.with_context(|| format!("cannot load chart `{place}`"))?;
    archive.ok_or_else(|| no_chart(place))
}

/// Reads the files of a chart in a folder.
pub(crate) fn read_files(folder: &Path) -> Result<Vec<ChartFile>, Failure> {
    let shown = || format!("`{}`", folder.display());
    let path = tree_path(folder).ok_or_else(|| Failure::user(format!("{} is not valid UTF-8", shown())))?;
    let tree = DiskTree::new(RepositoryContext::default().max_file_bytes());
    match tree.resolve(&path).foreign()? {
        ResolvedPath::Folder(folder) => Ok(read_folder(&tree, &folder, None)?),
        ResolvedPath::File(_) | ResolvedPath::Missing => {
            Err(Failure::user(format!("{} is not a folder", shown())))
        }
    }
}

fn no_chart(place: &str) -> Failure {
    Failure::user(format!("cannot find chart `{place}`"))
        .hint("use a folder with a `Chart.yaml`, or a `.tgz` archive")
}

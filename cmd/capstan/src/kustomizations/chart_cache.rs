//! Charts in the cache: each folder has the digest of its files beside them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use repository::{Digest, Digester};

/// The file with the digest, in the folder that holds the chart.
const DIGEST_FILE: &str = ".digest";

/// Writes the digest of a chart that was fetched.
/// # Errors
/// When the chart cannot be read, or the digest not be written.
pub(super) fn seal(home: &Path, name: &str) -> io::Result<()> {
    fs::write(home.join(DIGEST_FILE), digest_of(&home.join(name))?.to_string())
}

/// True if the chart is there and has the digest that was written when it was fetched.
pub(super) fn is_whole(home: &Path, name: &str) -> bool {
    let sealed = fs::read_to_string(home.join(DIGEST_FILE)).ok().and_then(|text| text.parse::<Digest>().ok());
    sealed.is_some_and(|sealed| digest_of(&home.join(name)).is_ok_and(|found| found == sealed))
}

/// The digest of the paths and the contents of all files of a folder.
fn digest_of(folder: &Path) -> io::Result<Digest> {
    let mut files = Vec::new();
    add_files(folder, &mut files)?;
    files.sort_unstable();
    let mut all = Digester::default();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy();
        all.update(format!("{} {name}\0", Digest::of(&fs::read(&file)?)).as_bytes());
    }
    Ok(all.finish())
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { add_files(&entry.path(), files)? } else { files.push(entry.path()) }
    }
    Ok(())
}

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use chart::{Chart, ChartFile, IgnoreRules};

use crate::{Failure, WithContext as _, failure::Kind, session::Session};

/// The largest file of a chart, as in Helm.
const MAX_FILE_BYTES: u64 = 5 << 20;
/// The largest archive.
const MAX_ARCHIVE_BYTES: u64 = 100 << 20;
/// The deepest nesting of folders.
const MAX_DEPTH: usize = 100;

/// Loads a chart from a folder or from a `.tgz` archive.
pub(super) fn load(place: &str, session: &Session) -> Result<Chart, Failure> {
    let path = session.environment().resolve(place);
    let context = || format!("cannot load chart `{place}`");
    let metadata = fs::metadata(&path).map_err(|error| not_found(place, &path, &error))?;
    if metadata.is_dir() {
        let files = read_files(&path, "").with_context(context)?;
        return Chart::from_files(files).with_context(context);
    }
    if metadata.len() > MAX_ARCHIVE_BYTES {
        let message = format!("the archive is larger than {MAX_ARCHIVE_BYTES} bytes");
        return Err(Failure::user(message)).with_context(context);
    }
    let bytes = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
    Chart::from_archive(&bytes).with_context(context)
}

/// Reads the files of a chart in a folder. `prefix` starts the path of each file.
pub(super) fn read_files(folder: &Path, prefix: &str) -> Result<Vec<ChartFile>, Failure> {
    let mut reader = FolderReader { files: Vec::new(), rules: ignore_rules(folder)?, open: Vec::new() };
    reader.read(folder, "")?;
    let mut files = reader.files;
    for file in &mut files {
        file.path.insert_str(0, prefix);
    }
    Ok(files)
}

fn not_found(place: &str, path: &Path, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::user(format!("there is no chart `{place}`"))
            .hint("name a folder with a `Chart.yaml`, or a `.tgz` archive");
    }
    Failure::io("read", path, error)
}

fn ignore_rules(folder: &Path) -> Result<IgnoreRules, Failure> {
    let path = folder.join(".helmignore");
    match fs::read(&path) {
        Ok(text) => IgnoreRules::parse(&String::from_utf8_lossy(&text))
            .with_context(|| format!("cannot read `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(IgnoreRules::default()),
        Err(error) => Err(Failure::io("read", &path, &error)),
    }
}

/// Reads a folder in the order of names. Links are followed, as Helm does.
struct FolderReader {
    files: Vec<ChartFile>,
    rules: IgnoreRules,
    /// The real paths of the folders that lead here, to find links to one of them.
    open: Vec<PathBuf>,
}

impl FolderReader {
    fn read(&mut self, folder: &Path, prefix: &str) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::io("read", folder, &error);
        let real = folder.canonicalize().map_err(failed)?;
        if self.open.contains(&real) || self.open.len() > MAX_DEPTH {
            return Err(Failure::user(format!(
                "the link `{}` leads to a folder that contains it",
                folder.display()
            ))
            .hint("remove the link"));
        }
        self.open.push(real);
        let entries =
            fs::read_dir(folder).map_err(failed)?.collect::<io::Result<Vec<_>>>().map_err(failed)?;
        let mut names = entries
            .into_iter()
            .map(|entry| entry.file_name().into_string().map_err(|name| no_utf8(folder, &name)))
            .collect::<Result<Vec<_>, _>>()?;
        names.sort();
        for name in names {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            self.read_entry(&folder.join(name), path)?;
        }
        self.open.pop();
        Ok(())
    }

    fn read_entry(&mut self, entry: &Path, path: String) -> Result<(), Failure> {
        let metadata = fs::metadata(entry).map_err(|error| Failure::io("read", entry, &error))?;
        if self.rules.ignores(&path, metadata.is_dir()) {
            return Ok(());
        }
        if metadata.is_dir() {
            return self.read(entry, &path);
        }
        if !metadata.is_file() {
            return Err(Failure::user(format!("`{}` is neither a file nor a folder", entry.display())));
        }
        if metadata.len() > MAX_FILE_BYTES {
            let message =
                format!("chart file {path:?} is larger than the maximum file size {MAX_FILE_BYTES}");
            return Err(Failure::user(message).hint("add the file to `.helmignore`"));
        }
        let content = fs::read(entry).map_err(|error| Failure::io("read", entry, &error))?;
        self.files.push(ChartFile::new(path, content));
        Ok(())
    }
}

fn no_utf8(folder: &Path, name: &std::ffi::OsStr) -> Failure {
    Failure::new(Kind::User, format!("the name of `{}` is no UTF-8", folder.join(name).display()))
}

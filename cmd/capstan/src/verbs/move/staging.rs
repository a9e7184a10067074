//! Writes all files of a save to a folder. Until all are there, a mark says that the save is incomplete.
//!
//! ```text
//! DIR/.capstan-save/             files of a save that is being written; deleted after a failure
//! DIR/.capstan-save-incomplete/  an empty folder, while the files of DIR may be those of several saves
//! ```

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Failure, ui::write_file_atomically};

/// The staging folder.
const STAGING: &str = ".capstan-save";
/// The mark of a folder into which a save was moved in part. Only a complete save removes it.
const INCOMPLETE: &str = ".capstan-save-incomplete";
/// The marks of an incomplete save. No reader mistakes a folder for a file.
pub(super) const MARKS: [&str; 2] = [STAGING, INCOMPLETE];
/// The mode of files. Only the user may read Secrets.
const MODE: u32 = 0o600;
const MAX_NAMED: usize = 5;

pub(super) struct Staging {
    folder: PathBuf,
}

impl Staging {
    pub(super) fn new(folder: &Path) -> Result<Self, Failure> {
        match fs::metadata(folder) {
            Ok(found) if !found.is_dir() => {
                Err(Failure::user(format!("`{}` is not a folder", folder.display())))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io("use", folder, &error)),
            _ => Ok(Self { folder: folder.to_owned() }),
        }
    }

    /// Fails if the folder contains files that the save does not overwrite.
    pub(super) fn check(&self, names: &BTreeSet<String>) -> Result<(), Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.write_failure(&error)),
        };
        let mut others = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(|error| self.write_failure(&error))?.file_name();
            let name = name.to_string_lossy().into_owned();
            if !MARKS.contains(&&*name) && !names.contains(&name) {
                others.insert(name);
            }
        }
        if others.is_empty() {
            return Ok(());
        }
        let named: Vec<String> = others.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = match others.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = format!("`{}` contains other files: {}{more}", self.folder.display(), named.join(", "));
        Err(Failure::user(text).hint("use an empty folder; a restore would include these files"))
    }

    /// Creates the staging folder. Deletes leftovers of an interrupted run.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        self.discard()?;
        create_folder(&self.staging_folder()).map_err(|error| self.write_failure(&error))
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        write_file_atomically(&self.staging_folder().join(name), content, MODE).map_err(|error| error.source)
    }

    /// Moves every file to its final place. Deletes planned files of an earlier save that were not written now,
    /// because a restore would include them.
    pub(super) fn publish(&self, planned: &BTreeSet<String>) -> Result<(), Failure> {
        let is_stale =
            |name: &&String| !self.staging_folder().join(name).exists() && self.folder.join(name).exists();
        let stale: Vec<&String> = planned.iter().filter(is_stale).collect();
        let incomplete = self.folder.join(INCOMPLETE);
        let publish = || {
            create_folder(&incomplete)?;
            for entry in fs::read_dir(self.staging_folder())? {
                let entry = entry?;
                fs::rename(entry.path(), self.folder.join(entry.file_name()))?;
            }
            for name in stale {
                fs::remove_file(self.folder.join(name))?;
            }
            fs::remove_dir(self.staging_folder())?;
            fs::remove_dir(&incomplete)
        };
        publish().map_err(|error| self.write_failure(&error))
    }

    /// Deletes the files that were not yet moved to their final places.
    pub(super) fn discard(&self) -> Result<(), Failure> {
        match fs::remove_dir_all(self.staging_folder()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.write_failure(&error)),
            _ => Ok(()),
        }
    }

    fn staging_folder(&self) -> PathBuf {
        self.folder.join(STAGING)
    }

    fn write_failure(&self, error: &io::Error) -> Failure {
        Failure::io("write to", &self.folder, error)
    }
}

/// Creates a private folder, unless it exists.
fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(ToString::to_string).collect()
    }

    // Row: D-162
    #[test]
    fn files_are_published_together_and_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/save");
        let staging = Staging::new(&path).unwrap();
        staging.begin().unwrap();
        staging.write("a.yaml", b"1").unwrap();
        assert!(!path.join("a.yaml").exists());
        staging.publish(&names(&["a.yaml"])).unwrap();
        assert_eq!(fs::read(path.join("a.yaml")).unwrap(), b"1");
        assert!(!path.join(STAGING).exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path.join("a.yaml")), mode(&path)), (0o600, 0o700));
        }
    }

    // Row: D-162
    #[test]
    fn other_files_are_refused_and_files_of_the_save_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let staging = Staging::new(folder.path()).unwrap();
        for name in ["a.yaml", "b.yaml"] {
            fs::write(folder.path().join(name), "old").unwrap();
        }
        staging.begin().unwrap();
        let refused = staging.check(&names(&["a.yaml"])).unwrap_err();
        let path = folder.path().display().to_string();
        assert_data_eq!(
            refused.message().replace(&path, "[FOLDER]"),
            str!["`[FOLDER]` contains other files: `b.yaml`"]
        );
        staging.check(&names(&["a.yaml", "b.yaml"])).unwrap();
        staging.write("a.yaml", b"new").unwrap();
        staging.begin().unwrap();
        staging.write("b.yaml", b"new").unwrap();
        staging.publish(&names(&["a.yaml", "b.yaml"])).unwrap();
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(text("b.yaml"), "new");
        assert!(!folder.path().join("a.yaml").exists(), "it was not saved again");
    }

    #[test]
    fn a_save_that_was_moved_in_part_stays_marked_until_a_complete_one() {
        let folder = tempfile::tempdir().unwrap();
        let staging = Staging::new(folder.path()).unwrap();
        let is_marked = || MARKS.iter().any(|mark| folder.path().join(mark).exists());
        staging.begin().unwrap();
        staging.write("a.yaml", b"1").unwrap();
        // The second file cannot be moved.
        staging.write("b.yaml", b"1").unwrap();
        fs::create_dir_all(folder.path().join("b.yaml/x")).unwrap();
        assert!(staging.publish(&names(&["a.yaml", "b.yaml"])).is_err());
        fs::remove_dir_all(folder.path().join("b.yaml")).unwrap();
        staging.discard().unwrap();
        assert!(is_marked());
        staging.begin().unwrap();
        staging.discard().unwrap();
        assert!(is_marked(), "a save that failed later changes nothing");
        staging.begin().unwrap();
        staging.check(&names(&["a.yaml"])).unwrap();
        staging.write("a.yaml", b"2").unwrap();
        staging.publish(&names(&["a.yaml", "b.yaml"])).unwrap();
        assert!(!is_marked());
    }

    #[test]
    fn a_file_is_not_a_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Staging::new(file.path()).is_err());
    }
}

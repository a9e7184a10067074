//! The changes of a template, and their effect on the files of a component or package.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use repository::git::{MergedFile, NewFile};

use crate::cookiecutter::matches_path;
use crate::error::CatalogError;

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileChange {
    Write(NewFile),
    Delete(String),
}

/// The changes of an update.
#[derive(Debug, Default)]
pub(super) struct MergePlan {
    files: BTreeMap<String, (Option<NewFile>, Option<NewFile>)>,
    pub(super) changes: Vec<FileChange>,
    /// The files that the user and the template have changed in the same place.
    pub(super) conflicts: Vec<String>,
}

/// The versions of a file that must be merged line by line.
pub(super) struct Versions {
    pub(super) base: Vec<u8>,
    pub(super) current: Vec<u8>,
    pub(super) other: Vec<u8>,
    path: String,
    is_executable: bool,
}

impl MergePlan {
    /// Compares two renderings of a template. Files that match a pattern are left alone.
    pub(super) fn new(skip: &[String], before: Vec<NewFile>, after: Vec<NewFile>) -> Self {
        let mut files: BTreeMap<String, (Option<NewFile>, Option<NewFile>)> = BTreeMap::new();
        for file in before {
            let entry = files.entry(file.path.clone()).or_default();
            entry.0 = Some(file);
        }
        for file in after {
            let entry = files.entry(file.path.clone()).or_default();
            entry.1 = Some(file);
        }
        files.retain(|path, (before, after)| before != after && !matches_path(skip, path));
        Self { files, ..Self::default() }
    }

    /// True if no file changes.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.conflicts.is_empty()
    }

    /// Returns the files that the template has changed, before and after.
    pub(super) fn changed(&self) -> Vec<(Option<NewFile>, Option<NewFile>)> {
        self.files.values().cloned().collect()
    }

    /// Decides the change of a file from its content. Returns the versions if they must be merged.
    pub(super) fn decide(
        &mut self,
        path: &str,
        base: Option<&NewFile>,
        other: Option<NewFile>,
        current: Option<&[u8]>,
    ) -> Option<Versions> {
        let base_content = base.map(|file| file.content.as_slice());
        let Some(other) = other else {
            match current {
                Some(content) if Some(content) == base_content => {
                    self.changes.push(FileChange::Delete(path.to_owned()));
                }
                Some(_) => self.conflicts.push(path.to_owned()),
                None => {}
            }
            return None;
        };
        let Some(content) = current else {
            // A file that the user has deleted is not wanted.
            if base.is_none() {
                self.changes.push(FileChange::Write(other));
            }
            return None;
        };
        if content == other.content || Some(content) == base_content {
            self.changes.push(FileChange::Write(other));
            return None;
        }
        Some(Versions {
            base: base_content.unwrap_or_default().to_vec(),
            current: content.to_vec(),
            path: other.path,
            is_executable: other.is_executable,
            other: other.content,
        })
    }

    /// Adds a merged file. Without a result, such as for a binary file, the content of the user stays.
    pub(super) fn add_merged(&mut self, versions: Versions, merged: Option<MergedFile>) {
        let Versions { path, is_executable, .. } = versions;
        if merged.as_ref().is_none_or(|merged| merged.has_conflicts) {
            self.conflicts.push(path.clone());
        }
        if let Some(MergedFile { content, .. }) = merged {
            self.changes.push(FileChange::Write(NewFile { path, content, is_executable }));
        }
    }

    /// Writes the changes. Each file is replaced as a whole.
    pub(super) fn apply(&self, folder: &Path) -> Result<(), CatalogError> {
        for change in &self.changes {
            match change {
                FileChange::Write(file) => {
                    let path = folder.join(&file.path);
                    write_file(&path, file).map_err(|error| CatalogError::disk("write", &path, error))?;
                }
                FileChange::Delete(path) => {
                    let path = folder.join(path);
                    fs::remove_file(&path).map_err(|error| CatalogError::disk("delete", &path, error))?;
                }
            }
        }
        Ok(())
    }
}

/// Writes a file and its folders. It is replaced as a whole.
pub(super) fn write_file(path: &Path, file: &NewFile) -> std::io::Result<()> {
    let folder = transport::disk::folder_of(path);
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&file.content)?;
    set_mode(temporary.as_file(), file.is_executable)?;
    temporary.persist(path).map(|_| ()).map_err(|failed| failed.error)
}

#[cfg(unix)]
fn set_mode(file: &fs::File, is_executable: bool) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(if is_executable { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_mode(_file: &fs::File, _is_executable: bool) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, content: &str) -> NewFile {
        NewFile { path: path.to_owned(), content: content.into(), is_executable: false }
    }

    /// Returns the changes, the conflicts and the merges of one file.
    fn decided(base: Option<&str>, other: Option<&str>, current: Option<&str>) -> String {
        let [base, other] = [base, other].map(|text| text.map(|text| file("a", text)));
        let mut plan =
            MergePlan::new(&[], base.clone().into_iter().collect(), other.clone().into_iter().collect());
        let mut merges = 0;
        for (base, other) in plan.changed() {
            let versions = plan.decide("a", base.as_ref(), other, current.map(str::as_bytes));
            merges += usize::from(versions.is_some());
        }
        let changes = plan.changes.iter().map(|change| match change {
            FileChange::Write(file) => format!("write {}", String::from_utf8_lossy(&file.content)),
            FileChange::Delete(path) => format!("delete {path}"),
        });
        let conflicts = plan.conflicts.iter().map(|path| format!("conflict {path}"));
        let merges = std::iter::repeat_n("merge".to_owned(), merges);
        changes.chain(conflicts).chain(merges).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_change_of_the_template_meets_the_file_of_the_user() {
        for (base, other, current, expected) in [
            (Some("1"), Some("1"), Some("2"), ""),
            (Some("1"), Some("2"), Some("1"), "write 2"),
            (Some("1"), Some("2"), Some("2"), "write 2"),
            (Some("1"), Some("2"), Some("3"), "merge"),
            (Some("1"), Some("2"), None, ""),
            (None, Some("2"), None, "write 2"),
            (None, Some("2"), Some("3"), "merge"),
            (Some("1"), None, Some("1"), "delete a"),
            (Some("1"), None, Some("3"), "conflict a"),
            (Some("1"), None, None, ""),
        ] {
            assert_eq!(decided(base, other, current), expected, "{base:?} {other:?} {current:?}");
        }
    }

    #[test]
    fn skipped_files_are_left_alone() {
        let skip = ["docs".to_owned(), "*.lock".to_owned()];
        let after = vec![file("docs/a", ""), file("x.lock", ""), file("b", "")];
        let plan = MergePlan::new(&skip, Vec::new(), after);
        assert_eq!(plan.files.keys().collect::<Vec<_>>(), ["b"]);
    }
}

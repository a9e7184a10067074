//! The file of a backup: a named file, or a dated file in a folder, where old backups may be removed.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use inventory::ClusterIdentity;
use jiff::{Timestamp, ToSpan as _};
use mover::{ClusterChoice, MoveRequest};
use serde_json::json;
use tempfile::NamedTempFile;
use transport::Digest;

use crate::{Failure, failure::Kind};

const TIME_FORMAT: &str = "%Y%m%dT%H%M%SZ";
/// The file extensions of backups: unencrypted and encrypted.
const EXTENSIONS: [&str; 2] = [".tar.gz", ".tar.gz.age"];
const MAX_CONTEXT_CHARS: usize = 60;
const SCOPE_DIGITS: usize = 8;
/// The limit of seconds that a dated name may be ahead of its time, if other backups use the earlier names.
const MAX_SECONDS_AHEAD: i64 = 60;

/// The destination of a backup from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    File {
        path: PathBuf,
        force: bool,
    },
    Folder {
        path: PathBuf,
        /// The number of backups of the cluster and scope to keep. `None` to keep all.
        keep: Option<usize>,
    },
}

/// The common start of the backup names of one cluster and scope, before the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BackupNamePrefix(String);

impl Destination {
    /// Parses the argument. An existing folder, or a path with a final slash, is a folder.
    pub(super) fn new(path: &Path, force: bool, keep: Option<usize>) -> Result<Self, Failure> {
        let ends_in_slash = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let there = fs::metadata(path);
        if ends_in_slash || there.as_ref().is_ok_and(fs::Metadata::is_dir) {
            if force {
                return Err(Failure::user("`--force` cannot be combined with a folder")
                    .hint("omit `--force`; every backup in a folder has a unique name"));
            }
            return Ok(Self::Folder { path: path.to_owned(), keep });
        }
        if keep.is_some() {
            return Err(Failure::user(format!(
                "`--keep` requires a folder, and `{}` is not a folder",
                path.display()
            ))
            .hint("use a folder, such as `backup backups/ --keep 7`"));
        }
        match there {
            Ok(there) if !there.is_file() => Err(Failure::user(format!(
                "cannot write `{}`: the path is not a regular file",
                path.display()
            ))),
            Ok(_) if !force => Err(file_exists_failure(path)),
            _ => Ok(Self::File { path: path.to_owned(), force }),
        }
    }

    /// Creates a private file in the same folder. The file is deleted unless it is published.
    pub(super) fn create_temporary(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::with_prefix_in(".capstan-backup-", self.folder()?)
    }

    /// Renames a complete file to its final name, and returns that path.
    pub(super) fn publish(
        &self,
        file: NamedTempFile,
        stem: &BackupNamePrefix,
        created: &str,
        is_sealed: bool,
    ) -> Result<PathBuf, Failure> {
        let path = match self {
            Self::File { path, force: true } => {
                file.persist(path).map_err(|error| Failure::io("write", path, &error.error))?;
                path.clone()
            }
            Self::File { path, force: false } => match file.persist_noclobber(path) {
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(file_exists_failure(path));
                }
                Err(error) => return Err(Failure::io("write", path, &error.error)),
                Ok(_) => path.clone(),
            },
            Self::Folder { path, .. } => persist_dated(file, path, stem, created, is_sealed)
                .map_err(|error| Failure::io("write", path, &*error))?,
        };
        sync_folder(&self.folder().map_err(|error| Failure::io("write", &path, &error))?);
        Ok(path)
    }

    /// Removes older backups of the cluster with the same scope, and returns their paths. Only files with names from this
    /// program count.
    pub(super) fn prune(&self, newest: &Path, stem: &BackupNamePrefix) -> Result<Vec<PathBuf>, Failure> {
        let Self::Folder { path: folder, keep: Some(keep) } = self else { return Ok(Vec::new()) };
        let failed = |path: &Path, error: &io::Error| {
            Failure::io("remove the old backup", path, error).hint(format!(
                "remove old backups manually; the new backup `{}` is complete",
                newest.display()
            ))
        };
        let own = newest.file_name().and_then(|name| stem.timestamp_in(name.to_str()?)).unwrap_or_default();
        let mut older = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
            let entry = entry.map_err(|error| failed(folder, &error))?;
            let name = entry.file_name();
            let stamp = name.to_str().and_then(|name| stem.timestamp_in(name));
            let is_file = entry.file_type().is_ok_and(|of| of.is_file());
            // A newer backup belongs to a concurrent run, which removes old backups itself.
            older.extend(
                stamp.filter(|stamp| is_file && *stamp < own).map(|stamp| (stamp.to_owned(), entry.path())),
            );
        }
        older.sort_unstable_by(|a, b| b.cmp(a));
        let mut removed = Vec::new();
        for (_, path) in older.into_iter().skip(keep.saturating_sub(1)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path, &error)),
                _ => removed.push(path),
            }
        }
        Ok(removed)
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Folder { path, .. } => path,
        }
    }

    fn folder(&self) -> io::Result<PathBuf> {
        match self {
            Self::File { path, .. } => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                Ok(folder.unwrap_or(Path::new(".")).to_owned())
            }
            Self::Folder { path, .. } => {
                let mut builder = fs::DirBuilder::new();
                builder.recursive(true);
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                builder.create(path)?;
                Ok(path.clone())
            }
        }
    }
}

impl BackupNamePrefix {
    /// Returns the start of backup names from the context, the cluster uid and the scope. A backup of everything has no scope
    /// in its name.
    /// Two clusters may have contexts of the same name, and a reinstalled cluster is a different one.
    pub(super) fn new(context: Option<&str>, cluster: &ClusterIdentity, scope: &MoveRequest) -> Self {
        let plain = |text: &str, most: usize| -> String {
            let plain =
                |of: char| if of.is_ascii_alphanumeric() || of == '.' || of == '_' { of } else { '-' };
            text.chars().take(most).map(plain).collect()
        };
        let context = context.map(|name| format!("{}-", plain(name, MAX_CONTEXT_CHARS))).unwrap_or_default();
        let scope = scope_digest(scope).map(|digest| format!("{digest}-")).unwrap_or_default();
        Self(format!("capstan-{context}{}-{scope}", plain(&cluster.uid, 8)))
    }

    fn file_name(&self, stamp: &str, is_sealed: bool) -> String {
        format!("{}{stamp}{}", self.0, EXTENSIONS[usize::from(is_sealed)])
    }

    /// Returns the time in the name of a backup of this cluster and scope. `None` for any other name.
    fn timestamp_in<'n>(&self, name: &'n str) -> Option<&'n str> {
        let rest = name.strip_prefix(&self.0)?;
        let stamp = EXTENSIONS.iter().find_map(|ending| rest.strip_suffix(ending))?;
        let shape: String = stamp.chars().map(|of| if of.is_ascii_digit() { '0' } else { of }).collect();
        (shape == "00000000T000000Z").then_some(stamp)
    }
}

/// Returns the first digits of a digest of the selected namespaces and Clusters. `None` for a backup of everything.
fn scope_digest(request: &MoveRequest) -> Option<String> {
    let clusters = match &request.clusters {
        ClusterChoice::All if request.namespaces.is_empty() => return None,
        ClusterChoice::All => json!(null),
        ClusterChoice::Named(names) => json!(names),
        ClusterChoice::Labelled(selector) => json!(selector),
    };
    let digest = Digest::of(json!([request.namespaces, clusters]).to_string().as_bytes());
    Some(digest.hex().chars().take(SCOPE_DIGITS).collect())
}

/// Names a file after its time, or after the next second without a backup.
fn persist_dated(
    mut file: NamedTempFile,
    folder: &Path,
    stem: &BackupNamePrefix,
    created: &str,
    is_sealed: bool,
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let created: Timestamp = created.parse()?;
    let mut ahead = 0;
    loop {
        let stamp = (created + ahead.seconds()).strftime(TIME_FORMAT).to_string();
        let path = folder.join(stem.file_name(&stamp, is_sealed));
        match file.persist_noclobber(&path) {
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists && ahead < MAX_SECONDS_AHEAD => {
                (file, ahead) = (error.file, ahead + 1);
            }
            Err(error) => return Err(error.error.into()),
            Ok(_) => return Ok(path),
        }
    }
}

/// Syncs a folder to the disk. Ignores systems that cannot sync folders.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = fs::File::open(folder) {
        drop(folder.sync_all());
    }
}

fn file_exists_failure(path: &Path) -> Failure {
    Failure::new(Kind::Conflict, format!("cannot write `{}`: the file exists", path.display()))
        .hint("use another file or a folder, or add `--force` to replace the file")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::verbs::r#move::flags::save_request;

    const CREATED: &str = "2026-11-22T20:30:00Z";

    fn stem(context: Option<&str>, uid: &str) -> BackupNamePrefix {
        stem_of(context, uid, &[], ClusterChoice::All)
    }

    fn stem_of(
        context: Option<&str>,
        uid: &str,
        namespaces: &[&str],
        clusters: ClusterChoice,
    ) -> BackupNamePrefix {
        let namespaces = namespaces.iter().map(ToString::to_string).collect();
        let cluster = ClusterIdentity { uid: uid.to_owned(), address: String::new() };
        BackupNamePrefix::new(context, &cluster, &save_request(namespaces, clusters, Duration::ZERO))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn file_names_contain_the_context_the_cluster_and_the_time() {
        let of = |context, uid| stem(context, uid).file_name("20261122T203000Z", false);
        assert_eq!(of(Some("here"), "0123456789"), "capstan-here-01234567-20261122T203000Z.tar.gz");
        assert_eq!(of(Some("a/b@c"), "0123"), "capstan-a-b-c-0123-20261122T203000Z.tar.gz");
        assert_eq!(of(None, "0123"), "capstan-0123-20261122T203000Z.tar.gz");
        assert!(stem(None, "0123").file_name("20261122T203000Z", true).ends_with("Z.tar.gz.age"));
    }

    #[test]
    fn backups_of_the_same_second_get_different_names() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::new(folder.path(), false, None).unwrap();
        for _ in 0..2 {
            let file = destination.create_temporary().unwrap();
            destination.publish(file, &stem(None, "01"), CREATED, false).unwrap();
        }
        let expected = ["capstan-01-20261122T203000Z.tar.gz", "capstan-01-20261122T203001Z.tar.gz"];
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn each_scope_has_its_own_names() {
        let one = || ClusterChoice::Named(["team/one".to_owned()].into());
        let scopes = [
            stem_of(None, "01", &[], ClusterChoice::All),
            stem_of(None, "01", &["team"], ClusterChoice::All),
            stem_of(None, "01", &["team", "test"], ClusterChoice::All),
            stem_of(None, "01", &[], one()),
            stem_of(None, "01", &["team"], one()),
            stem_of(None, "01", &[], ClusterChoice::Labelled("team/one".to_owned())),
        ];
        for (number, scope) in scopes.iter().enumerate() {
            let name = scope.file_name("20261122T203000Z", false);
            for (other_number, other) in scopes.iter().enumerate() {
                assert_eq!(other.timestamp_in(&name).is_some(), number == other_number, "{name}");
            }
        }
        assert_eq!(scopes[4], stem_of(None, "01", &["team"], one()));
    }

    // Row: D-301
    #[test]
    fn keep_removes_only_old_backups_of_the_same_cluster() {
        let folder = tempfile::tempdir().unwrap();
        let stem = stem(Some("here"), "01");
        let kept = [
            "capstan-here-01-20261121T203000Z.tar.gz.age",
            "capstan-here-01-20261123T203000Z.tar.gz",
            "capstan-here-02-20261101T203000Z.tar.gz",
            "capstan-here-01-20261101T203000Z.tar.gz.bak",
            "capstan-here-01-notes.tar.gz",
            "mine.tar.gz",
        ];
        let old = ["capstan-here-01-20261120T203000Z.tar.gz", "capstan-here-01-20261119T203000Z.tar.gz"];
        for name in kept.iter().chain(&old) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let destination = Destination::new(folder.path(), false, Some(2)).unwrap();
        let file = destination.create_temporary().unwrap();
        let newest = destination.publish(file, &stem, CREATED, false).unwrap();
        let removed = destination.prune(&newest, &stem).unwrap();
        assert_eq!(removed, old.map(|name| folder.path().join(name)));
        let mut expected = kept.map(str::to_owned).to_vec();
        expected.push("capstan-here-01-20261122T203000Z.tar.gz".to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn an_existing_file_is_replaced_only_with_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        let late = Destination::new(&path, false, None).unwrap();
        let file = late.create_temporary().unwrap();
        fs::write(&path, "old").unwrap();
        assert!(Destination::new(&path, false, None).is_err());
        assert!(late.publish(file, &stem(None, "01"), CREATED, false).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let forced = Destination::new(&path, true, None).unwrap();
        forced.publish(forced.create_temporary().unwrap(), &stem(None, "01"), CREATED, false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        assert_eq!(names(folder.path()), ["a.tar.gz"]);
    }
}

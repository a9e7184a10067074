#![cfg(unix)]

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

use super::*;

/// A folder to change, and one for new content.
struct Folders {
    root: TempDir,
}

impl Folders {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("to")).unwrap();
        fs::create_dir_all(root.path().join("temporary")).unwrap();
        Self { root }
    }

    fn to(&self) -> PathBuf {
        self.root.path().join("to")
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn update(&self, wanted: &WantedFolder<'_>, unlisted: UnlistedPolicy) {
        wanted.update(&self.to(), &self.root.path().join("temporary"), unlisted).unwrap();
        assert_eq!(fs::read_dir(self.root.path().join("temporary")).unwrap().count(), 0);
    }

    /// All entries with their contents; folders end with a slash.
    fn content(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut folders = vec![self.to()];
        while let Some(folder) = folders.pop() {
            for name in names(&folder).unwrap() {
                let path = folder.join(name);
                let shown = path.strip_prefix(self.to()).unwrap().display().to_string();
                let kind = fs::symlink_metadata(&path).unwrap().file_type();
                if kind.is_dir() {
                    found.push((format!("{shown}/"), String::new()));
                    folders.push(path);
                } else if kind.is_symlink() {
                    found.push((shown, format!("-> {}", fs::read_link(&path).unwrap().display())));
                } else {
                    found.push((shown, fs::read_to_string(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

/// Sets an old time, and returns the inode and the time.
fn mark(path: &Path) -> (u64, i64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    identity(path)
}

fn identity(path: &Path) -> (u64, i64) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.ino(), metadata.mtime())
}

fn pairs(entries: &[(&str, &str)]) -> Vec<(String, String)> {
    entries.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn only_files_that_differ_are_written() {
    let folders = Folders::new();
    let same = folders.write("to/d/same", "1");
    let changed = folders.write("to/changed", "old");
    let mode = folders.write("to/mode", "m");
    folders.write("to/gone", "x");
    folders.write("to/gone.d/e/f", "x");
    folders.write("to/.hidden", "x");
    let (kept, replaced, with_mode) = (mark(&same), mark(&changed), mark(&mode));
    let mut wanted = WantedFolder::default();
    wanted.add("d/same".into(), WantedEntry::Content(b"1", Some(0o644)));
    wanted.add("changed".into(), WantedEntry::Content(b"new", Some(0o644)));
    wanted.add("mode".into(), WantedEntry::Content(b"m", Some(0o755)));
    wanted.add("empty".into(), WantedEntry::Folder);
    wanted.add("e/new".into(), WantedEntry::Content(b"n", None));
    folders.update(&wanted, UnlistedPolicy::Delete);
    let expected =
        [("changed", "new"), ("d/", ""), ("d/same", "1"), ("e/", ""), ("e/new", "n"), ("empty/", "")];
    assert_eq!(folders.content(), pairs(&[&expected[..], &[("mode", "m")]].concat()));
    assert_eq!(identity(&same), kept);
    assert_ne!(identity(&changed).0, replaced.0);
    assert_ne!(identity(&mode).0, with_mode.0);
    assert_eq!(fs::metadata(&mode).unwrap().permissions().mode() & 0o777, 0o755);
    let again = mark(&mode);
    folders.update(&wanted, UnlistedPolicy::Delete);
    assert_eq!(identity(&mode), again);
}

#[test]
fn a_path_may_change_its_kind_and_no_link_is_followed() {
    let folders = Folders::new();
    let outside = folders.write("outside/file", "untouched");
    folders.write("to/was-folder/x", "x");
    folders.write("to/was-file", "x");
    symlink(outside.parent().unwrap(), folders.to().join("linked-folder")).unwrap();
    symlink(&outside, folders.to().join("linked-file")).unwrap();
    let mut wanted = WantedFolder::default();
    wanted.add("was-folder".into(), WantedEntry::Content(b"1", None));
    wanted.add("was-file/x".into(), WantedEntry::Content(b"2", None));
    wanted.add("linked-folder/file".into(), WantedEntry::Content(b"3", None));
    wanted.add("linked-file".into(), WantedEntry::Content(b"untouched", None));
    folders.update(&wanted, UnlistedPolicy::Delete);
    let expected = [
        ("linked-file", "untouched"),
        ("linked-folder/", ""),
        ("linked-folder/file", "3"),
        ("was-file/", ""),
        ("was-file/x", "2"),
        ("was-folder", "1"),
    ];
    assert_eq!(folders.content(), pairs(&expected));
    assert_eq!(fs::read_to_string(outside).unwrap(), "untouched");
}

#[test]
fn moved_files_and_links_keep_those_that_are_the_same() {
    let folders = Folders::new();
    let same = mark(&folders.write("to/same", "1"));
    folders.write("to/other", "2");
    folders.write("from/same", "1");
    folders.write("from/other", "3");
    folders.write("from/d/new", "4");
    for folder in ["to", "from"] {
        symlink("same", folders.root.path().join(folder).join("link")).unwrap();
    }
    symlink("d", folders.root.path().join("from/linked-folder")).unwrap();
    let mut wanted = WantedFolder::default();
    wanted.add_moved(&folders.root.path().join("from")).unwrap();
    folders.update(&wanted, UnlistedPolicy::Delete);
    let expected = [
        ("d/", ""),
        ("d/new", "4"),
        ("link", "-> same"),
        ("linked-folder", "-> d"),
        ("other", "3"),
        ("same", "1"),
    ];
    assert_eq!(folders.content(), pairs(&expected));
    assert_eq!(identity(&folders.to().join("same")), same);
}

#[test]
fn copies_follow_links_and_unlisted_entries_stay_on_request() {
    let folders = Folders::new();
    let file = folders.write("from/run", "1");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run", folders.root.path().join("from/link")).unwrap();
    folders.write("to/.hidden/x", "h");
    folders.write("to/visible", "v");
    let mut wanted = WantedFolder::default();
    wanted.add_copy(&folders.root.path().join("from")).unwrap();
    folders.update(&wanted, UnlistedPolicy::Keep);
    let copies = [(".hidden/", ""), (".hidden/x", "h"), ("link", "1"), ("run", "1")];
    assert_eq!(folders.content(), pairs(&[&copies[..], &[("visible", "v")]].concat()));
    let kept = mark(&folders.to().join("run"));
    folders.update(&wanted, UnlistedPolicy::KeepHidden);
    assert_eq!(folders.content(), pairs(&copies));
    assert_eq!(identity(&folders.to().join("run")), kept);
    assert_eq!(fs::metadata(folders.to().join("link")).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(file.is_file());
}

#[test]
fn a_path_that_is_a_file_and_a_folder_is_an_error() {
    let folders = Folders::new();
    folders.write("one/x", "1");
    folders.write("two/x/y", "2");
    for order in [["one", "two"], ["two", "one"]] {
        let mut wanted = WantedFolder::default();
        wanted.add_copy(&folders.root.path().join(order[0])).unwrap();
        let error = wanted.add_copy(&folders.root.path().join(order[1])).unwrap_err();
        assert_eq!(error.path, folders.root.path().join(order[1]).join("x"));
    }
}

#[test]
fn a_folder_at_the_place_of_a_file_is_kept_with_its_files() {
    let folders = Folders::new();
    folders.write("to/a/b", "kept");
    let mut wanted = WantedFolder::default();
    wanted.add(PathBuf::from("a"), WantedEntry::Content(b"x", None));
    let temporary = folders.root.path().join("temporary");
    wanted.update(&folders.to(), &temporary, UnlistedPolicy::Keep).unwrap_err();
    assert_eq!(folders.content(), [("a/".to_owned(), String::new()), ("a/b".to_owned(), "kept".to_owned())]);
}

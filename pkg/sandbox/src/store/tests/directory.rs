//! Tests of the store in a directory: interruptions, damage and error messages.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::*;
use crate::store::journal::JournalFile;

fn open(directory: &Path) -> Store {
    Store::open(directory, &DirectoryOptions::default()).unwrap()
}

fn refused(directory: &Path) -> OpenError {
    Store::open(directory, &DirectoryOptions::default()).unwrap_err()
}

fn journal(directory: &Path) -> PathBuf {
    directory.join("journal")
}

/// Creates a directory with a journal of two initial objects and three changes.
fn example() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    create(&store, &pod("a"));
    create(&store, &key("secrets", "default", "b"));
    store.replace_journal(store.lock_journal().as_mut().unwrap());
    update(&store, &pod("a"), "changed");
    delete(&store, &key("secrets", "default", "b"));
    create(&store, &pod("c"));
    directory
}

/// Returns the revision and the bodies.
fn contents(store: &Store) -> (Revision, Vec<String>) {
    let page = store.list(&all("pods"), ListOptions::default()).unwrap();
    let secrets = store.list(&all("secrets"), ListOptions::default()).unwrap();
    (page.revision, [texts(&page), texts(&secrets)].concat())
}

/// Returns the start of each record of a journal and the end of the last one.
fn record_offsets(bytes: &[u8]) -> Vec<usize> {
    let mut borders = vec![16];
    while let Some(head) = bytes.get(*borders.last().unwrap()..).and_then(|rest| rest.first_chunk::<4>()) {
        borders.push(borders.last().unwrap() + 12 + u32::from_le_bytes(*head) as usize);
    }
    borders
}

#[test]
fn every_field_of_an_object_is_persisted() {
    let directory = tempfile::tempdir().unwrap();
    let widget = Key {
        resource: ResourceName { group: "example.com".into(), plural: "widgets".into() },
        namespace: "".into(),
        name: "größe".into(),
    };
    let stored = open(directory.path()).commit_with(&widget, Precondition::Absent, draft("x")).unwrap();
    let store = open(directory.path());
    let again = store.get(&widget).unwrap();
    assert_eq!(format!("{again:?}"), format!("{stored:?}"));
    assert_eq!(store.revision(), Revision(2));
}

#[test]
fn revisions_and_watches_continue_after_reopening() {
    let directory = example();
    let store = open(directory.path());
    assert_eq!(contents(&store), (Revision(6), vec!["4 changed".into(), "6 new".into()]));
    let mut watch = store.watch(all("secrets"), Revision(3)).unwrap();
    let change = watch.try_next().unwrap().unwrap();
    assert!(change.deleted);
    assert_eq!((&change.after.body[..], &change.before.unwrap().body[..]), (&b"5 gone"[..], &b"3 new"[..]));
    assert_eq!(store.watch(all("pods"), Revision(2)).unwrap_err(), Expired { oldest: Revision(3) });
    assert_eq!(create(&store, &pod("d")), Revision(7));
}

#[test]
fn a_truncated_last_record_is_ignored() {
    let directory = example();
    let path = journal(directory.path());
    let whole = fs::read(&path).unwrap();
    let borders = record_offsets(&whole);
    let last = borders[borders.len() - 2];
    for size in last..whole.len() {
        fs::write(&path, &whole[..size]).unwrap();
        let store = open(directory.path());
        assert_eq!(contents(&store), (Revision(5), vec!["4 changed".into()]));
        let bytes = (size - last) as u64;
        let cut_off = (bytes > 0).then(|| TruncatedEnd { file: path.clone(), offset: last as u64, bytes });
        assert_eq!(store.journal_report().unwrap().truncated_end, cut_off);
        create(&store, &pod("c"));
        drop(store);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn an_unwritten_last_record_is_truncated() {
    let directory = example();
    let path = journal(directory.path());
    let whole = fs::read(&path).unwrap();
    let blank_end = [&whole[..], &[0; 5000]].concat();
    let mut wrong_end = whole.clone();
    *wrong_end.last_mut().unwrap() ^= 1;
    for (bytes, revision) in [(blank_end, Revision(6)), (wrong_end, Revision(5))] {
        fs::write(&path, bytes).unwrap();
        let store = open(directory.path());
        assert_eq!(store.revision(), revision);
        assert!(store.journal_report().unwrap().truncated_end.is_some());
    }
}

#[test]
fn a_damaged_byte_is_an_error_with_its_position() {
    let directory = example();
    let path = journal(directory.path());
    let whole = fs::read(&path).unwrap();
    let borders = record_offsets(&whole);
    let head_of_last = borders[borders.len() - 2] + 12;
    for at in 16..head_of_last {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let OpenError::Damaged { file, offset, has_state, .. } = refused(directory.path()) else {
            panic!("a wrong byte at {at} is not noticed");
        };
        let index = borders.iter().rposition(|border| *border <= at).unwrap();
        assert_eq!((file, offset, has_state), (path.clone(), borders[index] as u64, index >= 3));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn the_hint_for_a_damaged_journal_repairs_it() {
    let directory = example();
    let path = journal(directory.path());
    let mut bytes = fs::read(&path).unwrap();
    let third_change = record_offsets(&bytes)[4];
    bytes[third_change] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let text = refused(directory.path()).to_string();
    assert!(text.contains(&format!("`truncate --size {third_change} '{}'`", path.display())), "{text}");
    fs::write(&path, &bytes[..third_change]).unwrap();
    assert_eq!(open(directory.path()).revision(), Revision(4));
}

#[test]
fn a_journal_shorter_than_the_state_it_starts_from_is_an_error() {
    let directory = example();
    let path = journal(directory.path());
    let whole = fs::read(&path).unwrap();
    for size in 16..record_offsets(&whole)[3] {
        fs::write(&path, &whole[..size]).unwrap();
        let text = refused(directory.path()).to_string();
        assert!(text.ends_with("put a copy of it back, or move it away to start empty"), "{text}");
    }
}

#[test]
fn a_file_of_another_format_is_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = journal(directory.path());
    for text in ["", "my diary", "capstan stor", "a file of some length that has nothing to do with it"] {
        fs::write(&path, text).unwrap();
        assert!(matches!(refused(directory.path()), OpenError::Foreign { file } if file == path));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, "capstan store 2\nwhatever comes then").unwrap();
    assert!(matches!(refused(directory.path()), OpenError::UnknownFormat { file } if file == path));
}

#[test]
fn a_directory_has_one_owner_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let options = DirectoryOptions { owner: Some(4711), ..DirectoryOptions::default() };
    let store = Store::open(directory.path(), &options).unwrap();
    let watch = store.watch_all(Revision(1)).unwrap();
    let error = refused(directory.path());
    assert_eq!(error.to_string(), format!("`{}` is in use by process 4711", directory.path().display()));
    drop(store);
    // A live watch does not keep the directory locked.
    drop((open(directory.path()), watch));
}

#[cfg(unix)]
#[test]
fn the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("some/where");
    drop(open(&directory));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&journal(&directory))), (0o700, 0o600));
    assert_eq!(mode(&directory.join("lock")), 0o600);
}

/// A disk with limited space, which may also refuse to shrink files.
#[derive(Debug)]
struct Disk {
    file: Box<dyn JournalFile>,
    free_bytes: usize,
    failed_truncations: usize,
}

impl JournalFile for Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let fits = bytes.len().min(self.free_bytes);
        self.free_bytes -= fits;
        self.file.append(&bytes[..fits])?;
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn truncate(&mut self, size: u64) -> io::Result<()> {
        if self.failed_truncations > 0 {
            self.failed_truncations -= 1;
            return Err(io::ErrorKind::Other.into());
        }
        // The truncation frees space.
        self.free_bytes = 1000;
        self.file.truncate(size)
    }
}

#[test]
fn a_full_disk_fails_only_the_commit() {
    let directory = example();
    let path = journal(directory.path());
    let whole = fs::read(&path).unwrap();
    for room in 0..80 {
        fs::write(&path, &whole).unwrap();
        let store = open(directory.path());
        let disk = |file| Box::new(Disk { file, free_bytes: room, failed_truncations: 0 }) as Box<_>;
        store.lock_journal().as_mut().unwrap().set_medium(disk);
        let before = contents(&store);
        let error = store.commit_with(&pod("d"), Precondition::Absent, draft(&"x".repeat(80))).unwrap_err();
        assert!(matches!(error, CommitError::Journal(error) if error.kind() == io::ErrorKind::StorageFull));
        assert_eq!(contents(&store), before);
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(create(&store, &pod("d")), Revision(7));
        drop(store);
        assert_eq!(open(directory.path()).revision(), Revision(7));
    }
}

#[test]
fn a_partial_write_is_truncated_before_the_next() {
    let directory = example();
    let store = open(directory.path());
    let disk = |file| Box::new(Disk { file, free_bytes: 30, failed_truncations: 2 }) as Box<_>;
    store.lock_journal().as_mut().unwrap().set_medium(disk);
    for _ in 0..2 {
        assert!(matches!(
            store.commit_with(&pod("d"), Precondition::Absent, draft("x")),
            Err(CommitError::Journal(_))
        ));
    }
    assert_eq!(create(&store, &pod("d")), Revision(7));
    drop(store);
    let store = open(directory.path());
    assert_eq!((store.revision(), store.journal_report().unwrap().truncated_end), (Revision(7), None));
}

#[test]
fn a_process_killed_during_compaction_keeps_the_old_journal() {
    let directory = example();
    let new = directory.path().join("journal.new");
    let whole = fs::read(journal(directory.path())).unwrap();
    for size in 0..whole.len() {
        fs::write(&new, &whole[..size]).unwrap();
        assert_eq!(open(directory.path()).revision(), Revision(6));
        assert!(!new.exists());
    }
}

#[test]
fn an_oversized_journal_is_compacted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    create(&store, &pod("a"));
    create(&store, &pod("z"));
    let text = "x".repeat(500_000);
    for _ in 0..40 {
        update(&store, &pod("a"), &text);
    }
    let size = fs::metadata(journal(directory.path())).unwrap().len();
    assert!(size < 12_000_000, "{size}");
    // The history in memory survives the replacement.
    assert!(store.watch_all(Revision(1)).is_ok());
    delete(&store, &pod("z"));
    let before = contents(&store);
    drop(store);
    let store = open(directory.path());
    assert_eq!(contents(&store), before);
    assert!(store.watch_all(Revision(1)).is_err());
}

#[test]
fn a_failed_journal_compaction_is_not_fatal() {
    let directory = example();
    let store = open(directory.path());
    fs::create_dir(directory.path().join("journal.new")).unwrap();
    store.replace_journal(store.lock_journal().as_mut().unwrap());
    assert!(store.journal_report().unwrap().failed_replacement.is_some());
    create(&store, &pod("d"));
    fs::remove_dir(directory.path().join("journal.new")).unwrap();
    drop(store);
    let store = open(directory.path());
    assert_eq!(contents(&store), (Revision(7), vec!["4 changed".into(), "6 new".into(), "7 new".into()]));
}

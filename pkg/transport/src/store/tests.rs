use tempfile::TempDir;

use super::*;
use crate::{http::BodySink as _, testing::Heard};

fn store(folder: &TempDir, max_bytes: u64) -> Store {
    Store::new(StoreSettings { folder: folder.path().join("cache"), max_bytes }, None)
}

fn put(store: &Store, key: &str, content: &str) -> Digest {
    let mut writer = store.writer();
    for piece in content.as_bytes().chunks(3) {
        writer.take(Bytes::copy_from_slice(piece)).unwrap();
    }
    let digest = writer.commit().unwrap();
    store.write_entry(&entry(key, digest)).unwrap();
    digest
}

fn entry(key: &str, digest: Digest) -> Entry {
    Entry {
        key: key.to_owned(),
        digest,
        size_bytes: 0,
        etag: None,
        last_modified: None,
        media_type: None,
        link: None,
        kept_at: jiff::Timestamp::now(),
    }
}

/// Sets the time of the last use of a file.
fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_hours(24 * days);
    fs::File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
}

/// Stores a blob of ten bytes with a last use this many days ago.
fn put_aged(store: &Store, key: &str, days: u64) -> Digest {
    let digest = put(store, key, &format!("{key:.>10}"));
    age(&store.blob_path(&digest), days);
    for file in inventory::files(&store.entries()).unwrap() {
        if fs::read_to_string(&file.path).unwrap().contains(&format!("\"{key}\"")) {
            age(&file.path, days);
        }
    }
    digest
}

fn keys(store: &Store) -> Vec<String> {
    let inventory = store.inventory().unwrap();
    let mut keys: Vec<_> =
        inventory.blobs.into_iter().flat_map(|kept| kept.entries).map(|(_, entry)| entry.key).collect();
    keys.sort();
    keys
}

#[test]
fn a_blob_is_found_by_its_digest_and_owner_only() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let digest = put(&store, "a", "content");
    assert_eq!(digest, Digest::of(b"content"));
    assert_eq!(store.read_blob(&digest, 1000).unwrap().unwrap(), "content");
    assert_eq!(store.read_blob(&Digest::of(b"other"), 1000).unwrap(), None);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(&store.settings().folder), 0o700);
        assert_eq!(mode(&store.blob_path(&digest)), 0o600);
    }
    assert_eq!(fs::read_to_string(store.settings().folder.join(LAYOUT_FILE)).unwrap(), "1\n");
}

#[test]
fn an_unfinished_blob_leaves_no_file() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let mut writer = store.writer();
    writer.take(Bytes::from_static(b"half a fi")).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(store.blobs()).unwrap().count(), 0);
}

#[test]
fn a_restarted_response_discards_earlier_data() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let mut writer = store.writer();
    for piece in ["half", "whole"] {
        writer.begin().unwrap();
        writer.take(Bytes::from(piece)).unwrap();
    }
    assert_eq!(writer.commit().unwrap(), Digest::of(b"whole"));
    assert_eq!(fs::read_dir(store.blobs()).unwrap().count(), 1);
}

#[test]
fn an_unreadable_entry_counts_as_missing() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    put(&store, "a", "content");
    assert_eq!(store.entry("a").unwrap().unwrap().digest, Digest::of(b"content"));
    let path = inventory::files(&store.entries()).unwrap().pop().unwrap().path;
    fs::write(path, "{").unwrap();
    assert_eq!(store.entry("a").unwrap(), None);
    assert_eq!(store.verify().unwrap().damaged.len(), 1);
}

#[tokio::test]
async fn the_least_recently_used_entries_are_evicted_first() {
    let folder = TempDir::new().unwrap();
    let large = store(&folder, 1000);
    for (key, days) in [("old", 3), ("older", 4), ("oldest", 5)] {
        put_aged(&large, key, days);
    }
    // This read records a use of the entry, but not of the blob.
    large.entry("oldest").unwrap().unwrap();
    let pruned = store(&folder, 20).prune(PrunePolicy::ToLimit).await.unwrap();
    assert_eq!((pruned.entries, pruned.freed_bytes, pruned.remaining_bytes), (1, 10, 20));
    assert_eq!(keys(&large), ["old", "oldest"]);
    let pruned = large.prune(PrunePolicy::Unused(Duration::from_hours(24))).await.unwrap();
    assert_eq!((pruned.entries, keys(&large)), (1, vec!["oldest".to_owned()]));
}

#[test]
fn a_use_is_recorded_at_most_once_an_hour() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let digest = put_aged(&store, "a", 1);
    let path = store.blob_path(&digest);
    let modified = || fs::metadata(&path).unwrap().modified().unwrap();
    store.read_blob(&digest, 1000).unwrap();
    let noted = modified();
    assert!(noted.elapsed().unwrap() < USE_RECORD_INTERVAL);
    store.read_blob(&digest, 1000).unwrap();
    assert_eq!(modified(), noted);
}

#[test]
fn a_write_over_the_limit_evicts_entries() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 25);
    put_aged(&store, "old", 2);
    put_aged(&store, "new", 1);
    put(&store, "now", "ten bytes!");
    assert_eq!(keys(&store), ["new", "now"]);
    // A blob above the size limit is removed again, together with all other content.
    put(&store, "large", &"x".repeat(26));
    assert_eq!(store.inventory().unwrap().size_bytes(), 0);
}

#[tokio::test]
async fn content_with_two_addresses_is_kept_for_the_last_used_one() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let digest = put_aged(&store, "a", 9);
    store.write_entry(&entry("b", digest)).unwrap();
    store.prune(PrunePolicy::Unused(Duration::from_hours(24))).await.unwrap();
    assert_eq!(keys(&store), ["a", "b"]);
}

#[tokio::test]
async fn files_of_a_killed_run_are_removed_after_a_day() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    put(&store, "a", "content");
    let left = [store.blobs().join(".new-1"), store.entries().join(".new-2")];
    for path in &left {
        fs::write(path, "half").unwrap();
    }
    age(&left[0], 1);
    let pruned = store.prune(PrunePolicy::ToLimit).await.unwrap();
    assert_eq!((pruned.temporaries, pruned.freed_bytes), (1, 4));
    assert!(!left[0].exists() && left[1].exists());
    assert_eq!(store.survey().unwrap().temporary_bytes, 4);
}

#[tokio::test]
async fn pruning_everything_leaves_a_usable_store() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    put(&store, "a", "content");
    let clone = put_clone(&store, "a.git", 0);
    drop(store.lock("a").await.unwrap());
    assert_eq!(store.survey().unwrap().readers["git"], 10);
    let pruned = store.prune(PrunePolicy::Everything).await.unwrap();
    assert_eq!((pruned.freed_bytes, clone.exists()), (17, false));
    // Only the lock of the pruning itself remains.
    assert_eq!(fs::read_dir(store.locks()).unwrap().count(), 1);
    put(&store, "a", "content");
    assert_eq!(keys(&store), ["a"]);
}

/// Stores a clone of ten bytes with a last use this many days ago.
fn put_clone(store: &Store, name: &str, days: u64) -> PathBuf {
    let clone = store.folder("git").unwrap().join("git.lab/team").join(name);
    fs::create_dir_all(&clone).unwrap();
    fs::write(clone.join("HEAD"), "ten bytes!").unwrap();
    age(&clone.join("HEAD"), days);
    clone
}

#[tokio::test]
async fn clones_count_towards_the_limit_and_are_evicted() {
    let folder = TempDir::new().unwrap();
    let (large, store) = (store(&folder, 1000), store(&folder, 20));
    let [oldest, older, used] =
        [("a.git", 5), ("b.git", 3), ("c.git", 0)].map(|(name, days)| put_clone(&large, name, days));
    let _held = hold_clone(&used).unwrap();
    put_aged(&large, "old", 4);
    let pruned = store.prune(PrunePolicy::ToLimit).await.unwrap();
    assert_eq!((pruned.clones, pruned.entries, pruned.freed_bytes, pruned.remaining_bytes), (1, 0, 10, 20));
    assert!(!oldest.exists() && older.exists());
    // Another write also makes room.
    put(&store, "now", "ten bytes!");
    assert_eq!((keys(&large), older.exists()), (vec!["now".to_owned()], true));
    let pruned = large.prune(PrunePolicy::Unused(Duration::from_hours(24))).await.unwrap();
    assert_eq!((pruned.clones, pruned.entries), (1, 0));
    assert!(!older.exists() && used.exists());
}

#[tokio::test]
async fn a_clone_in_use_is_not_evicted() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 0);
    let [read, fetched] = ["a.git", "b.git"].map(|name| put_clone(&store, name, 9));
    let held = hold_clone(&read).unwrap();
    let fetch = fs::File::create(lock_file(&fetched)).unwrap();
    fetch.lock().unwrap();
    let [removed, half, created] = [".old-a.git", ".new-a.git", ".new-b.git"].map(|name| {
        let folder = read.with_file_name(name);
        // The clone is in a subfolder until it is complete.
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/HEAD"), "").unwrap();
        folder
    });
    for policy in [PrunePolicy::ToLimit, PrunePolicy::Everything] {
        assert_eq!(store.prune(policy).await.unwrap().clones, 0);
        assert!(read.exists() && fetched.exists() && created.exists() && !removed.exists() && !half.exists());
    }
    drop((held, fetch));
    assert_eq!(store.prune(PrunePolicy::Everything).await.unwrap().clones, 2);
    assert_eq!((hold_clone(&read).is_some(), created.exists()), (false, false));
}

#[tokio::test]
async fn a_missing_store_is_empty_and_not_created() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    assert_eq!(store.survey().unwrap(), StoreSurvey::default());
    assert_eq!(store.verify().unwrap(), VerificationReport::default());
    assert_eq!(store.prune(PrunePolicy::Everything).await.unwrap(), PruneReport::default());
    assert!(!store.settings().folder.exists());
}

#[test]
fn a_flipped_bit_is_found_and_its_addresses_are_reported() {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, 1000);
    let digest = put(&store, "https://a.example/x application/json", "content");
    put(&store, "https://b.example/y", "other");
    fs::write(store.blob_path(&digest), "contenu").unwrap();
    let survey = store.survey().unwrap();
    assert_eq!(survey.hosts.keys().collect::<Vec<_>>(), ["a.example", "b.example"]);
    let verified = store.verify().unwrap();
    assert_eq!((verified.intact, verified.read_bytes), (1, 12));
    assert_eq!(verified.damaged[0].keys, ["https://a.example/x application/json"]);
    assert!(verified.damaged[0].reason.contains(&digest.to_string()));
    assert_eq!(keys(&store), ["https://b.example/y"]);
    assert_eq!(store.verify().unwrap().damaged, []);
}

#[tokio::test]
async fn a_lock_has_one_holder_and_others_see_it() {
    let folder = TempDir::new().unwrap();
    let log = Heard::default();
    let mut settings = crate::Settings::default();
    log.listen(&mut settings);
    let own = store(&folder, 1000);
    let other = Store::new(own.settings().clone(), settings.events);
    let lock = own.lock("key").await.unwrap();
    assert!(!lock.waited());
    let (waiting, ()) = tokio::join!(other.lock("key"), async move {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        drop(lock);
    });
    assert!(waiting.unwrap().waited());
    let holder = cfg!(target_os = "linux").then(std::process::id);
    assert_eq!(log.events(), [crate::Event::WaitingForOtherTask { wanted: "key".to_owned(), holder }]);
}

#[cfg(unix)]
#[test]
fn a_link_in_the_place_of_a_lock_is_refused_and_its_target_stays() {
    let folder = TempDir::new().unwrap();
    let (target, lock) = (folder.path().join("target"), folder.path().join("lock"));
    fs::write(&target, "text").unwrap();
    std::os::unix::fs::symlink(&target, &lock).unwrap();
    assert!(KeyLock::try_acquire(&lock).is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "text");
    fs::remove_file(&lock).unwrap();
    assert!(KeyLock::try_acquire(&lock).unwrap().is_some());
}

#[tokio::test]
async fn two_concurrent_prunes_both_finish() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (store(&folder, 20), store(&folder, 20));
    let large = store(&folder, 1000);
    for days in 1..9 {
        put_aged(&large, &days.to_string(), days);
    }
    let (first, second) = tokio::join!(one.prune(PrunePolicy::ToLimit), two.prune(PrunePolicy::ToLimit));
    assert_eq!(first.unwrap().freed_bytes + second.unwrap().freed_bytes, 60);
    assert_eq!(keys(&large), ["1", "2"]);
}

#[test]
fn concurrent_first_uses_of_a_folder_all_succeed() {
    for _ in 0..50 {
        let folder = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(8);
        let prepare = || {
            let store = store(&folder, 1 << 20);
            start.wait();
            store.prepare()
        };
        let prepared: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(prepare)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(prepared.iter().all(Result::is_ok), "{prepared:?}");
    }
}

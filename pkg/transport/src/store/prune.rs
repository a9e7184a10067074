//! Removes content from the store, least recently used first.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    Store,
    clones::{CLONES, StoredClone, drop_clone},
    inventory::{StoreInventory, StoredBlob, files},
    store_error,
};
use crate::Error;

/// The key of the prune lock.
const PRUNE_LOCK_KEY: &str = "pruning";
/// The minimum age of abandoned temporary files. A write takes minutes at most, so older files belong to killed
/// processes.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);
/// Folders of readers that store more than files.
pub(super) const READER_FOLDERS: [&str; 1] = [CLONES];

/// The content to remove. Abandoned temporary files are always removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrunePolicy {
    /// Only content above the size limit.
    ToLimit,
    /// Content above the size limit, and content that was unused for this time.
    Unused(Duration),
    /// All content, without clones in use.
    Everything,
}

/// The result of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Number of removed entries.
    pub entries: usize,
    /// Number of freed bytes.
    pub freed_bytes: u64,
    /// Number of removed temporary files.
    pub temporaries: usize,
    /// Number of removed clones.
    pub clones: usize,
    /// Number of remaining bytes, without clones in use.
    pub remaining_bytes: u64,
}

/// An item that is removed as a whole.
enum RemovableItem<'a> {
    Blob(&'a StoredBlob),
    Clone(&'a StoredClone),
}

impl RemovableItem<'_> {
    fn last_used(&self) -> SystemTime {
        match self {
            Self::Blob(kept) => kept.last_used,
            Self::Clone(clone) => clone.last_used,
        }
    }
}

impl Store {
    /// Prunes the store. Waits for another process that prunes.
    /// # Errors
    /// Fails if the store cannot be used or content cannot be removed.
    pub async fn prune(&self, policy: PrunePolicy) -> Result<PruneReport, Error> {
        self.check()?;
        if !self.settings().folder.exists() {
            return Ok(PruneReport::default());
        }
        let _lock = self.lock(PRUNE_LOCK_KEY).await?;
        self.prune_now(policy)
    }

    /// Prunes to the limit and returns the remaining bytes. None if another process prunes, or if pruning fails.
    /// An explicit prune reports such failures.
    pub(super) fn prune_unless_busy(&self) -> Option<u64> {
        let _lock = self.try_lock(PRUNE_LOCK_KEY).ok().flatten()?;
        self.prune_now(PrunePolicy::ToLimit).ok().map(|pruned| pruned.remaining_bytes)
    }

    fn prune_now(&self, policy: PrunePolicy) -> Result<PruneReport, Error> {
        let inventory = self.inventory()?;
        self.sweep_clones()?;
        let clones = self.idle_clones();
        let left_bytes = inventory.size_bytes() + clones.iter().map(|clone| clone.size_bytes).sum::<u64>();
        let mut pruned = PruneReport { remaining_bytes: left_bytes, ..PruneReport::default() };
        remove_temporaries(&inventory, policy, &mut pruned)?;
        for entry in &inventory.stray_entries {
            remove(entry)?;
            pruned.entries += 1;
        }
        let (max_bytes, now) = (self.settings().max_bytes, SystemTime::now());
        let mut removed: Vec<RemovableItem<'_>> = inventory.blobs.iter().map(RemovableItem::Blob).collect();
        removed.extend(clones.iter().map(RemovableItem::Clone));
        removed.sort_by_key(RemovableItem::last_used);
        for item in removed {
            let goes = pruned.remaining_bytes > max_bytes
                || match policy {
                    PrunePolicy::ToLimit => false,
                    PrunePolicy::Unused(age) => {
                        now.duration_since(item.last_used()).is_ok_and(|unused| unused >= age)
                    }
                    PrunePolicy::Everything => true,
                };
            match item {
                RemovableItem::Blob(kept) if goes => remove_blob(kept, &mut pruned)?,
                RemovableItem::Clone(clone) if goes => remove_clone(clone, &mut pruned)?,
                _ => {}
            }
        }
        self.remove_locks(policy)?;
        Ok(pruned)
    }

    /// Removes unused lock files. A process that opened a removed file creates a new one.
    fn remove_locks(&self, policy: PrunePolicy) -> Result<(), Error> {
        if !cfg!(unix) {
            return Ok(());
        }
        for file in files(&self.locks())? {
            let is_due = policy == PrunePolicy::Everything
                || file.modified.elapsed().is_ok_and(|age| age >= ABANDONED_AFTER);
            let opened = fs::File::options().append(true).open(&file.path).ok().filter(|_| is_due);
            // The lock is held until the file is gone. Otherwise another process could lock it before.
            if let Some(opened) = opened
                && opened.try_lock().is_ok()
            {
                remove(&file.path)?;
            }
        }
        Ok(())
    }
}

fn remove_temporaries(
    inventory: &StoreInventory,
    policy: PrunePolicy,
    pruned: &mut PruneReport,
) -> Result<(), Error> {
    let is_left = |age| age >= ABANDONED_AFTER || policy == PrunePolicy::Everything;
    for temporary in inventory.temporaries.iter().filter(|temporary| is_left(temporary.age)) {
        remove(&temporary.path)?;
        pruned.temporaries += 1;
        pruned.freed_bytes += temporary.size_bytes;
    }
    Ok(())
}

/// Removes the entries first: an entry without its blob would cause a new request, a blob without entries is harmless.
fn remove_blob(kept: &StoredBlob, pruned: &mut PruneReport) -> Result<(), Error> {
    for (entry, _) in &kept.entries {
        remove(entry)?;
        pruned.entries += 1;
    }
    remove(&kept.path)?;
    pruned.freed_bytes += kept.size_bytes;
    pruned.remaining_bytes -= kept.size_bytes;
    Ok(())
}

fn remove_clone(clone: &StoredClone, pruned: &mut PruneReport) -> Result<(), Error> {
    if drop_clone(clone)? {
        pruned.clones += 1;
        pruned.freed_bytes += clone.size_bytes;
        pruned.remaining_bytes -= clone.size_bytes;
    }
    Ok(())
}

/// Removes a file. Succeeds if another process has already removed the file.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(store_error(path, error)),
        _ => Ok(()),
    }
}

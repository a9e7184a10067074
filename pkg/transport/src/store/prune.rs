//! Removes content from the store, least recently used first.

use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    Store,
    clones::{CLONES, KeptClone, drop_clone},
    inventory::{Inventory, Kept, files, size_of_tree},
    store_error,
};
use crate::Error;

/// The key of the prune lock.
const KEY: &str = "pruning";
/// The minimum age of abandoned temporary files. A write takes minutes at most, so older files belong to killed
/// processes.
const LEFT_BEHIND: Duration = Duration::from_hours(24);
/// Folders of readers that store more than files.
pub(super) const READERS: [&str; 1] = [CLONES];

/// The content to remove. Abandoned temporary files are always removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// Only content above the size limit.
    ToLimit,
    /// Content above the size limit, and content that was unused for this time.
    Unused(Duration),
    /// All content, including the folders of readers.
    Everything,
}

/// The result of pruning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of removed entries.
    pub entries: usize,
    /// Number of freed bytes.
    pub freed_bytes: u64,
    /// Number of removed temporary files.
    pub temporaries: usize,
    /// Number of removed clones.
    pub clones: usize,
    /// Number of remaining bytes, without clones in use.
    pub left_bytes: u64,
}

/// An item that is removed as a whole.
enum Going<'a> {
    Blob(&'a Kept),
    Clone(&'a KeptClone),
}

impl Going<'_> {
    fn used(&self) -> SystemTime {
        match self {
            Self::Blob(kept) => kept.used,
            Self::Clone(clone) => clone.used,
        }
    }
}

impl Store {
    /// Prunes the store. Waits for another process that prunes.
    /// # Errors
    /// Fails if the store cannot be used or content cannot be removed.
    pub async fn prune(&self, what: Prune) -> Result<Pruned, Error> {
        self.check()?;
        if !self.settings().folder.exists() {
            return Ok(Pruned::default());
        }
        let _lock = self.lock(KEY).await?;
        self.prune_now(what)
    }

    /// Prunes to the limit and returns the remaining bytes. None if another process prunes, or if pruning fails.
    /// An explicit prune reports such failures.
    pub(super) fn prune_unless_busy(&self) -> Option<u64> {
        let _lock = self.try_lock(KEY).ok().flatten()?;
        self.prune_now(Prune::ToLimit).ok().map(|pruned| pruned.left_bytes)
    }

    fn prune_now(&self, what: Prune) -> Result<Pruned, Error> {
        let inventory = self.inventory()?;
        self.sweep_clones()?;
        let clones = self.idle_clones();
        let left_bytes = inventory.size_bytes() + clones.iter().map(|clone| clone.size_bytes).sum::<u64>();
        let mut pruned = Pruned { left_bytes, ..Pruned::default() };
        remove_temporaries(&inventory, what, &mut pruned)?;
        for entry in &inventory.stray {
            remove(entry)?;
            pruned.entries += 1;
        }
        let (max_bytes, now) = (self.settings().max_bytes, SystemTime::now());
        let mut going: Vec<Going<'_>> = inventory.kept.iter().map(Going::Blob).collect();
        going.extend(clones.iter().map(Going::Clone));
        going.sort_by_key(Going::used);
        for item in going {
            let goes = pruned.left_bytes > max_bytes
                || match what {
                    Prune::ToLimit => false,
                    Prune::Unused(age) => now.duration_since(item.used()).is_ok_and(|unused| unused >= age),
                    Prune::Everything => true,
                };
            match item {
                Going::Blob(kept) if goes => remove_blob(kept, &mut pruned)?,
                Going::Clone(clone) if goes => remove_clone(clone, &mut pruned)?,
                _ => {}
            }
        }
        if what == Prune::Everything {
            self.remove_readers(&mut pruned)?;
        }
        self.remove_locks(what)?;
        Ok(pruned)
    }

    fn remove_readers(&self, pruned: &mut Pruned) -> Result<(), Error> {
        for reader in READERS {
            let folder = self.settings().folder.join(reader);
            let size_bytes = size_of_tree(&folder);
            match fs::remove_dir_all(&folder) {
                Ok(()) => pruned.freed_bytes += size_bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(store_error(&folder, error)),
            }
        }
        Ok(())
    }

    /// Removes unused lock files. A process that opened a removed file creates a new one.
    fn remove_locks(&self, what: Prune) -> Result<(), Error> {
        if !cfg!(unix) {
            return Ok(());
        }
        for file in files(&self.locks())? {
            let is_due =
                what == Prune::Everything || file.modified.elapsed().is_ok_and(|age| age >= LEFT_BEHIND);
            let opened = fs::File::options().append(true).open(&file.path).ok().filter(|_| is_due);
            if opened.is_some_and(|opened| opened.try_lock().is_ok()) {
                remove(&file.path)?;
            }
        }
        Ok(())
    }
}

fn remove_temporaries(inventory: &Inventory, what: Prune, pruned: &mut Pruned) -> Result<(), Error> {
    let is_left = |age| age >= LEFT_BEHIND || what == Prune::Everything;
    for temporary in inventory.temporaries.iter().filter(|temporary| is_left(temporary.age)) {
        remove(&temporary.path)?;
        pruned.temporaries += 1;
        pruned.freed_bytes += temporary.size_bytes;
    }
    Ok(())
}

/// Removes the entries first: an entry without its blob would cause a new request, a blob without entries is harmless.
fn remove_blob(kept: &Kept, pruned: &mut Pruned) -> Result<(), Error> {
    for (entry, _) in &kept.entries {
        remove(entry)?;
        pruned.entries += 1;
    }
    remove(&kept.path)?;
    pruned.freed_bytes += kept.size_bytes;
    pruned.left_bytes -= kept.size_bytes;
    Ok(())
}

fn remove_clone(clone: &KeptClone, pruned: &mut Pruned) -> Result<(), Error> {
    if drop_clone(clone)? {
        pruned.clones += 1;
        pruned.freed_bytes += clone.size_bytes;
        pruned.left_bytes -= clone.size_bytes;
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

//! Charts in a lock.

use std::collections::BTreeMap;

use bytes::Bytes;
use chart::VersionRange;
use transport::{Digest, Refresh};

use super::{ChartLocation, ChartSource, ChartSourceError, FetchedChart, read_stored_chart};
use crate::{Error, LockMismatch, LockSettings, RepositoryContext, UnlockedPolicy};

/// The locked version of a chart for one request.
pub(super) struct LockedChart<'l> {
    lock: &'l LockSettings,
    name: String,
    versions: &'l BTreeMap<String, Digest>,
    version: &'l str,
    digest: Digest,
}

impl ChartSource {
    /// True if the lock decides which archive of the chart is used, or refuses the chart.
    pub fn is_locked(&self, context: &RepositoryContext) -> bool {
        context.release_settings().lock.as_ref().is_some_and(|lock| {
            lock.lock.charts.contains_key(&self.name()) || lock.unlocked_policy == UnlockedPolicy::Refused
        })
    }

    /// Returns the locked version for a request. None if the chart may be read unlocked.
    pub(super) fn locked<'l>(
        &self,
        range: &VersionRange,
        context: &'l RepositoryContext,
    ) -> Result<Option<LockedChart<'l>>, ChartSourceError> {
        let Some(lock) = context.release_settings().lock.as_deref() else { return Ok(None) };
        let name = self.name();
        let wanted = match &self.location {
            ChartLocation::Archive(_) => &VersionRange::default(),
            ChartLocation::Registry(chart) => match chart.tagged_version(range)? {
                Some(tag) => &VersionRange::exact(tag),
                None => range,
            },
            ChartLocation::Indexed { .. } => range,
        };
        let version = wanted.as_str().to_owned();
        let refused = match (lock.lock.charts.get(&name), lock.lock.locked_chart(&name, wanted)) {
            (Some(versions), Some((version, digest))) => {
                return Ok(Some(LockedChart { lock, name, versions, version, digest }));
            }
            (Some(versions), None) => LockMismatch::ChartVersion {
                chart: name,
                version,
                versions: versions.keys().cloned().collect(),
                lock: lock.location.clone(),
            },
            (None, _) if lock.unlocked_policy == UnlockedPolicy::Refused && !self.is_verified_by_caller => {
                LockMismatch::Chart { chart: name, version, lock: lock.location.clone() }
            }
            (None, _) => return Ok(None),
        };
        Err(Error::LockMismatch(Box::new(refused)).into())
    }

    /// Returns the archive of a locked version from the folder beside the lock, from the cache, or else from its host.
    pub(super) async fn fetch_locked(
        &self,
        locked: &LockedChart<'_>,
        range: &VersionRange,
        context: &RepositoryContext,
    ) -> Result<FetchedChart, ChartSourceError> {
        if let ChartLocation::Registry(chart) = &self.location
            && chart.is_pinned()
        {
            // The digest is that of the manifest, so only the registry knows the archive.
            let found = self.fetch_from_host(range, context).await?;
            let is_any = found.version.is_none() && locked.versions.values().any(|it| *it == found.digest);
            return if is_any { Ok(found) } else { locked.verify(found) };
        }
        if let Some(folder) = &locked.lock.chart_folder
            && let Some(found) =
                read_stored_chart(folder, &locked.name, locked.version, context.max_file_bytes())?
        {
            return locked.verify(found);
        }
        if let Some(bytes) = read_cached(&locked.digest, context) {
            let (version, address) = (Some(locked.version.to_owned()), locked.name.clone());
            return Ok(FetchedChart { bytes, version, address, digest: locked.digest });
        }
        let found = self.fetch_from_host(&VersionRange::exact(locked.version), context).await?;
        locked.verify(found)
    }
}

impl LockedChart<'_> {
    fn verify(&self, found: FetchedChart) -> Result<FetchedChart, ChartSourceError> {
        if found.digest == self.digest {
            return Ok(FetchedChart { version: Some(self.version.to_owned()), ..found });
        }
        let mismatch = LockMismatch::ChartContent {
            chart: self.name.clone(),
            version: self.version.to_owned(),
            lock: self.lock.location.clone(),
            found: found.digest,
            found_in: found.address,
            locked: self.digest,
        };
        Err(Error::LockMismatch(Box::new(mismatch)).into())
    }
}

fn read_cached(digest: &Digest, context: &RepositoryContext) -> Option<Bytes> {
    if context.settings().refresh == Refresh::Everything {
        return None;
    }
    // The host has the archive if its copy is damaged.
    context.store()?.read_blob(digest, context.max_file_bytes()).ok().flatten()
}

//! Decides what to do about cert-manager from the state of the cluster.

use std::collections::BTreeSet;

use api::{Version, output::CertManagerPlan};
use apply::{ApplySet, ObjectKey, key_of};
use manifest::{Object, images::images_of};

use super::{
    CertManagerError, CertManagerManifest,
    record::VERSION_ANNOTATION,
    version::{VersionComparison, compare},
};

/// The version of objects without a version annotation.
/// Source: clusterctl v1.14: releases before v0.3.9 wrote no version.
const OLDEST_VERSION: &str = "v0.11.0";

/// The state of cert-manager on the cluster.
#[derive(Debug, Default)]
pub(super) struct CertManagerState {
    /// True if the server serves the kinds of cert-manager.
    pub(super) is_served: bool,
    /// The reason why cert-manager does not answer. `None` if it answers.
    pub(super) unavailable_reason: Option<String>,
    /// Objects with the cert-manager label, without objects that controllers created.
    pub(super) live: Vec<Object>,
    /// The recorded apply set.
    pub(super) set: Option<ApplySet>,
    /// The version that an external cert-manager reports.
    pub(super) external_version: String,
}

/// Decides for an installation. The manifest is needed only to find missing objects of an installation
/// without a record.
pub(super) fn decide_for_init(
    state: &CertManagerState,
    wanted: &str,
    manifest: Option<&CertManagerManifest>,
) -> Result<CertManagerPlan, CertManagerError> {
    let install = |why| CertManagerPlan::install(wanted, why);
    if !state.is_served {
        return Ok(install(
            (!state.live.is_empty()).then(|| "its CustomResourceDefinitions are missing".to_owned()),
        ));
    }
    let Some((installed, comparison)) = oldest_version(&state.live, wanted)? else {
        // An external cert-manager is never written to.
        return Ok(match state.unavailable_reason {
            None => CertManagerPlan::keep(&state.external_version),
            Some(_) => CertManagerPlan::external(),
        });
    };
    let expected = expected_keys(state, manifest.filter(|_| comparison == VersionComparison::Same));
    let missing = missing_keys(&state.live, &expected);
    let why = match (&*missing, &state.unavailable_reason) {
        ([], None) => return Ok(CertManagerPlan::keep(&installed)),
        ([], Some(silence)) => format!("it is not responding: {silence}"),
        ([only], _) => format!("{only} is missing"),
        ([first, others @ ..], _) => format!("{first} and {} more are missing", others.len()),
    };
    Ok(match comparison {
        VersionComparison::Same => install(Some(why)),
        VersionComparison::Older | VersionComparison::OtherBuild => {
            CertManagerPlan::upgrade(&installed, wanted)
        }
        // The configured version would be a downgrade.
        VersionComparison::Newer if state.unavailable_reason.is_none() => CertManagerPlan::keep(&installed),
        VersionComparison::Newer => CertManagerPlan::external(),
    })
}

/// Decides for an upgrade. The first object that needs an upgrade decides.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (shouldUpgrade); differs: with a record, objects
/// are compared one by one, so objects that a user labelled do not count.
pub(super) fn decide_for_upgrade(
    state: &CertManagerState,
    manifest: &CertManagerManifest,
) -> Result<CertManagerPlan, CertManagerError> {
    let mut kept = None;
    for object in &state.live {
        let Some(installed) = object.annotation(VERSION_ANNOTATION) else {
            return Ok(upgrade(OLDEST_VERSION, manifest));
        };
        match compare_with(object, installed, &manifest.version)? {
            VersionComparison::Older | VersionComparison::OtherBuild => {
                return Ok(upgrade(installed, manifest));
            }
            VersionComparison::Same if objects_differ(state, manifest) || images_differ(state, manifest) => {
                return Ok(upgrade(installed, manifest));
            }
            VersionComparison::Same | VersionComparison::Newer => kept = kept.or(Some(installed)),
        }
    }
    Ok(kept.map_or_else(CertManagerPlan::external, CertManagerPlan::keep))
}

fn upgrade(from: &str, manifest: &CertManagerManifest) -> CertManagerPlan {
    CertManagerPlan::upgrade(from, &manifest.version)
}

fn objects_differ(state: &CertManagerState, manifest: &CertManagerManifest) -> bool {
    let Some(set) = &state.set else { return state.live.len() != manifest.objects.len() };
    let live: BTreeSet<_> = state.live.iter().map(key_of).collect();
    let wanted: BTreeSet<_> = manifest.objects.iter().map(key_of).collect();
    let is_left_over = |key: &ObjectKey| live.contains(key) && !wanted.contains(key);
    !wanted.is_subset(&live) || set.items.iter().any(|item| is_left_over(&item.key))
}

fn images_differ(state: &CertManagerState, manifest: &CertManagerManifest) -> bool {
    let wanted: BTreeSet<_> = manifest.objects.iter().map(key_of).collect();
    let counts = |object: &&Object| state.set.is_none() || wanted.contains(&key_of(object));
    sorted_images(state.live.iter().filter(counts)) != sorted_images(manifest.objects.iter())
}

fn sorted_images<'o>(objects: impl Iterator<Item = &'o Object>) -> Vec<&'o str> {
    let mut images: Vec<_> = objects.flat_map(images_of).collect();
    images.sort_unstable();
    images
}

/// Returns the lowest version among objects, compared with the wanted version. `None` without objects.
fn oldest_version(
    live: &[Object],
    wanted: &str,
) -> Result<Option<(String, VersionComparison)>, CertManagerError> {
    let mut oldest: Option<(Version, &Object)> = None;
    for object in live {
        let version = parse_version(object, object.annotation(VERSION_ANNOTATION).unwrap_or(OLDEST_VERSION))?;
        if oldest.as_ref().is_none_or(|(lowest, _)| compare(&version, lowest) == VersionComparison::Older) {
            oldest = Some((version, object));
        }
    }
    let Some((version, object)) = oldest else { return Ok(None) };
    let comparison = compare_with(object, version.as_str(), wanted)?;
    Ok(Some((version.as_str().to_owned(), comparison)))
}

fn compare_with(
    object: &Object,
    installed: &str,
    wanted: &str,
) -> Result<VersionComparison, CertManagerError> {
    let wanted = Version::parse_lenient(wanted)
        .ok_or_else(|| CertManagerError::InvalidWantedVersion { version: wanted.to_owned() })?;
    Ok(compare(&parse_version(object, installed)?, &wanted))
}

fn parse_version(object: &Object, version: &str) -> Result<Version, CertManagerError> {
    Version::parse_lenient(version).ok_or_else(|| CertManagerError::InvalidVersion {
        object: key_of(object).to_string(),
        version: version.to_owned(),
    })
}

/// Returns the required objects: those of the record, or else those of the manifest of the same version.
fn expected_keys(state: &CertManagerState, manifest: Option<&CertManagerManifest>) -> Vec<ObjectKey> {
    match (&state.set, manifest) {
        (Some(set), _) => set.items.iter().map(|item| item.key.clone()).collect(),
        (None, Some(manifest)) => manifest.objects.iter().map(key_of).collect(),
        (None, None) => Vec::new(),
    }
}

fn missing_keys<'k>(live: &[Object], expected: &'k [ObjectKey]) -> Vec<&'k ObjectKey> {
    let live: BTreeSet<_> = live.iter().map(key_of).collect();
    expected.iter().filter(|key| !live.contains(key)).collect()
}

#[cfg(test)]
mod tests;

//! Decides what to do about cert-manager from the state of the cluster.

use std::collections::BTreeSet;

use api::{Version, output::CertManagerPlan};
use apply::{ApplySet, ObjectKey};
use manifest::{Object, images::images_of};

use super::{
    CertManagerError, CertManagerManifest,
    record::VERSION_ANNOTATION,
    version::{Comparison, compare},
};

/// The version of objects without a version annotation.
/// Source: clusterctl v1.14: releases before v0.3.9 wrote no version.
const OLDEST: &str = "v0.11.0";

/// The state of cert-manager on the cluster.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// True if the server serves the kinds of cert-manager.
    pub(super) is_served: bool,
    /// The reason why cert-manager does not answer. `None` if it answers.
    pub(super) silence: Option<String>,
    /// Objects with the cert-manager label, without objects that controllers created.
    pub(super) live: Vec<Object>,
    /// The recorded apply set.
    pub(super) set: Option<ApplySet>,
    /// The version that an external cert-manager reports.
    pub(super) foreign_version: String,
}

/// Decides for an installation. The manifest is needed only to find missing objects of an installation
/// without a record.
pub(super) fn for_init(
    found: &Found,
    wanted: &str,
    manifest: Option<&CertManagerManifest>,
) -> Result<CertManagerPlan, CertManagerError> {
    let install = |why| CertManagerPlan::install(wanted, why);
    if !found.is_served {
        return Ok(install((!found.live.is_empty()).then(|| "its definitions are missing".to_owned())));
    }
    let Some((there, comparison)) = oldest(&found.live, wanted)? else {
        // An external cert-manager is never written to.
        return Ok(match found.silence {
            None => CertManagerPlan::keep(&found.foreign_version),
            Some(_) => CertManagerPlan::external(),
        });
    };
    let expected = expected(found, manifest.filter(|_| comparison == Comparison::Same));
    let missing = missing(&found.live, &expected);
    let why = match (&*missing, &found.silence) {
        ([], None) => return Ok(CertManagerPlan::keep(&there)),
        ([], Some(silence)) => format!("it does not answer: {silence}"),
        ([only], _) => format!("{only} is missing"),
        ([first, others @ ..], _) => format!("{first} and {} more are missing", others.len()),
    };
    Ok(match comparison {
        Comparison::Same => install(Some(why)),
        Comparison::Older | Comparison::OtherBuild => CertManagerPlan::upgrade(&there, wanted),
        // The configured version would be a downgrade.
        Comparison::Newer if found.silence.is_none() => CertManagerPlan::keep(&there),
        Comparison::Newer => CertManagerPlan::external(),
    })
}

/// Decides for an upgrade. The first object that needs an upgrade decides.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (shouldUpgrade); differs: with a record, objects
/// are compared one by one, so objects that a user labelled do not count.
pub(super) fn for_upgrade(
    found: &Found,
    manifest: &CertManagerManifest,
) -> Result<CertManagerPlan, CertManagerError> {
    let mut kept = None;
    for object in &found.live {
        let Some(there) = object.annotation(VERSION_ANNOTATION) else {
            return Ok(upgrade(OLDEST, manifest));
        };
        match compare_with(object, there, &manifest.version)? {
            Comparison::Older | Comparison::OtherBuild => return Ok(upgrade(there, manifest)),
            Comparison::Same if objects_differ(found, manifest) || images_differ(found, manifest) => {
                return Ok(upgrade(there, manifest));
            }
            Comparison::Same | Comparison::Newer => kept = kept.or(Some(there)),
        }
    }
    Ok(kept.map_or_else(CertManagerPlan::external, CertManagerPlan::keep))
}

fn upgrade(from: &str, manifest: &CertManagerManifest) -> CertManagerPlan {
    CertManagerPlan::upgrade(from, &manifest.version)
}

fn objects_differ(found: &Found, manifest: &CertManagerManifest) -> bool {
    let Some(set) = &found.set else { return found.live.len() != manifest.objects.len() };
    let live: BTreeSet<_> = found.live.iter().map(ObjectKey::of).collect();
    let wanted: BTreeSet<_> = manifest.objects.iter().map(ObjectKey::of).collect();
    let is_left_over = |key: &ObjectKey| live.contains(key) && !wanted.contains(key);
    !wanted.is_subset(&live) || set.items.iter().any(|item| is_left_over(&item.key))
}

fn images_differ(found: &Found, manifest: &CertManagerManifest) -> bool {
    let wanted: BTreeSet<_> = manifest.objects.iter().map(ObjectKey::of).collect();
    let counts = |object: &&Object| found.set.is_none() || wanted.contains(&ObjectKey::of(object));
    sorted_images(found.live.iter().filter(counts)) != sorted_images(manifest.objects.iter())
}

fn sorted_images<'o>(objects: impl Iterator<Item = &'o Object>) -> Vec<&'o str> {
    let mut images: Vec<_> = objects.flat_map(images_of).collect();
    images.sort_unstable();
    images
}

/// Returns the lowest version among objects, compared with the wanted version. `None` without objects.
fn oldest(live: &[Object], wanted: &str) -> Result<Option<(String, Comparison)>, CertManagerError> {
    let mut oldest: Option<(Version, &Object)> = None;
    for object in live {
        let version = parse(object, object.annotation(VERSION_ANNOTATION).unwrap_or(OLDEST))?;
        if oldest.as_ref().is_none_or(|(lowest, _)| compare(&version, lowest) == Comparison::Older) {
            oldest = Some((version, object));
        }
    }
    let Some((version, object)) = oldest else { return Ok(None) };
    let comparison = compare_with(object, version.as_str(), wanted)?;
    Ok(Some((version.as_str().to_owned(), comparison)))
}

fn compare_with(object: &Object, there: &str, wanted: &str) -> Result<Comparison, CertManagerError> {
    let wanted = Version::parse_lenient(wanted)
        .ok_or_else(|| CertManagerError::WantedVersion { version: wanted.to_owned() })?;
    Ok(compare(&parse(object, there)?, &wanted))
}

fn parse(object: &Object, version: &str) -> Result<Version, CertManagerError> {
    Version::parse_lenient(version).ok_or_else(|| CertManagerError::Version {
        object: ObjectKey::of(object).to_string(),
        version: version.to_owned(),
    })
}

/// Returns the required objects: those of the record, or else those of the manifest of the same version.
fn expected(found: &Found, manifest: Option<&CertManagerManifest>) -> Vec<ObjectKey> {
    match (&found.set, manifest) {
        (Some(set), _) => set.items.iter().map(|item| item.key.clone()).collect(),
        (None, Some(manifest)) => manifest.objects.iter().map(ObjectKey::of).collect(),
        (None, None) => Vec::new(),
    }
}

fn missing<'k>(live: &[Object], expected: &'k [ObjectKey]) -> Vec<&'k ObjectKey> {
    let live: BTreeSet<_> = live.iter().map(ObjectKey::of).collect();
    expected.iter().filter(|key| !live.contains(key)).collect()
}

#[cfg(test)]
mod tests;

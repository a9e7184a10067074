use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::LockedProvider;

/// One fact that is not the same in two entries of a provider.
/// Shape: at least one of `locked` and `found` is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockDifference {
    /// What it is about.
    pub part: LockedPart,
    /// What is locked: a version, or a digest; of an image without known digest its reference.
    pub locked: Option<String>,
    /// What is there instead.
    pub found: Option<String>,
}

/// What a difference is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockedPart {
    /// The version of the release.
    Version,
    /// A file, by name.
    File(String),
    /// An image, by reference.
    Image(String),
    /// A file of the kustomization over its components, by its path as seen from the folder of that.
    Kustomization(String),
}

impl LockDifference {
    /// Whether something was added and nothing that was locked is gone or another.
    pub fn is_addition(&self) -> bool {
        self.locked.is_none()
    }

    /// Whether it concerns what is read or run, and not only what is known about it: of images, that the same reference
    /// leads to another digest than the locked one.
    pub fn is_about_content(&self) -> bool {
        match &self.part {
            LockedPart::Version | LockedPart::File(_) | LockedPart::Kustomization(_) => true,
            LockedPart::Image(reference) => {
                self.found.is_some() && self.locked.as_ref().is_some_and(|locked| locked != reference)
            }
        }
    }
}

impl LockedProvider {
    /// What differs from an entry that was locked before, or from none.
    /// Shape: the version, then files, those of the kustomization, then images, each by name. The url does not count: the same files may be read
    /// from another place.
    pub fn differences(&self, locked: Option<&Self>) -> Vec<LockDifference> {
        let old_version = locked.map(|locked| locked.version.clone());
        let mut found = Vec::new();
        found.extend(difference(LockedPart::Version, old_version, Some(self.version.clone())));
        let digests =
            |it: &Self| -> BTreeMap<_, _> { it.files.iter().map(|(k, v)| (k.clone(), v.digest)).collect() };
        let old_files = locked.map(digests).unwrap_or_default();
        found.extend(compare(&old_files, &digests(self), LockedPart::File, |_, digest| digest.to_string()));
        let of_none = BTreeMap::new();
        let old_files = locked.map_or(&of_none, |locked| &locked.kustomization);
        found.extend(compare(old_files, &self.kustomization, LockedPart::Kustomization, |_, digest| {
            digest.to_string()
        }));
        let none = BTreeMap::new();
        let old_images = locked.map_or(&none, |locked| &locked.images);
        found.extend(compare(old_images, &self.images, LockedPart::Image, |reference, digest| {
            digest.map_or_else(|| reference.to_owned(), |digest| digest.to_string())
        }));
        found
    }
}

fn compare<V>(
    old: &BTreeMap<String, V>,
    new: &BTreeMap<String, V>,
    part: impl Fn(String) -> LockedPart,
    text: impl Fn(&str, &V) -> String,
) -> Vec<LockDifference> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of = |map: &BTreeMap<String, V>, name: &String| map.get(name).map(|value| text(name, value));
    names
        .into_iter()
        .filter_map(|name| difference(part(name.clone()), of(old, name), of(new, name)))
        .collect()
}

fn difference(part: LockedPart, locked: Option<String>, found: Option<String>) -> Option<LockDifference> {
    (locked != found).then_some(LockDifference { part, locked, found })
}

impl fmt::Display for LockedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => f.write_str("version"),
            Self::File(name) | Self::Image(name) | Self::Kustomization(name) => f.write_str(name),
        }
    }
}

use std::collections::{BTreeMap, BTreeSet};

use api::output::{LockChange, LockPart};

use super::LockedProvider;

impl LockedProvider {
    /// The changes from a previously locked entry, if any, to this entry.
    ///
    /// Shape: the version, files, kustomization files, images, each sorted by name. The url is ignored, because the
    /// repository may move.
    pub fn differences(&self, locked: Option<&Self>) -> Vec<LockChange> {
        let old_version = locked.map(|locked| locked.version.clone());
        let mut found = Vec::new();
        found.extend(change(LockPart::Version, None, old_version, Some(self.version.clone())));
        let digests =
            |it: &Self| -> BTreeMap<_, _> { it.files.iter().map(|(k, v)| (k.clone(), v.digest)).collect() };
        let old_files = locked.map(digests).unwrap_or_default();
        found.extend(compare(&old_files, &digests(self), LockPart::File, |_, digest| digest.to_string()));
        let of_none = BTreeMap::new();
        let old_files = locked.map_or(&of_none, |locked| &locked.kustomization);
        found.extend(compare(old_files, &self.kustomization, LockPart::Kustomization, |_, digest| {
            digest.to_string()
        }));
        let none = BTreeMap::new();
        let old_images = locked.map_or(&none, |locked| &locked.images);
        found.extend(compare(old_images, &self.images, LockPart::Image, |reference, digest| {
            digest.map_or_else(|| reference.to_owned(), |digest| digest.to_string())
        }));
        found
    }
}

fn compare<V>(
    old: &BTreeMap<String, V>,
    new: &BTreeMap<String, V>,
    part: LockPart,
    text: impl Fn(&str, &V) -> String,
) -> Vec<LockChange> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of = |map: &BTreeMap<String, V>, name: &String| map.get(name).map(|value| text(name, value));
    names
        .into_iter()
        .filter_map(|name| change(part, Some(name.clone()), of(old, name), of(new, name)))
        .collect()
}

fn change(
    part: LockPart,
    name: Option<String>,
    locked: Option<String>,
    found: Option<String>,
) -> Option<LockChange> {
    (locked != found).then_some(LockChange { part, name, locked, found })
}

//! The manifests of a compiled catalog: files, their objects, and the references to secrets in them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use bytes::Bytes;
use manifest::{Object, StreamError, Value, YamlLimits, read_stream};

use crate::error::CatalogError;
use crate::file_reading::{FolderWalk, LinkPolicy, WalkError, WalkedEntry, read_file};
use crate::references::references_in;

/// The maximum size of a file, and of all files together.
const MAX_FILE_BYTES: u64 = 64 << 20;
const MAX_BYTES: u64 = 1 << 30;

/// An object of a catalog.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestObject {
    /// The path of its file in the folder of manifests.
    pub file: String,
    /// The object as the file has it.
    pub object: Object,
    /// The references to secrets in its texts, sorted.
    pub references: Vec<String>,
}

/// The content of a folder of manifests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// The objects, in the order of their files. The items of a list are objects of their own.
    pub objects: Vec<ManifestObject>,
    /// The files without objects, by path, such as texts.
    pub others: BTreeMap<String, Bytes>,
}

impl Manifests {
    /// Reads a folder of a compiled catalog: a folder with `manifests`, or that folder itself.
    ///
    /// # Errors
    /// A file cannot be read, or is no YAML.
    pub fn read_folder(folder: &Path) -> Result<Self, CatalogError> {
        let inside = folder.join("manifests");
        let folder = if inside.is_dir() { &inside } else { folder };
        Self::from_files(read_files(folder)?)
    }

    /// Reads files, by their paths.
    ///
    /// # Errors
    /// All files that are no YAML.
    pub fn from_files(files: impl IntoIterator<Item = (String, Bytes)>) -> Result<Self, CatalogError> {
        let (mut manifests, mut problems) = (Self::default(), Vec::new());
        for (path, bytes) in files {
            match objects(&path, &bytes) {
                Ok(Some(objects)) => manifests.add(&path, objects),
                Ok(None) => {
                    manifests.others.insert(path, bytes);
                }
                Err(error) => problems.push(format!("{path}: {error}")),
            }
        }
        if problems.is_empty() { Ok(manifests) } else { Err(CatalogError::Manifests { problems }) }
    }

    /// Returns the objects, each once. Instances may share an object, such as a Namespace.
    ///
    /// # Errors
    /// All objects that several files have in different forms.
    pub fn into_distinct_objects(self) -> Result<Vec<ManifestObject>, CatalogError> {
        let (mut seen, mut problems) = (BTreeMap::<_, usize>::new(), Vec::new());
        let mut distinct: Vec<ManifestObject> = Vec::new();
        for one in self.objects {
            let object = &one.object;
            let text = |text: &str| text.to_owned();
            let key = [object.group(), object.kind(), object.namespace(), object.name()].map(text);
            match seen.get(&key).map(|index| &distinct[*index]) {
                // The server chooses the name.
                Some(_) if object.name().is_empty() => distinct.push(one),
                Some(known) if known.object == *object => {}
                Some(known) => {
                    let [_, kind, namespace, name] = &key;
                    let separator = if namespace.is_empty() { "" } else { "/" };
                    problems.push(format!(
                        "{} and {} have different forms of {kind} {namespace}{separator}{name}",
                        known.file, one.file
                    ));
                }
                None => {
                    seen.insert(key, distinct.len());
                    distinct.push(one);
                }
            }
        }
        if problems.is_empty() { Ok(distinct) } else { Err(CatalogError::Manifests { problems }) }
    }

    fn add(&mut self, path: &str, objects: Vec<Object>) {
        self.objects.extend(objects.into_iter().map(|object| ManifestObject {
            file: path.to_owned(),
            references: references_in(&object),
            object,
        }));
    }
}

/// Reads the files of a folder and of its subfolders. Hidden files are no manifests. Links are followed.
fn read_files(folder: &Path) -> Result<BTreeMap<String, Bytes>, CatalogError> {
    let is_wanted = |entry: &WalkedEntry| {
        let name = entry.path.file_name().unwrap_or_default();
        !name.to_string_lossy().starts_with('.')
    };
    let failed = |WalkError { path, error }| CatalogError::disk("read", &path, error);
    let (mut files, mut remaining) = (BTreeMap::new(), MAX_BYTES);
    for entry in FolderWalk::new(folder, LinkPolicy::Follow, &is_wanted).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.is_folder {
            continue;
        }
        let failed = |error| CatalogError::disk("read", &entry.path, error);
        let bytes = read_file(&entry.path, MAX_FILE_BYTES).map_err(failed)?;
        let too_large = || failed(io::Error::other("the manifests are too large"));
        remaining = remaining.checked_sub(bytes.len() as u64).ok_or_else(too_large)?;
        files.insert(entry.name(), bytes.into());
    }
    Ok(files)
}

/// Returns the objects of a file. None if it has content that is no object.
fn objects(path: &str, bytes: &[u8]) -> Result<Option<Vec<Object>>, StreamError> {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("yaml" | "yml" | "json")) {
        return Ok(None);
    }
    let objects: Vec<Object> = read_stream(bytes, &YamlLimits::default())?.objects;
    let objects: Vec<Object> = objects.into_iter().flat_map(items).collect();
    let is_object = |object: &Object| {
        let has_name = !object.name().is_empty() || object.get(&["metadata", "generateName"]).is_some();
        !object.kind().is_empty() && !object.api_version().is_empty() && has_name
    };
    Ok(objects.iter().all(is_object).then_some(objects))
}

/// Returns the items of a list, or else the object itself.
fn items(object: Object) -> Vec<Object> {
    let is_list = object.kind().ends_with("List") && object.name().is_empty();
    let Some(Value::Array(items)) = object.get(&["items"]).filter(|_| is_list) else { return vec![object] };
    let all: Option<Vec<Object>> = items.iter().cloned().map(|item| Object::try_from(item).ok()).collect();
    all.unwrap_or_else(|| vec![object])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Manifests, CatalogError> {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), Bytes::from((*text).to_owned()));
        Manifests::from_files(files.iter().map(owned))
    }

    #[test]
    fn objects_lists_and_other_files_are_told_apart() {
        let found = read(&[
            ("a.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: one}\n---\n"),
            ("b.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: B, metadata: {name: two}}]\n"),
            ("c.yaml", "replicas: 1\n"),
            ("d.txt", "text"),
            ("e.yaml", ""),
            ("f.yaml", "apiVersion: v1\nkind: S\nmetadata: {name: x}\nstringData: {b: '?{vaultkv:t/c/k:0123}', a: '?{vaultkv:t/c/k:0123} and ?{vaultkv:t/a:0}'}\n"),
        ])
        .unwrap();
        let objects: Vec<_> = found
            .objects
            .iter()
            .map(|one| {
                format!(
                    "{} {} {} {}",
                    one.file,
                    one.object.kind(),
                    one.object.name(),
                    one.references.join(" ")
                )
            })
            .collect();
        assert_eq!(
            objects,
            ["a.yaml A one ", "b.yaml B two ", "f.yaml S x ?{vaultkv:t/a:0} ?{vaultkv:t/c/k:0123}"]
        );
        assert_eq!(found.others.keys().collect::<Vec<_>>(), ["c.yaml", "d.txt"]);
    }

    #[test]
    fn an_object_of_two_files_must_be_the_same_in_both() {
        let shared = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shared}\n";
        let labelled = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shared, labels: {a: b}}\n";
        let distinct = read(&[("a.yaml", shared), ("b.yaml", shared)]).unwrap().into_distinct_objects();
        assert_eq!(distinct.unwrap().len(), 1);
        let error =
            read(&[("a.yaml", shared), ("b.yaml", labelled)]).unwrap().into_distinct_objects().unwrap_err();
        let CatalogError::Manifests { problems } = error else { panic!("{error}") };
        assert_eq!(problems, ["a.yaml and b.yaml have different forms of Namespace shared"]);
    }

    #[test]
    fn all_files_that_are_no_yaml_are_named() {
        let error = read(&[("a.yaml", "a: ["), ("b.yaml", "- 1"), ("c.yaml", "kind: X\n")]).unwrap_err();
        let CatalogError::Manifests { problems } = error else { panic!("{error}") };
        let files: Vec<_> = problems.iter().map(|problem| problem.split(':').next().unwrap()).collect();
        assert_eq!(files, ["a.yaml", "b.yaml"]);
    }
}

//! Parses files into objects.

use std::collections::{BTreeMap, BTreeSet};

use apply::{ObjectKey, key_of};
use inventory::{PreflightProblem, PreflightProblems};
use manifest::{Object, Value, YamlLimits, read_stream};

use super::{SavedContent, SavedFile, SavedObjects};
use crate::{BackupManifest, preflight::problem, save::is_paused_by_user};

impl SavedObjects {
    /// Reads files with one or more documents each. An object without a uid gets a made-up uid. Owner references
    /// without a uid find their owner by kind and name.
    /// # Errors
    /// All unreadable files, and all duplicate objects. Messages contain no values, because values may be secret.
    pub fn read(files: impl IntoIterator<Item = SavedFile>) -> Result<Self, PreflightProblems> {
        let (mut objects, mut checks) = (Vec::new(), ObjectChecks::default());
        for file in files {
            objects.extend(checks.read(&file));
        }
        checks.finish()?;
        assign_missing_uids(&mut objects);
        let mut objects: Vec<SavedContent> = objects.into_iter().map(SavedContent::of).collect();
        objects.sort_unstable_by(|a, b| a.uid.cmp(&b.uid));
        Ok(Self { objects, ..Self::default() })
    }

    /// Adds the content of a backup manifest: the cluster, its providers, and the objects that the user had paused.
    #[must_use]
    pub(crate) fn with_manifest(mut self, manifest: &BackupManifest) -> Self {
        self.source = Some(manifest.origin.source.clone());
        self.providers.clone_from(&manifest.origin.providers);
        let paused = manifest.paused();
        for object in &mut self.objects {
            object.stays_paused = paused.contains(&object.key);
        }
        self
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True if there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SavedContent> {
        self.objects.iter()
    }

    /// Returns the object with a uid.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<&SavedContent> {
        let at = self.objects.binary_search_by(|object| object.uid.as_str().cmp(uid)).ok()?;
        self.objects.get(at)
    }
}

impl SavedContent {
    fn of(object: Object) -> Self {
        Self {
            key: key_of(&object),
            api_version: object.api_version().to_owned(),
            uid: uid_of(&object).to_owned(),
            stays_paused: is_paused_by_user(&object),
            json: manifest::go_json(&object.into_value()).into_bytes(),
        }
    }

    /// Returns the object. Parsing never fails, because the text was written from an object.
    pub(crate) fn object(&self) -> Option<Object> {
        let value: Value = serde_json::from_slice(&self.json).ok()?;
        value.try_into().ok()
    }
}

/// Checks saved objects one after the other, and holds only their keys. Each object must be complete and unique.
#[derive(Debug, Default)]
pub(crate) struct ObjectChecks {
    problems: Vec<PreflightProblem>,
    duplicates: Vec<PreflightProblem>,
    /// The key of each object, with its file.
    keys: BTreeMap<ObjectKey, String>,
    uids: BTreeMap<String, ObjectKey>,
}

impl ObjectChecks {
    /// Reads and checks the objects of a file. Problems contain no values, because values may be secret.
    pub(crate) fn read(&mut self, file: &SavedFile) -> Vec<Object> {
        let name = &file.name;
        let objects = parse_documents(&file.content).unwrap_or_else(|why| {
            self.problems.push(PreflightProblem::fatal(format!("cannot read `{name}`: {why}")));
            Vec::new()
        });
        for object in &objects {
            self.problems.extend(invalid_object(name, object));
            self.check_unique(name, object);
        }
        objects
    }

    /// Ends the checks and returns the keys of all objects.
    /// # Errors
    /// All unreadable objects, otherwise all duplicate objects.
    pub(crate) fn finish(self) -> Result<BTreeSet<ObjectKey>, PreflightProblems> {
        let problems = if self.problems.is_empty() { self.duplicates } else { self.problems };
        if problems.is_empty() {
            Ok(self.keys.into_keys().collect())
        } else {
            Err(PreflightProblems { problems })
        }
    }

    fn check_unique(&mut self, file: &str, object: &Object) {
        let (key, uid) = (key_of(object), uid_of(object));
        let hint = "keep one of the two objects";
        if let Some(other) = self.keys.insert(key.clone(), file.to_owned()) {
            self.duplicates.push(problem(format!("{key} is in both `{other}` and `{file}`"), hint));
        } else if !uid.is_empty()
            && let Some(other) = self.uids.insert(uid.to_owned(), key.clone())
        {
            let there = self.keys.get(&other).map_or("", String::as_str);
            let text = format!("{other} in `{there}` and {key} in `{file}` have the same uid");
            self.duplicates.push(problem(text, hint));
        }
    }
}

fn parse_documents(content: &[u8]) -> Result<Vec<Object>, String> {
    // This program and clusterctl write one line of JSON. Any other text is a stream of YAML.
    if content.first() == Some(&b'{')
        && let Ok(value) = serde_json::from_slice::<Value>(content)
    {
        return match value.try_into() {
            Ok(object) => Ok(vec![object]),
            Err(_) => Err("it contains no object".to_owned()),
        };
    }
    match read_stream(content, &YamlLimits::default()) {
        Ok(stream) => Ok(stream.objects),
        Err(error) => {
            let all: Vec<String> = error.documents.iter().map(ToString::to_string).collect();
            Err(all.join("; "))
        }
    }
}

/// Returns a problem for an object that no server can store.
fn invalid_object(file: &str, object: &Object) -> Option<PreflightProblem> {
    let needed = [("apiVersion", object.api_version()), ("kind", object.kind()), ("name", object.name())];
    let hint = "correct the file, or remove it from the folder";
    if let Some((field, _)) = needed.iter().find(|(_, value)| value.is_empty()) {
        return Some(problem(format!("an object in `{file}` has no {field}"), hint));
    }
    let mut fields = needed.into_iter().chain([("namespace", object.namespace())]);
    let (field, _) = fields.find(|(_, value)| value.contains(char::is_control))?;
    Some(problem(format!("an object in `{file}` has a control character in its {field}"), hint))
}

/// Gives uids to objects without one. Owner references without a uid get the uid of the object they name.
fn assign_missing_uids(objects: &mut [Object]) {
    let mut uids: BTreeMap<(String, String, String), String> = BTreeMap::new();
    for (number, object) in objects.iter_mut().enumerate() {
        if uid_of(object).is_empty() {
            let uid = format!("made-up-{number}");
            if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
                metadata.insert("uid".to_owned(), uid.into());
            }
        }
        let place = (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned());
        uids.insert(place, uid_of(object).to_owned());
    }
    for object in objects {
        let namespace = object.namespace().to_owned();
        let owners = object.get_mut(&["metadata", "ownerReferences"]).and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten().filter_map(Value::as_object_mut) {
            let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            if text("uid").is_empty() {
                let beside = uids.get(&(text("kind"), namespace.clone(), text("name")));
                let uid = beside.or_else(|| uids.get(&(text("kind"), String::new(), text("name"))));
                if let Some(uid) = uid {
                    owner.insert("uid".to_owned(), uid.as_str().into());
                }
            }
        }
    }
}

fn uid_of(object: &Object) -> &str {
    object.get(&["metadata", "uid"]).and_then(Value::as_str).unwrap_or_default()
}

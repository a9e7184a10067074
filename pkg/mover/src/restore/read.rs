//! Documents of files as objects.

use std::collections::{BTreeMap, BTreeSet};

use apply::ObjectKey;
use inventory::{Problem, Problems};
use manifest::{Limits, Object, Value, read_stream};

use super::{SavedContent, SavedFile, SavedObjects};
use crate::{
    BackupManifest,
    preflight::problem,
    save::{go_json, is_users_pause},
};

impl SavedObjects {
    /// Reads files: each may hold several documents. An object without a uid gets one of its own, and is found by owners that
    /// name it without a uid, too.
    /// # Errors
    /// Everything that cannot be read, and objects that are there twice. No value is in a message: it may be secret.
    pub fn read(files: impl IntoIterator<Item = SavedFile>) -> Result<Self, Problems> {
        let (mut objects, mut checks) = (Vec::new(), ObjectChecks::default());
        for file in files {
            objects.extend(checks.read(&file));
        }
        checks.finish()?;
        make_up_uids(&mut objects);
        let mut objects: Vec<SavedContent> = objects.into_iter().map(SavedContent::of).collect();
        objects.sort_unstable_by(|a, b| a.uid.cmp(&b.uid));
        Ok(Self { objects, ..Self::default() })
    }

    /// Adds what the manifest of a backup says: the cluster, its providers, and the objects that the user had paused.
    #[must_use]
    pub(crate) fn with(mut self, manifest: &BackupManifest) -> Self {
        self.source = Some(manifest.about.source.clone());
        self.providers.clone_from(&manifest.about.providers);
        let paused = manifest.paused();
        for object in &mut self.objects {
            object.stays_paused = paused.contains(&object.key);
        }
        self
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SavedContent> {
        self.objects.iter()
    }

    /// The object of a uid.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<&SavedContent> {
        let at = self.objects.binary_search_by(|object| object.uid.as_str().cmp(uid)).ok()?;
        self.objects.get(at)
    }
}

impl SavedContent {
    fn of(object: Object) -> Self {
        Self {
            key: ObjectKey::of(&object),
            api_version: object.api_version().to_owned(),
            uid: uid_of(&object).to_owned(),
            stays_paused: is_users_pause(&object),
            json: go_json(&object.into_value()),
        }
    }

    /// The object; there always is one, as one was read.
    pub(crate) fn object(&self) -> Option<Object> {
        let value: Value = serde_json::from_slice(&self.json).ok()?;
        value.try_into().ok()
    }
}

/// Checks saved objects one after the other, and holds their keys alone: each must be complete, and there once.
#[derive(Debug, Default)]
pub(crate) struct ObjectChecks {
    problems: Vec<Problem>,
    doubles: Vec<Problem>,
    /// Each with its file.
    keys: BTreeMap<ObjectKey, String>,
    uids: BTreeMap<String, ObjectKey>,
}

impl ObjectChecks {
    /// Reads and checks the objects of a file. No value is in a problem: it may be secret.
    pub(crate) fn read(&mut self, file: &SavedFile) -> Vec<Object> {
        let name = &file.name;
        let objects = documents(&file.content).unwrap_or_else(|why| {
            self.problems.push(Problem::fatal(format!("cannot read `{name}`: {why}")));
            Vec::new()
        });
        for object in &objects {
            self.problems.extend(unusable(name, object));
            self.note(name, object);
        }
        objects
    }

    /// Ends the checks, and gives the keys of all objects.
    /// # Errors
    /// Everything that cannot be read, else objects that are there twice.
    pub(crate) fn finish(self) -> Result<BTreeSet<ObjectKey>, Problems> {
        let problems = if self.problems.is_empty() { self.doubles } else { self.problems };
        if problems.is_empty() { Ok(self.keys.into_keys().collect()) } else { Err(Problems { problems }) }
    }

    fn note(&mut self, file: &str, object: &Object) {
        let (key, uid) = (ObjectKey::of(object), uid_of(object));
        let hint = "keep the one that is meant";
        if let Some(other) = self.keys.insert(key.clone(), file.to_owned()) {
            self.doubles.push(problem(format!("{key} is in `{other}` and in `{file}`"), hint));
        } else if !uid.is_empty()
            && let Some(other) = self.uids.insert(uid.to_owned(), key.clone())
        {
            let there = self.keys.get(&other).map_or("", String::as_str);
            let text = format!("{other} in `{there}` and {key} in `{file}` have one uid");
            self.doubles.push(problem(text, hint));
        }
    }
}

fn documents(content: &[u8]) -> Result<Vec<Object>, String> {
    // What this program and the peer write is one line of JSON; a stream of YAML is any other text.
    if content.first() == Some(&b'{')
        && let Ok(value) = serde_json::from_slice::<Value>(content)
    {
        return match value.try_into() {
            Ok(object) => Ok(vec![object]),
            Err(_) => Err("it holds no object".to_owned()),
        };
    }
    match read_stream(content, &Limits::default()) {
        Ok(stream) => Ok(stream.objects),
        Err(error) => {
            let all: Vec<String> = error.documents.iter().map(ToString::to_string).collect();
            Err(all.join("; "))
        }
    }
}

/// An object that no server has.
fn unusable(file: &str, object: &Object) -> Option<Problem> {
    let needed = [("apiVersion", object.api_version()), ("kind", object.kind()), ("name", object.name())];
    let hint = "take the file out of the folder, or complete it";
    if let Some((field, _)) = needed.iter().find(|(_, value)| value.is_empty()) {
        return Some(problem(format!("an object in `{file}` has no {field}"), hint));
    }
    let mut fields = needed.into_iter().chain([("namespace", object.namespace())]);
    let (field, _) = fields.find(|(_, value)| value.contains(char::is_control))?;
    Some(problem(format!("an object in `{file}` has a control character in its {field}"), hint))
}

/// Gives uids to objects without one, and to owner references without one the uid of the object they name.
fn make_up_uids(objects: &mut [Object]) {
    let mut made_up: BTreeMap<(String, String, String), String> = BTreeMap::new();
    for (number, object) in objects.iter_mut().enumerate() {
        if uid_of(object).is_empty() {
            let uid = format!("made-up-{number}");
            if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
                metadata.insert("uid".to_owned(), uid.into());
            }
        }
        let place = (object.kind().to_owned(), object.namespace().to_owned(), object.name().to_owned());
        made_up.insert(place, uid_of(object).to_owned());
    }
    for object in objects {
        let namespace = object.namespace().to_owned();
        let owners = object.get_mut(&["metadata", "ownerReferences"]).and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten().filter_map(Value::as_object_mut) {
            let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            if text("uid").is_empty() {
                let beside = made_up.get(&(text("kind"), namespace.clone(), text("name")));
                let uid = beside.or_else(|| made_up.get(&(text("kind"), String::new(), text("name"))));
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

//! Reader and writer of `metadata.managedFields`.

use std::{cmp::Ordering, collections::BTreeMap};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::set::FieldSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// The identity of a manager: one entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ManagerId {
    pub(super) name: Box<str>,
    pub(super) operation: Operation,
    /// The version of the manager's writes. Empty for appliers: each has one entry for all versions.
    pub(super) api_version: Box<str>,
    /// The subresource of its writes, or empty.
    pub(super) subresource: Box<str>,
}

#[derive(Clone, Debug)]
pub(super) struct OwnedFields {
    pub(super) fields: FieldSet,
    pub(super) api_version: Box<str>,
    /// The last change of the entry, in its printed form. `None` for an apply that did not change the object.
    pub(super) time: Option<Box<str>>,
}

/// All managers of an object.
pub(super) type Managers = BTreeMap<ManagerId, OwnedFields>;

/// The maximum number of separate entries of updaters.
const MAX_UPDATERS: usize = 10;

/// The manager that takes over the fields of older updaters.
const OLD_UPDATERS_NAME: &str = "ancient-changes";

impl ManagerId {
    /// Creates the identity of a writer. An empty name becomes `unknown`.
    pub(super) fn new(name: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        Self {
            name: if name.is_empty() { "unknown" } else { name }.into(),
            operation,
            api_version: if operation == Operation::Apply { "" } else { api_version }.into(),
            subresource: subresource.into(),
        }
    }
}

/// The order in which the real server lists managers, equal to the order of their entries as JSON. Among managers of
/// one name, the entry without a subresource comes last.
impl Ord for ManagerId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name
            .cmp(&other.name)
            .then_with(|| self.operation.cmp(&other.operation))
            .then_with(|| self.api_version.cmp(&other.api_version))
            .then_with(|| self.subresource.is_empty().cmp(&other.subresource.is_empty()))
            .then_with(|| self.subresource.cmp(&other.subresource))
    }
}

impl PartialOrd for ManagerId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns the entries of an object. `None` without entries.
pub(super) fn entries(object: &Value) -> Option<&Vec<Value>> {
    object.get("metadata")?.get("managedFields")?.as_array()
}

/// True if these entries request a reset of ownership.
pub(super) fn is_reset(entries: &[Value]) -> bool {
    match entries {
        [] => true,
        [entry] => entry.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Parses the entries of `managedFields`.
pub(super) fn decode(entries: &[Value]) -> Result<Managers, String> {
    let mut managers = Managers::new();
    for (index, entry) in entries.iter().enumerate() {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let operation = match text("operation") {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        let api_version = text("apiVersion");
        if api_version.is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        match text("fieldsType") {
            "FieldsV1" => {}
            "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
            other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {index}")),
        }
        let fields = FieldSet::from_json(entry.get("fieldsV1").unwrap_or(&Value::Null))
            .map_err(|problem| format!("error decoding versioned set: error decoding set: {problem}"))?;
        let id = ManagerId {
            name: text("manager").into(),
            operation,
            api_version: if operation == Operation::Apply { "" } else { api_version }.into(),
            subresource: text("subresource").into(),
        };
        let time = Some(text("time")).filter(|time| !time.is_empty()).map(whole_seconds);
        managers.insert(id, OwnedFields { fields, api_version: api_version.into(), time });
    }
    Ok(managers)
}

/// Returns the time in UTC with whole seconds, in its printed form.
fn whole_seconds(time: &str) -> Box<str> {
    match time.parse::<Timestamp>().map(|time| Timestamp::from_second(time.as_second())) {
        Ok(Ok(time)) => time.to_string().into(),
        Ok(Err(_)) | Err(_) => time.into(),
    }
}

fn seconds(time: Option<&str>) -> i64 {
    time.and_then(|time| time.parse::<Timestamp>().ok()).map_or(0, Timestamp::as_second)
}

/// Writes `managedFields`: appliers first, then by time, name, version and subresource. Without managers, the list is
/// removed.
pub(super) fn encode(object: &mut Value, managers: &Managers) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let mut sorted: Vec<(&ManagerId, &OwnedFields)> = managers.iter().collect();
    sorted.sort_by_key(|(id, owned)| {
        (id.operation, seconds(owned.time.as_deref()), &id.name, &owned.api_version, &id.subresource)
    });
    let entries: Vec<Value> = sorted.into_iter().map(|(id, owned)| encode_entry(id, owned)).collect();
    if entries.is_empty() {
        metadata.remove("managedFields");
    } else {
        metadata.insert("managedFields".to_owned(), Value::Array(entries));
    }
}

fn encode_entry(id: &ManagerId, owned: &OwnedFields) -> Value {
    let operation = match id.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let mut entry = json!({
        "operation": operation,
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_json(),
    });
    for (name, value) in [("manager", &*id.name), ("subresource", &*id.subresource)] {
        if !value.is_empty() {
            entry[name] = value.into();
        }
    }
    if let Some(time) = &owned.time {
        entry["time"] = (**time).into();
    }
    entry
}

/// Removes `managedFields`.
pub(super) fn clear(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Combines the oldest updaters of each version until at most ten updaters remain.
///
/// Source: kube-apiserver 1.36 `capManagersManager`.
pub(super) fn cap_updaters(managers: &mut Managers) {
    let mut updaters: Vec<ManagerId> =
        managers.keys().filter(|id| id.operation == Operation::Update).cloned().collect();
    let mut count = updaters.len();
    if count <= MAX_UPDATERS {
        return;
    }
    updaters.sort_by_cached_key(|id| {
        (seconds(managers.get(id).and_then(|owned| owned.time.as_deref())), id.clone())
    });
    let mut firsts: BTreeMap<Box<str>, ManagerId> = BTreeMap::new();
    for id in updaters {
        if count <= MAX_UPDATERS {
            break;
        }
        let Some(version) = managers.get(&id).map(|owned| owned.api_version.clone()) else { continue };
        let Some(first) = firsts.get(&version) else {
            firsts.insert(version, id);
            continue;
        };
        let bucket = ManagerId::new(OLD_UPDATERS_NAME, Operation::Update, &version, "");
        if !managers.contains_key(&bucket)
            && let Some(owned) = managers.remove(first)
        {
            managers.insert(bucket.clone(), owned);
        }
        if let Some(owned) = managers.remove(&id) {
            let into = managers.entry(bucket).or_insert_with(|| OwnedFields {
                fields: FieldSet::default(),
                api_version: version,
                time: None,
            });
            into.fields.extend(&owned.fields);
            into.time = owned.time;
            count -= 1;
        }
    }
}

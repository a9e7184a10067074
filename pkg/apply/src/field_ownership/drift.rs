//! A comparison of an object, field by field, with the recorded fields of its last write.

use std::collections::BTreeSet;

use api::output::{DriftedField, DriftedFieldChange};
use manifest::{Object, Value};

use super::{
    FieldSet, field_path::FieldPath, is_applied_by, managed_fields, owned_fields, without_controller_fields,
};

/// An entry of `metadata.managedFields`.
struct Entry {
    manager: String,
    /// The time of the manager's last write to any field of the object, RFC 3339.
    time: Option<String>,
    fields: BTreeSet<FieldPath>,
    is_subresource: bool,
}

/// Compares a drifted object with the fields that its manager owned after the last write. With a record the result is
/// exact: each field that left the set has changed or is gone. Without a record, every field that only other managers
/// own is possible.
pub(crate) fn field_drift(recorded: &FieldSet, object: &Object, manager: &str) -> Vec<DriftedField> {
    let ours = owned_fields(object, manager).paths();
    let others: Vec<Entry> =
        managed_fields(object).filter(|entry| !is_applied_by(entry, manager)).map(entry).collect();
    let drift = Comparison { tree: crate::diff::masked(object).into_value(), others };
    if recorded.is_empty() {
        return drift.possible_drift(&ours);
    }
    let recorded = recorded.paths();
    let mut fields = drift.lost_fields(recorded.difference(&ours).collect());
    let own = managed_fields(object).find(|entry| is_applied_by(entry, manager)).map(entry);
    let added = ours.difference(&recorded).filter(|path| path.container().is_none());
    fields.extend(added.map(|path| drift.field(path, DriftedFieldChange::Added, own.as_ref())));
    fields
}

struct Comparison {
    tree: Value,
    others: Vec<Entry>,
}

impl Comparison {
    /// Returns the fields that left the set. If a list item or a mapping is gone, its own fields are omitted.
    fn lost_fields(&self, lost: Vec<&FieldPath>) -> Vec<DriftedField> {
        let containers: Vec<(FieldPath, bool)> = lost
            .iter()
            .filter_map(|path| path.container())
            .map(|path| (path.clone(), path.value(&self.tree).is_none()))
            .collect();
        let removed: Vec<&FieldPath> =
            containers.iter().filter(|(_, is_gone)| *is_gone).map(|(path, _)| path).collect();
        let is_in_gone = |path: &FieldPath| removed.iter().any(|removed| path.is_below(removed));
        let leaves = lost.into_iter().filter(|path| path.container().is_none() && !is_in_gone(path));
        let outermost = removed.iter().copied().filter(|path| !is_in_gone(path));
        let mut reported: Vec<&FieldPath> = leaves.chain(outermost).collect();
        reported.sort_unstable();
        if reported.is_empty() {
            // Only the owner of the mapping itself changed.
            reported.extend(containers.iter().map(|(path, _)| path));
        }
        reported.into_iter().map(|path| self.drift_at(path)).collect()
    }

    fn drift_at(&self, path: &FieldPath) -> DriftedField {
        if path.value(&self.tree).is_some() {
            self.field(path, DriftedFieldChange::Changed, self.last_writer(path))
        } else {
            self.field(path, DriftedFieldChange::Removed, None)
        }
    }

    fn field(&self, path: &FieldPath, change: DriftedFieldChange, writer: Option<&Entry>) -> DriftedField {
        DriftedField {
            path: path.to_string(),
            change,
            value: path.value(&self.tree).cloned(),
            manager: writer.map(|entry| entry.manager.clone()),
            time: writer.and_then(|entry| entry.time.clone()),
        }
    }

    /// Returns the last writer of a field. A scale or a status subresource may set the field too.
    fn last_writer(&self, path: &FieldPath) -> Option<&Entry> {
        let owns = |other: &FieldPath| other == path || other.is_below(path) || path.is_below(other);
        let owners = self.others.iter().filter(|entry| entry.fields.iter().any(owns));
        owners.max_by(|a, b| a.time.cmp(&b.time))
    }

    fn possible_drift(&self, ours: &BTreeSet<FieldPath>) -> Vec<DriftedField> {
        let candidates = self.others.iter().filter(|entry| !entry.is_subresource).flat_map(|entry| {
            let fields =
                entry.fields.iter().filter(|path| !ours.contains(path) && path.container().is_none());
            fields.map(move |path| (path, entry))
        });
        candidates.map(|(path, entry)| self.field(path, DriftedFieldChange::Possible, Some(entry))).collect()
    }
}

fn entry(entry: &Value) -> Entry {
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    let fields =
        entry.get("fieldsV1").and_then(Value::as_object).map(without_controller_fields).unwrap_or_default();
    Entry {
        manager: text("manager").unwrap_or_default(),
        time: text("time"),
        fields: FieldSet::from(fields).paths(),
        is_subresource: entry.get("subresource").is_some(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns an object with fields that `tool` owns, and with entries of other managers.
    fn object(mut fields: Value, ours: &Value, others: &[Value]) -> Object {
        let own = json!({"manager": "tool", "operation": "Apply", "time": "2026-01-01T00:00:00Z", "fieldsV1": ours});
        fields["metadata"]["managedFields"] = others.iter().cloned().chain([own]).collect();
        Object::try_from(fields).unwrap()
    }

    fn other(manager: &str, day: u8, fields: &Value) -> Value {
        json!({"manager": manager, "operation": "Update", "time": format!("2026-01-0{day}T00:00:00Z"), "fieldsV1": fields})
    }

    fn reported(recorded: &Value, object: &Object) -> Vec<String> {
        let recorded = FieldSet::from(recorded.as_object().unwrap().clone());
        let line = |field: DriftedField| {
            let value = field.value.map(|value| format!(" {value}")).unwrap_or_default();
            let by = match (field.manager, field.time) {
                (Some(manager), Some(time)) => format!(" by {manager} {time:.10}"),
                (Some(manager), None) => format!(" by {manager} "),
                (None, _) => String::new(),
            };
            format!("{} {:?}{value}{by}", field.path, field.change)
        };
        field_drift(&recorded, object, "tool").into_iter().map(line).collect()
    }

    #[test]
    fn a_changed_field_has_its_value_and_the_manager_that_set_it_last() {
        let live = object(
            json!({"spec": {"replicas": 3, "paused": true}}),
            &json!({"f:spec": {"f:paused": {}}}),
            &[
                other("kubectl-edit", 2, &json!({"f:spec": {"f:replicas": {}}})),
                json!({"manager": "kubectl", "operation": "Update", "subresource": "scale",
                       "time": "2026-01-03T00:00:00Z", "fieldsV1": {"f:spec": {"f:replicas": {}}}}),
            ],
        );
        assert_eq!(
            reported(&json!({"f:spec": {"f:paused": {}, "f:replicas": {}}}), &live),
            [".spec.replicas Changed 3 by kubectl 2026-01-03"]
        );
    }

    #[test]
    fn a_removed_list_item_is_one_change_without_a_manager() {
        let item = json!({".": {}, "f:name": {}, "f:image": {}});
        let recorded = json!({"k:{\"name\":\"a\"}": item});
        let ours = json!({"f:spec": {"f:paused": {}}});
        let recorded = json!({"f:spec": {"f:paused": {}, "f:replicas": {}, "f:containers": recorded}});
        let live = object(json!({"spec": {"replicas": 1, "containers": [], "paused": true}}), &ours, &[]);
        assert_eq!(
            reported(&recorded, &live),
            [".spec.containers[name=\"a\"] Removed", ".spec.replicas Changed 1"]
        );
    }

    #[test]
    fn secret_values_are_shown_as_sizes() {
        let live = object(
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"token": "aHVudGVyMg=="}}),
            &json!({"f:type": {}}),
            &[other("mallory", 2, &json!({"f:data": {"f:token": {}}}))],
        );
        assert_eq!(
            reported(&json!({"f:type": {}, "f:data": {"f:token": {}}}), &live),
            [".data.token Changed \"(7 bytes)\" by mallory 2026-01-02"]
        );
    }

    #[test]
    fn without_a_record_fields_of_others_are_possible() {
        let live = object(
            json!({"spec": {"replicas": 3}}),
            &json!({"f:spec": {"f:image": {}}}),
            &[
                other(
                    "kubectl-edit",
                    2,
                    &json!({"f:spec": {"f:replicas": {}, "f:image": {}}, "f:status": {}}),
                ),
                json!({"manager": "m", "operation": "Update", "subresource": "status", "fieldsV1": {"f:spec": {"f:a": {}}}}),
            ],
        );
        assert_eq!(reported(&json!({}), &live), [".spec.replicas Possible 3 by kubectl-edit 2026-01-02"]);
    }

    #[test]
    fn a_field_applied_by_our_own_manager_was_added() {
        let live =
            object(json!({"data": {"a": "1", "b": "2"}}), &json!({"f:data": {"f:a": {}, "f:b": {}}}), &[]);
        assert_eq!(
            reported(&json!({"f:data": {"f:a": {}}}), &live),
            [".data.b Added \"2\" by tool 2026-01-01"]
        );
    }
}

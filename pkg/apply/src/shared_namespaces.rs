//! The field managers of Namespaces that several owners share.

use std::borrow::Cow;

use api::output::DriftedField;
use manifest::{Object, Value};
use serde_json::json;

use crate::{
    FieldSet, OwnershipMarks,
    field_ownership::{field_drift, is_of_whole_object, managed_fields, owned_fields},
};

impl OwnershipMarks {
    /// Returns the field manager of this owner's writes to an object. `manager` writes all unshared objects.
    pub(crate) fn manager_of<'m>(&self, object: &Object, manager: &'m str) -> Cow<'m, str> {
        let is_namespace = object.kind() == "Namespace" && object.group().is_empty();
        if self.shares_namespaces && is_namespace {
            format!("{manager}-{}", self.label.1).into()
        } else {
            manager.into()
        }
    }

    /// True if this owner wrote an object, or `manager` for any owner.
    pub(crate) fn wrote(&self, object: &Object, manager: &str) -> bool {
        let ours = self.manager_of(object, manager);
        managed_fields(object).any(|entry| {
            is_of_whole_object(entry) && (entry["manager"] == manager || entry["manager"] == *ours)
        })
    }

    /// Returns the fields that this owner applied.
    pub fn owned_fields(&self, object: &Object, manager: &str) -> FieldSet {
        owned_fields(&self.own_view(object, manager), &self.manager_of(object, manager))
    }

    /// Compares the fields of this owner in an object with those that it applied.
    pub fn field_drift(&self, recorded: &FieldSet, object: &Object, manager: &str) -> Vec<DriftedField> {
        field_drift(recorded, &self.own_view(object, manager), &self.manager_of(object, manager))
    }

    /// Returns a shared Namespace that earlier versions applied with one manager for all owners. The fields of this
    /// manager go to the owner in the label, which applied last. None if there are no such fields.
    pub(crate) fn split_managers(&self, object: &Object, manager: &str) -> Option<Object> {
        let ours = self.manager_of(object, manager);
        let is_joint = |entry: &Value| entry["manager"] == manager;
        if ours == manager || !managed_fields(object).any(is_joint) {
            return None;
        }
        let owner = object.label(&self.label.0);
        let owner = owner.map_or_else(|| ours.into_owned(), |owner| format!("{manager}-{owner}"));
        // The server keeps one Apply entry of each manager. The next takeover of the owner joins its entries.
        let operation = managed_fields(object).any(|entry| entry["manager"] == owner).then_some("Update");
        let mut split = object.clone();
        for entry in entries_mut(&mut split).filter(|entry| is_joint(entry)).filter_map(Value::as_object_mut)
        {
            entry.insert("manager".to_owned(), owner.as_str().into());
            entry.extend(operation.map(|operation| ("operation".to_owned(), operation.into())));
        }
        Some(split)
    }

    /// Returns a shared Namespace in which this owner still has the label that another owner has set since. Owners
    /// replace it in turn, so this is no drift.
    fn own_view<'o>(&self, object: &'o Object, manager: &str) -> Cow<'o, Object> {
        let ours = self.manager_of(object, manager);
        if ours == manager {
            return Cow::Borrowed(object);
        }
        let mut view = self.split_managers(object, manager).unwrap_or_else(|| object.clone());
        if self.owner_of(object).is_some() {
            for entry in entries_mut(&mut view).filter(|entry| entry["manager"] == *ours) {
                let labels =
                    entry.pointer_mut("/fieldsV1/f:metadata/f:labels").and_then(Value::as_object_mut);
                let Some(labels) = labels else { continue };
                labels.insert(format!("f:{}", self.label.0), json!({}));
            }
        }
        Cow::Owned(view)
    }
}

fn entries_mut(object: &mut Object) -> impl Iterator<Item = &mut Value> {
    object.get_mut(&["metadata", "managedFields"]).and_then(Value::as_array_mut).into_iter().flatten()
}

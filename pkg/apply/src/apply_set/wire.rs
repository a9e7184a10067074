//! Items in the form that clusters store.

use serde::{Deserialize, Serialize};

use super::{ItemPhase, ManagedType};
use crate::{AdoptionPolicy, DeletePolicy, FieldSet, ObjectKey, ReconcilePolicy, UpdatePolicy};

/// An item in its stored form: all fields in one mapping.
///
/// The reader is lenient: unknown fields are ignored, and missing fields have their defaults. An item without a digest
/// counts as changed. The writer omits only fields that the definition of component-operator 0.3 does not require.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireItem {
    group: String,
    version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
    adoption_policy: AdoptionPolicy,
    reconcile_policy: ReconcilePolicy,
    update_policy: UpdatePolicy,
    delete_policy: DeletePolicy,
    apply_order: i16,
    delete_order: i16,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    managed_types: Vec<ManagedType>,
    digest: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    owned: String,
    #[serde(skip_serializing_if = "FieldSet::is_empty")]
    owned_fields: FieldSet,
    phase: ItemPhase,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_applied_at: Option<String>,
}

/// An item without a complete object key.
#[derive(Debug, thiserror::Error)]
#[error("an item of the apply set has no `{field}` (kind `{kind}`, name `{name}`)")]
pub(super) struct InvalidItem {
    field: &'static str,
    kind: String,
    name: String,
}

impl TryFrom<WireItem> for super::ApplySetItem {
    type Error = InvalidItem;

    fn try_from(item: WireItem) -> Result<Self, InvalidItem> {
        let field = match () {
            () if item.kind.is_empty() => Some("kind"),
            () if item.name.is_empty() => Some("name"),
            () if item.version.is_empty() => Some("version"),
            () => None,
        };
        if let Some(field) = field {
            return Err(InvalidItem { field, kind: item.kind, name: item.name });
        }
        Ok(Self {
            key: ObjectKey { group: item.group, kind: item.kind, namespace: item.namespace, name: item.name },
            version: item.version,
            adoption_policy: item.adoption_policy,
            reconcile_policy: item.reconcile_policy,
            update_policy: item.update_policy,
            delete_policy: item.delete_policy,
            apply_order: item.apply_order,
            delete_order: item.delete_order,
            managed_types: item.managed_types,
            digest: item.digest,
            owned: item.owned,
            owned_fields: item.owned_fields,
            phase: item.phase,
            status: item.status,
            last_applied_at: item.last_applied_at,
        })
    }
}

impl From<super::ApplySetItem> for WireItem {
    fn from(item: super::ApplySetItem) -> Self {
        let ObjectKey { group, kind, namespace, name } = item.key;
        Self {
            group,
            version: item.version,
            kind,
            namespace,
            name,
            adoption_policy: item.adoption_policy,
            reconcile_policy: item.reconcile_policy,
            update_policy: item.update_policy,
            delete_policy: item.delete_policy,
            apply_order: item.apply_order,
            delete_order: item.delete_order,
            managed_types: item.managed_types,
            digest: item.digest,
            owned: item.owned,
            owned_fields: item.owned_fields,
            phase: item.phase,
            status: item.status,
            last_applied_at: item.last_applied_at,
        }
    }
}

//! `Provider` objects: one for each installed provider.

use api::ProviderId;
use apply::ApiKind;
use manifest::{Object, Value};
use provider::InstalledProvider;
use serde_json::json;

use super::InventoryError;
use crate::cluster::known_kind;

/// The API group of the inventory.
pub(super) const GROUP: &str = "clusterctl.cluster.x-k8s.io";
/// The only version of the group.
pub(super) const VERSION: &str = "v1alpha3";
/// A label on objects of the tools themselves. The value names the kind of object.
pub(super) const COMPONENT_LABEL: &str = "clusterctl.cluster.x-k8s.io/core";
/// The value of the label on the inventory.
pub(super) const INVENTORY_COMPONENT: &str = "inventory";

/// Returns the kind `Provider`. Its fields are fixed, so discovery is unnecessary.
pub fn kind() -> ApiKind {
    known_kind(GROUP, VERSION, "Provider", "providers", true)
}

/// Returns the object of an inventory entry.
/// Source: clusterctl v1.14 client/cluster/inventory.go: name, labels, and fields at the top level.
pub(super) fn write(installed: &InstalledProvider) -> Object {
    let label = installed.id.label();
    let whole = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "Provider",
        "metadata": {
            "name": label,
            "namespace": installed.namespace,
            "labels": {
                api::labels::CLUSTERCTL: "",
                api::labels::PROVIDER: label,
                COMPONENT_LABEL: INVENTORY_COMPONENT,
            },
        },
        "providerName": installed.id.name,
        "type": installed.id.provider_type.as_str(),
        "version": installed.version,
    });
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

/// Reads an inventory entry.
/// # Errors
/// [`InventoryError::InvalidEntry`] if the type is unknown, or if the name or version is missing.
pub(super) fn read(object: &Object) -> Result<InstalledProvider, InventoryError> {
    let bad = |problem: String| InventoryError::InvalidEntry {
        entry: format!("{}/{}", object.namespace(), object.name()),
        problem,
    };
    let field = |name: &str| {
        let text = object.get(&[name]).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.ok_or_else(|| bad(format!("no `{name}`")))
    };
    let provider_type = field("type")?.parse().map_err(|error| bad(format!("an invalid `type`: {error}")))?;
    Ok(InstalledProvider {
        id: ProviderId::new(provider_type, field("providerName")?),
        version: field("version")?.to_owned(),
        namespace: object.namespace().to_owned(),
    })
}

//! `Provider` objects: one for each installed provider.

use api::ProviderId;
use apply::ApiKind;
use manifest::{Object, Value};
use provider::InstalledProvider;
use serde_json::json;

use super::InventoryError;
use crate::cluster::served;

/// The API group of the inventory.
pub(super) const GROUP: &str = "clusterctl.cluster.x-k8s.io";
/// Its one version.
pub(super) const VERSION: &str = "v1alpha3";
/// On what belongs to the tools themselves; the value says what it is.
pub(super) const PART_LABEL: &str = "clusterctl.cluster.x-k8s.io/core";
/// Its value on the inventory.
pub(super) const PART: &str = "inventory";

/// The kind `Provider`; discovery would know it no better.
pub fn kind() -> ApiKind {
    served(GROUP, VERSION, "Provider", "providers", true)
}

/// The object of an entry.
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
                PART_LABEL: PART,
            },
        },
        "providerName": installed.id.name,
        "type": installed.id.provider_type.as_str(),
        "version": installed.version,
    });
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

/// Reads an entry.
/// # Errors
/// `Entry` when the type is none of the known ones, or name or version is missing.
pub(super) fn read(object: &Object) -> Result<InstalledProvider, InventoryError> {
    let bad = |problem: String| InventoryError::Entry {
        entry: format!("{}/{}", object.namespace(), object.name()),
        problem,
    };
    let field = |name: &str| {
        let text = object.get(&[name]).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.ok_or_else(|| bad(format!("no `{name}`")))
    };
    let provider_type =
        field("type")?.parse().map_err(|error| bad(format!("a `type` of no use: {error}")))?;
    Ok(InstalledProvider {
        id: ProviderId::new(provider_type, field("providerName")?),
        version: field("version")?.to_owned(),
        namespace: object.namespace().to_owned(),
    })
}

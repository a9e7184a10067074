//! The CustomResourceDefinition of `Provider` objects, and its annotation for an unfinished installation.

use manifest::{Object, Value};
use provider::InstalledProvider;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{InventoryError, entry};

/// The name of the CustomResourceDefinition.
pub(super) const DEFINITION: &str = "providers.clusterctl.cluster.x-k8s.io";
/// The annotation with the providers of an unfinished first installation, as JSON.
const UNFINISHED_ANNOTATION: &str = "capstan.dev/unfinished-init";

/// A provider in the annotation.
#[derive(Serialize, Deserialize)]
struct AnnotatedProvider {
    #[serde(rename = "type")]
    provider_type: api::ProviderType,
    name: String,
    version: String,
    namespace: String,
}

/// Returns the desired CustomResourceDefinition: the definition of clusterctl, with other descriptions.
/// Source: clusterctl v1.14 config/manifest: names, columns, schema and label; differs: only the descriptions.
pub(super) fn definition(note: Option<&str>) -> Object {
    let text = |description: &str| json!({"type": "string", "description": description});
    let column = |name: &str, path: &str| json!({"name": name, "type": "string", "jsonPath": path});
    let mut whole = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": DEFINITION, "labels": {entry::COMPONENT_LABEL: entry::INVENTORY_COMPONENT}},
        "spec": {
            "group": entry::GROUP,
            "names": {
                "categories": ["cluster-api"],
                "kind": "Provider",
                "listKind": "ProviderList",
                "plural": "providers",
                "singular": "provider",
            },
            "scope": "Namespaced",
            "versions": [{
                "name": entry::VERSION,
                "served": true,
                "storage": true,
                "additionalPrinterColumns": [
                    {
                        "name": "Age",
                        "type": "date",
                        "description": "Time since the Provider was created",
                        "jsonPath": ".metadata.creationTimestamp",
                    },
                    column("Type", ".type"),
                    column("Provider", ".providerName"),
                    column("Version", ".version"),
                ],
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "description": "An entry of the provider inventory.",
                    "properties": {
                        "apiVersion": text("The version of the schema this object is written in."),
                        "kind": text("The kind of this object."),
                        "metadata": {"type": "object"},
                        "providerName": text("The name of the provider, without its type."),
                        "type": text("The type of the provider, such as InfrastructureProvider."),
                        "version": text("The version that is installed."),
                        "watchedNamespace": text("Deprecated: providers watch all namespaces."),
                    },
                }},
                "subresources": {},
            }],
        },
    });
    if let Some(note) = note {
        whole["metadata"]["annotations"] = json!({UNFINISHED_ANNOTATION: note});
    }
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

/// True if the live definition has the desired columns, fields, categories, label and annotation, and is established.
pub(super) fn is_up_to_date(live: &Object, annotation: Option<&str>) -> bool {
    let wanted = definition(None);
    let part = |object: &Object| {
        let version = supported_version(object)?;
        let columns = version["additionalPrinterColumns"].as_array()?;
        let columns: Vec<Value> =
            columns.iter().map(|column| json!([column["name"], column["jsonPath"]])).collect();
        let fields = version["schema"]["openAPIV3Schema"]["properties"].as_object()?;
        let fields: Vec<Value> = fields.iter().map(|(name, field)| json!([name, field["type"]])).collect();
        Some((columns, fields, object.get(&["spec", "names", "categories"]).cloned()))
    };
    live.annotation(UNFINISHED_ANNOTATION) == annotation
        && live.label(entry::COMPONENT_LABEL) == Some(entry::INVENTORY_COMPONENT)
        && is_established(live)
        && part(live) == part(&wanted)
}

/// True if the definition serves the version that this binary supports.
pub(super) fn serves_supported_version(live: &Object) -> bool {
    supported_version(live).is_some_and(|version| version["served"] == true)
}

fn supported_version(definition: &Object) -> Option<&Value> {
    let versions = definition.get(&["spec", "versions"])?.as_array()?;
    versions.iter().find(|version| version["name"] == entry::VERSION)
}

/// True if the definition is established, so that objects can be written.
pub(super) fn is_established(live: &Object) -> bool {
    let conditions = live.get(&["status", "conditions"]).and_then(Value::as_array);
    let is = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is))
}

/// Returns the annotation of the live definition.
pub(super) fn unfinished_annotation(live: &Object) -> Option<String> {
    live.annotation(UNFINISHED_ANNOTATION).map(str::to_owned)
}

/// Returns the annotation for these providers.
pub(super) fn format_annotation(providers: &[InstalledProvider]) -> String {
    let one = |installed: &InstalledProvider| AnnotatedProvider {
        provider_type: installed.id.provider_type,
        name: installed.id.name.clone(),
        version: installed.version.clone(),
        namespace: installed.namespace.clone(),
    };
    let noted: Vec<AnnotatedProvider> = providers.iter().map(one).collect();
    serde_json::to_string(&noted).expect("invariant: strings and unit variants are always JSON")
}

/// Parses the annotation of the live definition.
/// # Errors
/// [`InventoryError::InvalidEntry`] if [`format_annotation`] did not write the annotation. Removing such an annotation is safe.
pub(super) fn parse_annotation(live: &Object) -> Result<Option<Vec<InstalledProvider>>, InventoryError> {
    let Some(text) = live.annotation(UNFINISHED_ANNOTATION) else { return Ok(None) };
    let noted: Vec<AnnotatedProvider> =
        serde_json::from_str(text).map_err(|error| InventoryError::InvalidEntry {
            entry: DEFINITION.to_owned(),
            problem: format!("an invalid annotation `{UNFINISHED_ANNOTATION}`: {error}"),
        })?;
    let one = |noted: AnnotatedProvider| InstalledProvider {
        id: api::ProviderId::new(noted.provider_type, noted.name),
        version: noted.version,
        namespace: noted.namespace,
    };
    Ok(Some(noted.into_iter().map(one).collect()))
}

//! The CustomResourceDefinition of `Provider` objects, and its annotations about installations.

use api::labels::LabelsByOwner;
use manifest::{Object, Value};
use provider::InstalledProvider;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

use super::{InventoryError, entry};

/// The name of the CustomResourceDefinition.
pub(super) const DEFINITION: &str = "providers.clusterctl.cluster.x-k8s.io";
/// The annotation with the providers of an unfinished first installation, as JSON.
const UNFINISHED_ANNOTATION: &str = "capstan.dev/unfinished-init";
/// The annotation with the labels that users chose, as JSON.
const LABELS_ANNOTATION: &str = "capstan.dev/labels";

/// The annotations of the definition, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    /// The providers of an unfinished first installation.
    pub(super) unfinished: Option<String>,
    /// The labels that users chose.
    pub(super) labels: Option<String>,
}

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
pub(super) fn definition(annotations: &Annotations) -> Object {
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
    let Annotations { unfinished, labels } = annotations;
    for (key, text) in [(UNFINISHED_ANNOTATION, unfinished), (LABELS_ANNOTATION, labels)] {
        if let Some(text) = text {
            whole["metadata"]["annotations"][key] = json!(text);
        }
    }
    Object::try_from(whole).expect("invariant: the literal above is a mapping")
}

/// True if the live definition has the desired columns, fields, categories, label and annotations, and is established.
pub(super) fn is_up_to_date(live: &Object, annotations: &Annotations) -> bool {
    let wanted = definition(&Annotations::default());
    let part = |object: &Object| {
        let version = supported_version(object)?;
        let columns = version["additionalPrinterColumns"].as_array()?;
        let columns: Vec<Value> =
            columns.iter().map(|column| json!([column["name"], column["jsonPath"]])).collect();
        let fields = version["schema"]["openAPIV3Schema"]["properties"].as_object()?;
        let fields: Vec<Value> = fields.iter().map(|(name, field)| json!([name, field["type"]])).collect();
        Some((columns, fields, object.get(&["spec", "names", "categories"]).cloned()))
    };
    Annotations::of(live) == *annotations
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

impl Annotations {
    /// Returns the annotations of the live definition.
    pub(super) fn of(live: &Object) -> Self {
        let text = |key: &str| live.annotation(key).map(str::to_owned);
        Self { unfinished: text(UNFINISHED_ANNOTATION), labels: text(LABELS_ANNOTATION) }
    }
}

/// Returns the annotation for these providers.
pub(super) fn format_unfinished(providers: &[InstalledProvider]) -> String {
    let one = |installed: &InstalledProvider| AnnotatedProvider {
        provider_type: installed.id.provider_type,
        name: installed.id.name.clone(),
        version: installed.version.clone(),
        namespace: installed.namespace.clone(),
    };
    let noted: Vec<AnnotatedProvider> = providers.iter().map(one).collect();
    serde_json::to_string(&noted).expect("invariant: strings and unit variants are always JSON")
}

/// Returns the annotation for these labels. `None` if there are none.
pub(super) fn format_labels(labels: &LabelsByOwner) -> Option<String> {
    let text = serde_json::to_string(labels).expect("invariant: mappings of strings are always JSON");
    (!labels.is_empty()).then_some(text)
}

/// Parses an annotation of the live definition. `None` if the annotation is absent.
/// # Errors
/// [`InventoryError::InvalidEntry`] if capstan did not write the annotation. Removing such an annotation is safe.
fn parse_annotation<T: DeserializeOwned>(live: &Object, key: &str) -> Result<Option<T>, InventoryError> {
    let parsed = live.annotation(key).map(serde_json::from_str).transpose();
    parsed.map_err(|error| InventoryError::InvalidEntry {
        entry: DEFINITION.to_owned(),
        problem: format!("an invalid annotation `{key}`: {error}"),
    })
}

/// Parses the labels that users chose.
pub(super) fn parse_labels(live: &Object) -> Result<LabelsByOwner, InventoryError> {
    Ok(parse_annotation(live, LABELS_ANNOTATION)?.unwrap_or_default())
}

/// Parses the providers of an unfinished first installation.
pub(super) fn parse_unfinished(live: &Object) -> Result<Option<Vec<InstalledProvider>>, InventoryError> {
    let noted: Option<Vec<AnnotatedProvider>> = parse_annotation(live, UNFINISHED_ANNOTATION)?;
    let one = |noted: AnnotatedProvider| InstalledProvider {
        id: api::ProviderId::new(noted.provider_type, noted.name),
        version: noted.version,
        namespace: noted.namespace,
    };
    Ok(noted.map(|noted| noted.into_iter().map(one).collect()))
}

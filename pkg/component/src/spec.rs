//! The object `Component`, as clusters store it.
//!
//! Source: SAP/component-operator 0.3 `api/v1alpha1`. The comments of fields are the descriptions in the
//! CustomResourceDefinition.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{API_VERSION, ComponentStatus, KIND};

/// A set of objects that is rendered from a source and kept on a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// The name, the namespace and further metadata.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// The desired state.
    pub spec: ComponentSpec,
    /// The observed state.
    #[serde(default)]
    pub status: ComponentStatus,
}

impl Component {
    /// The name of the Component.
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// The namespace of the Component; empty if it is not set.
    pub fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }

    /// The generation of the Component; 0 if it is not on a cluster.
    pub fn generation(&self) -> i64 {
        self.metadata.get("generation").and_then(Value::as_i64).unwrap_or_default()
    }

    /// Returns the generation that a cluster gives the Component when it takes the place of another one.
    pub(crate) fn generation_after(&self, former: Option<&Self>) -> i64 {
        former.map_or(1, |former| former.generation() + i64::from(former.spec != self.spec))
    }

    /// The name that the renderer receives.
    pub fn deployment_name(&self) -> &str {
        self.spec.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(self.name())
    }

    /// The namespace that the renderer receives, and the namespace of objects without one.
    pub fn deployment_namespace(&self) -> &str {
        self.spec.namespace.as_deref().filter(|name| !name.is_empty()).unwrap_or(self.namespace())
    }

    /// True if the Component is an object of a cluster, and not only in a file or in a Secret that records it.
    pub fn is_object(&self) -> bool {
        self.metadata.contains_key("uid")
    }

    /// True if the deletion of the Component was requested.
    pub fn is_deleting(&self) -> bool {
        self.metadata.contains_key("deletionTimestamp")
    }

    /// The finalizers of the Component.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        let all = self.metadata.get("finalizers").and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn uid(&self) -> &str {
        self.metadata_text("uid")
    }

    pub(crate) fn resource_version(&self) -> &str {
        self.metadata_text("resourceVersion")
    }

    /// The Component in JSON, with its API version and kind.
    pub fn to_json(&self) -> Value {
        let mut object = serde_json::to_value(self).unwrap_or_default();
        object["apiVersion"] = API_VERSION.into();
        object["kind"] = KIND.into();
        object
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// The desired state of a Component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentSpec {
    /// The namespace of the deployment, for objects without a namespace. Default: the namespace of the Component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the deployment. Default: the name of the Component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kubeconfig of the cluster for the objects. Default: the cluster of the Component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,
    /// The service account that writes the objects, in the namespace of the Component. Ignored with `kubeConfig`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// True to stop creations and updates. Deletions still run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,
    /// The time between a successful run and the next run. Default: 10m.
    #[schemars(regex(pattern = DURATION))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_interval: Option<String>,
    /// The time between a run with a temporary error and the next run. Default: `requeueInterval`.
    #[schemars(regex(pattern = DURATION))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_interval: Option<String>,
    /// The time for objects to become ready before the state is Error. Default: `requeueInterval`.
    #[schemars(regex(pattern = DURATION))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The interval at which unchanged objects are written again. Default: 60m.
    #[schemars(regex(pattern = DURATION))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reapply_interval: Option<String>,
    /// The source of the manifests: exactly one of its fields.
    pub source_ref: SourceReference,
    /// The required digest of the artifact. With another digest, the Component stays Pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The required revision of the artifact. With another revision, the Component stays Pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// True to keep the artifact while objects are not ready yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sticky: bool,
    /// The folder of the chart or kustomization in the artifact. Default: the root of the artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The values for templates. They override the values of `valuesFrom`.
    #[schemars(schema_with = "any_value")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Value>,
    /// Secrets with values for templates. Later values override earlier values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values_from: Vec<SecretKeyReference>,
    /// The decryption of files of the artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,
    /// Changes of the rendered objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_build: Option<PostBuild>,
    /// The policy for existing objects of other owners. Default: IfUnowned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adoption_policy: Option<AdoptionPolicy>,
    /// The policy for updates. Default: SsaOverride.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<UpdatePolicy>,
    /// The policy for the objects of a deleted Component. Default: Delete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
    /// The policy for namespaces that objects need. Default: Create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_namespaces_policy: Option<MissingNamespacesPolicy>,
    /// Kinds whose instances block the deletion, besides the kinds that the objects define.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub additional_managed_types: Vec<ManagedTypeReference>,
    /// Components that must be ready before this Component is applied, and that are deleted after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<ComponentReference>,
}

/// Go's notation of durations.
const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";

/// Returns a schema that accepts and keeps every value.
fn any_value(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"x-kubernetes-preserve-unknown-fields": true})
}

/// The kubeconfig of another cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeConfig {
    /// The Secret of the kubeconfig, in the namespace of the Component. Default keys: value, value.yaml, value.yml.
    pub secret_ref: SecretKeyReference,
}

/// A key of a Secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyReference {
    /// The name of the Secret.
    pub name: String,
    /// The key in the Secret. Without a key, default keys are tried in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A Secret in the namespace of the Component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretReference {
    /// The name of the Secret.
    pub name: String,
}

/// The source of manifests: exactly one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{"rule": EXACTLY_ONE_RULE, "message": EXACTLY_ONE_MESSAGE}]))]
pub struct SourceReference {
    /// A Blueprint, whose files are in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blueprint: Option<NamespacedReference>,
    /// An archive behind a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_repository: Option<HttpRepository>,
    /// A GitRepository of Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux_git_repository: Option<NamespacedReference>,
    /// An OCIRepository of Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux_oci_repository: Option<NamespacedReference>,
    /// A Bucket of Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux_bucket: Option<NamespacedReference>,
    /// A HelmChart of Flux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux_helm_chart: Option<NamespacedReference>,
}

const EXACTLY_ONE_RULE: &str = "[has(self.blueprint), has(self.httpRepository), has(self.fluxGitRepository), \
    has(self.fluxOciRepository), has(self.fluxBucket), has(self.fluxHelmChart)].exists_one(x, x)";
pub(crate) const EXACTLY_ONE_MESSAGE: &str = "Exactly one of 'blueprint' or 'httpRepository' or 'fluxGitRepository' or \
    'fluxOciRepository' or 'fluxBucket' or 'fluxHelmChart' must be provided";

/// An object in a namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespacedReference {
    /// The namespace of the object. Default: the namespace of the Component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the object.
    pub name: String,
}

/// An archive behind a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpRepository {
    /// The URL of the archive, a gzipped tar.
    pub url: String,
    /// The response header with the digest of the archive. Default: etag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest_header: Option<String>,
    /// The response header with the revision of the archive. Default: `digestHeader`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_header: Option<String>,
}

/// The desired state of a Blueprint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlueprintSpec {
    /// The content of each file, by its path.
    pub files: BTreeMap<String, String>,
}

/// The decryption of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decryption {
    /// The format of encrypted files: sops. Default: sops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The Secret of the private keys: `*.agekey` for age, `*.asc` for PGP.
    pub secret_ref: SecretReference,
}

/// Changes of rendered objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostBuild {
    /// Values of variables such as `${NAME}`. They override the values of `substituteFrom`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub substitute: BTreeMap<String, String>,
    /// Secrets whose keys are names of variables. Later values override earlier values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub substitute_from: Vec<SecretReference>,
    /// Patches of kustomize, applied after substitution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
    /// Replacements of images, applied after patches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageReplacement>,
}

/// A patch of kustomize.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// The patch: a strategic merge patch, or a list of JSON patch operations.
    pub patch: String,
    /// The selected objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
}

/// A selection of objects. Each text is a regular expression.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PatchTarget {
    /// The API group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The API version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The kind of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The namespace of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A selector of annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation_selector: Option<String>,
    /// A selector of labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
}

/// The replacement of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageReplacement {
    /// The name of the image without tag and digest.
    pub name: String,
    /// The new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_name: Option<String>,
    /// The new tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<String>,
    /// The new digest. It replaces the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The policy for existing objects of other owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = plain_enum)]
pub enum AdoptionPolicy {
    /// Fails if the object exists.
    Never,
    /// Adopts objects without an owner.
    IfUnowned,
    /// Adopts all objects.
    Always,
}

/// The policy for updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = plain_enum)]
pub enum UpdatePolicy {
    /// Deletes the object, and creates it again.
    Recreate,
    /// Replaces the object with PUT.
    Replace,
    /// Applies the object on the server, and keeps fields of other managers.
    SsaMerge,
    /// Applies the object on the server, and takes over the fields of kubectl and Helm.
    SsaOverride,
}

/// The policy for the objects of a deleted Component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = plain_enum)]
pub enum DeletePolicy {
    /// Deletes the objects.
    Delete,
    /// Keeps the objects.
    Orphan,
}

/// The policy for namespaces that objects need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = plain_enum)]
pub enum MissingNamespacesPolicy {
    /// Creates the namespaces.
    Create,
    /// Fails without the namespaces.
    DoNotCreate,
}

/// Replaces one constant per value by a list of values, as structural schemas require.
pub(crate) fn plain_enum(schema: &mut schemars::Schema) {
    let Some(Value::Array(values)) = schema.remove("oneOf") else { return };
    let names: Vec<Value> = values.into_iter().filter_map(|value| value.get("const").cloned()).collect();
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), names.into());
}

/// Kinds of one API group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManagedTypeReference {
    /// The API group: a name, `*` for all, or `*.` with a suffix.
    pub group: String,
    /// The kind; `*` for all.
    pub kind: String,
}

/// A reference to another Component.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentReference {
    /// The namespace of the Component. Default: the namespace of the referring Component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the Component.
    pub name: String,
}

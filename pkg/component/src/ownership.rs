//! The marks and the policies for the objects of a Component.

use std::collections::BTreeMap;

use apply::{ApplyOptions, FormerTool, GroupKind, OwnershipMarks, Policies, ReconcilePolicy};
use serde_json::json;

use crate::{
    AdoptionPolicy, Component, ComponentKey, DeletePolicy, Intervals, MissingNamespacesPolicy, References,
    SourceState, UpdatePolicy, source::sha256,
};

/// The name of the reconciler: the prefix of labels and annotations, the field manager and the finalizer.
pub const RECONCILER: &str = "component-operator.cs.sap.com";

/// Prefixes of the field managers whose fields `SsaOverride` takes over.
const FORMER_MANAGERS: [FormerTool; 2] = [FormerTool::new("kubectl"), FormerTool::new("helm")];

/// Returns the ownership marks of a Component. `hub` is the uid of the namespace `kube-system` of its cluster.
/// Source: component-operator 0.3 (owner id).
pub fn marks(hub: &str, component: &ComponentKey) -> OwnershipMarks {
    OwnershipMarks::of_component(RECONCILER, &format!("{hub}/{}/{}", component.namespace, component.name))
}

/// Returns the options for writing the objects of a Component.
pub fn options(component: &Component, digest: &str) -> ApplyOptions {
    let spec = &component.spec;
    let kind = |one: &crate::ManagedTypeReference| GroupKind::new(&*one.group, &*one.kind);
    ApplyOptions {
        field_manager: RECONCILER.to_owned(),
        prefix: RECONCILER.to_owned(),
        defaults: Policies {
            adoption: match spec.adoption_policy.unwrap_or(AdoptionPolicy::IfUnowned) {
                AdoptionPolicy::Never => apply::AdoptionPolicy::Never,
                AdoptionPolicy::IfUnowned => apply::AdoptionPolicy::IfUnowned,
                AdoptionPolicy::Always => apply::AdoptionPolicy::Always,
            },
            reconcile: ReconcilePolicy::OnObjectChange,
            update: match spec.update_policy.unwrap_or(UpdatePolicy::SsaOverride) {
                UpdatePolicy::Recreate => apply::UpdatePolicy::Recreate,
                UpdatePolicy::Replace => apply::UpdatePolicy::Replace,
                UpdatePolicy::SsaMerge => apply::UpdatePolicy::SsaMerge,
                UpdatePolicy::SsaOverride => apply::UpdatePolicy::SsaOverride,
            },
            delete: match spec.delete_policy.unwrap_or(DeletePolicy::Delete) {
                DeletePolicy::Delete => apply::DeletePolicy::Delete,
                DeletePolicy::Orphan => apply::DeletePolicy::Orphan,
            },
        },
        missing_namespaces: match spec.missing_namespaces_policy {
            None | Some(MissingNamespacesPolicy::Create) => apply::MissingNamespacePolicy::Create,
            Some(MissingNamespacesPolicy::DoNotCreate) => apply::MissingNamespacePolicy::Refuse,
        },
        namespace: component.deployment_namespace().to_owned(),
        take_over: FORMER_MANAGERS.to_vec(),
        additional_managed_types: spec.additional_managed_types.iter().map(kind).collect(),
        component_digest: Some(digest.to_owned()),
        reapply_after: Some(Intervals::of(spec).reapply),
        // Source: component-operator 0.3 (labels of orphaned objects).
        release_orphans: false,
    }
}

/// Returns the digest of a Component: its generation, annotations and spec, and all that it refers to. The digest does not
/// reveal Secrets.
/// Source: component-operator-runtime (component digest).
pub fn component_digest(component: &Component, references: &References, source: &SourceState) -> String {
    let hex = |bytes: &Vec<u8>| data_encoding::HEXLOWER.encode(bytes);
    let keys: Option<BTreeMap<&String, String>> = references
        .decryption_keys
        .as_ref()
        .map(|keys| keys.iter().map(|(name, content)| (name, hex(content))).collect());
    sha256(&json!({
        "generation": component.generation(),
        "annotations": component.metadata.get("annotations"),
        "spec": component.spec,
        "kubeconfig": references.kubeconfig.as_ref().map(hex),
        "values": references.values,
        "decryptionKeys": keys,
        "variables": references.variables,
        "source": source.digest,
    }))
}

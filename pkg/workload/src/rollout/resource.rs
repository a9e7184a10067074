//! Resource arguments, and the objects they name.

use api::{Contract, similar_names};
use apply::{ApiError, ApiKind, GroupKind, ListQuery, ObjectKey, ServedKinds};
use inventory::{ContractError, ManagementCluster, known_kind};
use manifest::Object;

use super::RolloutError;

/// An argument `RESOURCE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRef {
    /// The type in lower case: `machinedeployment`, `md`, `machinedeployments.cluster.x-k8s.io`.
    pub resource: String,
    /// The name in lower case.
    pub name: String,
}

/// An argument that is not `RESOURCE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse `{word}`: the form is RESOURCE/NAME")]
pub struct ResourceRefError {
    /// The given word.
    pub word: String,
}

/// An object whose rollouts can be changed. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutResource {
    pub(super) kind: ApiKind,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// A kind of every management cluster.
struct KnownKind {
    short: &'static str,
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
}

/// Source: the definitions of Cluster API v1.14.
const KNOWN_KINDS: [KnownKind; 3] = [
    KnownKind {
        short: "md",
        group: "cluster.x-k8s.io",
        kind: "MachineDeployment",
        plural: "machinedeployments",
    },
    KnownKind {
        short: "kcp",
        group: "controlplane.cluster.x-k8s.io",
        kind: "KubeadmControlPlane",
        plural: "kubeadmcontrolplanes",
    },
    KnownKind { short: "mp", group: "cluster.x-k8s.io", kind: "MachinePool", plural: "machinepools" },
];

impl ResourceRef {
    /// Parses an argument. Case is ignored, also in names, because names of objects are in lower case.
    /// Source: clusterctl v1.14 client/rollout.go and internal/util/obj_refs.go.
    /// # Errors
    /// A word without a slash, with several slashes, or with an empty part.
    pub fn parse(word: &str) -> Result<Self, ResourceRefError> {
        let lower = word.to_lowercase();
        match lower.split_once('/') {
            Some((resource, name)) if !resource.is_empty() && !name.is_empty() && !name.contains('/') => {
                Ok(Self { resource: resource.to_owned(), name: name.to_owned() })
            }
            _ => Err(ResourceRefError { word: word.to_owned() }),
        }
    }
}

impl RolloutResource {
    /// Returns the key of the object, for messages.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            group: self.kind.group.clone(),
            kind: self.kind.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// True if the object is of this known kind, whose fields need no discovery.
    pub(super) fn is_kind(&self, group: &str, kind: &str) -> bool {
        self.kind.group == group && self.kind.kind == kind
    }
}

/// Returns the named objects, in the order of the arguments. Types of Cluster API itself need no request to the server.
/// Every kind `…ControlPlane` in a group of Cluster API is a valid type.
/// # Errors
/// `UnknownResource` and `Ambiguous` for a type. Missing objects are no error here.
pub async fn rollout_resources(
    cluster: &ManagementCluster,
    namespace: &str,
    refs: &[ResourceRef],
) -> Result<Vec<RolloutResource>, RolloutError> {
    let mut resources = Vec::with_capacity(refs.len());
    for ResourceRef { resource, name } in refs {
        let kind = match kind_by_name(resource) {
            Some(kind) => kind,
            None => find_control_plane_kind(&*cluster.server.kinds().await?, resource)?,
        };
        resources.push(RolloutResource { kind, namespace: namespace.to_owned(), name: name.clone() });
    }
    Ok(resources)
}

/// Returns the names of objects of a type, for completion.
/// # Errors
/// An invalid type, or a failed list.
pub async fn rollout_names(
    cluster: &ManagementCluster,
    namespace: &str,
    resource: &str,
) -> Result<Vec<String>, RolloutError> {
    let any = ResourceRef { resource: resource.to_owned(), name: String::new() };
    let resources = rollout_resources(cluster, namespace, &[any]).await?;
    let objects = list_metadata(cluster, &resources[0]).await?;
    Ok(objects.iter().map(|object| object.name().to_owned()).collect())
}

pub(super) async fn rollout_object(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<Object, RolloutError> {
    let RolloutResource { kind, namespace, name } = resource;
    match cluster.server.get(kind, namespace, name).await? {
        Some(object) => Ok(object),
        None => Err(not_found_error(cluster, resource).await?),
    }
}

/// Finds out if the object is missing, or its kind in this version.
async fn not_found_error(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<RolloutError, RolloutError> {
    let objects = match list_metadata(cluster, resource).await {
        Err(error) if error.is_not_found() => return Ok(missing_kind_error(cluster, resource).await?.into()),
        objects => objects?,
    };
    let near = similar_names(&resource.name, objects.iter().map(Object::name));
    let near = near.into_iter().map(str::to_owned).collect();
    Ok(RolloutError::NotFound { object: resource.key(), suggestions: near })
}

async fn missing_kind_error(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<ContractError, ApiError> {
    let kind = cluster.server.kind(&resource.kind.group_kind()).await?;
    let accepted = vec![Contract::CURRENT];
    Ok(ContractError::Unsupported { found: Contract::new(kind.version), accepted })
}

async fn list_metadata(
    cluster: &ManagementCluster,
    resource: &RolloutResource,
) -> Result<Vec<Object>, ApiError> {
    let namespace = Some(resource.namespace.clone());
    cluster
        .server
        .list(&resource.kind, &ListQuery { namespace, metadata_only: true, ..ListQuery::default() })
        .await
}

fn kind_by_name(typed: &str) -> Option<ApiKind> {
    let known = KNOWN_KINDS.iter().find(|known| {
        let singular = known.kind.to_lowercase();
        typed == known.short || matches_kind(typed, &singular, known.plural, known.group)
    })?;
    Some(known_kind(known.group, Contract::CURRENT, known.kind, known.plural, true))
}

/// True if a type is the singular or plural of a kind, with or without its group.
fn matches_kind(typed: &str, singular: &str, plural: &str, group: &str) -> bool {
    let (name, typed_group) =
        typed.split_once('.').map_or((typed, None), |(name, group)| (name, Some(group)));
    (name == singular || name == plural) && typed_group.is_none_or(|typed| typed == group)
}

fn find_control_plane_kind(kinds: &ServedKinds, typed: &str) -> Result<ApiKind, RolloutError> {
    let all: Vec<&ApiKind> = kinds.iter().filter(|kind| is_control_plane(kind)).collect();
    let is_meant = |kind: &ApiKind| matches_kind(typed, &kind.kind.to_lowercase(), &kind.plural, &kind.group);
    let matching: Vec<&ApiKind> = all.iter().copied().filter(|kind| is_meant(kind)).collect();
    match matching.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let others = all.iter().map(|kind| kind.kind.to_lowercase());
            let mut valid: Vec<_> =
                KNOWN_KINDS.iter().map(|known| known.kind.to_lowercase()).chain(others).collect();
            valid.sort_unstable();
            valid.dedup();
            Err(RolloutError::UnknownResource { typed: typed.to_owned(), valid })
        }
        several => {
            let name = |kind: &&ApiKind| format!("{}.{}", kind.kind.to_lowercase(), kind.group);
            Err(RolloutError::Ambiguous {
                typed: typed.to_owned(),
                kinds: several.iter().map(name).collect(),
            })
        }
    }
}

/// True for kinds of control planes: a name `…ControlPlane` in a group of Cluster API. That is the group of control
/// planes, or, for some managed control planes, the group of infrastructure.
/// Source: Cluster API v1.14 book, contract rules for ControlPlane.
fn is_control_plane(kind: &ApiKind) -> bool {
    let GroupKind { group, kind: name } = kind.group_kind();
    kind.namespaced && name.ends_with("ControlPlane") && group.ends_with(".cluster.x-k8s.io")
}

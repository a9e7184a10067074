//! Reads objects and namespaces of the target, and tries objects on the target.

mod dry_run;

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use apply::{ApiError, ApiKind, GroupKind, ListQuery, ObjectKey, key_of};
use futures::future::try_join_all;
use inventory::{ManagementCluster, known_kind};
use manifest::{Object, Value};
use workload::{MOVE_MARK, NodeId};

pub(crate) use dry_run::{DryRun, DryRunBatch, DryRunResults, dry_run_create};

/// The wanted objects that exist on the target.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetView {
    /// Existing objects, with their uids and the uids of their owners.
    pub(crate) objects: BTreeMap<ObjectKey, TargetObject>,
}

/// An object on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TargetObject {
    /// Object uid.
    pub(crate) uid: String,
    /// resourceVersion at the time of the read.
    pub(crate) version: String,
    /// Owners: kind, name, uid.
    pub(crate) owners: Vec<(String, String, String)>,
    /// Run of the move that paused the object, from its mark.
    pub(crate) paused_by: Option<String>,
    /// True if the object is being deleted.
    pub(crate) is_terminating: bool,
}

/// The state of a namespace on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceState {
    /// The namespace must be created.
    Missing,
    /// The namespace exists.
    Exists,
    /// The namespace is being deleted and accepts no new objects.
    Terminating,
}

/// Maximum number of namespaces with a list each. For more namespaces, one list returns all objects of a kind.
const MAX_NAMESPACE_LISTS: usize = 3;

impl TargetView {
    /// Lists the metadata of these objects: one list per kind, or per kind and namespace if the namespaces are few. A
    /// kind that the target lacks has no objects.
    pub(crate) async fn read(
        target: &ManagementCluster,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Result<Self, ApiError> {
        Self::read_keys(target, &keys.values().collect()).await
    }

    /// Lists the metadata of objects that are given by their keys on the target.
    pub(crate) async fn read_keys(
        target: &ManagementCluster,
        wanted: &BTreeSet<&ObjectKey>,
    ) -> Result<Self, ApiError> {
        let kinds = target.server.kinds().await?;
        let lists =
            lists(wanted).into_iter().filter_map(|(kind, list)| Some((kinds.preferred(&kind)?, list)));
        let found = lists.map(|(kind, list)| list_wanted(target, kind, list, wanted));
        let there = try_join_all(found).await?.into_iter().flatten().collect();
        Ok(Self { objects: there })
    }
}

/// Returns the lists that contain these objects.
fn lists(wanted: &BTreeSet<&ObjectKey>) -> Vec<(GroupKind, ListQuery)> {
    let mut namespaces_by_kind: BTreeMap<GroupKind, BTreeSet<&str>> = BTreeMap::new();
    for key in wanted {
        namespaces_by_kind.entry(key.group_kind()).or_default().insert(&key.namespace);
    }
    let metadata = |namespace: &str| ListQuery {
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        metadata_only: true,
        ..ListQuery::default()
    };
    let of_kind = |(kind, namespaces): (GroupKind, BTreeSet<&str>)| {
        let namespaces =
            if namespaces.len() > MAX_NAMESPACE_LISTS { BTreeSet::from([""]) } else { namespaces };
        namespaces.into_iter().map(|namespace| (kind.clone(), metadata(namespace))).collect::<Vec<_>>()
    };
    namespaces_by_kind.into_iter().flat_map(of_kind).collect()
}

async fn list_wanted(
    target: &ManagementCluster,
    kind: &ApiKind,
    list: ListQuery,
    wanted: &BTreeSet<&ObjectKey>,
) -> Result<Vec<(ObjectKey, TargetObject)>, ApiError> {
    let take = |found: &mut Vec<(ObjectKey, TargetObject)>, object: Object| {
        let key = key_of(&object);
        if wanted.contains(&key) {
            found.push((key, TargetObject::of(&object)));
        }
    };
    match target.server.pages(kind, &list).gather(take).await {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        found => found,
    }
}

impl TargetObject {
    /// Reads the metadata of an object.
    pub(crate) fn of(object: &Object) -> Self {
        let owners = object.get(&["metadata", "ownerReferences"]).and_then(Value::as_array);
        let owner = |owner: &Value| {
            let text = |field: &str| owner[field].as_str().unwrap_or_default().to_owned();
            (text("kind"), text("name"), text("uid"))
        };
        let text =
            |field| object.get(&["metadata", field]).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            uid: text("uid"),
            version: text("resourceVersion"),
            owners: owners.into_iter().flatten().map(owner).collect(),
            paused_by: object.annotation(MOVE_MARK).map(str::to_owned),
            is_terminating: object.get(&["metadata", "deletionTimestamp"]).is_some(),
        }
    }
}

/// Returns the state of each namespace on the target.
pub(crate) async fn namespace_states<'n>(
    target: &ManagementCluster,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<BTreeMap<String, NamespaceState>, ApiError> {
    let kind = known_kind("", "v1", "Namespace", "namespaces", false);
    let look = |name: &'n str| {
        let (server, kind) = (&target.server, &kind);
        async move {
            let state = match server.get(kind, "", name).await? {
                None => NamespaceState::Missing,
                Some(namespace) if TargetObject::of(&namespace).is_terminating => NamespaceState::Terminating,
                Some(_) => NamespaceState::Exists,
            };
            Ok::<_, ApiError>((name.to_owned(), state))
        }
    };
    Ok(try_join_all(names.into_iter().map(look)).await?.into_iter().collect())
}

/// Returns the kinds of the target by kind and version on the source.
/// # Errors
/// `UnknownKind` if the target does not serve one of the versions.
pub(crate) async fn kinds_on_target(
    target: &ManagementCluster,
    on_source: impl Iterator<Item = &ApiKind>,
) -> Result<BTreeMap<(GroupKind, String), ApiKind>, ApiError> {
    let mut kinds = BTreeMap::new();
    for kind in on_source {
        if let Entry::Vacant(vacant) = kinds.entry((kind.group_kind(), kind.version.clone())) {
            let (kind, version) = vacant.key();
            let on_target = kind_on_target(target, kind, version).await?;
            vacant.insert(on_target);
        }
    }
    Ok(kinds)
}

/// Returns the kind in which an object is written on the target, in the version of the source.
/// # Errors
/// `UnknownKind` if the target does not serve this version.
pub(crate) async fn kind_on_target(
    target: &ManagementCluster,
    kind: &GroupKind,
    version: &str,
) -> Result<ApiKind, ApiError> {
    let kinds = target.server.kinds_with(|kinds| kinds.version(kind, version).is_some()).await?;
    kinds.version(kind, version).cloned().ok_or_else(|| ApiError::UnknownKind {
        action: format!("find version {version} of kind `{kind}`"),
        kind: kind.to_string(),
    })
}

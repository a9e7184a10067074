//! Reads a cluster: lists every kind concurrently, and lists the references of machines by kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::output::PartRole;
use apply::{ApiError, ApiKind, GroupKind, ListQuery, ObjectKey, Server, key_of};
use futures::{
    future::{OptionFuture, join_all},
    join,
};
use manifest::Object;

use super::{
    DescribeError, DescribeRequest, OptionalPart,
    cluster_overview::unsupported_contract,
    extract::{self, Extractor, v1beta2_reference},
    kinds::{self, ContractVersions},
    snapshot::{ClusterSnapshot, ControlPlaneSnapshot, ListResult, ReferenceResult, ReferencedObjects},
    tree::UnreadableObject,
    watch::WatchTarget,
};
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// The page size. Objects are large until their shown fields are extracted, so the usual page size would dominate
/// memory.
pub(super) const PAGE_SIZE: usize = 250;
/// The maximum number of objects of a kind that are read one by one.
pub(super) const MAX_SINGLE_READS: usize = 4;

/// Reads one cluster from a server.
#[derive(Debug)]
pub(super) struct ClusterReader<'r> {
    server: Server,
    request: &'r DescribeRequest,
}

impl<'r> ClusterReader<'r> {
    pub(super) fn new(server: &Server, request: &'r DescribeRequest) -> Self {
        Self { server: server.clone(), request }
    }

    /// Reads everything except the references of machines.
    pub(super) async fn read_snapshot(&self) -> Result<(ClusterSnapshot, ContractVersions), DescribeError> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::cluster_kind();
        let (contracts, cluster, machines, machine_sets, deployments, pools, resource_sets, health_checks) = join!(
            ContractVersions::read(&self.server),
            self.server.get(&kind, namespace, name),
            self.list_kind("Machine", "machines", PartRole::Machine),
            self.list_kind("MachineSet", "machinesets", PartRole::MachineSet),
            self.list_kind("MachineDeployment", "machinedeployments", PartRole::MachineDeployment),
            self.list_kind("MachinePool", "machinepools", PartRole::MachinePool),
            self.if_requested(OptionalPart::ResourceSets, self.read_resource_sets()),
            self.if_requested(
                OptionalPart::MachineHealthChecks,
                self.list_kind("MachineHealthCheck", "machinehealthchecks", PartRole::MachineHealthCheck)
            ),
        );
        let contracts = contracts?;
        let Some(cluster) = cluster? else { return Err(self.unknown_cluster(&contracts, &kind).await?) };
        let to = |field| v1beta2_reference(&cluster, &["spec", field]);
        let (infrastructure, control_plane) = join!(
            OptionFuture::from(to("infrastructureRef").map(|key| self.read_infrastructure(&contracts, key))),
            OptionFuture::from(to("controlPlaneRef").map(|key| self.read_control_plane(&contracts, key))),
        );
        let found = ClusterSnapshot {
            cluster: Arc::new(self.extractor().summarize(&cluster, PartRole::Cluster)),
            infrastructure,
            control_plane,
            machines,
            machine_sets,
            deployments,
            pools,
            resource_sets: resource_sets.flatten(),
            health_checks,
        };
        Ok((found, contracts))
    }

    /// Reads the objects that machines refer to, kind by kind.
    pub(super) async fn read_references(
        &self,
        contracts: &ContractVersions,
        wanted: Vec<ObjectKey>,
    ) -> ReferencedObjects {
        let mut by_kind: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
        for key in wanted {
            by_kind.entry(key.group_kind()).or_default().insert(key);
        }
        let of_kinds = by_kind.into_iter().map(|(kind, keys)| self.read_kind(contracts, kind, keys));
        join_all(of_kinds).await.into_iter().flatten().collect()
    }

    /// Returns the objects to watch: all kinds of Cluster API, and the provider kinds of the tree.
    pub(super) fn watch_targets(
        &self,
        found: &ClusterSnapshot,
        contracts: &ContractVersions,
        references: &[ObjectKey],
    ) -> Vec<WatchTarget> {
        let cluster = [WatchTarget::with_name(kinds::cluster_kind(), &self.request.name)];
        let mut core = vec![
            ("Machine", "machines"),
            ("MachineSet", "machinesets"),
            ("MachineDeployment", "machinedeployments"),
            ("MachinePool", "machinepools"),
        ];
        if found.health_checks.is_some() {
            core.push(("MachineHealthCheck", "machinehealthchecks"));
        }
        let is_served = |kind: &ApiKind| contracts.kinds().preferred(&kind.group_kind()).is_some();
        let core = core.into_iter().map(|(kind, plural)| kinds::core_kind(kind, plural)).filter(is_served);
        let core = core.map(|kind| WatchTarget::with_labels(kind, self.cluster_selector()));
        let binding = found
            .resource_sets
            .as_ref()
            .map(|_| WatchTarget::with_name(kinds::binding_kind(), &self.request.name));
        let control_plane = found.control_plane.as_ref().map(|found| &found.object);
        let named = found.infrastructure.iter().chain(control_plane).filter_map(|of| {
            let key = of.as_ref().map_or_else(|unreadable| &*unreadable.key, |seen| &seen.key);
            Some(WatchTarget::with_name(contracts.version_to_read(&key.group_kind())?.0, &key.name))
        });
        let kinds: BTreeSet<GroupKind> = references.iter().map(ObjectKey::group_kind).collect();
        let referred = kinds.iter().filter_map(|kind| Some(contracts.version_to_read(kind)?.0));
        let referred = referred.map(|kind| WatchTarget::with_labels(kind, self.cluster_selector()));
        cluster.into_iter().chain(core).chain(binding).chain(named).chain(referred).collect()
    }

    async fn if_requested<T>(&self, part: OptionalPart, read: impl Future<Output = T>) -> Option<T> {
        OptionFuture::from(self.request.parts.contains(&part).then_some(read)).await
    }

    /// Lists the objects of a Cluster API kind that belong to the cluster.
    async fn list_kind(&self, kind: &str, plural: &str, role: PartRole) -> ListResult {
        let kind = kinds::core_kind(kind, plural);
        let mut taker = self.extractor();
        match self.list(&kind, self.cluster_selector(), |object| taker.extract(object, role)).await {
            Err(error) if !error.is_not_found() => {
                Err(UnreadableObject::new(self.key(&kind.group_kind(), ""), &error))
            }
            listed => Ok(listed.unwrap_or_default()),
        }
    }

    async fn read_resource_sets(&self) -> Option<Result<Vec<ObjectKey>, UnreadableObject>> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::binding_kind();
        match self.server.get(&kind, namespace, name).await {
            Ok(binding) => Some(Ok(extract::resource_set_keys(&binding?))),
            Err(error) => Some(Err(UnreadableObject::new(self.key(&kind.group_kind(), name), &error))),
        }
    }

    async fn read_infrastructure(&self, contracts: &ContractVersions, key: ObjectKey) -> ReferenceResult {
        let Some((kind, _)) = contracts.version_to_read(&key.group_kind()) else {
            return Err(unknown_kind(key));
        };
        let object = self.get(&kind, key).await?;
        Ok(Arc::new(self.extractor().summarize(&object, PartRole::ClusterInfrastructure)))
    }

    async fn read_control_plane(&self, contracts: &ContractVersions, key: ObjectKey) -> ControlPlaneSnapshot {
        let unreadable = |why| ControlPlaneSnapshot { object: Err(why), template: None };
        let Some((kind, contract)) = contracts.version_to_read(&key.group_kind()) else {
            return unreadable(unknown_kind(key));
        };
        match self.get(&kind, key).await {
            Ok(object) => self.extractor().extract_control_plane(&object, &contract),
            Err(why) => unreadable(why),
        }
    }

    async fn read_kind(
        &self,
        contracts: &ContractVersions,
        kind: GroupKind,
        mut wanted: BTreeSet<ObjectKey>,
    ) -> Vec<(ObjectKey, ReferenceResult)> {
        let Some((kind, _)) = contracts.version_to_read(&kind) else {
            return wanted.into_iter().map(|key| (key.clone(), Err(unknown_kind(key)))).collect();
        };
        let mut read = Vec::new();
        let mut taker = self.extractor();
        let mut take = |object: &Object| {
            (key_of(object), Arc::new(taker.summarize(object, PartRole::MachineInfrastructure)))
        };
        // Objects without the label of their cluster are found in a list of the whole namespace.
        for labels in [self.cluster_selector(), String::new()] {
            if wanted.len() <= MAX_SINGLE_READS {
                break;
            }
            match self.list(&kind, labels, &mut take).await {
                Ok(objects) => {
                    let found =
                        objects.into_iter().filter_map(|(key, seen)| Some((wanted.take(&key)?, Ok(seen))));
                    read.extend(found);
                }
                Err(error) if error.is_not_found() => {}
                Err(error) => {
                    read.extend(std::mem::take(&mut wanted).into_iter().map(|key| {
                        let unreadable = UnreadableObject::new(key.clone(), &error);
                        (key, Err(unreadable))
                    }));
                }
            }
        }
        if wanted.len() > MAX_SINGLE_READS {
            read.extend(wanted.into_iter().map(|key| (key.clone(), Err(UnreadableObject::missing(key)))));
            return read;
        }
        let get = async |key: ObjectKey| (key.clone(), self.get(&kind, key).await);
        let objects = join_all(wanted.into_iter().map(get)).await;
        read.extend(objects.into_iter().map(|(key, object)| (key, object.map(|object| take(&object).1))));
        read
    }

    async fn get(&self, kind: &ApiKind, key: ObjectKey) -> Result<Object, UnreadableObject> {
        match self.server.get(kind, &key.namespace, &key.name).await {
            Ok(Some(object)) => Ok(object),
            Ok(None) => Err(UnreadableObject::missing(key)),
            Err(error) => Err(UnreadableObject::new(key, &error)),
        }
    }

    /// Lists objects in pages; keeps only the result of `take`.
    async fn list<T>(
        &self,
        kind: &ApiKind,
        labels: String,
        mut take: impl FnMut(&Object) -> T,
    ) -> Result<Vec<T>, ApiError> {
        let namespace = Some(self.request.namespace.clone());
        let list = ListQuery { namespace, labels, ..ListQuery::default() };
        let mut pages = self.server.pages(kind, &list).with_size(PAGE_SIZE);
        pages.gather(|taken: &mut Vec<T>, object| taken.push(take(&object))).await
    }

    fn extractor(&self) -> Extractor {
        Extractor::new(self.request.conditions)
    }

    /// Returns the label selector of the cluster.
    fn cluster_selector(&self) -> String {
        format!("{CLUSTER_NAME}={}", self.request.name)
    }

    fn key(&self, kind: &GroupKind, name: &str) -> ObjectKey {
        ObjectKey {
            group: kind.group.clone(),
            kind: kind.kind.clone(),
            namespace: self.request.namespace.clone(),
            name: name.to_owned(),
        }
    }

    /// Returns the error for a missing Cluster.
    async fn unknown_cluster(
        &self,
        contracts: &ContractVersions,
        kind: &ApiKind,
    ) -> Result<DescribeError, DescribeError> {
        if contracts.kinds().version(&kind.group_kind(), &kind.version).is_none() {
            return Ok(unsupported_contract(contracts, kind));
        }
        let DescribeRequest { namespace, name, .. } = self.request;
        let all = ListQuery { metadata_only: true, ..ListQuery::default() };
        // Without permission to list, the error has no suggestions.
        let others = self.server.list(kind, &all).await.unwrap_or_default();
        let here = others.iter().filter(|other| other.namespace() == *namespace).map(Object::name);
        let elsewhere = others.iter().filter(|other| other.name() == *name).map(Object::namespace);
        Ok(DescribeError::UnknownCluster {
            namespace: namespace.clone(),
            name: name.clone(),
            suggestions: api::similar_names(name, here).into_iter().map(str::to_owned).collect(),
            other_namespaces: elsewhere.map(str::to_owned).collect(),
        })
    }
}

fn unknown_kind(key: ObjectKey) -> UnreadableObject {
    let (action, kind) = (String::new(), key.group_kind().to_string());
    UnreadableObject::new(key, &ApiError::UnknownKind { action, kind })
}

//! Reads a cluster: lists every kind concurrently, and lists the references of machines by kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use api::output::PartRole;
use apply::{ApiError, ApiKind, GroupKind, ListQuery, ObjectKey, Server};
use futures::{
    future::{OptionFuture, join_all},
    join,
};
use manifest::Object;

use super::{
    DescribeError, DescribeRequest, Part,
    fleet::not_served,
    found::{Found, FoundControlPlane, Listed, References, Referred},
    kinds::{self, Contracts},
    take::{self, Taker, reference},
    tree::Unreadable,
    watch::Watched,
};
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// The page size. Objects are large until their shown fields are extracted, so the usual page size would dominate
/// memory.
pub(super) const AT_ONCE: usize = 250;
/// The maximum number of objects of a kind that are read one by one.
pub(super) const FEW: usize = 4;

/// Reads one cluster from a server.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    server: Server,
    request: &'r DescribeRequest,
}

impl<'r> Reader<'r> {
    pub(super) fn new(server: &Server, request: &'r DescribeRequest) -> Self {
        Self { server: server.clone(), request }
    }

    /// Reads everything except the references of machines.
    pub(super) async fn found(&self) -> Result<(Found, Contracts), DescribeError> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::cluster();
        let (contracts, cluster, machines, machine_sets, deployments, pools, resource_sets, health_checks) = join!(
            Contracts::ask(&self.server),
            self.server.get(&kind, namespace, name),
            self.listed("Machine", "machines", PartRole::Machine),
            self.listed("MachineSet", "machinesets", PartRole::MachineSet),
            self.listed("MachineDeployment", "machinedeployments", PartRole::MachineDeployment),
            self.listed("MachinePool", "machinepools", PartRole::MachinePool),
            self.if_shown(Part::ResourceSets, self.resource_sets()),
            self.if_shown(
                Part::MachineHealthChecks,
                self.listed("MachineHealthCheck", "machinehealthchecks", PartRole::MachineHealthCheck)
            ),
        );
        let contracts = contracts?;
        let Some(cluster) = cluster? else { return Err(self.no_cluster(&contracts, &kind).await?) };
        let to = |field| reference(&cluster, &["spec", field]);
        let (infrastructure, control_plane) = join!(
            OptionFuture::from(to("infrastructureRef").map(|key| self.infrastructure(&contracts, key))),
            OptionFuture::from(to("controlPlaneRef").map(|key| self.control_plane(&contracts, key))),
        );
        let found = Found {
            cluster: Arc::new(self.taker().seen(&cluster, PartRole::Cluster)),
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
    pub(super) async fn references(&self, contracts: &Contracts, wanted: Vec<ObjectKey>) -> References {
        let mut by_kind: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
        for key in wanted {
            by_kind.entry(key.group_kind()).or_default().insert(key);
        }
        let of_kinds = by_kind.into_iter().map(|(kind, keys)| self.of_kind(contracts, kind, keys));
        join_all(of_kinds).await.into_iter().flatten().collect()
    }

    /// Returns the objects to watch: all kinds of Cluster API, and the provider kinds of the tree.
    pub(super) fn watched(
        &self,
        found: &Found,
        contracts: &Contracts,
        references: &[ObjectKey],
    ) -> Vec<Watched> {
        let cluster = [Watched::named(kinds::cluster(), &self.request.name)];
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
        let core = core.into_iter().map(|(kind, plural)| kinds::core(kind, plural)).filter(is_served);
        let core = core.map(|kind| Watched::labelled(kind, self.own()));
        let binding =
            found.resource_sets.as_ref().map(|_| Watched::named(kinds::binding(), &self.request.name));
        let control_plane = found.control_plane.as_ref().map(|found| &found.object);
        let named = found.infrastructure.iter().chain(control_plane).filter_map(|of| {
            let key = of.as_ref().map_or_else(|unreadable| &*unreadable.key, |seen| &seen.key);
            Some(Watched::named(contracts.read_as(&key.group_kind())?.0, &key.name))
        });
        let kinds: BTreeSet<GroupKind> = references.iter().map(ObjectKey::group_kind).collect();
        let referred = kinds.iter().filter_map(|kind| Some(contracts.read_as(kind)?.0));
        let referred = referred.map(|kind| Watched::labelled(kind, self.own()));
        cluster.into_iter().chain(core).chain(binding).chain(named).chain(referred).collect()
    }

    async fn if_shown<T>(&self, part: Part, read: impl Future<Output = T>) -> Option<T> {
        OptionFuture::from(self.request.parts.contains(&part).then_some(read)).await
    }

    /// Lists the objects of a Cluster API kind that belong to the cluster.
    async fn listed(&self, kind: &str, plural: &str, role: PartRole) -> Listed {
        let kind = kinds::core(kind, plural);
        let mut taker = self.taker();
        match self.list(&kind, self.own(), |object| taker.take(object, role)).await {
            Err(error) if !error.is_not_found() => {
                Err(Unreadable::new(self.key(&kind.group_kind(), ""), &error))
            }
            listed => Ok(listed.unwrap_or_default()),
        }
    }

    async fn resource_sets(&self) -> Option<Result<Vec<ObjectKey>, Unreadable>> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::binding();
        match self.server.get(&kind, namespace, name).await {
            Ok(binding) => Some(Ok(take::resource_sets(&binding?))),
            Err(error) => Some(Err(Unreadable::new(self.key(&kind.group_kind(), name), &error))),
        }
    }

    async fn infrastructure(&self, contracts: &Contracts, key: ObjectKey) -> Referred {
        let Some((kind, _)) = contracts.read_as(&key.group_kind()) else { return Err(no_kind(key)) };
        let object = self.get(&kind, key).await?;
        Ok(Arc::new(self.taker().seen(&object, PartRole::ClusterInfrastructure)))
    }

    async fn control_plane(&self, contracts: &Contracts, key: ObjectKey) -> FoundControlPlane {
        let unreadable = |why| FoundControlPlane { object: Err(why), template: None };
        let Some((kind, contract)) = contracts.read_as(&key.group_kind()) else {
            return unreadable(no_kind(key));
        };
        match self.get(&kind, key).await {
            Ok(object) => self.taker().control_plane(&object, &contract),
            Err(why) => unreadable(why),
        }
    }

    async fn of_kind(
        &self,
        contracts: &Contracts,
        kind: GroupKind,
        mut wanted: BTreeSet<ObjectKey>,
    ) -> Vec<(ObjectKey, Referred)> {
        let Some((kind, _)) = contracts.read_as(&kind) else {
            return wanted.into_iter().map(|key| (key.clone(), Err(no_kind(key)))).collect();
        };
        let mut read = Vec::new();
        let mut taker = self.taker();
        let mut take = |object: &Object| {
            (ObjectKey::of(object), Arc::new(taker.seen(object, PartRole::MachineInfrastructure)))
        };
        // Objects without the label of their cluster are found in a list of the whole namespace.
        for labels in [self.own(), String::new()] {
            if wanted.len() <= FEW {
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
                        let unreadable = Unreadable::new(key.clone(), &error);
                        (key, Err(unreadable))
                    }));
                }
            }
        }
        if wanted.len() > FEW {
            read.extend(wanted.into_iter().map(|key| (key.clone(), Err(Unreadable::missing(key)))));
            return read;
        }
        let get = async |key: ObjectKey| (key.clone(), self.get(&kind, key).await);
        let objects = join_all(wanted.into_iter().map(get)).await;
        read.extend(objects.into_iter().map(|(key, object)| (key, object.map(|object| take(&object).1))));
        read
    }

    async fn get(&self, kind: &ApiKind, key: ObjectKey) -> Result<Object, Unreadable> {
        match self.server.get(kind, &key.namespace, &key.name).await {
            Ok(Some(object)) => Ok(object),
            Ok(None) => Err(Unreadable::missing(key)),
            Err(error) => Err(Unreadable::new(key, &error)),
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
        let mut pages = self.server.pages(kind, &list).with_size(AT_ONCE);
        pages.gather(|taken: &mut Vec<T>, object| taken.push(take(&object))).await
    }

    fn taker(&self) -> Taker {
        Taker::new(self.request.conditions)
    }

    /// Returns the label selector of the cluster.
    fn own(&self) -> String {
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
    async fn no_cluster(
        &self,
        contracts: &Contracts,
        kind: &ApiKind,
    ) -> Result<DescribeError, DescribeError> {
        if contracts.kinds().version(&kind.group_kind(), &kind.version).is_none() {
            return Ok(not_served(contracts, kind));
        }
        let DescribeRequest { namespace, name, .. } = self.request;
        let all = ListQuery { metadata_only: true, ..ListQuery::default() };
        // Without permission to list, the error has no suggestions.
        let others = self.server.list(kind, &all).await.unwrap_or_default();
        let here = others.iter().filter(|other| other.namespace() == *namespace).map(Object::name);
        let elsewhere = others.iter().filter(|other| other.name() == *name).map(Object::namespace);
        Ok(DescribeError::NoSuchCluster {
            namespace: namespace.clone(),
            name: name.clone(),
            near: api::similar_names(name, here).into_iter().map(str::to_owned).collect(),
            elsewhere: elsewhere.map(str::to_owned).collect(),
        })
    }
}

fn no_kind(key: ObjectKey) -> Unreadable {
    let (action, kind) = (String::new(), key.group_kind().to_string());
    Unreadable::new(key, &ApiError::UnknownKind { action, kind })
}

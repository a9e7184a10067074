//! Reading a cluster: every kind by a list, side by side, and what machines refer to by a list for each kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use apply::{ApiError, ApiKind, GroupKind, List, ObjectKey, Server};
use futures::{
    future::{OptionFuture, join_all},
    join,
};
use manifest::{Object, Value};

use super::{
    DescribeError, DescribeRequest, Part,
    arrange::reference,
    found::{Found, FoundControlPlane, Listed, References, Referred},
    kinds::{self, Contracts},
    tree::Unreadable,
};
use crate::ContractError;

const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
/// How long a kind that does not answer holds everything up.
const PATIENCE: Duration = Duration::from_secs(10);
/// Up to so many objects of a kind are asked for one by one.
const FEW: usize = 4;

/// Asks a server for one cluster.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    server: Server,
    request: &'r DescribeRequest,
}

impl<'r> Reader<'r> {
    pub(super) fn new(server: &Server, request: &'r DescribeRequest) -> Self {
        Self { server: server.retrying_for(PATIENCE), request }
    }

    /// Everything but what machines refer to.
    pub(super) async fn found(&self) -> Result<(Found, Contracts), DescribeError> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::core("Cluster", "clusters");
        let (contracts, cluster, machines, machine_sets, deployments, pools, binding, health_checks) = join!(
            Contracts::ask(&self.server),
            self.server.get(&kind, namespace, name),
            self.listed("Machine", "machines"),
            self.listed("MachineSet", "machinesets"),
            self.listed("MachineDeployment", "machinedeployments"),
            self.listed("MachinePool", "machinepools"),
            self.if_shown(Part::ResourceSets, self.binding()),
            self.if_shown(
                Part::MachineHealthChecks,
                self.listed("MachineHealthCheck", "machinehealthchecks")
            ),
        );
        let contracts = contracts?;
        let Some(cluster) = cluster? else { return Err(self.no_cluster(&contracts, &kind).await?) };
        let (infrastructure, control_plane) = join!(
            self.referred(&contracts, reference(&cluster, &["spec", "infrastructureRef"])),
            self.referred(&contracts, reference(&cluster, &["spec", "controlPlaneRef"])),
        );
        let control_plane = control_plane.map(|(object, contract)| FoundControlPlane { object, contract });
        let found = Found {
            cluster,
            infrastructure: infrastructure.unzip().0,
            control_plane,
            machines,
            machine_sets,
            deployments,
            pools,
            binding: binding.flatten(),
            health_checks,
        };
        Ok((found, contracts))
    }

    /// What machines refer to, kind by kind.
    pub(super) async fn references(&self, contracts: &Contracts, wanted: Vec<ObjectKey>) -> References {
        let mut by_kind: BTreeMap<GroupKind, BTreeSet<ObjectKey>> = BTreeMap::new();
        for key in wanted {
            by_kind.entry(key.group_kind()).or_default().insert(key);
        }
        let of_kinds = by_kind.into_iter().map(|(kind, keys)| self.of_kind(contracts, kind, keys));
        join_all(of_kinds).await.into_iter().flatten().collect()
    }

    async fn if_shown<T>(&self, part: Part, read: impl Future<Output = T>) -> Option<T> {
        OptionFuture::from(self.request.parts.contains(&part).then_some(read)).await
    }

    /// The objects of a kind of Cluster API that belong to the cluster.
    async fn listed(&self, kind: &str, plural: &str) -> Listed {
        let kind = kinds::core(kind, plural);
        match self.list(&kind, self.own(), without_managers).await {
            Err(error) if !error.is_not_found() => {
                Err(Unreadable::new(self.key(&kind.group_kind(), ""), &error))
            }
            listed => Ok(listed.unwrap_or_default()),
        }
    }

    async fn binding(&self) -> Option<Referred> {
        let DescribeRequest { namespace, name, .. } = self.request;
        let kind = kinds::binding();
        let binding = self.server.get(&kind, namespace, name).await;
        binding.map_err(|error| Unreadable::new(self.key(&kind.group_kind(), name), &error)).transpose()
    }

    async fn referred(
        &self,
        contracts: &Contracts,
        key: Option<ObjectKey>,
    ) -> Option<(Referred, api::Contract)> {
        let key = key?;
        Some(match contracts.read_as(&key.group_kind()) {
            Some((kind, contract)) => (self.get(&kind, key).await, contract),
            None => (Err(no_kind(key)), api::Contract::new(api::Contract::CURRENT)),
        })
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
        // Objects that do not carry the name of their cluster are found among all of the namespace.
        for labels in [self.own(), String::new()] {
            if wanted.len() <= FEW {
                break;
            }
            match self.list(&kind, labels, without_spec).await {
                Ok(objects) => {
                    let found = objects
                        .into_iter()
                        .filter_map(|object| Some((wanted.take(&ObjectKey::of(&object))?, Ok(object))));
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
        read.extend(join_all(wanted.into_iter().map(get)).await);
        read
    }

    async fn get(&self, kind: &ApiKind, key: ObjectKey) -> Referred {
        match self.server.get(kind, &key.namespace, &key.name).await {
            Ok(Some(object)) => Ok(object),
            Ok(None) => Err(Unreadable::missing(key)),
            Err(error) => Err(Unreadable::new(key, &error)),
        }
    }

    /// What is taken of each object is all that is held.
    async fn list(
        &self,
        kind: &ApiKind,
        labels: String,
        take: fn(Object) -> Object,
    ) -> Result<Vec<Object>, ApiError> {
        let namespace = Some(self.request.namespace.clone());
        let mut pages = self.server.pages(kind, &List { namespace, labels, ..List::default() });
        pages.gather(|objects: &mut Vec<_>, object| objects.push(take(object))).await
    }

    /// What carries the name of the cluster.
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

    /// Why there is no such cluster.
    async fn no_cluster(
        &self,
        contracts: &Contracts,
        kind: &ApiKind,
    ) -> Result<DescribeError, DescribeError> {
        let Some(served) = contracts.kinds().preferred(&kind.group_kind()) else {
            return Ok(ContractError::Absent.into());
        };
        if contracts.kinds().version(&kind.group_kind(), &kind.version).is_none() {
            let found = api::Contract::new(&*served.version);
            return Ok(ContractError::Contract { found, accepted: vec![api::Contract::CURRENT] }.into());
        }
        let DescribeRequest { namespace, name, .. } = self.request;
        let all = List { metadata_only: true, ..List::default() };
        // Whoever may not look around is told no more than that.
        let others = self.server.list(kind, &all).await.unwrap_or_default();
        let here = others.iter().filter(|other| other.namespace() == *namespace).map(Object::name);
        let elsewhere = others.iter().filter(|other| other.name() == *name).map(Object::namespace);
        Ok(DescribeError::NoSuchCluster {
            namespace: namespace.clone(),
            name: name.clone(),
            near: api::near_names(name, here).into_iter().map(str::to_owned).collect(),
            elsewhere: elsewhere.map(str::to_owned).collect(),
        })
    }
}

/// Who wrote which field is half of an object, and nobody is told.
fn without_managers(mut object: Object) -> Object {
    if let Some(metadata) = object.get_mut(&["metadata"]).and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// Of what machines refer to, only its conditions are shown; the spec of a bootstrap config is most of it.
fn without_spec(object: Object) -> Object {
    let mut object = without_managers(object);
    object.as_map_mut().remove("spec");
    object
}

fn no_kind(key: ObjectKey) -> Unreadable {
    let (action, kind) = (String::new(), key.group_kind().to_string());
    Unreadable::new(key, &ApiError::NoSuchKind { action, kind })
}

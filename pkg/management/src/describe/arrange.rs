//! Who stands below whom, before anything that machines refer to is read: machines that are shown in a group need
//! nothing more.

use std::collections::{HashMap, HashSet};

use apply::ObjectKey;
use manifest::{Object, Value};

use super::{
    conditions::ConditionSet,
    found::Found,
    group::{self, Machine, Member},
};

const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// Whether machines that say the same are shown as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// They are.
    #[default]
    Alike,
    /// Each is shown for itself.
    None,
}

/// Machines by what they belong to.
#[derive(Debug)]
pub(super) struct Arrangement<'f> {
    pub(super) control_plane: Vec<Member<'f>>,
    pub(super) deployments: Vec<Deployment<'f>>,
    pub(super) pools: Vec<Owner<'f>>,
    /// Those that belong to nothing that was found.
    pub(super) other: Vec<Member<'f>>,
}

/// A MachineDeployment.
#[derive(Debug)]
pub(super) struct Deployment<'f> {
    pub(super) object: &'f Object,
    /// Its MachineSets, when they are shown.
    pub(super) sets: Vec<Owner<'f>>,
    /// Its machines otherwise.
    pub(super) members: Vec<Member<'f>>,
}

/// Something with machines.
#[derive(Debug)]
pub(super) struct Owner<'f> {
    pub(super) object: &'f Object,
    pub(super) members: Vec<Member<'f>>,
}

/// How machines are arranged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arranging {
    pub(super) grouping: Grouping,
    pub(super) with_sets: bool,
    pub(super) conditions: ConditionSet,
}

impl Arranging {
    /// Gives every machine one place.
    pub(super) fn arrange<'f>(self, found: &'f Found) -> Arrangement<'f> {
        let machines = listed(&found.machines);
        let has_control_plane = found.control_plane.is_some();
        let mut placed = HashSet::new();
        let control_plane: Vec<&Object> = machines
            .iter()
            .filter(|machine| has_control_plane && machine.label(CONTROL_PLANE).is_some())
            .inspect(|machine| _ = placed.insert(machine.name()))
            .collect();
        let mut by_controller: HashMap<Controller<'f>, Vec<&'f Object>> = HashMap::new();
        for machine in machines.iter().filter(|machine| !placed.contains(machine.name())) {
            if let Some(controller) = controller(machine) {
                by_controller.entry(controller).or_default().push(machine);
            }
        }
        let mut take = |owner: &'f Object| {
            let machines =
                by_controller.remove(&(owner.group(), owner.kind(), owner.name())).unwrap_or_default();
            placed.extend(machines.iter().map(|machine| machine.name()));
            machines
        };
        let deployments = self.deployments(found, &mut take);
        let owner = |pool| Owner { object: pool, members: self.members(take(pool)) };
        let pools = listed(&found.pools).iter().map(owner).collect();
        let other = machines.iter().filter(|machine| !placed.contains(machine.name())).collect();
        Arrangement {
            control_plane: self.members(control_plane),
            deployments,
            pools,
            other: self.machines(other).map(Member::Machine).collect(),
        }
    }

    fn deployments<'f>(
        self,
        found: &'f Found,
        take: &mut impl FnMut(&'f Object) -> Vec<&'f Object>,
    ) -> Vec<Deployment<'f>> {
        let mut sets: HashMap<Controller<'f>, Vec<&'f Object>> = HashMap::new();
        for set in listed(&found.machine_sets) {
            if let Some(controller) = controller(set) {
                sets.entry(controller).or_default().push(set);
            }
        }
        let deployments = listed(&found.deployments).iter();
        let arrange = |object: &'f Object| {
            let own = sets.remove(&(object.group(), object.kind(), object.name())).unwrap_or_default();
            if self.with_sets {
                let owner = |set: &'f Object| Owner { object: set, members: self.members(take(set)) };
                return Deployment {
                    object,
                    sets: own.into_iter().map(owner).collect(),
                    members: Vec::new(),
                };
            }
            let machines = own.into_iter().flat_map(&mut *take).collect();
            Deployment { object, sets: Vec::new(), members: self.members(machines) }
        };
        deployments.map(arrange).collect()
    }

    /// Machines below the same, alone or with those that say the same.
    fn members(self, machines: Vec<&Object>) -> Vec<Member<'_>> {
        let machines = self.machines(machines);
        match self.grouping {
            Grouping::None => machines.map(Member::Machine).collect(),
            Grouping::Alike => group::alike(machines, self.conditions),
        }
    }

    fn machines(self, machines: Vec<&Object>) -> impl Iterator<Item = Machine<'_>> {
        machines.into_iter().map(move |object| Machine::new(object, self.conditions))
    }
}

impl Arrangement<'_> {
    /// What the machines and pools that are shown refer to.
    pub(super) fn references(&self) -> Vec<ObjectKey> {
        let of_deployments = self.deployments.iter().flat_map(|deployment| {
            deployment.sets.iter().flat_map(|set| &set.members).chain(&deployment.members)
        });
        let of_pools = self.pools.iter().flat_map(|pool| &pool.members);
        let members = self.control_plane.iter().chain(of_deployments).chain(of_pools).chain(&self.other);
        let machines = members.filter_map(|member| match member {
            Member::Machine(machine) => Some(machine_references(machine.object)),
            Member::Group(_) => None,
        });
        let pools = self.pools.iter().map(|pool| pool_references(pool.object));
        machines.chain(pools).flatten().flatten().collect()
    }
}

/// Infrastructure and bootstrap config of a Machine.
pub(super) fn machine_references(machine: &Object) -> [Option<ObjectKey>; 2] {
    [
        reference(machine, &["spec", "infrastructureRef"]),
        reference(machine, &["spec", "bootstrap", "configRef"]),
    ]
}

/// Those of a MachinePool, or of the machines of a MachineDeployment: there they are templates.
pub(super) fn pool_references(pool: &Object) -> [Option<ObjectKey>; 2] {
    [
        reference(pool, &["spec", "template", "spec", "infrastructureRef"]),
        reference(pool, &["spec", "template", "spec", "bootstrap", "configRef"]),
    ]
}

/// A reference as contract v1beta2 has them, to an object in the same namespace.
pub(super) fn reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
    let fields = object.get(path)?;
    let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
    let key = ObjectKey {
        group: text("apiGroup"),
        kind: text("kind"),
        namespace: object.namespace().to_owned(),
        name: text("name"),
    };
    let is_defined = !(key.group.is_empty() && key.kind.is_empty() && key.name.is_empty());
    is_defined.then_some(key)
}

/// Group, kind and name of what controls an object.
type Controller<'o> = (&'o str, &'o str, &'o str);

fn controller(object: &Object) -> Option<Controller<'_>> {
    let owners = object.get(&["metadata", "ownerReferences"])?.as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == Value::Bool(true))?;
    let group = owner["apiVersion"].as_str()?.rsplit_once('/').map_or("", |(group, _)| group);
    Some((group, owner["kind"].as_str()?, owner["name"].as_str()?))
}

/// What was listed; nothing where that could not be done.
pub(super) fn listed<E>(listed: &Result<Vec<Object>, E>) -> &[Object] {
    listed.as_ref().map_or(&[], Vec::as_slice)
}

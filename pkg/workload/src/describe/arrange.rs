//! Assigns machines to their owners. This happens before reading the references of machines, because a group of
//! machines needs no references.

use std::collections::{HashMap, HashSet};

use apply::ObjectKey;

use super::{
    conditions::ConditionSet,
    extract::{Controller, LinkedSummary},
    group::{self, Member},
    snapshot::{ClusterSnapshot, listed_objects},
};

/// The grouping of machines with equal conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Machines with equal conditions form one group.
    #[default]
    Alike,
    /// Each machine is shown separately.
    None,
}

/// Machines by owner.
#[derive(Debug)]
pub(super) struct Arrangement<'f> {
    pub(super) control_plane: Vec<Member<'f>>,
    pub(super) deployments: Vec<ArrangedDeployment<'f>>,
    pub(super) pools: Vec<MachineOwner<'f>>,
    /// Machines without an owner in the tree.
    pub(super) other: Vec<Member<'f>>,
}

/// A MachineDeployment.
#[derive(Debug)]
pub(super) struct ArrangedDeployment<'f> {
    pub(super) object: &'f LinkedSummary,
    /// The MachineSets, if they are shown.
    pub(super) sets: Vec<MachineOwner<'f>>,
    /// The machines, if MachineSets are not shown.
    pub(super) members: Vec<Member<'f>>,
}

/// An owner of machines.
#[derive(Debug)]
pub(super) struct MachineOwner<'f> {
    pub(super) object: &'f LinkedSummary,
    pub(super) members: Vec<Member<'f>>,
}

/// The options of the arrangement.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrangeOptions {
    pub(super) grouping: Grouping,
    pub(super) with_sets: bool,
    pub(super) conditions: ConditionSet,
}

impl ArrangeOptions {
    /// Assigns every machine to one owner.
    pub(super) fn arrange<'f>(self, snapshot: &'f ClusterSnapshot) -> Arrangement<'f> {
        let machines = listed_objects(&snapshot.machines);
        let has_control_plane = snapshot.control_plane.is_some();
        let mut assigned = HashSet::new();
        let control_plane: Vec<&LinkedSummary> = machines
            .iter()
            .filter(|machine| has_control_plane && machine.is_control_plane)
            .inspect(|machine| _ = assigned.insert(machine.name()))
            .collect();
        let mut by_controller: HashMap<&Controller, Vec<&'f LinkedSummary>> = HashMap::new();
        for machine in machines.iter().filter(|machine| !assigned.contains(machine.name())) {
            if let Some(controller) = &machine.controller {
                by_controller.entry(controller).or_default().push(machine);
            }
        }
        let mut take_machines = |owner: &'f LinkedSummary| {
            let machines = by_controller.remove(&owner.as_controller()).unwrap_or_default();
            assigned.extend(machines.iter().map(|machine| machine.name()));
            machines
        };
        let deployments = self.deployments(snapshot, &mut take_machines);
        let owner = |pool| MachineOwner { object: pool, members: self.members(take_machines(pool)) };
        let pools = listed_objects(&snapshot.pools).iter().map(owner).collect();
        let other = machines.iter().filter(|machine| !assigned.contains(machine.name()));
        Arrangement {
            control_plane: self.members(control_plane),
            deployments,
            pools,
            other: other.map(Member::Machine).collect(),
        }
    }

    fn deployments<'f>(
        self,
        snapshot: &'f ClusterSnapshot,
        take_machines: &mut impl FnMut(&'f LinkedSummary) -> Vec<&'f LinkedSummary>,
    ) -> Vec<ArrangedDeployment<'f>> {
        let mut sets: HashMap<&Controller, Vec<&'f LinkedSummary>> = HashMap::new();
        for set in listed_objects(&snapshot.machine_sets) {
            if let Some(controller) = &set.controller {
                sets.entry(controller).or_default().push(set);
            }
        }
        let deployments = listed_objects(&snapshot.deployments).iter();
        let arrange = |taken: &'f LinkedSummary| {
            let own = sets.remove(&taken.as_controller()).unwrap_or_default();
            if self.with_sets {
                let owner = |set: &'f LinkedSummary| MachineOwner {
                    object: set,
                    members: self.members(take_machines(set)),
                };
                return ArrangedDeployment {
                    object: taken,
                    sets: own.into_iter().map(owner).collect(),
                    members: Vec::new(),
                };
            }
            let machines = own.into_iter().flat_map(&mut *take_machines).collect();
            ArrangedDeployment { object: taken, sets: Vec::new(), members: self.members(machines) }
        };
        deployments.map(arrange).collect()
    }

    /// Returns the machines of one owner, grouped if requested.
    fn members(self, machines: Vec<&LinkedSummary>) -> Vec<Member<'_>> {
        match self.grouping {
            Grouping::None => machines.into_iter().map(Member::Machine).collect(),
            Grouping::Alike => group::group_equal(machines, self.conditions),
        }
    }
}

impl Arrangement<'_> {
    /// Lists the references of the shown machines and pools.
    pub(super) fn references(&self) -> Vec<ObjectKey> {
        let of_deployments = self.deployments.iter().flat_map(|deployment| {
            deployment.sets.iter().flat_map(|set| &set.members).chain(&deployment.members)
        });
        let of_pools = self.pools.iter().flat_map(|pool| &pool.members);
        let members = self.control_plane.iter().chain(of_deployments).chain(of_pools).chain(&self.other);
        let machines = members.filter_map(|member| match member {
            Member::Machine(machine) => Some(*machine),
            Member::Group(_) => None,
        });
        let pools = self.pools.iter().map(|pool| pool.object);
        machines.chain(pools).flat_map(|taken| &taken.references).flatten().cloned().collect()
    }
}

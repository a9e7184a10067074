//! Assigns machines to their owners. This happens before reading the references of machines, because a group of
//! machines needs no references.

use std::collections::{HashMap, HashSet};

use apply::ObjectKey;

use super::{
    conditions::ConditionSet,
    found::{Found, listed},
    group::{self, Member},
    take::{Controller, Taken},
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
    pub(super) deployments: Vec<Deployment<'f>>,
    pub(super) pools: Vec<Owner<'f>>,
    /// Machines without an owner in the tree.
    pub(super) other: Vec<Member<'f>>,
}

/// A MachineDeployment.
#[derive(Debug)]
pub(super) struct Deployment<'f> {
    pub(super) taken: &'f Taken,
    /// The MachineSets, if they are shown.
    pub(super) sets: Vec<Owner<'f>>,
    /// The machines, if MachineSets are not shown.
    pub(super) members: Vec<Member<'f>>,
}

/// An owner of machines.
#[derive(Debug)]
pub(super) struct Owner<'f> {
    pub(super) taken: &'f Taken,
    pub(super) members: Vec<Member<'f>>,
}

/// The options of the arrangement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arranging {
    pub(super) grouping: Grouping,
    pub(super) with_sets: bool,
    pub(super) conditions: ConditionSet,
}

impl Arranging {
    /// Assigns every machine to one owner.
    pub(super) fn arrange<'f>(self, found: &'f Found) -> Arrangement<'f> {
        let machines = listed(&found.machines);
        let has_control_plane = found.control_plane.is_some();
        let mut placed = HashSet::new();
        let control_plane: Vec<&Taken> = machines
            .iter()
            .filter(|machine| has_control_plane && machine.is_of_control_plane)
            .inspect(|machine| _ = placed.insert(machine.name()))
            .collect();
        let mut by_controller: HashMap<&Controller, Vec<&'f Taken>> = HashMap::new();
        for machine in machines.iter().filter(|machine| !placed.contains(machine.name())) {
            if let Some(controller) = &machine.controller {
                by_controller.entry(controller).or_default().push(machine);
            }
        }
        let mut take = |owner: &'f Taken| {
            let machines = by_controller.remove(&owner.as_controller()).unwrap_or_default();
            placed.extend(machines.iter().map(|machine| machine.name()));
            machines
        };
        let deployments = self.deployments(found, &mut take);
        let owner = |pool| Owner { taken: pool, members: self.members(take(pool)) };
        let pools = listed(&found.pools).iter().map(owner).collect();
        let other = machines.iter().filter(|machine| !placed.contains(machine.name()));
        Arrangement {
            control_plane: self.members(control_plane),
            deployments,
            pools,
            other: other.map(Member::Machine).collect(),
        }
    }

    fn deployments<'f>(
        self,
        found: &'f Found,
        take: &mut impl FnMut(&'f Taken) -> Vec<&'f Taken>,
    ) -> Vec<Deployment<'f>> {
        let mut sets: HashMap<&Controller, Vec<&'f Taken>> = HashMap::new();
        for set in listed(&found.machine_sets) {
            if let Some(controller) = &set.controller {
                sets.entry(controller).or_default().push(set);
            }
        }
        let deployments = listed(&found.deployments).iter();
        let arrange = |taken: &'f Taken| {
            let own = sets.remove(&taken.as_controller()).unwrap_or_default();
            if self.with_sets {
                let owner = |set: &'f Taken| Owner { taken: set, members: self.members(take(set)) };
                return Deployment { taken, sets: own.into_iter().map(owner).collect(), members: Vec::new() };
            }
            let machines = own.into_iter().flat_map(&mut *take).collect();
            Deployment { taken, sets: Vec::new(), members: self.members(machines) }
        };
        deployments.map(arrange).collect()
    }

    /// Returns the machines of one owner, grouped if requested.
    fn members(self, machines: Vec<&Taken>) -> Vec<Member<'_>> {
        match self.grouping {
            Grouping::None => machines.into_iter().map(Member::Machine).collect(),
            Grouping::Alike => group::alike(machines, self.conditions),
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
        let pools = self.pools.iter().map(|pool| pool.taken);
        machines.chain(pools).flat_map(|taken| &taken.references).flatten().cloned().collect()
    }
}

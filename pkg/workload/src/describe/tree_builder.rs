//! Builds the tree from the objects that were read.

use std::{cmp::Reverse, sync::Arc};

use api::output::PartRole;
use apply::ObjectKey;

use super::{
    DescribeRequest, Echo, OptionalPart,
    arrange::{Arrangement, MachineOwner},
    conditions::Condition,
    group::Member,
    snapshot::{
        ClusterSnapshot, ControlPlaneSnapshot, ListResult, ReferenceResult, ReferencedObjects, listed_objects,
    },
    title::title,
    tree::{ObjectSummary, Subject, TreeNode},
};

/// Builds the tree.
pub(super) struct TreeBuilder<'f> {
    pub(super) request: &'f DescribeRequest,
    pub(super) snapshot: &'f ClusterSnapshot,
    pub(super) references: &'f ReferencedObjects,
}

impl<'f> TreeBuilder<'f> {
    /// Returns the Cluster node with all its descendants, sorted.
    pub(super) fn build(&self, arrangement: Arrangement<'f>) -> TreeNode {
        let found = self.snapshot;
        let Arrangement { control_plane, deployments, pools, other } = arrangement;
        let mut root = object_node(&found.cluster, PartRole::Cluster);
        let infrastructure = found.infrastructure.as_ref();
        root.children.extend(infrastructure.map(|of| reference_node(of, PartRole::ClusterInfrastructure)));
        root.children
            .extend(found.control_plane.as_ref().map(|of| self.control_plane_node(of, control_plane)));
        let mut workers: Vec<TreeNode> = deployments
            .into_iter()
            .map(|deployment| {
                let mut node = object_node(&deployment.object.summary, PartRole::MachineDeployment);
                node.children.extend(self.templates_node(&deployment.object.references));
                let sets = deployment.sets.into_iter();
                node.children.extend(sets.map(|set| self.owner_node(set, PartRole::MachineSet)));
                node.children.extend(self.member_nodes(deployment.members));
                node
            })
            .collect();
        workers.extend(pools.into_iter().map(|pool| self.pool_node(pool)));
        if !other.is_empty() {
            workers.push(TreeNode::heading(PartRole::Other, self.member_nodes(other).collect()));
        }
        for (of, role) in [
            (&found.machines, PartRole::Machine),
            (&found.deployments, PartRole::MachineDeployment),
            (&found.machine_sets, PartRole::MachineSet),
            (&found.pools, PartRole::MachinePool),
        ] {
            workers.extend(unlisted_node(of, role));
        }
        if !workers.is_empty() {
            root.children.push(TreeNode::heading(PartRole::Workers, workers));
        }
        root.children.extend(self.resource_sets_node());
        root.children.extend(self.health_checks_node());
        sort(&mut root);
        root
    }

    fn control_plane_node(&self, of: &ControlPlaneSnapshot, machines: Vec<Member<'f>>) -> TreeNode {
        let mut node = reference_node(&of.object, PartRole::ControlPlane);
        node.children.extend(self.templates_node(&[of.template.clone(), None]));
        node.children.extend(self.member_nodes(machines));
        node
    }

    fn owner_node(&self, owner: MachineOwner<'f>, role: PartRole) -> TreeNode {
        let mut node = object_node(&owner.object.summary, role);
        node.children.extend(self.member_nodes(owner.members));
        node
    }

    fn pool_node(&self, pool: MachineOwner<'f>) -> TreeNode {
        let references = &pool.object.references;
        let mut node = self.owner_node(pool, PartRole::MachinePool);
        self.add_references(&mut node, references, PartRole::MachinePoolInfrastructure);
        node
    }

    fn member_nodes(&self, members: Vec<Member<'f>>) -> impl Iterator<Item = TreeNode> {
        members.into_iter().map(|member| match member {
            Member::Group(group) => TreeNode::new(PartRole::Machine, Subject::Group(group)),
            Member::Machine(machine) => {
                let mut node = object_node(&machine.summary, PartRole::Machine);
                self.add_references(&mut node, &machine.references, PartRole::MachineInfrastructure);
                node
            }
        })
    }

    /// Adds infrastructure and bootstrap config, unless they repeat their owner.
    /// Source: clusterctl v1.14 client/tree/tree.go (Add, NoEcho); differs: an unreadable object is never omitted.
    fn add_references(&self, node: &mut TreeNode, of: &[Option<ObjectKey>; 2], infrastructure: PartRole) {
        for (key, role) in of.iter().zip([infrastructure, PartRole::BootstrapConfig]) {
            let Some(found) = key.as_ref().and_then(|key| self.references.get(key)) else { continue };
            let child = reference_node(found, role);
            if self.request.echo == Echo::Shown || !is_echo(&child, node) {
                node.children.push(child);
            }
        }
    }

    fn templates_node(&self, [infrastructure, bootstrap]: &[Option<ObjectKey>; 2]) -> Option<TreeNode> {
        if !self.request.parts.contains(&OptionalPart::Templates) {
            return None;
        }
        let infrastructure =
            infrastructure.as_ref().map(|key| (PartRole::MachineInfrastructureTemplate, key));
        let bootstrap = bootstrap.as_ref().map(|key| (PartRole::BootstrapConfigTemplate, key));
        let named = |(role, key): (_, &ObjectKey)| TreeNode::new(role, Subject::Named(key.clone()));
        let templates: Vec<_> = infrastructure.into_iter().chain(bootstrap).map(named).collect();
        (!templates.is_empty()).then(|| TreeNode::heading(PartRole::Templates, templates))
    }

    fn resource_sets_node(&self) -> Option<TreeNode> {
        let node = |subject| TreeNode::new(PartRole::ResourceSet, subject);
        let sets = match self.snapshot.resource_sets.as_ref()? {
            Err(unreadable) => vec![node(Subject::Unreadable(unreadable.clone()))],
            Ok(keys) => keys.iter().map(|key| node(Subject::Named(key.clone()))).collect(),
        };
        Some(TreeNode::heading(PartRole::ResourceSets, sets))
    }

    fn health_checks_node(&self) -> Option<TreeNode> {
        let found = self.snapshot.health_checks.as_ref()?;
        if let Some(unlisted) = unlisted_node(found, PartRole::MachineHealthCheck) {
            return Some(unlisted);
        }
        let checks = listed_objects(found)
            .iter()
            .map(|check| object_node(&check.summary, PartRole::MachineHealthCheck));
        let checks: Vec<_> = checks.collect();
        (!checks.is_empty()).then(|| TreeNode::heading(PartRole::MachineHealthChecks, checks))
    }
}

fn object_node(seen: &Arc<ObjectSummary>, role: PartRole) -> TreeNode {
    TreeNode::new(role, Subject::Object(Arc::clone(seen)))
}

fn reference_node(referred: &ReferenceResult, role: PartRole) -> TreeNode {
    match referred {
        Ok(seen) => object_node(seen, role),
        Err(unreadable) => TreeNode::new(role, Subject::Unreadable(unreadable.clone())),
    }
}

/// Returns a node for a kind that could not be listed.
fn unlisted_node(listed: &ListResult, role: PartRole) -> Option<TreeNode> {
    let unreadable = listed.as_ref().err()?;
    Some(TreeNode::new(role, Subject::Unreadable(unreadable.clone())))
}

/// True if an object is ready, or has the same condition `Ready` as its owner.
fn is_echo(child: &TreeNode, owner: &TreeNode) -> bool {
    let ready = |node: &TreeNode| match &node.subject {
        Subject::Object(seen) => Some(seen.condition("Ready").cloned()),
        _ => None,
    };
    let (Some(child), Some(owner)) = (ready(child), ready(owner)) else { return false };
    child.as_ref().is_some_and(Condition::is_true) || Condition::is_same_state(owner.as_ref(), child.as_ref())
}

/// Sorts a node and its descendants into display order.
fn sort(node: &mut TreeNode) {
    node.children.iter_mut().for_each(sort);
    node.children.sort_by_cached_key(|child| {
        let names = match &child.subject {
            Subject::Group(group) => group.names.clone(),
            _ => Vec::new(),
        };
        (Reverse(child.role == PartRole::Templates), title(child).text(), names)
    });
}

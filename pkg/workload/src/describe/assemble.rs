//! Builds the tree from the objects that were read.

use std::{cmp::Reverse, sync::Arc};

use api::output::PartRole;
use apply::ObjectKey;

use super::{
    DescribeRequest, Echo, Part,
    arrange::{Arrangement, Owner},
    conditions::Condition,
    found::{Found, FoundControlPlane, Listed, References, Referred, listed},
    group::Member,
    title::title,
    tree::{SeenObject, Subject, TreeNode},
};

/// Builds the tree.
pub(super) struct Assembly<'f> {
    pub(super) request: &'f DescribeRequest,
    pub(super) found: &'f Found,
    pub(super) references: &'f References,
}

impl<'f> Assembly<'f> {
    /// Returns the Cluster node with all its descendants, sorted.
    pub(super) fn root(&self, arrangement: Arrangement<'f>) -> TreeNode {
        let found = self.found;
        let Arrangement { control_plane, deployments, pools, other } = arrangement;
        let mut root = object(&found.cluster, PartRole::Cluster);
        let infrastructure = found.infrastructure.as_ref();
        root.children.extend(infrastructure.map(|of| referred(of, PartRole::ClusterInfrastructure)));
        root.children.extend(found.control_plane.as_ref().map(|of| self.control_plane(of, control_plane)));
        let mut workers: Vec<TreeNode> = deployments
            .into_iter()
            .map(|deployment| {
                let mut node = object(&deployment.taken.seen, PartRole::MachineDeployment);
                node.children.extend(self.templates(&deployment.taken.references));
                let sets = deployment.sets.into_iter();
                node.children.extend(sets.map(|set| self.owner(set, PartRole::MachineSet)));
                node.children.extend(self.members(deployment.members));
                node
            })
            .collect();
        workers.extend(pools.into_iter().map(|pool| self.pool(pool)));
        if !other.is_empty() {
            workers.push(TreeNode::heading(PartRole::Other, self.members(other).collect()));
        }
        for (of, role) in [
            (&found.machines, PartRole::Machine),
            (&found.deployments, PartRole::MachineDeployment),
            (&found.machine_sets, PartRole::MachineSet),
            (&found.pools, PartRole::MachinePool),
        ] {
            workers.extend(unlisted(of, role));
        }
        if !workers.is_empty() {
            root.children.push(TreeNode::heading(PartRole::Workers, workers));
        }
        root.children.extend(self.resource_sets());
        root.children.extend(self.health_checks());
        sort(&mut root);
        root
    }

    fn control_plane(&self, of: &FoundControlPlane, machines: Vec<Member<'f>>) -> TreeNode {
        let mut node = referred(&of.object, PartRole::ControlPlane);
        node.children.extend(self.templates(&[of.template.clone(), None]));
        node.children.extend(self.members(machines));
        node
    }

    fn owner(&self, owner: Owner<'f>, role: PartRole) -> TreeNode {
        let mut node = object(&owner.taken.seen, role);
        node.children.extend(self.members(owner.members));
        node
    }

    fn pool(&self, pool: Owner<'f>) -> TreeNode {
        let references = &pool.taken.references;
        let mut node = self.owner(pool, PartRole::MachinePool);
        self.add_references(&mut node, references, PartRole::MachinePoolInfrastructure);
        node
    }

    fn members(&self, members: Vec<Member<'f>>) -> impl Iterator<Item = TreeNode> {
        members.into_iter().map(|member| match member {
            Member::Group(group) => TreeNode::new(PartRole::Machine, Subject::Group(group)),
            Member::Machine(machine) => {
                let mut node = object(&machine.seen, PartRole::Machine);
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
            let child = referred(found, role);
            if self.request.echo == Echo::Shown || !is_echo(&child, node) {
                node.children.push(child);
            }
        }
    }

    fn templates(&self, [infrastructure, bootstrap]: &[Option<ObjectKey>; 2]) -> Option<TreeNode> {
        if !self.request.parts.contains(&Part::Templates) {
            return None;
        }
        let infrastructure =
            infrastructure.as_ref().map(|key| (PartRole::MachineInfrastructureTemplate, key));
        let bootstrap = bootstrap.as_ref().map(|key| (PartRole::BootstrapConfigTemplate, key));
        let named = |(role, key): (_, &ObjectKey)| TreeNode::new(role, Subject::Named(key.clone()));
        let templates: Vec<_> = infrastructure.into_iter().chain(bootstrap).map(named).collect();
        (!templates.is_empty()).then(|| TreeNode::heading(PartRole::Templates, templates))
    }

    fn resource_sets(&self) -> Option<TreeNode> {
        let node = |subject| TreeNode::new(PartRole::ResourceSet, subject);
        let sets = match self.found.resource_sets.as_ref()? {
            Err(unreadable) => vec![node(Subject::Unreadable(unreadable.clone()))],
            Ok(keys) => keys.iter().map(|key| node(Subject::Named(key.clone()))).collect(),
        };
        Some(TreeNode::heading(PartRole::ResourceSets, sets))
    }

    fn health_checks(&self) -> Option<TreeNode> {
        let found = self.found.health_checks.as_ref()?;
        if let Some(unlisted) = unlisted(found, PartRole::MachineHealthCheck) {
            return Some(unlisted);
        }
        let checks = listed(found).iter().map(|check| object(&check.seen, PartRole::MachineHealthCheck));
        let checks: Vec<_> = checks.collect();
        (!checks.is_empty()).then(|| TreeNode::heading(PartRole::MachineHealthChecks, checks))
    }
}

fn object(seen: &Arc<SeenObject>, role: PartRole) -> TreeNode {
    TreeNode::new(role, Subject::Object(Arc::clone(seen)))
}

fn referred(referred: &Referred, role: PartRole) -> TreeNode {
    match referred {
        Ok(seen) => object(seen, role),
        Err(unreadable) => TreeNode::new(role, Subject::Unreadable(unreadable.clone())),
    }
}

/// Returns a node for a kind that could not be listed.
fn unlisted(listed: &Listed, role: PartRole) -> Option<TreeNode> {
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
    child.as_ref().is_some_and(Condition::is_true) || Condition::agree(owner.as_ref(), child.as_ref())
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

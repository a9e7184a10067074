//! From what was read to the tree.

use std::cmp::Reverse;

use api::Contract;
use apply::{GroupKind, ObjectKey};
use manifest::Object;

use super::{
    DescribeRequest, Echo, Part,
    arrange::{Arrangement, Owner, listed, machine_references, pool_references, reference},
    conditions::Condition,
    found::{Found, FoundControlPlane, Listed, References, Referred},
    group::{Machine, Member},
    kinds,
    title::title,
    tree::{MachineCounts, SeenObject, Subject, TreeNode, TreeRole},
};

/// Puts the tree together.
pub(super) struct Assembly<'f> {
    pub(super) request: &'f DescribeRequest,
    pub(super) found: &'f Found,
    pub(super) references: &'f References,
}

impl<'f> Assembly<'f> {
    /// The Cluster with everything below it, each in its place among its siblings.
    pub(super) fn root(&self, arrangement: Arrangement<'f>) -> TreeNode {
        let found = self.found;
        let Arrangement { control_plane, deployments, pools, other } = arrangement;
        let mut root = self.object(&found.cluster, TreeRole::Cluster);
        let infrastructure = found.infrastructure.as_ref();
        root.children.extend(infrastructure.map(|of| self.referred(of, TreeRole::ClusterInfrastructure)));
        root.children.extend(found.control_plane.as_ref().map(|of| self.control_plane(of, control_plane)));
        let mut workers: Vec<TreeNode> = deployments
            .into_iter()
            .map(|deployment| {
                let mut node = self.object(deployment.object, TreeRole::MachineDeployment);
                node.children.extend(self.templates(pool_references(deployment.object)));
                let sets = deployment.sets.into_iter();
                node.children.extend(sets.map(|set| self.owner(set, TreeRole::MachineSet)));
                node.children.extend(self.members(deployment.members));
                node
            })
            .collect();
        workers.extend(pools.into_iter().map(|pool| self.pool(pool)));
        if !other.is_empty() {
            workers.push(TreeNode::heading(TreeRole::Other, self.members(other).collect()));
        }
        for (of, role) in [
            (&found.machines, TreeRole::Machine),
            (&found.deployments, TreeRole::MachineDeployment),
            (&found.machine_sets, TreeRole::MachineSet),
            (&found.pools, TreeRole::MachinePool),
        ] {
            workers.extend(unlisted(of, role));
        }
        if !workers.is_empty() {
            root.children.push(TreeNode::heading(TreeRole::Workers, workers));
        }
        root.children.extend(self.resource_sets());
        root.children.extend(self.health_checks());
        sort(&mut root);
        root
    }

    fn object(&self, object: &Object, role: TreeRole) -> TreeNode {
        let seen = SeenObject::of(object, role, self.request.conditions);
        TreeNode::new(role, Subject::Object(Box::new(seen)))
    }

    fn referred(&self, referred: &Referred, role: TreeRole) -> TreeNode {
        match referred {
            Ok(object) => self.object(object, role),
            Err(unreadable) => TreeNode::new(role, Subject::Unreadable(unreadable.clone())),
        }
    }

    fn control_plane(&self, of: &FoundControlPlane, machines: Vec<Member<'f>>) -> TreeNode {
        let mut node = self.referred(&of.object, TreeRole::ControlPlane);
        let is_older = of.contract.as_str() != Contract::CURRENT;
        if let (Ok(object), Subject::Object(seen)) = (&of.object, &mut node.subject) {
            if is_older {
                seen.replicas = MachineCounts::of_older_control_plane(object);
            }
            let template = if is_older {
                older_reference(object, &["spec", "machineTemplate", "infrastructureRef"])
            } else {
                reference(object, &["spec", "machineTemplate", "spec", "infrastructureRef"])
            };
            node.children.extend(self.templates([template, None]));
        }
        node.children.extend(self.members(machines));
        node
    }

    fn owner(&self, owner: Owner<'f>, role: TreeRole) -> TreeNode {
        let mut node = self.object(owner.object, role);
        node.children.extend(self.members(owner.members));
        node
    }

    fn pool(&self, pool: Owner<'f>) -> TreeNode {
        let references = pool_references(pool.object);
        let mut node = self.owner(pool, TreeRole::MachinePool);
        self.add_references(&mut node, references, TreeRole::MachinePoolInfrastructure);
        node
    }

    fn members(&self, members: Vec<Member<'f>>) -> impl Iterator<Item = TreeNode> {
        members.into_iter().map(|member| match member {
            Member::Group(group) => TreeNode::new(TreeRole::Machine, Subject::Group(group)),
            Member::Machine(Machine { object, seen }) => {
                let mut node = TreeNode::new(TreeRole::Machine, Subject::Object(Box::new(seen)));
                self.add_references(&mut node, machine_references(object), TreeRole::MachineInfrastructure);
                node
            }
        })
    }

    /// Adds infrastructure and bootstrap config, unless they tell nothing new.
    /// Source: clusterctl v1.14 client/tree/tree.go (Add, NoEcho); differs: what cannot be read is never left out.
    fn add_references(&self, node: &mut TreeNode, of: [Option<ObjectKey>; 2], infrastructure: TreeRole) {
        for (key, role) in of.into_iter().zip([infrastructure, TreeRole::BootstrapConfig]) {
            let Some(referred) = key.and_then(|key| self.references.get(&key)) else { continue };
            let child = self.referred(referred, role);
            if self.request.echo == Echo::Shown || !is_echo(&child, node) {
                node.children.push(child);
            }
        }
    }

    fn templates(&self, [infrastructure, bootstrap]: [Option<ObjectKey>; 2]) -> Option<TreeNode> {
        if !self.request.parts.contains(&Part::Templates) {
            return None;
        }
        let infrastructure = infrastructure.map(|key| (TreeRole::MachineInfrastructureTemplate, key));
        let bootstrap = bootstrap.map(|key| (TreeRole::BootstrapConfigTemplate, key));
        let named = |(role, key)| TreeNode::new(role, Subject::Named(key));
        let templates: Vec<_> = infrastructure.into_iter().chain(bootstrap).map(named).collect();
        (!templates.is_empty()).then(|| TreeNode::heading(TreeRole::Templates, templates))
    }

    fn resource_sets(&self) -> Option<TreeNode> {
        let sets = match self.found.binding.as_ref()? {
            Err(unreadable) => {
                vec![TreeNode::new(TreeRole::ResourceSet, Subject::Unreadable(unreadable.clone()))]
            }
            Ok(binding) => {
                let bindings = binding.get(&["spec", "bindings"]).and_then(|bindings| bindings.as_array());
                let names = bindings.into_iter().flatten();
                let names = names.filter_map(|binding| binding["clusterResourceSetName"].as_str());
                let GroupKind { group, kind } = kinds::resource_set();
                let namespace = binding.namespace();
                let key = |name: &str| ObjectKey {
                    group: group.clone(),
                    kind: kind.clone(),
                    namespace: namespace.to_owned(),
                    name: name.to_owned(),
                };
                names.map(|name| TreeNode::new(TreeRole::ResourceSet, Subject::Named(key(name)))).collect()
            }
        };
        Some(TreeNode::heading(TreeRole::ResourceSets, sets))
    }

    fn health_checks(&self) -> Option<TreeNode> {
        let found = self.found.health_checks.as_ref()?;
        if let Some(unlisted) = unlisted(found, TreeRole::MachineHealthCheck) {
            return Some(unlisted);
        }
        let checks = listed(found).iter().map(|check| self.object(check, TreeRole::MachineHealthCheck));
        let checks: Vec<_> = checks.collect();
        (!checks.is_empty()).then(|| TreeNode::heading(TreeRole::MachineHealthChecks, checks))
    }
}

/// A row for objects that could not be listed.
fn unlisted(listed: &Listed, role: TreeRole) -> Option<TreeNode> {
    let unreadable = listed.as_ref().err()?;
    Some(TreeNode::new(role, Subject::Unreadable(unreadable.clone())))
}

/// A reference as contract v1beta1 has them: with a version and a namespace.
fn older_reference(object: &Object, path: &[&str]) -> Option<ObjectKey> {
    let fields = object.get(path)?;
    let text = |name: &str| fields[name].as_str().unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let namespace = fields["namespace"].as_str().unwrap_or(object.namespace());
    let key = ObjectKey {
        group: group.to_owned(),
        kind: text("kind").to_owned(),
        namespace: namespace.to_owned(),
        name: text("name").to_owned(),
    };
    (!key.name.is_empty()).then_some(key)
}

/// Whether an object says no more than that all is well, or what its owner says already.
fn is_echo(child: &TreeNode, owner: &TreeNode) -> bool {
    let ready = |node: &TreeNode| match &node.subject {
        Subject::Object(seen) => Some(seen.condition("Ready").cloned()),
        _ => None,
    };
    let (Some(child), Some(owner)) = (ready(child), ready(owner)) else { return false };
    child.as_ref().is_some_and(Condition::is_true) || Condition::agree(owner.as_ref(), child.as_ref())
}

/// Puts everything in the order it is shown in, once.
fn sort(node: &mut TreeNode) {
    node.children.iter_mut().for_each(sort);
    node.children.sort_by_cached_key(|child| {
        let names = match &child.subject {
            Subject::Group(group) => group.names.clone(),
            _ => Vec::new(),
        };
        (Reverse(child.role.rank()), title(child).text(), names)
    });
}

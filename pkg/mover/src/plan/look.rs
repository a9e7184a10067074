//! Reads the target for a plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use apply::{ObjectKey, Permission, ServedKinds};
use futures::try_join;
use inventory::{ManagementCluster, PreflightProblem, ProviderInventory};
use workload::NodeId;

use super::{MovePlan, OnTarget};
use crate::{
    MoveError, MoveRequest, MoveSide,
    error::at,
    preflight::{
        Among, Findings, Stage, check_half_deleted, check_kinds, check_namespaces, check_places,
        check_providers, check_there, denied, listed, remark, wanted,
    },
    target::{Attempt, NamespaceState, TargetView, Trial, Tried, namespaces_on_target},
};

/// Both clusters of a plan, and the request.
pub(super) struct Looked<'a> {
    pub(super) source: &'a ManagementCluster,
    pub(super) target: &'a ManagementCluster,
    pub(super) request: &'a MoveRequest,
    pub(super) stage: Stage<'a>,
}

/// The state of the target.
struct Target {
    inventory: ProviderInventory,
    kinds: Arc<ServedKinds>,
    namespaces: BTreeMap<String, NamespaceState>,
    view: TargetView,
}

impl Looked<'_> {
    /// Adds the effect on each target object to the plan, and finds all problems of the target.
    pub(super) async fn fill(&self, plan: &mut MovePlan, found: &mut Findings) -> Result<(), MoveError> {
        let keys: BTreeMap<NodeId, ObjectKey> =
            plan.selection.moving().map(|node| (node, plan.key_on_target(node, self.request))).collect();
        let target = Box::pin(self.ask(&keys)).await?;
        plan.on_target = becomes(plan, &keys, &target.view);
        let missing = target.namespaces.iter().filter(|(_, state)| **state == NamespaceState::Missing);
        plan.new_namespaces = missing.map(|(name, _)| name.clone()).collect();
        self.check(plan, &keys, &target, found);
        found.problems.extend(Box::pin(self.check_overwritten(plan, &keys, &target.view)).await?);
        if !matches!(self.stage, Stage::Deleting(_)) {
            found.warnings.extend(plan.check_references(self.source, self.target, self.request).await?);
        }
        found.problems.extend(self.check_access(plan, &keys, &target).await?);
        if self.request.thorough {
            Box::pin(self.try_objects(plan, &keys, &target, found)).await?;
        }
        Ok(())
    }

    async fn ask(&self, keys: &BTreeMap<NodeId, ObjectKey>) -> Result<Target, MoveError> {
        let names: BTreeSet<&str> =
            keys.values().map(|key| key.namespace.as_str()).filter(|name| !name.is_empty()).collect();
        let inventory = async {
            let inventory = self.target.inventory().await;
            inventory.map_err(|source| MoveError::discover(MoveSide::Target, source))
        };
        let rest = async {
            let kinds = self.target.server.kinds();
            let namespaces = namespaces_on_target(self.target, names);
            try_join!(kinds, namespaces, TargetView::look(self.target, keys)).map_err(at(MoveSide::Target))
        };
        let (inventory, (kinds, namespaces, view)) = try_join!(inventory, rest)?;
        Ok(Target { inventory, kinds, namespaces, view })
    }

    fn check(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &Target,
        found: &mut Findings,
    ) {
        if !matches!(self.stage, Stage::Deleting(_)) {
            found.problems.extend(check_providers(&plan.discovered.inventory, &target.inventory));
        }
        let types = keys.keys().map(|node| &*plan.facts(*node).of);
        found.problems.extend(check_kinds(types, &target.kinds));
        found.problems.extend(check_namespaces(&target.namespaces));
        let places: Vec<(&ObjectKey, ObjectKey)> =
            keys.iter().map(|(node, key)| (&plan.facts(*node).key, key.clone())).collect();
        found.problems.extend(check_places(&places, &self.request.namespace_map, self.stage));
        let updated = keys.iter().filter(|(node, _)| plan.on_target.get(node) == Some(&OnTarget::Update));
        let updated: Vec<ObjectKey> = updated.map(|(_, key)| key.clone()).collect();
        found.add(check_there(&updated, &target.view, self.stage));
        if matches!(self.stage, Stage::New) {
            let is_there = |node| {
                let there = keys.get(&node).and_then(|key| target.view.there.get(key));
                Some(there.is_some_and(|there| !there.is_going))
            };
            found.add(check_half_deleted(&plan.half_deleted(is_there)));
        }
    }

    async fn check_access(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &Target,
    ) -> Result<Vec<PreflightProblem>, MoveError> {
        let among = |node: &NodeId, key: &ObjectKey| {
            let kind = &plan.facts(*node).of.kind;
            Among {
                group: kind.group.clone(),
                resource: kind.plural.clone(),
                namespace: key.namespace.clone(),
            }
        };
        let here: BTreeSet<Among> = keys.keys().map(|node| among(node, &plan.facts(*node).key)).collect();
        let there: BTreeSet<Among> = keys.iter().map(|(node, key)| among(node, key)).collect();
        let journal =
            |inventory: &ProviderInventory| inventory.core_provider().map(|core| core.namespace.clone());
        let source_journal = journal(&plan.discovered.inventory);
        let target_journal = journal(&target.inventory);
        let on_source = wanted(MoveSide::Source, &here, source_journal.as_deref(), &[]);
        let on_target = wanted(MoveSide::Target, &there, target_journal.as_deref(), &plan.new_namespaces);
        let (source, target) = try_join!(
            access(self.source, MoveSide::Source, on_source),
            access(self.target, MoveSide::Target, on_target)
        )?;
        Ok([source, target].concat())
    }

    /// Creates or replaces objects as dry runs. An object in a missing namespace cannot be tried.
    async fn try_objects(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &Target,
        found: &mut Findings,
    ) -> Result<(), MoveError> {
        let mut trials: BTreeMap<(String, String), Trial> = BTreeMap::new();
        let mut homeless = Vec::new();
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let kind = &facts.of.kind;
            let is_served = target.kinds.version(&kind.group_kind(), &kind.version).is_some();
            let is_tried = match plan.on_target.get(node) {
                Some(OnTarget::Create) => true,
                // In a resumed move, most existing objects are copies of the move itself.
                Some(OnTarget::Update) => matches!(self.stage, Stage::New),
                Some(OnTarget::LeaveAlone) | None => false,
            };
            if !is_tried || !is_served || facts.is_going {
                continue;
            }
            if target.namespaces.get(&key.namespace).is_some_and(|state| *state != NamespaceState::There) {
                homeless.push(key);
                continue;
            }
            let place = (kind.group_kind().to_string(), facts.key.namespace.clone());
            let trial = trials.entry(place).or_insert_with(|| Trial {
                of: Arc::clone(&facts.of),
                namespace: facts.key.namespace.clone(),
                objects: BTreeMap::new(),
            });
            let replaces = target.view.there.get(key).cloned();
            trial.objects.insert(facts.key.name.clone(), Attempt { key: key.clone(), replaces });
        }
        let mut tried = Tried::default();
        for trial in trials.values() {
            let run = trial.run(self.source, self.target, &mut tried).await;
            run.map_err(|(side, source)| MoveError::Api { side, source })?;
        }
        found.add(told(&tried, &homeless));
        Ok(())
    }
}

fn becomes(
    plan: &MovePlan,
    keys: &BTreeMap<NodeId, ObjectKey>,
    view: &TargetView,
) -> BTreeMap<NodeId, OnTarget> {
    let becomes = |node: NodeId, key| match view.there.contains_key(key) {
        false => OnTarget::Create,
        true if plan.is_global(node) => OnTarget::LeaveAlone,
        true => OnTarget::Update,
    };
    keys.iter().map(|(node, key)| (*node, becomes(*node, key))).collect()
}

pub(super) async fn access(
    cluster: &ManagementCluster,
    side: MoveSide,
    wanted: Vec<Permission>,
) -> Result<Vec<PreflightProblem>, MoveError> {
    let access = cluster.server.check_permissions(&wanted).await.map_err(at(side))?;
    Ok(denied(side, &access.denied))
}

pub(super) fn told(tried: &Tried, homeless: &[&ObjectKey]) -> Findings {
    let refused = tried.refused.iter().map(|(_, error)| {
        PreflightProblem::fatal(format!("tried on the target: {}", api::with_causes(error)))
    });
    let mut found = Findings { problems: refused.collect(), warnings: Vec::new() };
    if !tried.untried.is_empty() {
        let text = format!(
            "cannot be tried, as a webhook of the target has side effects: {}",
            listed(&tried.untried)
        );
        found.warnings.push(remark(text));
    }
    if !homeless.is_empty() {
        let text = format!(
            "cannot be tried, as the namespace is not on the target yet: {}",
            listed(homeless.iter().copied())
        );
        found.warnings.push(remark(text));
    }
    found
}

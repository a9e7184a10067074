//! Reads the target for a plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use apply::{ObjectKey, Permission, ServedKinds};
use futures::try_join;
use inventory::{ManagementCluster, PreflightProblem, ProviderInventory};
use workload::NodeId;

use super::{MovePlan, TargetEffect};
use crate::{
    MoveError, MoveRequest, MoveSide,
    error::api_error,
    preflight::{
        Findings, ResourceScope, Stage, check_existing, check_kinds, check_marked_for_deletion,
        check_namespaces, check_providers, check_target_keys, listed, needed_permissions,
        permission_problems, remark,
    },
    target::{DryRun, DryRunBatch, DryRunResults, NamespaceState, TargetView, namespace_states},
};

/// Both clusters of a plan, and the request.
pub(super) struct TargetPlanner<'a> {
    pub(super) source: &'a ManagementCluster,
    pub(super) target: &'a ManagementCluster,
    pub(super) request: &'a MoveRequest,
    pub(super) stage: Stage<'a>,
}

/// The state of the target.
struct TargetState {
    inventory: ProviderInventory,
    kinds: Arc<ServedKinds>,
    namespaces: BTreeMap<String, NamespaceState>,
    view: TargetView,
}

impl TargetPlanner<'_> {
    /// Adds the effect on each target object to the plan, and finds all problems of the target.
    pub(super) async fn plan_target(
        &self,
        plan: &mut MovePlan,
        findings: &mut Findings,
    ) -> Result<(), MoveError> {
        let keys: BTreeMap<NodeId, ObjectKey> =
            plan.selection.moving().map(|node| (node, plan.key_on_target(node, self.request))).collect();
        let target = Box::pin(self.read_target(&keys)).await?;
        plan.target_effects = target_effects(plan, &keys, &target.view);
        let missing = target.namespaces.iter().filter(|(_, state)| **state == NamespaceState::Missing);
        plan.new_namespaces = missing.map(|(name, _)| name.clone()).collect();
        self.check(plan, &keys, &target, findings);
        findings.problems.extend(Box::pin(self.check_overwritten(plan, &keys, &target.view)).await?);
        if !matches!(self.stage, Stage::Deleting(_)) {
            findings.warnings.extend(plan.check_references(self.source, self.target, self.request).await?);
        }
        findings.problems.extend(self.check_access(plan, &keys, &target).await?);
        if self.request.server_dry_run {
            Box::pin(self.dry_run_objects(plan, &keys, &target, findings)).await?;
        }
        Ok(())
    }

    async fn read_target(&self, keys: &BTreeMap<NodeId, ObjectKey>) -> Result<TargetState, MoveError> {
        let names: BTreeSet<&str> =
            keys.values().map(|key| key.namespace.as_str()).filter(|name| !name.is_empty()).collect();
        let inventory = async {
            let inventory = self.target.inventory().await;
            inventory.map_err(|source| MoveError::discover(MoveSide::Target, source))
        };
        let rest = async {
            let kinds = self.target.server.kinds();
            let namespaces = namespace_states(self.target, names);
            try_join!(kinds, namespaces, TargetView::read(self.target, keys))
                .map_err(api_error(MoveSide::Target))
        };
        let (inventory, (kinds, namespaces, view)) = try_join!(inventory, rest)?;
        Ok(TargetState { inventory, kinds, namespaces, view })
    }

    fn check(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &TargetState,
        findings: &mut Findings,
    ) {
        if !matches!(self.stage, Stage::Deleting(_)) {
            findings.problems.extend(check_providers(&plan.discovered.inventory, &target.inventory));
        }
        let types = keys.keys().map(|node| &*plan.facts(*node).object_type);
        findings.problems.extend(check_kinds(types, &target.kinds));
        findings.problems.extend(check_namespaces(&target.namespaces));
        let places: Vec<(&ObjectKey, ObjectKey)> =
            keys.iter().map(|(node, key)| (&plan.facts(*node).key, key.clone())).collect();
        findings.problems.extend(check_target_keys(&places, &self.request.namespace_map, self.stage));
        let updated =
            keys.iter().filter(|(node, _)| plan.target_effects.get(node) == Some(&TargetEffect::Update));
        let updated: Vec<ObjectKey> = updated.map(|(_, key)| key.clone()).collect();
        findings.add(check_existing(&updated, &target.view, self.stage));
        if matches!(self.stage, Stage::New) {
            let is_there = |node| {
                let there = keys.get(&node).and_then(|key| target.view.objects.get(key));
                Some(there.is_some_and(|there| !there.is_terminating))
            };
            findings.add(check_marked_for_deletion(&plan.marked_for_deletion(is_there)));
        }
    }

    async fn check_access(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &TargetState,
    ) -> Result<Vec<PreflightProblem>, MoveError> {
        let among =
            |node: &NodeId, key: &ObjectKey| ResourceScope::of(&plan.facts(*node).object_type.kind, key);
        let here: BTreeSet<ResourceScope> =
            keys.keys().map(|node| among(node, &plan.facts(*node).key)).collect();
        let there: BTreeSet<ResourceScope> = keys.iter().map(|(node, key)| among(node, key)).collect();
        let journal =
            |inventory: &ProviderInventory| inventory.core_provider().map(|core| core.namespace.clone());
        let source_journal = journal(&plan.discovered.inventory);
        let target_journal = journal(&target.inventory);
        let on_source = needed_permissions(MoveSide::Source, &here, source_journal.as_deref(), &[]);
        let on_target =
            needed_permissions(MoveSide::Target, &there, target_journal.as_deref(), &plan.new_namespaces);
        let (source, target) = try_join!(
            access_problems(self.source, MoveSide::Source, on_source),
            access_problems(self.target, MoveSide::Target, on_target)
        )?;
        Ok([source, target].concat())
    }

    /// Creates or replaces objects as dry runs. An object in a missing namespace cannot be tried.
    async fn dry_run_objects(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        target: &TargetState,
        findings: &mut Findings,
    ) -> Result<(), MoveError> {
        let mut batches: BTreeMap<(String, String), DryRunBatch> = BTreeMap::new();
        let mut without_namespace = Vec::new();
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let kind = &facts.object_type.kind;
            let is_served = target.kinds.version(&kind.group_kind(), &kind.version).is_some();
            let is_tried = match plan.target_effects.get(node) {
                Some(TargetEffect::Create) => true,
                // In a resumed move, most existing objects are copies of the move itself.
                Some(TargetEffect::Update) => matches!(self.stage, Stage::New),
                Some(TargetEffect::LeaveAlone) | None => false,
            };
            if !is_tried || !is_served || facts.is_terminating {
                continue;
            }
            if target.namespaces.get(&key.namespace).is_some_and(|state| *state != NamespaceState::Exists) {
                without_namespace.push(key);
                continue;
            }
            let place = (kind.group_kind().to_string(), facts.key.namespace.clone());
            let trial = batches.entry(place).or_insert_with(|| DryRunBatch {
                object_type: Arc::clone(&facts.object_type),
                namespace: facts.key.namespace.clone(),
                objects: BTreeMap::new(),
            });
            let replaces = target.view.objects.get(key).cloned();
            trial.objects.insert(facts.key.name.clone(), DryRun { key: key.clone(), replaces });
        }
        let mut results = DryRunResults::default();
        for trial in batches.values() {
            let run = trial.run(self.source, self.target, &mut results).await;
            run.map_err(|(side, source)| MoveError::Api { side, source })?;
        }
        findings.add(dry_run_findings(&results, &without_namespace));
        Ok(())
    }
}

fn target_effects(
    plan: &MovePlan,
    keys: &BTreeMap<NodeId, ObjectKey>,
    view: &TargetView,
) -> BTreeMap<NodeId, TargetEffect> {
    let becomes = |node: NodeId, key| match view.objects.contains_key(key) {
        false => TargetEffect::Create,
        true if plan.is_cluster_scoped(node) => TargetEffect::LeaveAlone,
        true => TargetEffect::Update,
    };
    keys.iter().map(|(node, key)| (*node, becomes(*node, key))).collect()
}

pub(super) async fn access_problems(
    cluster: &ManagementCluster,
    side: MoveSide,
    wanted: Vec<Permission>,
) -> Result<Vec<PreflightProblem>, MoveError> {
    let access = cluster.server.check_permissions(&wanted).await.map_err(api_error(side))?;
    Ok(permission_problems(side, &access.denied))
}

pub(super) fn dry_run_findings(results: &DryRunResults, without_namespace: &[&ObjectKey]) -> Findings {
    let refused = results.rejected.iter().map(|(_, error)| {
        PreflightProblem::fatal(format!("dry run failed on the target: {}", api::with_causes(error)))
    });
    let mut found = Findings { problems: refused.collect(), warnings: Vec::new() };
    if !results.unsupported.is_empty() {
        let text = format!(
            "cannot dry-run objects because a webhook on the target has side effects: {}",
            listed(&results.unsupported)
        );
        found.warnings.push(remark(text));
    }
    if !without_namespace.is_empty() {
        let text = format!(
            "cannot dry-run objects because their namespace does not exist on the target yet: {}",
            listed(without_namespace.iter().copied())
        );
        found.warnings.push(remark(text));
    }
    found
}

//! The plan of a restore.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use apply::{ApiError, GroupKind, ObjectKey, Permission, ServedKinds};
use futures::{StreamExt as _, stream, try_join};
use inventory::{ManagementCluster, PreflightProblem, PreflightProblems, ProviderInventory, known_kind};
use manifest::Value;
use workload::{
    ContentFacts, Discovery, ExcludeReason, Graph, MOVE_MARK, MoveDecision, NodeId, TypeFacts, facts_of,
    types_to_discover,
};

use super::{
    CONTRACT_CHECK, MovePlan, TargetEffect,
    cluster_choice::{check_status_kinds, choose_clusters},
    duplicate_clusters::check_duplicate_clusters,
    empty_selection::nothing_to_restore,
    overwrite::{check_endpoint, has_same_content},
    target_planner,
};
use crate::{
    ClusterChoice, MoveError, MoveRequest, MoveSide, RestoreOptions,
    create::{MovedReferences, lacks_content_of},
    error::api_error,
    mark::RESTORE_MARK,
    preflight::{
        Findings, ResourceScope, Stage, check_kinds, check_namespaces, check_providers, check_selection,
        check_target_keys, listed, problem, remark,
    },
    restore::{SavedContent, SavedObjects},
    target::{DryRunResults, NamespaceState, TargetView, dry_run_create, namespace_states},
};

/// Verbs for reading, creating, completing and resuming objects.
const RESTORE_VERBS: [&str; 4] = ["get", "list", "create", "patch"];

/// The state of the target.
struct RestoreTarget<'t> {
    cluster: &'t ManagementCluster,
    kinds: Arc<ServedKinds>,
    inventory: ProviderInventory,
    namespaces: BTreeMap<String, NamespaceState>,
    view: TargetView,
}

/// Decides the effect of every saved object on a target, and checks everything. Writes nothing.
///
/// Uses these parts of the request: the Clusters by name, the namespaces (none for all), the namespace map, the kinds
/// whose status is copied, and the dry runs of objects.
/// # Errors
/// `Problems` with all problems: unserved kinds, missing providers, missing permissions, running Clusters that lack
/// objects, and Clusters that run under another name or on the source.
pub async fn plan_restore(
    target: &ManagementCluster,
    saved: &SavedObjects,
    request: &MoveRequest,
    options: RestoreOptions<'_>,
) -> Result<MovePlan, MoveError> {
    let contract = target.check_contract(CONTRACT_CHECK).await;
    contract.map_err(|source| MoveError::Contract { side: MoveSide::Target, source })?;
    let types = types_to_discover(target).await;
    let types = types.map_err(|source| MoveError::discover(MoveSide::Target, source))?;
    let kinds = target.server.kinds().await.map_err(api_error(MoveSide::Target))?;
    let mut findings = Findings::default();
    if matches!(request.clusters, ClusterChoice::Labelled(_)) {
        findings
            .problems
            .push(problem("cannot select saved Clusters by labels", "select them by name with `--cluster`"));
    }
    let graph = build_graph(saved, &types, &kinds);
    let named_request = MoveRequest {
        clusters: match &request.clusters {
            ClusterChoice::Labelled(_) => ClusterChoice::All,
            named => named.clone(),
        },
        ..request.clone()
    };
    let choice = choose_clusters(target, &graph, &named_request, Stage::New, false, &mut findings).await?;
    let discovered = Discovery { types, graph, inventory: ProviderInventory::default() };
    let mut plan = MovePlan::new(discovered, &choice);
    findings.add(check_selection(&plan.discovered.graph, &plan.selection));
    findings.problems.extend(nothing_to_restore(&plan, request));
    findings.problems.extend(check_status_kinds(&plan.moving_facts(), &request.include_status));
    findings.warnings.extend(plan.unlinked_warning(saved));
    findings.problems.extend(plan.foreign_kinds_problem(&kinds));
    let target = Box::pin(RestoreTarget::read(target, &plan, request, kinds)).await?;
    plan.discovered.inventory.clone_from(&target.inventory);
    Box::pin(target.plan_target(&mut plan, saved, request, &mut findings)).await?;
    let twins = Box::pin(check_duplicate_clusters(target.cluster, &plan, saved, request, options)).await;
    findings.add(twins.map_err(api_error(MoveSide::Target))?);
    if !findings.problems.is_empty() {
        return Err(PreflightProblems { problems: findings.problems }.into());
    }
    plan.warnings = findings.warnings;
    Ok(plan)
}

fn build_graph(saved: &SavedObjects, types: &[Arc<TypeFacts>], kinds: &ServedKinds) -> Graph {
    let mut known: BTreeMap<String, Arc<TypeFacts>> = BTreeMap::new();
    let facts = saved.iter().filter_map(|content| {
        let name = format!("{} {}", content.api_version, content.key.kind);
        let of = known.entry(name).or_insert_with(|| type_of(content, types, kinds));
        Some(facts_of(&content.object()?, of))
    });
    Graph::new(facts.collect())
}

/// Returns the type of a saved object in its saved version, with the facts of the target.
fn type_of(content: &SavedContent, types: &[Arc<TypeFacts>], kinds: &ServedKinds) -> Arc<TypeFacts> {
    let version = content.api_version.rsplit('/').next().unwrap_or_default();
    let (group, kind) = (content.key.group.as_str(), content.key.kind.as_str());
    let group_kind = GroupKind::new(group, kind);
    let namespaced = !content.key.namespace.is_empty();
    let on_target = kinds.version(&group_kind, version).cloned();
    let written = on_target.unwrap_or_else(|| known_kind(group, version, kind, "", namespaced));
    let known = types.iter().find(|of| of.kind.group_kind() == group_kind);
    Arc::new(match known {
        Some(of) => TypeFacts { kind: written, ..TypeFacts::clone(of) },
        None => TypeFacts::unlabelled(written),
    })
}

impl MovePlan {
    /// Returns a problem for served kinds that no move takes. A crafted owner reference must not restore a role, for
    /// example.
    fn foreign_kinds_problem(&self, kinds: &ServedKinds) -> Option<PreflightProblem> {
        let moved: BTreeSet<GroupKind> =
            self.discovered.types.iter().map(|of| of.kind.group_kind()).collect();
        let is_foreign = |kind: &GroupKind| !moved.contains(kind) && kinds.preferred(kind).is_some();
        let restored = self.moving_facts().into_iter().map(|facts| facts.key.group_kind());
        let foreign: BTreeSet<String> = restored.filter(is_foreign).map(|kind| kind.to_string()).collect();
        (!foreign.is_empty()).then(|| {
            let kinds = foreign.into_iter().collect::<Vec<_>>().join(", ");
            problem(
                format!("cannot restore objects of kinds that never move: {kinds}"),
                "restore only trusted backups; if a kind belongs to a provider, label its CustomResourceDefinition",
            )
        })
    }

    /// Warns about files that no Cluster leads to. clusterctl leaves these files out without a warning.
    fn unlinked_warning(&self, saved: &SavedObjects) -> Option<PreflightProblem> {
        let unlinked = self.discovered.graph.iter().filter(|(node, _)| {
            matches!(self.selection.decision(*node), MoveDecision::Stays(ExcludeReason::NotLinked))
        });
        let keys: Vec<&ObjectKey> = unlinked.map(|(_, node)| &node.facts.key).collect();
        let of = saved.len();
        (!keys.is_empty()).then(|| {
            remark(format!(
                "objects without a link to a Cluster are not restored ({} of {of}): {}",
                keys.len(),
                listed(keys)
            ))
        })
    }

    fn keys_on_target(&self, request: &MoveRequest) -> BTreeMap<NodeId, ObjectKey> {
        self.selection.moving().map(|node| (node, self.key_on_target(node, request))).collect()
    }
}

impl<'t> RestoreTarget<'t> {
    async fn read(
        cluster: &'t ManagementCluster,
        plan: &MovePlan,
        request: &MoveRequest,
        kinds: Arc<ServedKinds>,
    ) -> Result<Self, MoveError> {
        let keys = plan.keys_on_target(request);
        let names: BTreeSet<&str> =
            keys.values().map(|key| key.namespace.as_str()).filter(|name| !name.is_empty()).collect();
        let inventory = async {
            let inventory = cluster.inventory().await;
            inventory.map_err(|source| MoveError::discover(MoveSide::Target, source))
        };
        let rest = async {
            let namespaces = namespace_states(cluster, names);
            try_join!(namespaces, TargetView::read(cluster, &keys)).map_err(api_error(MoveSide::Target))
        };
        let (inventory, (namespaces, view)) = try_join!(inventory, rest)?;
        Ok(Self { cluster, kinds, inventory, namespaces, view })
    }

    async fn plan_target(
        &self,
        plan: &mut MovePlan,
        saved: &SavedObjects,
        request: &MoveRequest,
        findings: &mut Findings,
    ) -> Result<(), MoveError> {
        let keys = plan.keys_on_target(request);
        let becomes = |key| {
            if self.view.objects.contains_key(key) { TargetEffect::LeaveAlone } else { TargetEffect::Create }
        };
        plan.target_effects = keys.iter().map(|(node, key)| (*node, becomes(key))).collect();
        let missing = self.namespaces.iter().filter(|(_, state)| **state == NamespaceState::Missing);
        plan.new_namespaces = missing.map(|(name, _)| name.clone()).collect();
        findings.problems.extend(self.check(plan, saved, request, &keys));
        findings.add(self.check_clusters(plan, saved, &keys).await.map_err(api_error(MoveSide::Target))?);
        let other = self.check_other_content(plan, saved, request, &keys).await;
        findings.problems.extend(other.map_err(api_error(MoveSide::Target))?);
        let access = Self::needed_permissions(plan, &keys);
        findings
            .problems
            .extend(target_planner::access_problems(self.cluster, MoveSide::Target, access).await?);
        if request.server_dry_run {
            findings
                .add(self.dry_run_objects(plan, saved, &keys).await.map_err(api_error(MoveSide::Target))?);
        }
        Ok(())
    }

    fn check(
        &self,
        plan: &MovePlan,
        saved: &SavedObjects,
        request: &MoveRequest,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Vec<PreflightProblem> {
        let source = saved.inventory_of(keys.keys().map(|node| plan.facts(*node).key.group_kind()));
        let is_bare = saved.providers.is_empty() && !self.inventory.is_defined;
        let bare = || {
            problem(
                "no provider is installed on the target",
                "install providers with `capstan init --kubeconfig TARGET`",
            )
        };
        let mut problems = if is_bare { vec![bare()] } else { check_providers(&source, &self.inventory) };
        problems.extend(check_kinds(keys.keys().map(|node| &*plan.facts(*node).object_type), &self.kinds));
        problems.extend(check_namespaces(&self.namespaces));
        let places: Vec<(&ObjectKey, ObjectKey)> =
            keys.iter().map(|(node, key)| (&plan.facts(*node).key, key.clone())).collect();
        problems.extend(check_target_keys(&places, &request.namespace_map, Stage::New));
        let is_homeless =
            |node: &NodeId| plan.facts(*node).object_type.kind.namespaced && keys[node].namespace.is_empty();
        let without_namespace: Vec<&ObjectKey> =
            keys.iter().filter(|(node, _)| is_homeless(node)).map(|(_, key)| key).collect();
        if !without_namespace.is_empty() {
            let text = format!("objects have no namespace: {}", listed(without_namespace));
            problems.push(problem(text, "add `metadata.namespace` to their files"));
        }
        let terminating: Vec<&ObjectKey> = keys
            .values()
            .filter(|key| self.view.objects.get(*key).is_some_and(|there| there.is_terminating))
            .collect();
        if !terminating.is_empty() {
            let text = format!("objects are being deleted on the target: {}", listed(terminating));
            problems.push(problem(text, "wait until they are deleted"));
        }
        problems
    }

    /// Checks Clusters that exist on the target. Each must be the saved Cluster. A Cluster that lacks objects must be
    /// paused, because its controllers do not know the missing objects.
    async fn check_clusters(
        &self,
        plan: &MovePlan,
        saved: &SavedObjects,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Result<Findings, ApiError> {
        let (mut findings, mut paused) = (Findings::default(), Vec::new());
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let is_there = plan.target_effects.get(node) == Some(&TargetEffect::LeaveAlone);
            if !matches!(facts.content, ContentFacts::Cluster(_)) || !is_there {
                continue;
            }
            let kind = self.cluster.server.kind(&key.group_kind()).await?;
            let Some(there) = self.cluster.server.get(&kind, &key.namespace, &key.name).await? else {
                continue;
            };
            let Some(content) = saved.by_uid(&facts.uid) else { continue };
            let Some(saved) = content.object() else { continue };
            if !has_same_content(&saved, &there)
                && let Some(problem) = check_endpoint(key, &saved, &there)
            {
                findings.problems.push(problem);
            } else if plan.creates_any_of(*node) {
                if is_paused(&there) {
                    continue;
                }
                findings.problems.push(problem(
                    format!("{key} is active on the target and lacks saved objects"),
                    "to restore the missing objects, pause the Cluster first; if another management cluster manages it, do not restore it",
                ));
            } else if is_paused(&there)
                && !content.stays_paused
                && there.annotation(MOVE_MARK) != Some(RESTORE_MARK)
            {
                paused.push(key);
            }
        }
        if !paused.is_empty() {
            findings.warnings.push(problem(
                format!("already paused on this cluster, and stays paused: {}", listed(paused)),
                "to resume a Cluster, set `spec.paused` to false",
            ));
        }
        Ok(findings)
    }

    /// Finds existing objects of Clusters that the restore creates, if the objects lack saved content. Such a Cluster would
    /// run with the certificates of another cluster, for example. An interrupted restore has created the Cluster before.
    async fn check_other_content(
        &self,
        plan: &MovePlan,
        saved: &SavedObjects,
        request: &MoveRequest,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Result<Option<PreflightProblem>, ApiError> {
        let is_new = |node: &NodeId| {
            plan.target_effects.get(node) == Some(&TargetEffect::Create)
                && matches!(plan.facts(*node).content, ContentFacts::Cluster(_))
        };
        let below: BTreeSet<NodeId> =
            keys.keys().filter(|node| is_new(node)).flat_map(|node| plan.with_owned_objects(*node)).collect();
        let references = MovedReferences::new(plan, request);
        let mut other = Vec::new();
        for node in below {
            let is_kept = plan.target_effects.get(&node) == Some(&TargetEffect::LeaveAlone);
            if !is_kept || plan.is_cluster_scoped(node) {
                continue;
            }
            let (facts, key) = (plan.facts(node), &keys[&node]);
            let Some(mut wanted) = saved.by_uid(&facts.uid).and_then(SavedContent::object) else { continue };
            references.rewrite(&mut wanted);
            // Another problem names kinds that the target does not serve.
            let kind = &facts.object_type.kind;
            if kind.plural.is_empty() {
                continue;
            }
            let there = self.cluster.server.get(kind, &key.namespace, &key.name).await?;
            if there.is_some_and(|there| lacks_content_of(&wanted, &there)) {
                other.push(key);
            }
        }
        Ok((!other.is_empty()).then(|| {
            problem(
                format!("objects of new Clusters exist on the target with other content: {}", listed(other)),
                "compare the objects, then delete those on the target, or restore to another namespace with `--map-namespace FROM=TO`",
            )
        }))
    }

    fn needed_permissions(plan: &MovePlan, keys: &BTreeMap<NodeId, ObjectKey>) -> Vec<Permission> {
        let scopes =
            keys.iter().map(|(node, key)| ResourceScope::of(&plan.facts(*node).object_type.kind, key));
        let places: BTreeSet<ResourceScope> = scopes.filter(|scope| !scope.resource.is_empty()).collect();
        let permission = |verb: &str, group: &str, resource: &str, namespace: &str| Permission {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
        };
        let objects = places.iter().flat_map(|among| {
            RESTORE_VERBS.map(|verb| permission(verb, &among.group, &among.resource, &among.namespace))
        });
        let namespaces =
            (!plan.new_namespaces.is_empty()).then(|| permission("create", "", "namespaces", ""));
        objects.chain(namespaces).collect()
    }

    /// Creates objects as dry runs, if their namespace exists.
    async fn dry_run_objects(
        &self,
        plan: &MovePlan,
        saved: &SavedObjects,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Result<Findings, ApiError> {
        let (mut chosen, mut without_namespace) = (Vec::new(), Vec::new());
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let is_there = |state: &NamespaceState| *state == NamespaceState::Exists;
            if plan.target_effects.get(node) != Some(&TargetEffect::Create)
                || facts.object_type.kind.plural.is_empty()
            {
                continue;
            }
            if self.namespaces.get(&key.namespace).is_some_and(|state| !is_there(state)) {
                without_namespace.push(key);
                continue;
            }
            chosen.push((facts, key));
        }
        let tries = chosen.into_iter().map(|(facts, key)| async move {
            let object = saved.by_uid(&facts.uid).and_then(SavedContent::object)?;
            dry_run_create(self.cluster, &facts.object_type.kind, key, object).await
        });
        let mut refusals = stream::iter(tries).buffered(self.cluster.server.max_in_flight().max(1));
        let mut results = DryRunResults::default();
        while let Some(refused) = refusals.next().await {
            if let Some((key, error)) = refused {
                results.record(key, error)?;
            }
        }
        Ok(target_planner::dry_run_findings(&results, &without_namespace))
    }
}

impl MovePlan {
    /// True if the plan creates the object or an object below it in the owner graph.
    pub(crate) fn creates_any_of(&self, root: NodeId) -> bool {
        let objects = self.with_owned_objects(root);
        objects.iter().any(|node| self.target_effects.get(node) == Some(&TargetEffect::Create))
    }

    /// Returns an object and all objects below it in the owner graph.
    fn with_owned_objects(&self, root: NodeId) -> BTreeSet<NodeId> {
        let (mut seen, mut next) = (BTreeSet::from([root]), vec![root]);
        while let Some(node) = next.pop() {
            for owned in &self.discovered.graph.node(node).owned {
                if seen.insert(*owned) {
                    next.push(*owned);
                }
            }
        }
        seen
    }
}

pub(super) fn is_paused(object: &manifest::Object) -> bool {
    object.get(&["spec", "paused"]) == Some(&Value::Bool(true))
        || object.annotation(workload::PAUSED_ANNOTATION).is_some()
}

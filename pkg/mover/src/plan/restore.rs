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
    Content, Discovered, Excluded, Graph, MARK, MoveDecision, NodeId, TypeFacts, facts_of, types_to_discover,
};

use super::{
    CURRENT, MovePlan, OnTarget,
    choose::choose,
    look,
    overwrite::{check_endpoint, holds_the_same},
    twins::check_twins,
};
use crate::{
    ClusterChoice, MoveError, MoveRequest, MoveSide, RestoreOptions,
    error::at,
    mark::RESTORE,
    preflight::{
        Among, Findings, Stage, check_kinds, check_namespaces, check_places, check_providers,
        check_selection, listed, problem, remark,
    },
    restore::{SavedContent, SavedObjects},
    target::{NamespaceState, TargetView, Tried, namespaces_on_target, try_one},
};

/// Verbs for reading, creating, completing and resuming objects.
const VERBS: [&str; 4] = ["get", "list", "create", "patch"];

/// The state of the target.
struct Target<'t> {
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
    let contract = target.check_contract(CURRENT).await;
    contract.map_err(|source| MoveError::Contract { side: MoveSide::Target, source })?;
    let types = types_to_discover(target).await;
    let types = types.map_err(|source| MoveError::discover(MoveSide::Target, source))?;
    let kinds = target.server.kinds().await.map_err(at(MoveSide::Target))?;
    let mut found = Findings::default();
    if matches!(request.clusters, ClusterChoice::Labelled(_)) {
        found
            .problems
            .push(problem("saved Clusters cannot be chosen by labels", "name them with `--cluster`"));
    }
    let graph = graph(saved, &types, &kinds);
    let request_of_names = MoveRequest {
        clusters: match &request.clusters {
            ClusterChoice::Labelled(_) => ClusterChoice::All,
            named => named.clone(),
        },
        ..request.clone()
    };
    let choice = choose(target, &graph, &request_of_names, Stage::New, false, &mut found).await?;
    let discovered = Discovered { types, graph, inventory: ProviderInventory::default() };
    let mut plan = MovePlan::of(discovered, &choice);
    found.add(check_selection(&plan.discovered.graph, &plan.selection));
    found.warnings.extend(plan.unlinked(saved));
    found.problems.extend(plan.foreign_kinds(&kinds));
    let target = Box::pin(Target::ask(target, &plan, request, kinds)).await?;
    Box::pin(target.fill(&mut plan, saved, request, &mut found)).await?;
    let twins = Box::pin(check_twins(target.cluster, &plan, saved, request, options)).await;
    found.add(twins.map_err(at(MoveSide::Target))?);
    if !found.problems.is_empty() {
        return Err(PreflightProblems { problems: found.problems }.into());
    }
    plan.warnings = found.warnings;
    Ok(plan)
}

fn graph(saved: &SavedObjects, types: &[Arc<TypeFacts>], kinds: &ServedKinds) -> Graph {
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
        None => TypeFacts::plain(written),
    })
}

impl MovePlan {
    /// Returns a problem for served kinds that no move takes. A crafted owner reference must not restore a role, for
    /// example.
    fn foreign_kinds(&self, kinds: &ServedKinds) -> Option<PreflightProblem> {
        let moved: BTreeSet<GroupKind> =
            self.discovered.types.iter().map(|of| of.kind.group_kind()).collect();
        let is_foreign = |kind: &GroupKind| !moved.contains(kind) && kinds.preferred(kind).is_some();
        let restored = self.moving_facts().into_iter().map(|facts| facts.key.group_kind());
        let foreign: BTreeSet<String> = restored.filter(is_foreign).map(|kind| kind.to_string()).collect();
        (!foreign.is_empty()).then(|| {
            let kinds = foreign.into_iter().collect::<Vec<_>>().join(", ");
            problem(
                format!("cannot restore objects of kinds that a move never takes: {kinds}"),
                "restore only backups you trust; label the definition of a kind that belongs to a provider",
            )
        })
    }

    /// Warns about files that no Cluster leads to. clusterctl leaves these files out without a warning.
    fn unlinked(&self, saved: &SavedObjects) -> Option<PreflightProblem> {
        let unlinked = self.discovered.graph.iter().filter(|(node, _)| {
            matches!(self.selection.fate(*node), MoveDecision::Stays(Excluded::NotLinked))
        });
        let keys: Vec<&ObjectKey> = unlinked.map(|(_, node)| &node.facts.key).collect();
        let of = saved.len();
        (!keys.is_empty()).then(|| {
            remark(format!(
                "not restored, as no Cluster leads to them ({} of {of}): {}",
                keys.len(),
                listed(keys)
            ))
        })
    }

    fn keys_on_target(&self, request: &MoveRequest) -> BTreeMap<NodeId, ObjectKey> {
        self.selection.moving().map(|node| (node, self.key_on_target(node, request))).collect()
    }
}

impl<'t> Target<'t> {
    async fn ask(
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
            let namespaces = namespaces_on_target(cluster, names);
            try_join!(namespaces, TargetView::look(cluster, &keys)).map_err(at(MoveSide::Target))
        };
        let (inventory, (namespaces, view)) = try_join!(inventory, rest)?;
        Ok(Self { cluster, kinds, inventory, namespaces, view })
    }

    async fn fill(
        &self,
        plan: &mut MovePlan,
        saved: &SavedObjects,
        request: &MoveRequest,
        found: &mut Findings,
    ) -> Result<(), MoveError> {
        let keys = plan.keys_on_target(request);
        let becomes =
            |key| if self.view.there.contains_key(key) { OnTarget::LeaveAlone } else { OnTarget::Create };
        plan.on_target = keys.iter().map(|(node, key)| (*node, becomes(key))).collect();
        let missing = self.namespaces.iter().filter(|(_, state)| **state == NamespaceState::Missing);
        plan.new_namespaces = missing.map(|(name, _)| name.clone()).collect();
        found.problems.extend(self.check(plan, saved, request, &keys));
        found.add(self.check_clusters(plan, saved, &keys).await.map_err(at(MoveSide::Target))?);
        let access = Self::access(plan, &keys);
        found.problems.extend(look::access(self.cluster, MoveSide::Target, access).await?);
        if request.thorough {
            found.add(self.try_objects(plan, saved, &keys).await.map_err(at(MoveSide::Target))?);
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
                "install them: `capstan init --kubeconfig TARGET`",
            )
        };
        let mut problems = if is_bare { vec![bare()] } else { check_providers(&source, &self.inventory) };
        problems.extend(check_kinds(keys.keys().map(|node| &*plan.facts(*node).of), &self.kinds));
        problems.extend(check_namespaces(&self.namespaces));
        let places: Vec<(&ObjectKey, ObjectKey)> =
            keys.iter().map(|(node, key)| (&plan.facts(*node).key, key.clone())).collect();
        problems.extend(check_places(&places, &request.namespace_map, Stage::New));
        let is_homeless =
            |node: &NodeId| plan.facts(*node).of.kind.namespaced && keys[node].namespace.is_empty();
        let homeless: Vec<&ObjectKey> =
            keys.iter().filter(|(node, _)| is_homeless(node)).map(|(_, key)| key).collect();
        if !homeless.is_empty() {
            let text = format!("without a namespace: {}", listed(homeless));
            problems.push(problem(text, "write one into their files"));
        }
        let going: Vec<&ObjectKey> = keys
            .values()
            .filter(|key| self.view.there.get(*key).is_some_and(|there| there.is_going))
            .collect();
        if !going.is_empty() {
            let text = format!("being deleted on the target: {}", listed(going));
            problems.push(problem(text, "wait until they are gone"));
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
        let (mut found, mut paused) = (Findings::default(), Vec::new());
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let is_there = plan.on_target.get(node) == Some(&OnTarget::LeaveAlone);
            if !matches!(facts.content, Content::Cluster(_)) || !is_there {
                continue;
            }
            let kind = self.cluster.server.kind(&key.group_kind()).await?;
            let Some(there) = self.cluster.server.get(&kind, &key.namespace, &key.name).await? else {
                continue;
            };
            let Some(content) = saved.by_uid(&facts.uid) else { continue };
            let Some(saved) = content.object() else { continue };
            if !holds_the_same(&saved, &there)
                && let Some(problem) = check_endpoint(key, &saved, &there)
            {
                found.problems.push(problem);
            } else if plan.lacks_some_of(*node) {
                if is_paused(&there) {
                    continue;
                }
                found.problems.push(problem(
                    format!("{key} is at work on the target, and lacks objects that were saved"),
                    "when it is to become what was saved, pause it first; when another management cluster looks after it, leave it alone",
                ));
            } else if is_paused(&there) && !content.stays_paused && there.annotation(MARK) != Some(RESTORE) {
                paused.push(key);
            }
        }
        if !paused.is_empty() {
            found.warnings.push(problem(
                format!("paused on this cluster, and stays paused: {}", listed(paused)),
                "resume it when it is to run: set `spec.paused` to false",
            ));
        }
        Ok(found)
    }

    fn access(plan: &MovePlan, keys: &BTreeMap<NodeId, ObjectKey>) -> Vec<Permission> {
        let among = |(node, key): (&NodeId, &ObjectKey)| {
            let kind = &plan.facts(*node).of.kind;
            Among {
                group: kind.group.clone(),
                resource: kind.plural.clone(),
                namespace: key.namespace.clone(),
            }
        };
        let places: BTreeSet<Among> =
            keys.iter().map(among).filter(|among| !among.resource.is_empty()).collect();
        let permission = |verb: &str, group: &str, resource: &str, namespace: &str| Permission {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
        };
        let objects = places.iter().flat_map(|among| {
            VERBS.map(|verb| permission(verb, &among.group, &among.resource, &among.namespace))
        });
        let namespaces =
            (!plan.new_namespaces.is_empty()).then(|| permission("create", "", "namespaces", ""));
        objects.chain(namespaces).collect()
    }

    /// Creates objects as dry runs, if their namespace exists.
    async fn try_objects(
        &self,
        plan: &MovePlan,
        saved: &SavedObjects,
        keys: &BTreeMap<NodeId, ObjectKey>,
    ) -> Result<Findings, ApiError> {
        let (mut chosen, mut homeless) = (Vec::new(), Vec::new());
        for (node, key) in keys {
            let facts = plan.facts(*node);
            let is_there = |state: &NamespaceState| *state == NamespaceState::There;
            if plan.on_target.get(node) != Some(&OnTarget::Create) || facts.of.kind.plural.is_empty() {
                continue;
            }
            if self.namespaces.get(&key.namespace).is_some_and(|state| !is_there(state)) {
                homeless.push(key);
                continue;
            }
            chosen.push((facts, key));
        }
        let tries = chosen.into_iter().map(|(facts, key)| async move {
            let object = saved.by_uid(&facts.uid).and_then(SavedContent::object)?;
            try_one(self.cluster, &facts.of.kind, key, object).await
        });
        let mut refusals = stream::iter(tries).buffered(self.cluster.server.max_in_flight().max(1));
        let mut tried = Tried::default();
        while let Some(refused) = refusals.next().await {
            if let Some((key, error)) = refused {
                tried.note(key, error)?;
            }
        }
        Ok(look::told(&tried, &homeless))
    }
}

impl MovePlan {
    /// True if the plan creates the object or an object below it in the owner graph.
    pub(crate) fn lacks_some_of(&self, root: NodeId) -> bool {
        let (mut seen, mut next) = (BTreeSet::from([root]), vec![root]);
        while let Some(node) = next.pop() {
            for owned in &self.discovered.graph.node(node).owned {
                if seen.insert(*owned) {
                    next.push(*owned);
                }
            }
        }
        seen.iter().any(|node| self.on_target.get(node) == Some(&OnTarget::Create))
    }
}

pub(super) fn is_paused(object: &manifest::Object) -> bool {
    object.get(&["spec", "paused"]) == Some(&Value::Bool(true))
        || object.annotation(workload::PAUSED).is_some()
}

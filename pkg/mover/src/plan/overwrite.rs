//! Clusters and Secrets of the target that a move would overwrite.

use std::collections::BTreeMap;

use api::output::MovePhase;
use apply::ObjectKey;
use futures::try_join;
use inventory::PreflightProblem;
use manifest::{Object, Value};
use workload::{ContentFacts, NodeId, ObjectFacts};

use super::{MovePlan, TargetEffect, target_planner::TargetPlanner};
use crate::{
    MoveError, MoveSide,
    create::{content_hash, without_pause},
    error::api_error,
    preflight::{Stage, listed, problem},
    target::{TargetObject, TargetView},
};

impl TargetPlanner<'_> {
    /// Finds target Clusters that may be different clusters, and Clusters and Secrets with other content that no move
    /// made. Overwriting a different cluster would take its machines away. Other content is overwritten on demand.
    pub(super) async fn check_overwritten(
        &self,
        plan: &MovePlan,
        keys: &BTreeMap<NodeId, ObjectKey>,
        view: &TargetView,
    ) -> Result<Vec<PreflightProblem>, MoveError> {
        let (mut problems, mut overwritten) = (Vec::new(), Vec::new());
        for (node, key) in keys {
            let (facts, Some(existing)) = (plan.facts(*node), view.objects.get(key)) else { continue };
            let is_cluster = matches!(facts.content, ContentFacts::Cluster(_));
            let is_updated = plan.target_effects.get(node) == Some(&TargetEffect::Update);
            if !is_updated || !(is_cluster || is_secret(key)) || self.is_made_by_move(facts, key, existing) {
                continue;
            }
            let Some((here, there)) = self.both(facts, key).await? else { continue };
            if has_same_content(&here, &there) {
                continue;
            }
            if is_cluster && let Some(problem) = check_endpoint(key, &here, &there) {
                problems.push(problem);
            } else if !self.request.overwrite {
                overwritten.push(key);
            }
        }
        if !overwritten.is_empty() {
            problems.push(problem(
                format!(
                    "objects on the target have other content and no move created them: {}",
                    listed(overwritten)
                ),
                "compare the objects, then replace those on the target with `--overwrite`",
            ));
        }
        Ok(problems)
    }

    /// True if the unfinished move made a target object, according to its journal or to equal marks on both sides.
    fn is_made_by_move(&self, facts: &ObjectFacts, key: &ObjectKey, there: &TargetObject) -> bool {
        let is_marked = there.paused_by.is_some() && there.paused_by == facts.paused_by;
        is_marked
            || match self.stage {
                Stage::New => false,
                Stage::Started(journal) | Stage::Deleting(journal) => {
                    journal.phase >= MovePhase::Creating && !journal.existed.contains(key)
                }
            }
    }

    async fn both(
        &self,
        facts: &ObjectFacts,
        key: &ObjectKey,
    ) -> Result<Option<(Object, Object)>, MoveError> {
        let kind = &facts.object_type.kind;
        let here = async {
            let here = self.source.server.get(kind, &facts.key.namespace, &facts.key.name).await;
            here.map_err(api_error(MoveSide::Source))
        };
        let there = async {
            self.target.server.get(kind, &key.namespace, &key.name).await.map_err(api_error(MoveSide::Target))
        };
        let (here, there) = try_join!(here, there)?;
        Ok(here.zip(there))
    }
}

fn is_secret(key: &ObjectKey) -> bool {
    key.group.is_empty() && key.kind == "Secret"
}

/// True if two objects are equal except for API version, metadata, status and pause.
pub(super) fn has_same_content(one: &Object, other: &Object) -> bool {
    let content = |object: &Object| {
        let mut content = without_pause(object);
        content.as_map_mut().retain(|field, _| !["apiVersion", "metadata"].contains(&&**field));
        content_hash(&content)
    };
    content(one) == content(other)
}

/// Returns a problem unless a Cluster has one known endpoint on both sides. An unknown endpoint may be that of another
/// cluster.
pub(super) fn check_endpoint(key: &ObjectKey, here: &Object, there: &Object) -> Option<PreflightProblem> {
    let (here, there) = (endpoint(here), endpoint(there));
    if here.is_some() && here == there {
        return None;
    }
    let named = |endpoint: Option<String>| endpoint.unwrap_or_else(|| "unknown".to_owned());
    Some(problem(
        format!(
            "{key} on the target may be another cluster: its endpoint is {}, but the endpoint on the source is {}",
            named(there),
            named(here)
        ),
        "move it to another namespace with `--map-namespace FROM=TO`",
    ))
}

/// Returns the address of a Cluster's API server as `host:port`; none while unknown.
pub(super) fn endpoint(cluster: &Object) -> Option<String> {
    let field = |name: &str| cluster.get(&["spec", "controlPlaneEndpoint", name]);
    let host = field("host").and_then(Value::as_str).filter(|host| !host.is_empty())?;
    let port = field("port").and_then(Value::as_u64).unwrap_or_default();
    Some(format!("{host}:{port}"))
}

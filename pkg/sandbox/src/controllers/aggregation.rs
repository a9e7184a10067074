//! Aggregated roles: a ClusterRole with an aggregation rule gets the rules of all selected ClusterRoles.
//!
//! Source: kube-controller-manager 1.36 `clusterroleaggregation_controller.go`, run.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::{Controller, ObjectRef, Reconciliation, Requeue};
use crate::{client::Client, meta, selector::LabelSelector, store::Change};

const GROUP: &str = "rbac.authorization.k8s.io";
const KIND: &str = "ClusterRole";

/// Collects the rules of aggregated roles.
#[derive(Debug, Default)]
pub(crate) struct RoleAggregation {
    /// The names of the roles with an aggregation rule.
    aggregated: Mutex<BTreeSet<String>>,
}

/// The field of a role that marks aggregation.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    aggregation_rule: Option<IgnoredAny>,
}

impl Controller for RoleAggregation {
    fn name(&self) -> &'static str {
        "clusterrole-aggregation-controller"
    }

    fn affected_objects(&self, _: &Client, change: &Change) -> Vec<ObjectRef> {
        let key = &change.after.key;
        if &*key.resource.group != GROUP || &*key.resource.plural != "clusterroles" {
            return Vec::new();
        }
        let body: Body = serde_json::from_slice(&change.after.body).unwrap_or_default();
        // A panic elsewhere leaves the index consistent: every critical section completes its change.
        let mut aggregated = self.aggregated.lock().unwrap_or_else(PoisonError::into_inner);
        if body.aggregation_rule.is_some() && !change.deleted {
            aggregated.insert(key.name.to_string());
        } else {
            aggregated.remove(&*key.name);
        }
        aggregated.iter().map(|name| ObjectRef::new(GROUP, KIND, "", name)).collect()
    }

    fn reconcile<'a>(&'a self, client: &'a Client, object: &'a ObjectRef) -> Reconciliation<'a> {
        Box::pin(async move {
            let live = client.get(object).filter(|role| role["aggregationRule"].is_object());
            let Some(role) = live else { return Ok(Requeue::AwaitChange) };
            let rules = aggregated_rules(&role, &client.list(GROUP, KIND, None));
            if role["rules"].as_array().map_or(&[] as &[Value], Vec::as_slice) != rules {
                let configuration = json!({
                    "apiVersion": role["apiVersion"], "kind": KIND,
                    // The uid prevents the apply request from recreating a role that was deleted meanwhile.
                    "metadata": {"name": meta::name(&role), "uid": role["metadata"]["uid"]}, "rules": rules,
                });
                client.apply(configuration).await?;
            }
            Ok(Requeue::AwaitChange)
        })
    }
}

/// Returns the rules of the selected roles without duplicates: selector by selector, sorted by role name. `roles` must
/// be sorted by name, as lists are.
fn aggregated_rules(role: &Value, roles: &[Value]) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten() {
        let selector = LabelSelector::of_object(selector);
        let others = roles.iter().filter(|other| meta::name(other) != meta::name(role));
        for other in others.filter(|other| selector.matches_object(other)) {
            for rule in other["rules"].as_array().into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_selected_roles_are_aggregated_once() {
        let rule = |verb: &str| json!({"apiGroups": [""], "resources": ["pods"], "verbs": [verb]});
        let role = |name: &str, label: &str, verbs: &[&str]| {
            let rules: Vec<_> = verbs.iter().map(|verb| rule(verb)).collect();
            json!({"metadata": {"name": name, "labels": {"to": label}}, "rules": rules})
        };
        let mut whole = role("whole", "whole", &["watch"]);
        whole["aggregationRule"] = json!({"clusterRoleSelectors": [
            {"matchLabels": {"to": "second"}}, {"matchExpressions": [{"key": "to", "operator": "In", "values": ["whole"]}]},
        ]});
        let roles = [
            role("a", "whole", &["get", "list"]),
            role("b", "second", &["list"]),
            role("c", "none", &["delete"]),
            whole.clone(),
        ];
        assert_eq!(aggregated_rules(&whole, &roles), [rule("list"), rule("get")]);
    }
}

//! ClusterClasses of other namespaces.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use apply::{ApiError, GroupKind, ListQuery};
use futures::future::try_join_all;
use inventory::ManagementCluster;
use manifest::Value;

use super::{Scope, facts::facts_of, gather, is_core_kind, list_facts};
use crate::{ContentFacts, ObjectFacts, TypeFacts};

/// The ClusterClasses of a namespace, and the kinds of the templates they name.
#[derive(Default)]
struct ClassesWithTemplates {
    found: Vec<ObjectFacts>,
    templates: BTreeSet<GroupKind>,
}

/// Returns ClusterClasses outside the scope that Clusters in scope use, and the templates they own. It sends one list
/// of classes for each namespace, and one for each kind of template.
pub(super) async fn classes_outside_scope(
    management: &ManagementCluster,
    scope: &Scope,
    types: &[Arc<TypeFacts>],
    found: &[ObjectFacts],
) -> Result<Vec<ObjectFacts>, ApiError> {
    let mut used: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for facts in found.iter().filter(|facts| scope.contains(&facts.key.namespace)) {
        let ContentFacts::Cluster(cluster) = &facts.content else { continue };
        if let Some((namespace, name)) =
            cluster.class.as_ref().filter(|(namespace, _)| !scope.contains(namespace))
        {
            used.entry(namespace).or_default().insert(name);
        }
    }
    let namespaces = used.iter().map(|(namespace, names)| read_classes(management, namespace, names, types));
    Ok(try_join_all(namespaces).await?.into_iter().flatten().collect())
}

async fn read_classes(
    cluster: &ManagementCluster,
    namespace: &str,
    names: &BTreeSet<&str>,
    types: &[Arc<TypeFacts>],
) -> Result<Vec<ObjectFacts>, ApiError> {
    let Some(class) = types.iter().find(|of| is_core_kind(of, "ClusterClass")) else { return Ok(Vec::new()) };
    let list = ListQuery { namespace: Some(namespace.to_owned()), ..ListQuery::default() };
    let classes: ClassesWithTemplates =
        gather(cluster, class, &list, |classes: &mut ClassesWithTemplates, object| {
            classes.found.push(facts_of(&object, class));
            object
                .get(&["spec"])
                .into_iter()
                .for_each(|spec| collect_template_kinds(spec, &mut classes.templates));
        })
        .await?;
    let kinds = types.iter().filter(|of| classes.templates.contains(&of.kind.group_kind()));
    let list = ListQuery { metadata_only: true, ..list };
    let lists = kinds.map(|of| list_facts(cluster, of, &list));
    let templates = try_join_all(lists).await?.into_iter().flatten().collect();
    Ok(with_owned_templates(names, classes.found, templates))
}

/// Collects the kinds of all templates that a ClusterClass refers to.
fn collect_template_kinds(value: &Value, kinds: &mut BTreeSet<GroupKind>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_template_kinds(item, kinds)),
        Value::Object(fields) => {
            let reference = fields.get("templateRef");
            let text = |field: &str| reference?.get(field)?.as_str();
            if let (Some(version), Some(kind)) = (text("apiVersion"), text("kind")) {
                kinds.insert(GroupKind::new(version.split_once('/').map_or("", |(group, _)| group), kind));
            }
            fields.values().for_each(|field| collect_template_kinds(field, kinds));
        }
        _ => {}
    }
}

/// Returns the named classes with the templates they own. Other classes that own one of these templates are included,
/// because the template cannot move without them.
fn with_owned_templates(
    names: &BTreeSet<&str>,
    classes: Vec<ObjectFacts>,
    templates: Vec<ObjectFacts>,
) -> Vec<ObjectFacts> {
    let mut uids: BTreeSet<String> = classes
        .iter()
        .filter(|class| names.contains(&*class.key.name))
        .map(|class| class.uid.clone())
        .collect();
    let (mut selected, mut remaining) = (Vec::new(), templates);
    loop {
        let is_owned = |facts: &ObjectFacts| facts.owners.iter().any(|owner| uids.contains(&owner.uid));
        let (more, rest): (Vec<_>, Vec<_>) = remaining.into_iter().partition(is_owned);
        if more.is_empty() {
            break;
        }
        uids.extend(more.iter().flat_map(|facts| &facts.owners).map(|owner| owner.uid.clone()));
        selected.extend(more);
        remaining = rest;
    }
    selected.extend(classes.into_iter().filter(|class| uids.contains(&class.uid)));
    selected
}

/// True for a Cluster outside the scope that uses no discovered class. No other object depends on it.
pub(super) fn is_unrelated(scope: &Scope, classes: &BTreeSet<(String, String)>, facts: &ObjectFacts) -> bool {
    let ContentFacts::Cluster(cluster) = &facts.content else { return false };
    let uses_one = cluster.class.as_ref().is_some_and(|class| classes.contains(class));
    !scope.contains(&facts.key.namespace) && !uses_one
}

/// Returns namespaces and names of ClusterClasses.
pub(super) fn class_names(found: &[ObjectFacts]) -> BTreeSet<(String, String)> {
    let classes = found.iter().filter(|facts| matches!(facts.content, ContentFacts::ClusterClass));
    classes.map(|facts| (facts.key.namespace.clone(), facts.key.name.clone())).collect()
}

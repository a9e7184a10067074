//! `replicas`: the replica counts of workloads.

use manifest::Value;

use crate::accumulator::Accumulator;
use crate::fields::FieldTable;
use crate::kustomization::entries::Replica;
use crate::report::format_suggestions;
use crate::resource::Resource;
use crate::scope::Scope;

/// A count that matches no workload.
#[derive(Debug, thiserror::Error)]
#[error("no workload named `{name}` has a replica count{}", format_suggestions(suggestions))]
pub(crate) struct UnmatchedReplica {
    name: String,
    suggestions: Vec<String>,
}

/// Applies the entries of `replicas`.
pub(crate) fn run(scope: &mut Scope<'_, '_>, objects: &mut Accumulator) {
    let tables = objects.tables.clone();
    for (index, replica) in scope.kustomization.replicas.iter().enumerate() {
        let place = format!("replicas[{index}]");
        set(scope, &place, replica, &tables.replicas, objects);
        scope.record_provenance(&place, objects);
    }
}

/// Sets the count of the workloads that have or had a name. Reports a name without a workload.
/// Source: kustomize v5.8.1 ReplicaCountTransformer.
pub(crate) fn set(
    scope: &mut Scope<'_, '_>,
    place: &str,
    replica: &Replica,
    fields: &FieldTable,
    objects: &mut Accumulator,
) {
    let result = set_in(replica, fields, objects);
    // The workload may be among the objects that failed to load.
    if !objects.is_partial {
        scope.ok(place, result);
    }
}

fn set_in(replica: &Replica, fields: &FieldTable, objects: &mut Accumulator) -> Result<(), UnmatchedReplica> {
    let mut positions = objects.find_by_any_name(&replica.name);
    positions.retain(|position| objects.get(*position).is_some_and(|resource| has_count(fields, resource)));
    if positions.is_empty() {
        return Err(unmatched(&replica.name, fields, objects));
    }
    for position in positions {
        objects.edit(position, |resource| {
            let specs: Vec<_> = fields.for_object(&resource.object).collect();
            for spec in specs {
                spec.edit(&mut resource.object, |count| *count = Value::from(replica.count));
            }
        });
    }
    Ok(())
}

fn has_count(fields: &FieldTable, resource: &Resource) -> bool {
    fields.for_object(&resource.object).next().is_some()
}

fn unmatched(name: &str, fields: &FieldTable, objects: &Accumulator) -> UnmatchedReplica {
    let resources = objects.iter().map(|(_, resource)| resource);
    let workloads = resources.filter(|resource| has_count(fields, resource));
    let near = api::similar_names(name, workloads.map(|resource| resource.object.name()));
    UnmatchedReplica { name: name.to_owned(), suggestions: near.into_iter().map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use manifest::Object;
    use serde_json::json;

    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::TreePath;
    use crate::kustomization::entries::FieldSpecEntry;
    use crate::resource::ObjectOrigin;

    fn add(kind: &str, name: &str, objects: &mut Accumulator) {
        let value = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}});
        let origin = Arc::new(ObjectOrigin::File(TreePath::new("a")));
        objects.append(Resource::new(Object::try_from(value).unwrap(), origin)).unwrap();
    }

    #[test]
    fn replicas_match_any_former_name_and_misses_are_reported() {
        let path = "spec/replicas".to_owned();
        let spec =
            FieldSpecEntry { kind: "Deployment".into(), path, create: true, ..FieldSpecEntry::default() };
        let fields: FieldTable = [spec.into()].into_iter().collect();
        let mut objects = Accumulator::default();
        add("Deployment", "web", &mut objects);
        add("ConfigMap", "web", &mut objects);
        objects.edit_all(|resource| resource.object.set_name("x-web"));
        let replica = |name: &str, count| Replica { name: name.to_owned(), count };
        let replicas = [replica("web", 3), replica("x-webb", 1), replica("other", 1)];
        let missed = replicas.map(|replica| set_in(&replica, &fields, &mut objects));
        let counts: Vec<_> =
            objects.iter().map(|(_, resource)| resource.object.get(&["spec", "replicas"]).cloned()).collect();
        assert_eq!(counts, [Some(json!(3)), None]);
        let reported =
            missed.map(|result| result.map_or_else(|problem| problem.to_string(), |()| "ok".to_owned()));
        assert_data_eq!(
            reported.join("\n"),
            str![[r#"
ok
no workload named `x-webb` has a replica count; did you mean `x-web`?
no workload named `other` has a replica count
"#]]
        );
    }
}

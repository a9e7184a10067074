//! The kinds of a discovery.

use std::sync::Arc;

use apply::ListQuery;
use inventory::{ManagementCluster, config_map_kind, crd_kind, known_kind, secret_kind};
use manifest::{Object, Value};

use super::{
    DiscoverError,
    facts::{ADDONS, CORE, MOVE, MOVE_HIERARCHY},
};
use crate::TypeFacts;

/// The number of definitions in one request: one definition may have hundreds of kilobytes of schema.
const PAGE_SIZE: usize = 20;
/// Kinds that are roots of hierarchies without a label.
/// Source: clusterctl v1.14 client/cluster/objectgraph.go (getDiscoveryTypes).
const ROOTS: [(&str, &str); 3] = [(CORE, "Cluster"), (CORE, "ClusterClass"), (ADDONS, "ClusterResourceSet")];

/// Returns the kinds of labelled definitions in their storage versions, and Secrets and ConfigMaps, by group and kind.
pub async fn types_to_discover(cluster: &ManagementCluster) -> Result<Vec<Arc<TypeFacts>>, DiscoverError> {
    let list = ListQuery { labels: api::labels::CLUSTERCTL.to_owned(), ..ListQuery::default() };
    let mut pages = cluster.server.pages(&crd_kind(), &list).with_size(PAGE_SIZE);
    let found: Vec<_> =
        pages.gather(|found: &mut Vec<_>, object| found.push(parse_definition(&object))).await?;
    let mut types = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    types.extend([secret_kind(), config_map_kind()].map(TypeFacts::unlabelled));
    types.sort_by(|a, b| (&a.kind.group, &a.kind.kind).cmp(&(&b.kind.group, &b.kind.kind)));
    Ok(types.into_iter().map(Arc::new).collect())
}

/// Extracts the relevant facts of a definition, and drops its schemas.
/// # Errors
/// `Definition` without a usable storage version: a move would leave its objects behind.
fn parse_definition(definition: &Object) -> Result<TypeFacts, DiscoverError> {
    let bad = |problem| DiscoverError::Definition { name: definition.name().to_owned(), problem };
    let text = |path: &[&str]| definition.get(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    let versions = definition.get(&["spec", "versions"]).and_then(Value::as_array);
    let stored = versions.into_iter().flatten().find(|version| version["storage"] == true);
    let stored = stored.ok_or_else(|| bad("no storage version"))?;
    if stored["served"] != true {
        return Err(bad("an unserved storage version"));
    }
    let kind = text(&["spec", "names", "kind"]).ok_or_else(|| bad("no kind"))?;
    let group = text(&["spec", "group"]).ok_or_else(|| bad("no group"))?;
    let plural = text(&["spec", "names", "plural"]).ok_or_else(|| bad("no plural name"))?;
    let version = stored["name"].as_str().ok_or_else(|| bad("a version without a name"))?;
    let namespaced = text(&["spec", "scope"]) == Some("Namespaced");
    Ok(TypeFacts {
        kind: known_kind(group, version, kind, plural, namespaced),
        is_labelled_to_move: definition.label(MOVE).is_some(),
        is_hierarchy: ROOTS.contains(&(group, kind)) || definition.label(MOVE_HIERARCHY).is_some(),
        has_status: stored["subresources"].get("status").is_some(),
        provider: definition.label(api::labels::PROVIDER).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn definition(labels: &Value, versions: &Value) -> Object {
        Object::try_from(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.org", "labels": labels},
            "spec": {
                "group": "example.org", "scope": "Cluster", "names": {"kind": "Thing", "plural": "things"},
                "versions": versions,
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_definition_provides_the_facts_of_its_kind() {
        let old = json!({"name": "v1", "served": true, "storage": false, "subresources": {"status": {}}});
        let stored = json!({"name": "v2", "served": true, "storage": true, "deprecated": true});
        let labels = json!({MOVE: "false", api::labels::PROVIDER: "infrastructure-things"});
        let read = parse_definition(&definition(&labels, &json!([old, stored]))).unwrap();
        assert_eq!(read.kind, known_kind("example.org", "v2", "Thing", "things", false));
        assert_eq!((read.is_labelled_to_move, read.is_hierarchy, read.has_status), (true, false, false));
        assert_eq!(read.provider.as_deref(), Some("infrastructure-things"));
    }

    #[test]
    fn a_definition_whose_objects_cannot_be_read_is_named() {
        let errors = [
            json!([]),
            json!([{"name": "v1", "served": true, "storage": false}]),
            json!([{"name": "v1", "served": false, "storage": true}]),
        ]
        .map(|versions| parse_definition(&definition(&json!({}), &versions)).unwrap_err().to_string());
        assert_data_eq!(
            errors.join("\n"),
            str![[r#"
cannot use CustomResourceDefinition `things.example.org`: it has no storage version
cannot use CustomResourceDefinition `things.example.org`: it has no storage version
cannot use CustomResourceDefinition `things.example.org`: it has an unserved storage version
"#]]
        );
    }
}

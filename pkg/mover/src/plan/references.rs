//! References from infrastructure to objects that do not move: credentials and identities.

use std::collections::{BTreeMap, BTreeSet};

use apply::{ApiError, GroupKind, ListQuery, ObjectKey, ServedKinds};
use inventory::{ManagementCluster, PreflightProblem};
use manifest::{Object, Value};
use workload::ObjectFacts;

use super::MovePlan;
use crate::{
    MoveError, MoveRequest, MoveSide,
    error::api_error,
    preflight::{listed, problem},
    target::TargetView,
    target_key,
};

/// The group of the objects that are searched for references. Their kinds end in `Cluster`, and each Cluster has one
/// object.
const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";

/// The referring objects of each referenced object, by keys on the source.
type ReferencesByObject = BTreeMap<ObjectKey, Vec<ObjectKey>>;

impl MovePlan {
    /// Warns about each object that a field `spec.…Ref` of a Cluster's infrastructure names, and that neither moves nor
    /// exists on the target.
    /// Sends one list per kind and namespace of infrastructure, and one per kind of referenced objects that stay.
    pub(super) async fn check_references(
        &self,
        source: &ManagementCluster,
        target: &ManagementCluster,
        request: &MoveRequest,
    ) -> Result<Vec<PreflightProblem>, MoveError> {
        let mut referred = self.referenced_objects(source, target).await?;
        let moving: BTreeSet<&ObjectKey> =
            self.selection.moving().map(|node| &self.facts(node).key).collect();
        referred.retain(|key, _| !moving.contains(key));
        let there: BTreeMap<&ObjectKey, ObjectKey> =
            referred.keys().map(|key| (key, target_key(key, &request.namespace_map))).collect();
        let found = match TargetView::read_keys(target, &there.values().collect()).await {
            // Without permission to read the objects, there is no warning.
            Err(error) if error.is_forbidden() => return Ok(Vec::new()),
            found => found.map_err(api_error(MoveSide::Target))?.objects,
        };
        let lacking = there.iter().filter(|(_, key)| !found.contains_key(*key));
        Ok(lacking.map(|(key, there)| missing_reference(&referred[*key], there)).collect())
    }

    async fn referenced_objects(
        &self,
        source: &ManagementCluster,
        target: &ManagementCluster,
    ) -> Result<ReferencesByObject, MoveError> {
        let mut places: BTreeMap<(&str, &str), BTreeMap<&str, &ObjectFacts>> = BTreeMap::new();
        for facts in self.selection.moving().map(|node| self.facts(node)) {
            let ObjectKey { group, kind, namespace, name } = &facts.key;
            if group == INFRASTRUCTURE && kind.ends_with("Cluster") {
                places.entry((kind, namespace)).or_default().insert(name, facts);
            }
        }
        let mut referred = ReferencesByObject::new();
        let kinds = target.server.kinds().await.map_err(api_error(MoveSide::Target))?;
        for ((_, namespace), named) in places {
            let Some(facts) = named.values().next() else { continue };
            let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
            let list = ListQuery { namespace, ..ListQuery::default() };
            let mut pages = source.server.pages(&facts.object_type.kind, &list);
            let found: Result<Vec<(ObjectKey, ObjectKey)>, ApiError> = pages
                .gather(|found: &mut Vec<_>, object| {
                    let Some(facts) = named.get(object.name()) else { return };
                    let keys = references_of(&object, &facts.key, &kinds);
                    found.extend(keys.map(|key| (key, facts.key.clone())));
                })
                .await;
            for (key, by) in found.map_err(api_error(MoveSide::Source))? {
                referred.entry(key).or_default().push(by);
            }
        }
        Ok(referred)
    }
}

/// Returns the objects that the fields `spec.…Ref` of an object name. The default kind is Secret. The default group and
/// namespace are those of the object.
fn references_of<'o>(
    object: &'o Object,
    key: &'o ObjectKey,
    kinds: &'o ServedKinds,
) -> impl Iterator<Item = ObjectKey> + 'o {
    let fields = object.get(&["spec"]).and_then(Value::as_object);
    let references = fields.into_iter().flatten().filter(|(field, _)| field.ends_with("Ref"));
    references.filter_map(move |(_, reference)| resolve_reference(reference, key, kinds))
}

fn resolve_reference(reference: &Value, by: &ObjectKey, kinds: &ServedKinds) -> Option<ObjectKey> {
    let text = |field: &str| reference.get(field)?.as_str().filter(|text| !text.is_empty());
    let name = text("name")?.to_owned();
    let kind = text("kind").unwrap_or("Secret").to_owned();
    let of_version =
        || text("apiVersion").map(|version| version.split_once('/').map_or("", |(group, _)| group));
    let of_kind = if kind == "Secret" || kind == "ConfigMap" { "" } else { &by.group };
    let group = text("apiGroup").or_else(of_version).unwrap_or(of_kind).to_owned();
    let served = kinds.preferred(&GroupKind::new(&*group, &*kind));
    let namespace = if served.is_some_and(|kind| !kind.namespaced) {
        ""
    } else {
        text("namespace").unwrap_or(&by.namespace)
    };
    Some(ObjectKey { namespace: namespace.to_owned(), group, kind, name })
}

fn missing_reference(by: &[ObjectKey], there: &ObjectKey) -> PreflightProblem {
    problem(
        format!("{there} does not move and does not exist on the target; it is referenced by {}", listed(by)),
        "create it on the target first, or label it with `clusterctl.cluster.x-k8s.io/move` to move it",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use inventory::known_kind;

    #[test]
    fn each_reference_identifies_one_object() {
        let by = ObjectKey {
            group: INFRASTRUCTURE.to_owned(),
            kind: "AWSCluster".to_owned(),
            namespace: "team".to_owned(),
            name: "a".to_owned(),
        };
        let mut kinds = ServedKinds::default();
        kinds.add(known_kind(INFRASTRUCTURE, "v1beta2", "AWSClusterStaticIdentity", "identities", false));
        for (reference, expected) in [
            (json!({"kind": "AWSClusterStaticIdentity", "name": "x"}), Some("AWSClusterStaticIdentity x")),
            (json!({"name": "x"}), Some("Secret team/x")),
            (json!({"name": "x", "namespace": "b", "key": {"token": "t"}}), Some("Secret b/x")),
            (json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}), Some("ConfigMap team/x")),
            (json!({"apiGroup": "example.org", "kind": "Login", "name": "x"}), Some("Login team/x")),
            (json!({"kind": "Secret"}), None),
            (json!("x"), None),
        ] {
            let found = resolve_reference(&reference, &by, &kinds).map(|key| key.to_string());
            assert_eq!(found.as_deref(), expected, "{reference}");
        }
    }
}

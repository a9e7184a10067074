//! References that name a namespace. A reference follows its object into another namespace.

use std::collections::BTreeMap;

use manifest::{Map, Object, Value};

use crate::{MovePlan, MoveRequest};

/// The objects that change their namespace: the target namespace by kind, namespace and name.
///
/// Groups are ignored. References of contract v1beta2 have a group, older references have an `apiVersion`, and some
/// have neither.
#[derive(Debug, Default)]
pub(crate) struct MovedReferences {
    new_namespaces: BTreeMap<(String, String, String), String>,
}

impl MovedReferences {
    /// Collects the moving objects of a plan that change their namespace.
    pub(crate) fn new(plan: &MovePlan, request: &MoveRequest) -> Self {
        if request.namespace_map.is_empty() {
            return Self::default();
        }
        let moving =
            plan.selection.moving().map(|node| (&plan.facts(node).key, plan.key_on_target(node, request)));
        let moved = moving
            .filter(|(here, there)| here.namespace != there.namespace)
            .map(|(here, there)| {
                ((here.kind.clone(), here.namespace.clone(), here.name.clone()), there.namespace)
            })
            .collect();
        Self { new_namespaces: moved }
    }

    /// Rewrites the namespace in each field `…Ref` whose object changes its namespace, such as
    /// `spec.topology.classRef`. References to other objects are unchanged.
    pub(crate) fn rewrite(&self, copy: &mut Object) {
        if self.new_namespaces.is_empty() {
            return;
        }
        let own = |field: &&mut Value| field.is_object() || field.is_array();
        let fields =
            copy.as_map_mut().iter_mut().filter(|(name, _)| *name != "metadata" && *name != "status");
        fields.map(|(_, value)| value).filter(own).for_each(|value| self.rewrite_value(value));
    }

    fn rewrite_value(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rewrite_value(item)),
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    if name.ends_with("Ref")
                        && let Some(reference) = value.as_object_mut()
                    {
                        self.rewrite_reference(name, reference);
                    }
                    self.rewrite_value(value);
                }
            }
            _ => {}
        }
    }

    fn rewrite_reference(&self, field: &str, reference: &mut Map<String, Value>) {
        let text = |field: &str| reference.get(field).and_then(Value::as_str).map(str::to_owned);
        let kind = text("kind").unwrap_or_else(|| default_kind(field).to_owned());
        let (Some(namespace), Some(name)) = (text("namespace"), text("name")) else { return };
        if let Some(there) = self.new_namespaces.get(&(kind, namespace, name)) {
            reference.insert("namespace".to_owned(), there.as_str().into());
        }
    }
}

/// Returns the kind of a reference without the field `kind`.
fn default_kind(field: &str) -> &'static str {
    if field == "classRef" { "ClusterClass" } else { "Secret" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_references_to_mapped_objects_are_changed() {
        let place = |kind: &str, name: &str| (kind.to_owned(), "team".to_owned(), name.to_owned());
        let moved = [place("ClusterClass", "small"), place("Secret", "login"), place("DockerCluster", "a")];
        let references =
            MovedReferences { new_namespaces: moved.map(|place| (place, "crew".to_owned())).into() };
        for (reference, namespace) in [
            (json!({"classRef": {"name": "small", "namespace": "team"}}), Some("crew")),
            (json!({"classRef": {"name": "large", "namespace": "team"}}), Some("team")),
            (json!({"classRef": {"name": "small"}}), None),
            (json!({"credentialsRef": {"name": "login", "namespace": "team"}}), Some("crew")),
            (
                json!({"infrastructureRef": {"kind": "DockerCluster", "name": "a", "namespace": "team"}}),
                Some("crew"),
            ),
            (
                json!({"infrastructureRef": {"kind": "DockerCluster", "name": "a", "namespace": "b"}}),
                Some("b"),
            ),
            (json!({"configMap": {"name": "login", "namespace": "team"}}), Some("team")),
        ] {
            let field = reference.as_object().unwrap().keys().next().unwrap().clone();
            let mut copy: Object = json!({"spec": {"topology": [reference]}}).try_into().unwrap();
            references.rewrite(&mut copy);
            let found = &copy.as_map()["spec"]["topology"][0][&field];
            assert_eq!(found.get("namespace").and_then(Value::as_str), namespace, "{field}");
        }
    }
}

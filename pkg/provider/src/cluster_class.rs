//! The ClusterClasses that the Clusters of a template use.

use manifest::{Object, Value};

/// The namespace and name of a ClusterClass.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterClassName {
    /// The namespace. If the reference has none, the namespace of the Cluster.
    pub namespace: String,
    /// The name, which is part of the file name in the repository.
    pub name: String,
}

impl ClusterClassName {
    /// The file of a provider release that defines the class.
    pub fn file(&self) -> String {
        format!("clusterclass-{}.yaml", self.name)
    }
}

/// Finds the classes of all Clusters with a managed topology.
///
/// Shape: one entry per Cluster, in object order. A class used twice is listed twice.
/// Source: clusterctl v1.14 client/clusterclass.go, which also ignores Clusters of other API versions than v1beta1 and
/// v1beta2.
pub fn used_cluster_classes(objects: &[Object]) -> Vec<ClusterClassName> {
    objects.iter().filter_map(used_class).collect()
}

fn used_class(cluster: &Object) -> Option<ClusterClassName> {
    if cluster.kind() != "Cluster" || cluster.group() != "cluster.x-k8s.io" {
        return None;
    }
    let topology = cluster.get(&["spec", "topology"])?.as_object()?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, namespace) = match cluster.version() {
        "v1beta2" if TOPOLOGY_FIELDS.iter().any(|field| topology.get(*field).is_some_and(is_set)) => {
            let reference = topology.get("classRef");
            let field = |key| text(reference.and_then(|reference| reference.get(key)));
            (field("name"), field("namespace"))
        }
        "v1beta1" => (text(topology.get("class")), text(topology.get("classNamespace"))),
        _ => return None,
    };
    let namespace = if namespace.is_empty() { cluster.namespace().to_owned() } else { namespace };
    Some(ClusterClassName { namespace, name })
}

/// The fields of a v1beta2 topology. Other fields alone do not count as a topology.
const TOPOLOGY_FIELDS: [&str; 5] = ["classRef", "controlPlane", "variables", "version", "workers"];

/// True if Go would decode a value to a non-zero value. An empty list counts as non-zero.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use manifest::YamlLimits;

    use super::*;

    fn classes(yaml: &str) -> Vec<String> {
        let objects = manifest::read_stream(yaml.as_bytes(), &YamlLimits::default()).unwrap().objects;
        used_cluster_classes(&objects)
            .into_iter()
            .map(|class| format!("{}/{}", class.namespace, class.name))
            .collect()
    }

    // Row: PRV-50
    #[test]
    fn the_class_name_is_read_from_the_topology_of_either_version() {
        let template = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: a, namespace: team}
spec: {topology: {classRef: {name: quick-start}}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: b, namespace: team}
spec: {topology: {class: other, classNamespace: shared}}
";
        assert_eq!(classes(template), ["team/quick-start", "shared/other"]);
    }

    #[test]
    fn objects_without_a_topology_use_no_class() {
        let template = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: a}
spec: {}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: b}
spec: {topology: {}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: d}
spec: {topology: {classRef: {name: ''}, version: null, class: of-another-version}}
---
apiVersion: example.com/v1beta2
kind: Cluster
metadata: {name: c}
spec: {topology: {classRef: {name: x}}}
";
        assert!(classes(template).is_empty());
    }
}

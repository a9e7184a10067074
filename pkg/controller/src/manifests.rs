//! The objects that run the controller on a cluster.

use component::definition;
use manifest::{Object, Value, YamlLimits, namespace::set_namespace, read_stream};
use serde_json::json;

/// The objects, without the definition.
const MANIFESTS: &str = include_str!("manifests.yaml");

/// The properties of a deployment of the controller.
#[derive(Clone, Debug)]
pub struct DeploymentSettings {
    /// The image, whose entry point is capstan.
    pub image: String,
    /// The namespace of the controller.
    pub namespace: String,
    /// The number of replicas. One of them works.
    pub replicas: u32,
}

/// Returns the objects that run the controller: the definition of Components, the namespace, permissions, a Service, a
/// PodDisruptionBudget, a NetworkPolicy and the Deployment.
pub fn manifests(settings: &DeploymentSettings) -> Vec<Object> {
    let read = read_stream(MANIFESTS.as_bytes(), &YamlLimits::default());
    let mut objects = read.expect("invariant: a test reads the manifests").objects;
    set_namespace(&mut objects, &settings.namespace)
        .expect("invariant: a test moves the manifests to another namespace");
    for deployment in objects.iter_mut().filter(|object| object.kind() == "Deployment") {
        if let Some(spec) = deployment.get_mut(&["spec"]) {
            spec["replicas"] = settings.replicas.into();
        }
        if let Some(Value::Array(containers)) =
            deployment.get_mut(&["spec", "template", "spec", "containers"])
        {
            for container in containers {
                container["image"] = json!(settings.image);
            }
        }
    }
    objects.insert(0, definition());
    objects
}

#[cfg(test)]
mod tests {
    use support::fixture::Fixture;

    use super::*;

    // Row: CMP-77
    #[tokio::test]
    async fn a_server_accepts_the_manifests() {
        let settings = DeploymentSettings {
            image: "registry.example/capstan:v1".to_owned(),
            namespace: "operators".to_owned(),
            replicas: 2,
        };
        let objects = manifests(&settings);
        let fixture = Fixture::start().await;
        fixture.apply(&manifest::write_stream(&objects)).await;
        let deployment =
            fixture.get(support::kind::DEPLOYMENT, "operators/component-operator").await.unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(deployment["spec"]["replicas"], 2);
        assert_eq!(container["image"], "registry.example/capstan:v1");
        let binding = objects.iter().find(|object| object.kind() == "ClusterRoleBinding").unwrap();
        assert_eq!(binding.get(&["subjects"]).unwrap()[0]["namespace"], "operators");
    }
}

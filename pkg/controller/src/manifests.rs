//! The objects that run the controller on a cluster.

use component::definitions;
use manifest::{Object, Value, YamlLimits, namespace::set_namespace, read_stream};
use serde_json::json;

/// The objects, without the definitions.
const MANIFESTS: &str = include_str!("manifests.yaml");
/// The flag for Components that name no service account. The controller itself may not write their objects.
const DEFAULT_SERVICE_ACCOUNT: &str = "--default-service-account=default";

/// The properties of a deployment of the controller.
#[derive(Clone, Debug)]
pub struct DeploymentSettings {
    /// The image, whose entry point is capstan.
    pub image: String,
    /// The namespace of the controller.
    pub namespace: String,
    /// The number of replicas. One of them works.
    pub replicas: u32,
    /// True if the controller may write every kind. Otherwise, it may read Components and what they refer to, and act as
    /// service accounts: that of the Component, or `default` in its namespace.
    pub is_cluster_admin: bool,
}

/// Returns the objects that run the controller: the definitions of Components and Blueprints, the namespace, permissions, a
/// Service, a PodDisruptionBudget, a NetworkPolicy and the Deployment.
pub fn manifests(settings: &DeploymentSettings) -> Vec<Object> {
    let read = read_stream(MANIFESTS.as_bytes(), &YamlLimits::default());
    let mut objects = read.expect("invariant: a test reads the manifests").objects;
    set_namespace(&mut objects, &settings.namespace)
        .expect("invariant: a test moves the manifests to another namespace");
    for object in &mut objects {
        match object.kind() {
            "Deployment" => configure(object, settings),
            "ClusterRoleBinding" if settings.is_cluster_admin => {
                if let Some(role) = object.get_mut(&["roleRef"]) {
                    role["name"] = json!("cluster-admin");
                }
            }
            _ => {}
        }
    }
    if settings.is_cluster_admin {
        objects.retain(|object| object.kind() != "ClusterRole");
    }
    objects.splice(0..0, definitions());
    objects
}

fn configure(deployment: &mut Object, settings: &DeploymentSettings) {
    if let Some(spec) = deployment.get_mut(&["spec"]) {
        spec["replicas"] = settings.replicas.into();
    }
    let containers = deployment.get_mut(&["spec", "template", "spec", "containers"]);
    for container in containers.and_then(Value::as_array_mut).into_iter().flatten() {
        container["image"] = json!(settings.image);
        if !settings.is_cluster_admin
            && let Some(arguments) = container["args"].as_array_mut()
        {
            arguments.push(json!(DEFAULT_SERVICE_ACCOUNT));
        }
    }
}

#[cfg(test)]
mod tests {
    use support::fixture::Fixture;

    use super::*;

    // Row: CMP-77
    #[tokio::test]
    async fn a_server_accepts_the_manifests() {
        let settings = |is_cluster_admin| DeploymentSettings {
            image: "registry.example/capstan:v1".to_owned(),
            namespace: "operators".to_owned(),
            replicas: 2,
            is_cluster_admin,
        };
        let objects = manifests(&settings(false));
        let fixture = Fixture::start().await;
        fixture.apply(&manifest::write_stream(&objects)).await;
        let deployment =
            fixture.get(support::kind::DEPLOYMENT, "operators/component-operator").await.unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(deployment["spec"]["replicas"], 2);
        assert_eq!(container["image"], "registry.example/capstan:v1");
        assert_eq!(container["args"].as_array().unwrap().last().unwrap(), DEFAULT_SERVICE_ACCOUNT);
        let binding = |objects: &[Object]| {
            objects.iter().find(|object| object.kind() == "ClusterRoleBinding").unwrap().clone()
        };
        assert_eq!(binding(&objects).get(&["subjects"]).unwrap()[0]["namespace"], "operators");
        let admin = manifests(&settings(true));
        assert_eq!(binding(&admin).get(&["roleRef", "name"]).unwrap(), "cluster-admin");
        assert!(!manifest::write_stream(&admin).contains(DEFAULT_SERVICE_ACCOUNT));
    }
}

//! The objects that run the controller on a cluster.

use component::{RECONCILER, definitions};
use manifest::{Object, Value, YamlLimits, namespace, read_stream};
use serde_json::json;

use crate::Shard;

/// The objects, without the definitions.
const MANIFESTS: &str = include_str!("manifests.yaml");
/// The flag for Components that name no service account. The controller itself may not write their objects.
pub(crate) const DEFAULT_SERVICE_ACCOUNT: &str = "--default-service-account=default";

/// The properties of a deployment of the controller.
#[derive(Clone, Debug)]
pub struct DeploymentSettings {
    /// The image, whose entry point is capstan.
    pub image: String,
    /// The namespace of the controller.
    pub namespace: String,
    /// The number of replicas of each shard. One of them works.
    pub replicas: u32,
    /// The number of shards, each with a Deployment of its own.
    pub shards: u16,
    /// True if the controller may write every kind. Otherwise, it may read Components and what they refer to, and act as
    /// service accounts: that of the Component, or `default` in its namespace.
    pub is_cluster_admin: bool,
}

/// Returns the objects that run the controller: the definitions of Components and Blueprints, the namespace, permissions, a
/// Service, a PodDisruptionBudget, a NetworkPolicy and a Deployment for each shard.
pub fn manifests(settings: &DeploymentSettings) -> Vec<Object> {
    let mut objects = fixed_objects(&settings.namespace);
    for object in &mut objects {
        match object.kind() {
            "Deployment" => configure(object, settings),
            "ClusterRoleBinding" if settings.is_cluster_admin => {
                // The role of an existing binding cannot be changed.
                bind_to(object, "component-operator-admin", "cluster-admin");
            }
            _ => {}
        }
    }
    if settings.is_cluster_admin {
        objects.retain(|object| object.kind() != "ClusterRole");
    }
    if settings.shards > 1
        && let Some(deployment) = objects.pop_if(|last| last.kind() == "Deployment")
    {
        let one = |shard: Shard| of_shard(&deployment, &shard.index().to_string(), &shard.to_string());
        objects.extend(Shard::all(settings.shards).map(one));
    }
    objects.splice(0..0, definitions());
    objects
}

/// Returns the objects without the definitions, as for one shard with least privilege. The Deployment is the last one.
pub(crate) fn fixed_objects(namespace: &str) -> Vec<Object> {
    let read = read_stream(MANIFESTS.as_bytes(), &YamlLimits::default());
    let mut objects = read.expect("invariant: a test reads the manifests").objects;
    namespace::set_namespace(&mut objects, namespace)
        .and_then(|()| namespace::move_references(&mut objects, namespace))
        .expect("invariant: a test moves the manifests to another namespace");
    objects
}

/// Sets the name and the role of a binding.
pub(crate) fn bind_to(binding: &mut Object, name: &str, role: &str) {
    binding.set_name(name);
    if let Some(reference) = binding.get_mut(&["roleRef"]) {
        reference["name"] = json!(role);
    }
}

fn configure(deployment: &mut Object, settings: &DeploymentSettings) {
    if let Some(spec) = deployment.get_mut(&["spec"]) {
        spec["replicas"] = settings.replicas.into();
    }
    change_container(deployment, |container| container["image"] = json!(settings.image));
    if !settings.is_cluster_admin {
        add_argument(deployment, DEFAULT_SERVICE_ACCOUNT);
    }
}

/// Returns the Deployment of one of several shards. Its name and its selector differ from those of other shards.
pub(crate) fn of_shard(deployment: &Object, index: &str, shard: &str) -> Object {
    let mut deployment = deployment.clone();
    let name = format!("{}-{index}", deployment.name());
    deployment.set_name(&name);
    let label = format!("{RECONCILER}/shard");
    for path in [&["spec", "selector", "matchLabels"][..], &["spec", "template", "metadata", "labels"]] {
        if let Some(labels) = deployment.get_mut(path) {
            labels[&label] = json!(index);
        }
    }
    add_argument(&mut deployment, &format!("--shard={shard}"));
    deployment
}

pub(crate) fn add_argument(deployment: &mut Object, argument: &str) {
    change_container(deployment, |container| {
        if let Some(arguments) = container["args"].as_array_mut() {
            arguments.push(json!(argument));
        }
    });
}

pub(crate) fn change_container(deployment: &mut Object, change: impl Fn(&mut Value)) {
    let containers = deployment.get_mut(&["spec", "template", "spec", "containers"]);
    containers.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
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
            shards: 1,
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

    #[test]
    fn each_shard_has_a_deployment_with_a_selector_of_its_own() {
        let objects = manifests(&DeploymentSettings {
            image: "registry.example/capstan:v1".to_owned(),
            namespace: "operators".to_owned(),
            replicas: 2,
            shards: 2,
            is_cluster_admin: true,
        });
        let deployments = objects.iter().filter(|object| object.kind() == "Deployment");
        let text = |deployment: &Object| {
            let containers = &deployment.get(&["spec", "template", "spec", "containers"]).unwrap()[0];
            let arguments = containers["args"].as_array().unwrap().last().unwrap();
            let [selector, labels] = [
                deployment.get(&["spec", "selector", "matchLabels"]).unwrap(),
                deployment.get(&["spec", "template", "metadata", "labels"]).unwrap(),
            ];
            assert_eq!(selector, labels);
            format!("{} {} {arguments}", deployment.name(), selector["component-operator.cs.sap.com/shard"])
        };
        assert_eq!(
            deployments.map(text).collect::<Vec<_>>(),
            [r#"component-operator-0 "0" "--shard=0/2""#, r#"component-operator-1 "1" "--shard=1/2""#]
        );
    }
}

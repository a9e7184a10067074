use apply::{GroupKind, PatchTarget};
use snapbox::{assert_data_eq, str};

use super::*;

async fn scale(lab: &Lab, replicas: u32) {
    let place = format!("{}/manager", namespace_of(&docker()));
    lab.fixture.merge(DEPLOYMENT, &place, &json!({"spec": {"replicas": replicas}})).await;
}

async fn replicas(lab: &Lab) -> Value {
    lab.deployment(&docker()).await["spec"]["replicas"].clone()
}

// Row: D-110
#[tokio::test]
async fn user_replicas_survive_consecutive_upgrades() {
    let newer = "v1.14.1";
    let lab = Lab::with(releases().with(&docker(), newer, &components(&docker(), newer))).await;
    scale(&lab, 3).await;
    assert_eq!(lab.upgrade(&to_versions(&[(docker(), NEW_VERSION)])).await.unwrap(), None);
    assert_eq!(replicas(&lab).await, 3);
    assert_eq!(lab.upgrade(&to_versions(&[(docker(), newer)])).await.unwrap(), None);
    assert_eq!(replicas(&lab).await, 3);
    let mut reset = to_versions(&[(docker(), newer)]);
    reset.options.keep_replicas = false;
    assert_eq!(lab.upgrade(&reset).await.unwrap(), None);
    assert_eq!(replicas(&lab).await, 1);
    assert_eq!(lab.deployment(&docker()).await["metadata"]["annotations"]["capstan.dev/kept"], Value::Null);
}

// Row: D-110
#[tokio::test]
async fn a_deployment_without_replicas_is_scaled_up_again() {
    let lab = Lab::start().await;
    scale(&lab, 0).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert_eq!(replicas(&lab).await, 1);
}

// Row: D-96
#[tokio::test]
async fn labels_that_users_set_with_kubectl_survive_an_upgrade() {
    let lab = Lab::start().await;
    let label = json!({"metadata": {"labels": {"clusterctl.cluster.x-k8s.io/move": ""}}});
    let server = lab.cluster.server().without_lease();
    let kind =
        server.kind(&GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition")).await.unwrap();
    server.patch(&kind, "", DEFINITION, &label, "kubectl-label", PatchTarget::Object).await.unwrap();
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    let definition = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, DEFINITION).await.unwrap();
    assert_eq!(definition["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move"], "");
    assert_eq!(definition["metadata"]["labels"]["cluster.x-k8s.io/provider"], "infrastructure-docker");
}

/// Returns releases whose new docker lacks its definition.
fn without_definition() -> Releases {
    let all = components(&docker(), NEW_VERSION);
    let documents =
        all.split("---\n").filter(|document| !document.contains("kind: CustomResourceDefinition"));
    releases().with(&docker(), NEW_VERSION, &documents.collect::<Vec<_>>().join("---\n"))
}

const DEFINITION: &str = "dockermachines.infrastructure.cluster.x-k8s.io";

// Row: D-111
#[tokio::test]
async fn a_dropped_definition_is_deleted_only_if_unused() {
    let lab = Lab::with(without_definition()).await;
    assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
    assert!(lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, DEFINITION).await.is_none());

    let lab = Lab::with(without_definition()).await;
    let machine = json!({"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DockerMachine",
        "metadata": {"name": "a", "namespace": "default"}});
    lab.fixture.apply(&machine.to_string()).await;
    let mut plan = plan_upgrade(&lab.cluster, &lab.releases.sources(), &to_contract()).await.unwrap();
    assert_data_eq!(
        plan.warnings.join("\n"),
        str![[r#"
the metadata of `cluster-api` v1.14.0 does not list v1.13.5; using the metadata of v1.13.5
the metadata of `infrastructure-docker` v1.14.0 does not list v1.13.5; using the metadata of v1.13.5
`infrastructure-docker` no longer contains CustomResourceDefinition dockermachines.infrastructure.cluster.x-k8s.io; keeping it: CustomResourceDefinition dockermachines.infrastructure.cluster.x-k8s.io is still in use: DockerMachine default/a
"#]]
    );
    assert_eq!(
        upgrade(&lab.cluster, &lab.releases.sources(), &to_contract(), &mut plan).await.unwrap(),
        None
    );
    assert!(lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, DEFINITION).await.is_some());
}

#[tokio::test]
async fn a_rollback_keeps_new_definitions_that_are_in_use() {
    let more = components(&docker(), NEW_VERSION)
        + "---\n"
        + &components(&docker(), NEW_VERSION)
            .split("---\n")
            .find(|document| document.contains("kind: CustomResourceDefinition"))
            .unwrap()
            .replace("dockermachine", "dockerthing")
            .replace("DockerMachine", "DockerThing");
    for is_used in [false, true] {
        let lab = Lab::with(releases().with(&docker(), NEW_VERSION, &more)).await;
        assert_eq!(lab.upgrade(&to_contract()).await.unwrap(), None);
        if is_used {
            let thing = json!({"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "DockerThing",
                "metadata": {"name": "a", "namespace": "default"}});
            lab.fixture.apply(&thing.to_string()).await;
        }
        assert_eq!(lab.roll_back().await.unwrap(), None);
        let name = "dockerthings.infrastructure.cluster.x-k8s.io";
        let definition = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, name).await;
        assert_eq!(definition.is_some(), is_used);
    }
}

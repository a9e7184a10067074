use snapbox::{assert_data_eq, str};

use super::*;
use crate::testing::{NEW_VERSION, OLD_VERSION, Releases, asked, bootstrap, components, core, docker};

#[tokio::test]
async fn providers_are_rendered_in_the_requested_order() {
    let releases = Releases::small();
    let request = asked(&[(docker(), ""), (core(), OLD_VERSION)]);
    let rendered = releases.sources().render(&request, None).await.unwrap();
    let short: Vec<_> = rendered
        .iter()
        .map(|it| (it.id.label(), &*it.version, it.contract.as_str(), &*it.namespace))
        .collect();
    assert_eq!(
        short,
        [
            ("infrastructure-docker".to_owned(), NEW_VERSION, "v1beta2", "infrastructure-docker-system"),
            ("cluster-api".to_owned(), OLD_VERSION, "v1beta2", "cluster-api-system"),
        ]
    );
}

// Row: PRV-23
// Row: PRV-24
// Row: PRV-25
// Row: PRV-33
// Row: PRV-59
#[tokio::test]
async fn objects_are_labelled_and_namespaced_ones_get_the_target_namespace() {
    let releases = Releases::small();
    let request = asked(&[(docker(), NEW_VERSION)]);
    let rendered = releases.sources().render(&request, Some("elsewhere")).await.unwrap().remove(0);
    assert_eq!(rendered.namespace, "elsewhere");
    for object in &rendered.objects {
        assert_eq!(object.label(api::labels::PROVIDER), Some("infrastructure-docker"), "{}", object.name());
        assert_eq!(object.label(api::labels::CLUSTERCTL), Some(""), "{}", object.name());
        let whole_cluster = ["Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"]
            .contains(&object.kind());
        assert_eq!(object.namespace(), if whole_cluster { "" } else { "elsewhere" }, "{}", object.kind());
    }
}

// Row: D-99
#[tokio::test]
async fn errors_of_all_providers_are_reported_at_once() {
    let needs = |names: &str| components(&docker(), NEW_VERSION).replace("--leader-elect", names);
    let releases =
        Releases::small().with(&docker(), NEW_VERSION, &needs("'${DOCKER_A}', '${DOCKER_B}'")).with(
            &bootstrap(),
            NEW_VERSION,
            &components(&bootstrap(), NEW_VERSION).replace("--leader-elect", "'${BOOT}'"),
        );
    let unknown = ProviderId::new(api::ProviderType::Addon, "nobody");
    let request = asked(&[
        (core(), NEW_VERSION),
        (bootstrap(), NEW_VERSION),
        (docker(), NEW_VERSION),
        (unknown, ""),
        (core(), "v9.9.9"),
    ]);
    let errors = releases.sources().render(&request, None).await.unwrap_err();
    let texts: Vec<String> = errors.iter().map(|error| api::with_causes(error)).collect();
    assert_data_eq!(
        releases.redact(&texts.join("\n")),
        str![[r#"
cannot build the components of `bootstrap-kubeadm` v1.14.0: a variable has no value: `BOOT` at RELEASES/bootstrap-kubeadm/v1.14.0/bootstrap-components.yaml:48
cannot build the components of `infrastructure-docker` v1.14.0: 2 variables have no value: `DOCKER_A` at RELEASES/infrastructure-docker/v1.14.0/infrastructure-components.yaml:48
`DOCKER_B` at RELEASES/infrastructure-docker/v1.14.0/infrastructure-components.yaml:48
cannot resolve `addon-nobody`: there is no AddonProvider named `nobody`
cannot read `core-components.yaml` of `cluster-api` v9.9.9: cannot find release `v9.9.9` in `RELEASES/cluster-api`
"#]]
    );
}

#[tokio::test]
async fn an_unlisted_series_leaves_the_contract_empty() {
    let listed_later = crate::testing::metadata("v2.0.0", "v1beta2");
    let releases = Releases::small().with_file(&docker(), NEW_VERSION, "metadata.yaml", &listed_later);
    let rendered = releases.sources().render(&asked(&[(docker(), NEW_VERSION)]), None).await.unwrap();
    assert_eq!(rendered[0].contract.as_str(), "");
}

// Row: PRV-28
// Row: PRV-56
#[tokio::test]
async fn environment_variables_are_substituted() {
    let text = components(&docker(), NEW_VERSION).replace("--leader-elect", "'--v=${LEVEL}'");
    let releases = Releases::small().with(&docker(), NEW_VERSION, &text).with_variable("LEVEL", "5");
    let rendered =
        releases.sources().render(&asked(&[(docker(), NEW_VERSION)]), None).await.unwrap().remove(0);
    let deployment = rendered.objects.iter().find(|object| object.kind() == "Deployment").unwrap();
    let containers = deployment.get(&["spec", "template", "spec", "containers"]).unwrap();
    assert_eq!(containers[0]["args"], serde_json::json!(["--v=5"]));
}

//! Tests of kustomizations over the providers of a management cluster.
#![cfg(unix)]

use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::{
    customise::{HOME, with_layer},
    lifecycle::INIT,
    lifecycle_interrupted::interrupted,
    testing::Lab,
};

fn map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// Returns the status code of a request for a ConfigMap in the namespace of a provider.
fn status(lab: &Lab, provider: &str, name: &str) -> u16 {
    lab.send("GET", &format!("/api/v1/namespaces/{provider}-system/configmaps/{name}"), "")
}

// Row: D-231
#[test]
fn an_overlay_is_applied_to_the_next_release_too() {
    let lab = Lab::start(&[]);
    let layer = |text: &str| lab.world().write(format!("{HOME}/layer/kustomization.yaml"), text);
    lab.world().write(format!("{HOME}/layer/first.yaml"), map("first"));
    lab.world().write(format!("{HOME}/layer/second.yaml"), map("second"));
    lab.world().write("mine/kustomization.yaml", "resources: [mine.yaml]\n");
    lab.world().write("mine/mine.yaml", map("mine"));
    lab.world().configure(with_layer());
    layer("resources: [first.yaml]\n");
    let init = format!("{INIT} --kustomization bootstrap-kubeadm=mine");
    assert_data_eq!(
        lab.done(&format!("plan {init}")).stdout,
        str![[r#"
cert-manager: install v1.0.0
  ACTION    KIND                       OBJECT
  create    Namespace                  cert-manager
  create    CustomResourceDefinition   issuers.cert-manager.io
  create    CustomResourceDefinition   certificates.cert-manager.io
  create    ClusterRole                cert-manager-manager
  create    Secret                     cert-manager/cert-manager-credentials
  create    Deployment                 cert-manager/cert-manager-manager

cluster-api: install v1.0.0 in cluster-api-system
  ACTION    KIND                       OBJECT
  create    Namespace                  cluster-api-system
  create    CustomResourceDefinition   clusters.cluster.x-k8s.io
  create    ClusterRole                cluster-api-manager
  create    Secret                     cluster-api-system/cluster-api-credentials
  create    Deployment                 cluster-api-system/cluster-api-manager

bootstrap-kubeadm: install v1.0.0 in bootstrap-kubeadm-system
  kustomization: mine
  ACTION    KIND          OBJECT
  create    Namespace     bootstrap-kubeadm-system
  create    ClusterRole   bootstrap-kubeadm-manager
  create    Secret        bootstrap-kubeadm-system/bootstrap-kubeadm-credentials
  create    ConfigMap     bootstrap-kubeadm-system/mine
  create    Deployment    bootstrap-kubeadm-system/bootstrap-kubeadm-manager

control-plane-kubeadm: install v1.0.0 in control-plane-kubeadm-system
  ACTION    KIND          OBJECT
  create    Namespace     control-plane-kubeadm-system
  create    ClusterRole   control-plane-kubeadm-manager
  create    Secret        control-plane-kubeadm-system/control-plane-kubeadm-credentials
  create    Deployment    control-plane-kubeadm-system/control-plane-kubeadm-manager

infrastructure-own: install v1.0.0 in infrastructure-own-system
  kustomization: [HOME]/.config/cluster-api/layer
  ACTION    KIND                       OBJECT
  create    Namespace                  infrastructure-own-system
  create    CustomResourceDefinition   ownclusters.infrastructure.cluster.x-k8s.io
  create    ClusterRole                infrastructure-own-manager
  create    Secret                     infrastructure-own-system/infrastructure-own-credentials
  create    ConfigMap                  infrastructure-own-system/first
  create    Deployment                 infrastructure-own-system/infrastructure-own-manager

objects: 26 to create

"#]]
    );
    lab.done(&init);
    let own = |name| status(&lab, "infrastructure-own", name);
    assert_eq!((own("first"), status(&lab, "bootstrap-kubeadm", "mine")), (200, 200));
    layer("resources: [first.yaml, second.yaml]\n");
    assert_data_eq!(
        lab.done("upgrade plan").stdout,
        str![[r#"
Cert-Manager is already up to date


Latest release available for the v1beta2 Cluster API contract version:

NAME                    NAMESPACE                      TYPE                     CURRENT VERSION   NEXT VERSION
bootstrap-kubeadm       bootstrap-kubeadm-system       BootstrapProvider        v1.0.0            v1.1.0
control-plane-kubeadm   control-plane-kubeadm-system   ControlPlaneProvider     v1.0.0            v1.1.0
cluster-api             cluster-api-system             CoreProvider             v1.0.0            v1.1.0
infrastructure-own      infrastructure-own-system      InfrastructureProvider   v1.0.0            v1.1.0

You can now apply the upgrade by executing the following command:

capstan upgrade apply --contract v1beta2 --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig

Applied kustomizations: infrastructure-own ([HOME]/.config/cluster-api/layer)

"#]]
    );
    let done: Value = serde_json::from_str(&lab.done("upgrade apply -i own:v1.1.0 -o json").stdout).unwrap();
    assert_eq!(done["providers"][0]["kustomization"], "[HOME]/.config/cluster-api/layer");
    assert_eq!((own("first"), own("second")), (200, 200));
}

#[test]
fn a_saved_plan_is_applied_with_its_original_overlay() {
    let lab = Lab::start(&[]);
    let layer = |folder: &str, name: &str| {
        lab.world().write(format!("{folder}/kustomization.yaml"), "resources: [map.yaml]\n");
        lab.world().write(format!("{folder}/map.yaml"), map(name));
    };
    let own = |name| status(&lab, "infrastructure-own", name);
    let other_folder = lab.world().current_dir().join("other");
    std::fs::create_dir(&other_folder).unwrap();
    let carried_out = |arguments: &str| {
        let run = lab.run_in(&other_folder, arguments);
        assert!(run.status.success(), "{arguments}\n{}", String::from_utf8_lossy(&run.stderr));
    };
    layer("mine", "mine");
    layer(&format!("{HOME}/layer"), "configured");
    lab.world().configure(with_layer());
    lab.done(&format!("{INIT} --kustomization own=mine --out plan.json"));
    carried_out("init --plan ../plan.json");
    assert_eq!((own("mine"), own("configured")), (200, 404));

    lab.done("upgrade apply -i own:v1.1.0 --kustomization mine --out plan.json");
    layer("mine", "changed");
    assert_data_eq!(
        lab.run("upgrade apply --plan plan.json").to_string(),
        str![[r#"
exit 1
--- stderr
Checking if cert-manager needs upgrade...
Cert-manager is already up to date
error: the plan is outdated; nothing was written
  cause: ConfigMap infrastructure-own-system/mine has a different manifest
  cause: ConfigMap infrastructure-own-system/changed is not in the plan
hint: create a new plan with `--out FILE`, and review it before you execute it

"#]]
    );
    std::fs::remove_dir_all(lab.world().current_dir().join("mine")).unwrap();
    layer("moved", "mine");
    carried_out("upgrade apply --plan ../plan.json --kustomization own=../moved");
    assert_eq!((own("mine"), own("configured"), own("changed")), (200, 404, 404));
}

#[test]
fn an_interrupted_upgrade_resumes_only_with_its_overlay() {
    let lab = Lab::start(&["--fault", "latency:40ms"]);
    lab.world().write("mine/kustomization.yaml", "resources: [map.yaml]\n");
    lab.world().write("mine/map.yaml", map("mine"));
    lab.done(INIT);
    let upgrade = "upgrade apply --contract v1beta2 --kustomization own=mine";
    let cut = interrupted(&lab, upgrade, "Installing provider=\"bootstrap-kubeadm\"");
    assert_eq!(cut.status, 130, "{cut}");
    assert_data_eq!(
        ["upgrade resume", "upgrade apply --contract v1beta2"].map(|line| lab.screen(line)).concat(),
        str![[r#"
exit 1
--- stderr
error: cannot resume the upgrade started at [..] without the kustomization `mine` of `infrastructure-own`
hint: pass `--kustomization infrastructure-own=DIR`, or roll back with `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`
exit 1
--- stderr
error: cannot resume the upgrade started at [..] without the kustomization `mine` of `infrastructure-own`
hint: pass `--kustomization infrastructure-own=DIR`, or roll back with `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`

"#]]
    );
    lab.done("upgrade resume --kustomization own=mine");
    assert_eq!(status(&lab, "infrastructure-own", "mine"), 200);
}

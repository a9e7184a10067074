//! Tests of the lifecycle of a management cluster through the binary, on a sandbox.
#![cfg(unix)]

use snapbox::{assert_data_eq, str};

use crate::testing::{Lab, releases::ROOT};

/// The first installation, in the older versions.
pub(crate) const INIT: &str =
    "init --core cluster-api:v1.0.0 -b kubeadm:v1.0.0 -c kubeadm:v1.0.0 -i own:v1.0.0";

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Counts the providers that are ready.
pub(crate) fn ready(lab: &Lab) -> usize {
    let status = json(&lab.done("status -o json").stdout);
    status["providers"].as_array().unwrap().iter().filter(|provider| provider["ready"] == true).count()
}

#[test]
fn providers_are_installed_upgraded_rolled_back_and_deleted() {
    let lab = Lab::start(&[]);
    assert_data_eq!(
        lab.screen(INIT),
        str![[r#"
exit 0
--- stderr
Fetching providers
Installing cert-manager version="v1.0.0"
Waiting for cert-manager to be available...
Installing provider="cluster-api" version="v1.0.0" targetNamespace="cluster-api-system"
applied cluster-api v1.0.0 (1 of 4): 5 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.0.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.0.0 (2 of 4): 4 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.0.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.0.0 (3 of 4): 4 objects in [..]
Installing provider="infrastructure-own" version="v1.0.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.0.0 (4 of 4): 5 objects in [..]
Waiting for providers to be available...

Your management cluster has been initialized successfully!

You can now create your first workload cluster by running the following:

  capstan generate cluster [name] --kubernetes-version [version] --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig | kubectl --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig apply -f -

done in [..]: installed cert-manager v1.0.0 and 4 providers; 24 objects created

"#]]
    );
    assert_data_eq!(
        lab.screen(INIT),
        str![[r#"
exit 0
--- stderr
Fetching providers
Skipping installing cert-manager as it is already installed
done in [..]: nothing to install

"#]]
    );
    assert_data_eq!(
        lab.screen("status"),
        str![[r#"
exit 0
--- stdout
NAME                    VERSION   NAMESPACE                      HEALTH    DRIFT
cluster-api             v1.0.0    cluster-api-system             ready     none
bootstrap-kubeadm       v1.0.0    bootstrap-kubeadm-system       ready     none
control-plane-kubeadm   v1.0.0    control-plane-kubeadm-system   ready     none
infrastructure-own      v1.0.0    infrastructure-own-system      ready     none

"#]]
    );
    assert_data_eq!(
        lab.screen("upgrade plan"),
        str![[r#"
exit 0
--- stdout
Cert-Manager is already up to date


Latest release available for the v1beta2 Cluster API contract version:

NAME                    NAMESPACE                      TYPE                     CURRENT VERSION   NEXT VERSION
bootstrap-kubeadm       bootstrap-kubeadm-system       BootstrapProvider        v1.0.0            v1.1.0
control-plane-kubeadm   control-plane-kubeadm-system   ControlPlaneProvider     v1.0.0            v1.1.0
cluster-api             cluster-api-system             CoreProvider             v1.0.0            v1.1.0
infrastructure-own      infrastructure-own-system      InfrastructureProvider   v1.0.0            v1.1.0

You can now apply the upgrade by executing the following command:

capstan upgrade apply --contract v1beta2 --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig

--- stderr
Checking if cert-manager needs upgrade...
Checking new release availability...

"#]]
    );
    assert_data_eq!(
        lab.screen("upgrade apply --contract v1beta2"),
        str![[r#"
exit 0
--- stderr
Checking if cert-manager needs upgrade...
Cert-manager is already up to date
Performing upgrade...
Installing provider="cluster-api" version="v1.1.0" targetNamespace="cluster-api-system"
applied cluster-api v1.1.0 (1 of 4): 1 object in [..]
Installing provider="bootstrap-kubeadm" version="v1.1.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.1.0 (2 of 4): 1 object in [..]
Installing provider="control-plane-kubeadm" version="v1.1.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.1.0 (3 of 4): 1 object in [..]
Installing provider="infrastructure-own" version="v1.1.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.1.0 (4 of 4): 1 object in [..]
Waiting for providers to be available...
done in [..]: upgraded 4 providers; 4 objects changed

"#]]
    );
    assert_data_eq!(
        lab.screen("upgrade rollback"),
        str![[r#"
exit 0
--- stderr
Installing provider="infrastructure-own" version="v1.0.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.0.0 (1 of 4): 4 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.0.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.0.0 (2 of 4): 3 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.0.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.0.0 (3 of 4): 3 objects in [..]
Installing provider="cluster-api" version="v1.0.0" targetNamespace="cluster-api-system"
applied cluster-api v1.0.0 (4 of 4): 4 objects in [..]
Waiting for providers to be available...
done in [..]: rolled back 4 providers; 14 objects changed

"#]]
    );
    assert_data_eq!(
        lab.screen("delete --all --include-crd --include-namespace"),
        str![[r#"
exit 0
--- stderr
Checking for CRs Provider={"name":"infrastructure-own","namespace":"infrastructure-own-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"control-plane-kubeadm","namespace":"control-plane-kubeadm-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"bootstrap-kubeadm","namespace":"bootstrap-kubeadm-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"cluster-api","namespace":"cluster-api-system"} providerVersion="v1.0.0"
Deleting Provider={"name":"infrastructure-own","namespace":"infrastructure-own-system"} providerVersion="v1.0.0"
Deleting Provider={"name":"control-plane-kubeadm","namespace":"control-plane-kubeadm-system"} providerVersion="v1.0.0"
Deleting Provider={"name":"bootstrap-kubeadm","namespace":"bootstrap-kubeadm-system"} providerVersion="v1.0.0"
Deleting Provider={"name":"cluster-api","namespace":"cluster-api-system"} providerVersion="v1.0.0"
done in [..]: deleted 4 providers; 18 objects deleted

"#]]
    );
    assert_data_eq!(
        lab.screen("status"),
        str![[r#"
exit 0
--- stdout
no providers are installed

"#]]
    );
    assert_eq!(lab.send("GET", "/api/v1/namespaces/cluster-api-system", ""), 404);
}

#[test]
fn a_plan_lists_every_object_and_writes_nothing() {
    let lab = Lab::start(&[]);
    let plan = lab.done(&format!("plan {INIT}"));
    assert_data_eq!(
        plan.to_string(),
        str![[r#"
exit 0
--- stdout
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
  ACTION    KIND          OBJECT
  create    Namespace     bootstrap-kubeadm-system
  create    ClusterRole   bootstrap-kubeadm-manager
  create    Secret        bootstrap-kubeadm-system/bootstrap-kubeadm-credentials
  create    Deployment    bootstrap-kubeadm-system/bootstrap-kubeadm-manager

control-plane-kubeadm: install v1.0.0 in control-plane-kubeadm-system
  ACTION    KIND          OBJECT
  create    Namespace     control-plane-kubeadm-system
  create    ClusterRole   control-plane-kubeadm-manager
  create    Secret        control-plane-kubeadm-system/control-plane-kubeadm-credentials
  create    Deployment    control-plane-kubeadm-system/control-plane-kubeadm-manager

infrastructure-own: install v1.0.0 in infrastructure-own-system
  ACTION    KIND                       OBJECT
  create    Namespace                  infrastructure-own-system
  create    CustomResourceDefinition   ownclusters.infrastructure.cluster.x-k8s.io
  create    ClusterRole                infrastructure-own-manager
  create    Secret                     infrastructure-own-system/infrastructure-own-credentials
  create    Deployment                 infrastructure-own-system/infrastructure-own-manager

objects: 24 to create
--- stderr
Fetching providers

"#]]
    );
    let dry = lab.done(&format!("{INIT} --dry-run"));
    assert_eq!(dry.stdout, plan.stdout);
    let diff = lab.done(&format!("{INIT} --diff=full")).stdout;
    assert!(diff.contains("+kind: Deployment") && diff.contains("token: (15 bytes)"), "{diff}");
    assert!(!diff.contains("not-to-be-shown") && !diff.contains("bm90LXRvLWJlLXNob3du"), "{diff}");
    assert_data_eq!(
        lab.done("status").stdout,
        str![[r#"
no providers are installed

"#]]
    );
    assert_eq!(lab.send("GET", "/api/v1/namespaces/cluster-api-system", ""), 404);
}

// Row: D-125
#[test]
fn a_saved_plan_is_applied_once_and_only_if_still_valid() {
    let lab = Lab::start(&[]);
    lab.done(&format!("{INIT} --out plan.json"));
    let saved = lab.world().read("plan.json");
    assert!(!saved.contains("not-to-be-shown") && !saved.contains("bm90LXRvLWJlLXNob3du"), "{saved}");
    lab.done("init --plan plan.json");
    assert!(lab.done("status").stdout.contains("infrastructure-own"));
    assert_data_eq!(
        lab.run("init --plan plan.json").to_string(),
        str![[r#"
exit 1
--- stderr
Fetching providers
Skipping installing cert-manager as it is already installed
error: the plan is outdated; nothing was written
  cause: cert-manager: planned `install v1.0.0`, now `stays at v1.0.0`
  cause: `cluster-api`: planned nothing to v1.0.0 in `cluster-api-system`, now nothing
  cause: `bootstrap-kubeadm`: planned nothing to v1.0.0 in `bootstrap-kubeadm-system`, now nothing
  cause: `control-plane-kubeadm`: planned nothing to v1.0.0 in `control-plane-kubeadm-system`, now nothing
  cause: `infrastructure-own`: planned nothing to v1.0.0 in `infrastructure-own-system`, now nothing
hint: create a new plan with `--out FILE`, and review it before you execute it

"#]]
    );
}

// Row: D-125
#[test]
fn json_results_list_the_changes() {
    let lab = Lab::start(&[]);
    let done = json(&lab.done(&format!("{INIT} -o json --progress json")).stdout);
    assert_eq!((done["carriedOut"].as_bool(), done["changes"].as_bool()), (Some(true), Some(true)));
    assert_eq!(done["providers"][0]["provider"], "cluster-api");
    let again = json(&lab.done(&format!("{INIT} -o json")).stdout);
    assert_eq!(again["changes"].as_bool(), Some(false));
    let status = json(&lab.done("status -o json").stdout);
    assert_eq!(status["providers"][3]["provider"], "infrastructure-own");
    assert_eq!(status["providers"][3]["ready"].as_bool(), Some(true));
    let plan = json(&lab.done("upgrade plan -o json").stdout);
    assert_eq!(plan["contracts"][0]["providers"][0]["next"], "v1.1.0");
}

// Row: D-101
#[test]
fn unready_providers_fail_a_run_only_on_request() {
    let lab = Lab::start(&["--without", "workloads"]);
    let world = lab.world();
    let config = world.read(world.config_file());
    world.configure(config.replace("cert-manager: {", "cert-manager: {mode: none, "));
    assert_data_eq!(
        lab.screen(&format!("{INIT} --timeout 1s")),
        str![[r#"
exit 0
--- stderr
Fetching providers
Installing provider="cluster-api" version="v1.0.0" targetNamespace="cluster-api-system"
applied cluster-api v1.0.0 (1 of 4): 5 objects in [..]
Installing provider="bootstrap-kubeadm" version="v1.0.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.0.0 (2 of 4): 4 objects in [..]
Installing provider="control-plane-kubeadm" version="v1.0.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.0.0 (3 of 4): 4 objects in [..]
Installing provider="infrastructure-own" version="v1.0.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.0.0 (4 of 4): 5 objects in [..]
Waiting for providers to be available...
warning: not ready after 1s
    Deployment cluster-api-system/cluster-api-manager: 0 of 1 replicas created
    Deployment bootstrap-kubeadm-system/bootstrap-kubeadm-manager: 0 of 1 replicas created
    Deployment control-plane-kubeadm-system/control-plane-kubeadm-manager: 0 of 1 replicas created
    Deployment infrastructure-own-system/infrastructure-own-manager: 0 of 1 replicas created
    inspect it with `kubectl --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig describe deployment.apps -n cluster-api-system cluster-api-manager`; check all providers with `capstan status --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`

Your management cluster has been initialized successfully!

You can now create your first workload cluster by running the following:

  capstan generate cluster [name] --kubernetes-version [version] --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig | kubectl --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig apply -f -

done in [..]: installed 4 providers; 18 objects created

"#]]
    );
    assert_data_eq!(
        lab.screen("status"),
        str![[r#"
exit 0
--- stdout
NAME                    VERSION   NAMESPACE                      HEALTH      DRIFT
cluster-api             v1.0.0    cluster-api-system             not ready   none
bootstrap-kubeadm       v1.0.0    bootstrap-kubeadm-system       not ready   none
control-plane-kubeadm   v1.0.0    control-plane-kubeadm-system   not ready   none
infrastructure-own      v1.0.0    infrastructure-own-system      not ready   none

cluster-api
  Deployment cluster-api-system/cluster-api-manager: 0 of 1 replicas created

bootstrap-kubeadm
  Deployment bootstrap-kubeadm-system/bootstrap-kubeadm-manager: 0 of 1 replicas created

control-plane-kubeadm
  Deployment control-plane-kubeadm-system/control-plane-kubeadm-manager: 0 of 1 replicas created

infrastructure-own
  Deployment infrastructure-own-system/infrastructure-own-manager: 0 of 1 replicas created

"#]]
    );
    assert_data_eq!(
        lab.screen("upgrade apply --contract v1beta2 --wait-providers --wait-provider-timeout 1"),
        str![[r#"
exit 1
--- stderr
Performing upgrade...
Installing provider="cluster-api" version="v1.1.0" targetNamespace="cluster-api-system"
applied cluster-api v1.1.0 (1 of 4): 1 object in [..]
Installing provider="bootstrap-kubeadm" version="v1.1.0" targetNamespace="bootstrap-kubeadm-system"
applied bootstrap-kubeadm v1.1.0 (2 of 4): 1 object in [..]
Installing provider="control-plane-kubeadm" version="v1.1.0" targetNamespace="control-plane-kubeadm-system"
applied control-plane-kubeadm v1.1.0 (3 of 4): 1 object in [..]
Installing provider="infrastructure-own" version="v1.1.0" targetNamespace="infrastructure-own-system"
applied infrastructure-own v1.1.0 (4 of 4): 1 object in [..]
Waiting for providers to be available...
error: not ready after 1s
  cause: Deployment cluster-api-system/cluster-api-manager: 0 of 1 replicas created
  cause: Deployment bootstrap-kubeadm-system/bootstrap-kubeadm-manager: 0 of 1 replicas created
  cause: Deployment control-plane-kubeadm-system/control-plane-kubeadm-manager: 0 of 1 replicas created
  cause: Deployment infrastructure-own-system/infrastructure-own-manager: 0 of 1 replicas created
hint: inspect it with `kubectl --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig describe deployment.apps -n cluster-api-system cluster-api-manager`; check all providers with `capstan status --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig`
hint: the run stopped after 4 writes: run `capstan upgrade resume --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to complete the upgrade, or `capstan upgrade rollback --kubeconfig ~/state/capstan/sandboxes/lab/kubeconfig` to undo it

"#]]
    );
    assert_eq!(lab.run("upgrade rollback --no-wait").status, 0);
}

// Row: D-121
#[test]
fn a_definition_in_use_stops_a_deletion_before_any_write() {
    const CLUSTER: &str =
        r#"{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"name":"mine"}}"#;
    let lab = Lab::start(&[]);
    lab.done(INIT);
    let clusters = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters";
    assert_eq!(lab.send("POST", clusters, CLUSTER), 201);
    assert_data_eq!(
        lab.run("delete --all --include-crd").to_string(),
        str![[r#"
exit 1
--- stderr
Checking for CRs Provider={"name":"infrastructure-own","namespace":"infrastructure-own-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"control-plane-kubeadm","namespace":"control-plane-kubeadm-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"bootstrap-kubeadm","namespace":"bootstrap-kubeadm-system"} providerVersion="v1.0.0"
Checking for CRs Provider={"name":"cluster-api","namespace":"cluster-api-system"} providerVersion="v1.0.0"
error: cannot delete CustomResourceDefinitions: objects of these kinds exist
  cause: CustomResourceDefinition clusters.cluster.x-k8s.io is still in use: Cluster default/mine
hint: delete these objects first, or omit `--include-crd` to keep the CustomResourceDefinitions

"#]]
    );
    assert_eq!(ready(&lab), 4);
}

#[test]
fn a_missing_provider_is_reported_with_installed_ones() {
    let lab = Lab::start(&[]);
    lab.done(INIT);
    assert_data_eq!(
        lab.run("delete -i docker").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot determine the providers to delete
  cause: `infrastructure-docker` is not installed
hint: installed providers: bootstrap-kubeadm-system/bootstrap-kubeadm v1.0.0, cluster-api-system/cluster-api v1.0.0, control-plane-kubeadm-system/control-plane-kubeadm v1.0.0, infrastructure-own-system/infrastructure-own v1.0.0

"#]]
    );
}

// Row: D-59
#[test]
fn templates_come_from_the_installed_provider_or_a_config_map() {
    const CONFIG_MAP: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"mine"},
        "data":{"template":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-config-map}\n"}}"#;
    let lab = Lab::start(&[]);
    assert_data_eq!(
        lab.run("generate cluster demo -n team").to_string(),
        str![[r#"
exit 1
--- stderr
error: no InfrastructureProvider is installed
hint: add the provider and version: `--infrastructure docker:v1.14.0`

"#]]
    );
    lab.done(INIT);
    let generated = lab.done("generate cluster demo -n team").stdout;
    assert!(generated.contains("kind: Cluster\n") && generated.contains("  name: demo\n"), "{generated}");
    assert_eq!(lab.send("POST", "/api/v1/namespaces/default/configmaps", CONFIG_MAP), 201);
    let generated = lab.done("generate cluster demo -n team --from-config-map mine").stdout;
    assert!(generated.contains("  name: from-config-map\n"), "{generated}");
    assert_data_eq!(
        lab.run("generate cluster demo -n team --from-config-map other").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot read key `template` of ConfigMap `default/other` from the management cluster
  cause: the ConfigMap does not exist

"#]]
    );
}

#[test]
fn json_progress_is_one_object_per_line_with_warnings() {
    let lab = Lab::start(&[]);
    let progress = |arguments: &str| -> Vec<serde_json::Value> {
        lab.done(&format!("{arguments} --progress json")).stderr.lines().map(json).collect()
    };
    let installed = progress(INIT);
    let steps: Vec<&str> = installed.iter().filter_map(|line| line["step"].as_str()).collect();
    assert_eq!(steps[..2], ["fetchingProviders", "installingCertManager"]);
    assert!(installed.iter().any(|line| line["event"] == "wrote" && line["how"] == "created"));
    assert!(progress("upgrade apply --contract v1beta2").len() > 5);
    let same = progress("upgrade apply -i own:v1.1.0");
    let warning = same.iter().find(|line| line["event"] == "warning").expect("it says what is there already");
    assert_data_eq!(
        warning["text"].as_str().unwrap(),
        str!["`infrastructure-own` already has version v1.1.0"]
    );
    assert!(same.len() > 1);
}

/// Returns a lab with a modified definition of the infrastructure provider.
fn lab_with_definition(what: &str, replacement: &str) -> Lab {
    let lab = Lab::start(&[]);
    let file = format!("{ROOT}/infrastructure-own/v1.0.0/infrastructure-components.yaml");
    let sound = lab.world().read(&file);
    assert!(sound.contains(what), "{sound}");
    lab.world().write(&file, sound.replace(what, replacement));
    lab
}

#[test]
fn deleting_definitions_hides_deprecation_warnings() {
    let lab = lab_with_definition("    served: true\n", "    served: true\n    deprecated: true\n");
    lab.done(INIT);
    assert_data_eq!(
        lab.screen("delete -i own --include-crd"),
        str![[r#"
exit 0
--- stderr
Checking for CRs Provider={"name":"infrastructure-own","namespace":"infrastructure-own-system"} providerVersion="v1.0.0"
Deleting Provider={"name":"infrastructure-own","namespace":"infrastructure-own-system"} providerVersion="v1.0.0"
done in [..]: deleted 1 provider; 4 objects deleted

"#]]
    );
}

#[test]
fn a_refused_object_is_named_once() {
    let lab = lab_with_definition("{type: object,", "{type: strange,");
    assert_data_eq!(
        lab.run(INIT).messages(),
        str![[r#"
exit 1
--- stderr
error: cannot install `infrastructure-own`
  cause: cannot write 1 object
  cause: cannot apply CustomResourceDefinition ownclusters.infrastructure.cluster.x-k8s.io: [spec.validation.openAPIV3Schema.type: Invalid value: "strange": must be object at the root, spec.validation.openAPIV3Schema.type: Unsupported value: "strange": supported values: "array", "boolean", "integer", "number", "object", "string"]
hint: the run stopped after 21 writes: re-run the same command to complete the installation

"#]]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_while_saving_a_plan_is_reported() {
    let lab = Lab::start(&[]);
    assert_data_eq!(
        lab.run(&format!("{INIT} --out /dev/full")).to_string(),
        str![[r#"
exit 1
--- stderr
Fetching providers
error: cannot write `/dev/full`
  cause: No space left on device (os error 28)

"#]]
    );
    assert!(!lab.run("status").stdout.contains("infrastructure-own"));
}

//! Tests of kustomizations over providers and templates, from the configuration and from the command line.

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::binary::TestEnvironment;

use crate::{
    repository::with_repository,
    testing::{releases::CONFIG, with_small_providers},
};

pub(crate) const HOME: &str = "../home/.config/cluster-api";
pub(crate) const GENERATE: &str = "generate provider -i own:v1.0.0 -o json";
pub(crate) const TWO_REPLICAS: &str = "patches:
- target: {kind: Deployment}
  patch: |
    [{op: add, path: /spec/replicas, value: 2}]
";

/// Returns a world whose configuration applies the adjacent folder `layer` as a kustomization to one provider.
pub(crate) fn customised(kustomization: &str) -> TestEnvironment {
    let world = with_repository().env("TOKEN", "x");
    world.configure(with_layer());
    world.write(format!("{HOME}/layer/kustomization.yaml"), kustomization);
    world
}

pub(crate) fn with_layer() -> String {
    CONFIG.replace("type: InfrastructureProvider,", "type: InfrastructureProvider, kustomization: layer,")
}

/// Returns the objects that a command prints as JSON.
pub(crate) fn objects(world: &TestEnvironment, arguments: &str) -> Vec<Value> {
    let list: Value = serde_json::from_str(&world.run_expecting_success(arguments).stdout).unwrap();
    list["items"].as_array().unwrap().clone()
}

pub(crate) fn of_kind(objects: &[Value], kind: &str) -> Value {
    objects.iter().find(|object| object["kind"] == kind).cloned().unwrap_or_default()
}

// Row: KUS-51, D-230
#[test]
fn a_configured_overlay_is_applied_before_namespace_and_labels() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n";
    let world = customised(&format!("resources: [map.yaml]\n{TWO_REPLICAS}"));
    world.write(format!("{HOME}/layer/map.yaml"), map);
    for arguments in
        [format!("{GENERATE} -n elsewhere"), "render -i own:v1.0.0 -n elsewhere -o json".to_owned()]
    {
        let objects = objects(&world, &arguments);
        let extra = of_kind(&objects, "ConfigMap");
        assert_eq!(extra["metadata"]["namespace"], "elsewhere", "{arguments}");
        assert_eq!(extra["metadata"]["labels"]["cluster.x-k8s.io/provider"], "infrastructure-own");
        let is_ours = |object: &&Value| {
            object["metadata"]["name"] == "infrastructure-own" && object["kind"] == "Deployment"
        };
        assert_eq!(objects.iter().find(is_ours).unwrap()["spec"]["replicas"], 2, "{arguments}");
    }
    let raw = objects(&world, &format!("{GENERATE} --raw"));
    assert_eq!(of_kind(&raw, "Deployment")["spec"]["replicas"], Value::Null);
}

#[test]
fn field_origins_are_traced_through_overlays() {
    let world = customised(TWO_REPLICAS);
    let plain = world.run_expecting_success("generate provider -i own:v1.0.0").stdout;
    let reported = world.run_expecting_success("generate provider -i own:v1.0.0 --provenance").stdout;
    assert_data_eq!(
        reported.as_str(),
        str![[r##"
# [HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml
apiVersion: v1
kind: Namespace
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own # provider label
    clusterctl.cluster.x-k8s.io: "" # provider label
  name: infrastructure-own-system
---
# [HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own # provider label
    clusterctl.cluster.x-k8s.io: "" # provider label
  name: infrastructure-own
  namespace: infrastructure-own-system
spec:
  replicas: 2 # [HOME]/.config/cluster-api/layer/kustomization.yaml: patches[0]
  selector:
    matchLabels:
      a: b
  strategy: {} # type conversion
  template:
    metadata:
      labels:
        a: b
    spec:
      containers:
      - args:
        - --x=off # ${FLAG}
        image: registry.example.com/infrastructure-own/manager:v1
        name: manager
        resources: {} # type conversion
status: {} # type conversion
---
# [HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml
apiVersion: v1
kind: Secret
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-own # provider label
    clusterctl.cluster.x-k8s.io: "" # provider label
  name: infrastructure-own
  namespace: infrastructure-own-system
stringData:
  token: x # ${TOKEN}

"##]]
    );
    let lines = reported.lines().filter(|line| !line.starts_with("# "));
    let uncommented: Vec<&str> = lines.map(|line| line.split(" # ").next().unwrap_or_default()).collect();
    assert_eq!(uncommented.join("\n") + "\n", plain);
    let rendered = world.run_expecting_success("render -i own:v1.0.0 --provenance=json").stdout;
    let report: Value = serde_json::from_str(&rendered).unwrap();
    let objects = report["objects"].as_array().unwrap();
    let deployment =
        objects.iter().find(|it| it["kind"] == "Deployment" && it["name"] == "infrastructure-own");
    let fields = deployment.unwrap()["fields"].as_array().unwrap();
    let replicas = fields.iter().find(|field| field["path"] == "/spec/replicas").unwrap();
    assert_eq!(replicas["setBy"]["field"], "patches[0]", "{replicas}");
    assert_data_eq!(
        world.screens([
            "generate provider -i own:v1.0.0 --provenance -o json",
            "render -i own:v1.0.0 --provenance=json --output-dir out",
        ]),
        str![[r#"
$ capstan generate provider -i own:v1.0.0 --provenance -o json
exit 1
--- stderr
{"kind":"user","exitCode":1,"message":"JSON output cannot contain comments","causes":[],"hints":["use `--provenance=json` for a list of fields, or omit `--output json`"]}

$ capstan render -i own:v1.0.0 --provenance=json --output-dir out
exit 1
--- stderr
error: the files of `--output-dir` contain only objects
hint: use `--provenance` for comments in the files, or omit `--output-dir`

"#]]
    );
    assert!(!world.current_dir().join("out").exists());
}

// Row: D-230
#[test]
fn an_overlay_flag_replaces_the_configured_overlay() {
    let world = customised("nameSuffix: -never\n");
    let component = format!("kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n{TWO_REPLICAS}");
    world.write("component/kustomization.yaml", component);
    for flag in ["component", "own=component", "infrastructure-own=component"] {
        let objects = objects(&world, &format!("{GENERATE} --kustomization {flag}"));
        let deployment = of_kind(&objects, "Deployment");
        assert_eq!(deployment["spec"]["replicas"], 2, "{flag}");
        assert_eq!(deployment["metadata"]["name"], "infrastructure-own");
    }
    assert_data_eq!(
        world.screens([
            &format!("{GENERATE} --kustomization owl=component"),
            "render -i own:v1.0.0 -b kubeadm:v1.0.0 --kustomization component",
            "render -i own:v1.0.0 --kustomization kubeadm=component",
        ]),
        str![[r#"
$ capstan generate provider -i own:v1.0.0 -o json --kustomization owl=component
exit 1
--- stderr
{"kind":"user","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["`--kustomization owl=component`: the provider `owl` does not exist"],"hints":["did you mean `own`?"]}

$ capstan render -i own:v1.0.0 -b kubeadm:v1.0.0 --kustomization component
exit 1
--- stderr
error: `--kustomization component` names no provider
hint: add the provider name, such as `--kustomization aws=component`

$ capstan render -i own:v1.0.0 --kustomization kubeadm=component
exit 1
--- stderr
error: `--kustomization kubeadm=component`: several providers are named `kubeadm`
hint: add the type: `bootstrap-kubeadm=component` or `control-plane-kubeadm=component`

"#]]
    );
    assert_data_eq!(
        world.run_expecting_success(&format!("{GENERATE} --kustomization cluster-api=component")).stderr,
        str![[r#"
warning: the kustomization `component` had no effect: this run rendered no components of `cluster-api`

"#]]
    );
}

// Row: D-232
#[test]
fn all_overlay_errors_are_reported_with_positions() {
    let world = customised(
        "patches:
- target: {kind: Deployment, name: renamed}
  patch: '[{op: add, path: /spec/replicas, value: 2}]'
- path: gone.yaml
",
    );
    assert_data_eq!(
        world.run_line(GENERATE).to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot apply the kustomization `[HOME]/.config/cluster-api/layer`: [HOME]/.config/cluster-api/layer/kustomization.yaml: patches[1].path: cannot find `gone.yaml`: no file or folder at `[HOME]/.config/cluster-api/layer/gone.yaml`; [HOME]/.config/cluster-api/layer/kustomization.yaml: patches[0]: no object matches the `target`: the patch changes nothing"],"hints":[]}

"#]]
    );
    world.write(
        format!("{HOME}/layer/kustomization.yaml"),
        "patches:\n- target: {kind: .*}\n  patch: '{$patch: delete, kind: x, metadata: {name: x}}'\n",
    );
    assert_data_eq!(
        world.screens([GENERATE, &format!("{GENERATE} --kustomization nowhere")]),
        str![[r#"
$ capstan generate provider -i own:v1.0.0 -o json
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","the kustomization `[HOME]/.config/cluster-api/layer` removes every object"],"hints":[]}

$ capstan generate provider -i own:v1.0.0 -o json --kustomization nowhere
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot apply the kustomization `nowhere`: the folder `nowhere` does not exist"],"hints":[]}

"#]]
    );
}

// Row: D-234
#[test]
fn the_lock_detects_changed_added_and_removed_overlays() {
    let world = customised(TWO_REPLICAS);
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    let lock = world.read(world.current_dir().join(HOME).join("capstan.lock"));
    assert!(lock.contains("[[provider.kustomization]]\nfile = \"kustomization.yaml\"\n"), "{lock}");
    world.run_expecting_success("lock --check");
    world.run_expecting_success(&format!("{GENERATE} --locked"));
    world.write("other/kustomization.yaml", TWO_REPLICAS);
    assert_data_eq!(
        world.run_line(&format!("{GENERATE} --locked --kustomization other")).to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"conflict","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["the kustomization of `infrastructure-own` does not match `[HOME]/.config/cluster-api/capstan.lock`: it is not in the lock"],"hints":["add it to clusterctl.yaml, under `kustomization` of the provider, and lock it with `capstan lock --update infrastructure-own`"]}

"#]]
    );

    world.write(format!("{HOME}/layer/kustomization.yaml"), format!("{TWO_REPLICAS}nameSuffix: -x\n"));
    assert_data_eq!(
        world.screens([GENERATE, "lock --check"]),
        str![[r#"
$ capstan generate provider -i own:v1.0.0 -o json
exit 1
--- stderr
{"kind":"conflict","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot use the kustomization `[HOME]/.config/cluster-api/layer`","the kustomization of `infrastructure-own` does not match `[HOME]/.config/cluster-api/capstan.lock`: `kustomization.yaml` was changed"],"hints":["review the change; accept it with `capstan lock --update infrastructure-own`"]}

$ capstan lock --check
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                 LOCKED                FOUND
infrastructure-own   changed   kustomization.yaml   sha256:cf6db7fd3572   sha256:3e97331bec36
--- stderr
error: 1 provider differs from the lock `[HOME]/.config/cluster-api/capstan.lock`
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

"#]]
    );
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    world.run_expecting_success(GENERATE);

    world.configure(CONFIG);
    assert_data_eq!(
        world.run_line(GENERATE).to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"conflict","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot use the kustomization `[HOME]/.config/cluster-api/capstan.lock`","the kustomization of `infrastructure-own` does not match `[HOME]/.config/cluster-api/capstan.lock`: `kustomization.yaml` was removed"],"hints":["review the change; accept it with `capstan lock --update infrastructure-own`"]}

"#]]
    );
}

// Row: KUS-52, D-233
#[test]
fn a_template_and_its_classes_share_one_overlay() {
    let world = with_repository();
    world.write(
        "layer/kustomization.yaml",
        "namespace: of-nobody
labels:
- pairs: {team: a}
patches:
- target: {kind: Cluster}
  patch: '[{op: add, path: /spec/paused, value: true}]'
- target: {kind: ClusterClass, name: small}
  patch: '[{op: add, path: /spec, value: {x: z}}]'
",
    );
    let generate = "generate cluster demo -i own:v1.0.0 -n team --kubernetes-version v1.35.0 -o json";
    let objects = objects(&world, &format!("{generate} --kustomization layer"));
    let (cluster, class) = (of_kind(&objects, "Cluster"), of_kind(&objects, "ClusterClass"));
    assert_eq!((&cluster["spec"]["paused"], &class["spec"]["x"]), (&true.into(), &"z".into()));
    for object in [cluster, class] {
        assert_eq!(object["metadata"]["namespace"], "team", "{object}");
        assert_eq!(object["metadata"]["labels"]["team"], "a", "{object}");
    }
    world.write("layer/kustomization.yaml", "patches:\n- target: {kind: Machine}\n  patch: '[]'\n");
    assert_data_eq!(
        world.run_line(&format!("{generate} --kustomization layer")).to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate cluster `demo`","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/cluster-template.yaml`","cannot apply the kustomization `layer`: layer/kustomization.yaml: patches[0]: no object matches the `target`: the patch changes nothing"],"hints":[]}

"#]]
    );
}

// Row: D-234
#[test]
fn a_bundle_contains_the_overlay_used_at_the_site() {
    let world = customised("resources: [../base]\n");
    world.write(format!("{HOME}/base/kustomization.yaml"), "resources: [map.yaml]\nnamePrefix: site-\n");
    world
        .write(format!("{HOME}/base/map.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n");
    world.run_expecting_success("bundle create -i own:v1.0.0 --file lab.tar");
    let printed = world.command("bundle create -i own:v1.0.0 --file -".split(' ')).output().unwrap();
    assert!(
        printed.status.success()
            && printed.stdout == std::fs::read(world.current_dir().join("lab.tar")).unwrap()
    );
    world.run_expecting_failure("bundle create -i own:v1.0.0 --file - -o json");
    assert!(!world.current_dir().join("-").exists());
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    let objects = objects(&world, &format!("{GENERATE} --locked --config site/clusterctl.yaml"));
    assert_eq!(of_kind(&objects, "ConfigMap")["metadata"]["name"], "site-extra");
    assert_data_eq!(
        world.run_expecting_success("bundle load lab.tar --to-folder site").messages(),
        str![[r#"
exit 0
--- stderr
unchanged: release bootstrap-kubeadm:v1.0.0 ([CWD]/site/bootstrap-kubeadm/v1.0.0)
unchanged: release cert-manager:v1.0.0 ([CWD]/site/cert-manager/v1.0.0)
unchanged: release cluster-api:v1.0.0 ([CWD]/site/cluster-api/v1.0.0)
unchanged: release control-plane-kubeadm:v1.0.0 ([CWD]/site/control-plane-kubeadm/v1.0.0)
unchanged: release infrastructure-own:v1.0.0 ([CWD]/site/infrastructure-own/v1.0.0)
done in [..]: nothing to load: `[CWD]/site` already has everything

"#]]
    );
}

#[test]
fn a_bundle_contains_parent_folders_of_the_overlay() {
    let world = customised("resources: [../../overlays/base]\nnameSuffix: -prod\n");
    let overlays = format!("{HOME}/overlays");
    let from = world.current_dir().join(HOME);
    std::fs::create_dir(from.join("overlays")).unwrap();
    std::fs::rename(from.join("layer"), from.join("overlays/prod")).unwrap();
    world.configure(with_layer().replace("kustomization: layer", "kustomization: overlays/prod"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n";
    world.write(format!("{overlays}/base/kustomization.yaml"), "resources: [map.yaml]\n");
    world.write(format!("{overlays}/base/map.yaml"), map);
    world.run_expecting_success("bundle create -i own:v1.0.0 --file lab.tar");
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    assert!(!world.current_dir().join("site/kustomizations/overlays").exists());
    std::fs::remove_dir_all(from.join("overlays")).unwrap();
    let loaded = objects(&world, &format!("{GENERATE} --locked --config site/clusterctl.yaml"));
    assert_eq!(of_kind(&loaded, "ConfigMap")["metadata"]["name"], "extra-prod");
}

#[test]
fn a_bundle_contains_every_file_the_overlay_reads() {
    let world = customised(
        "components: [../../parts]
patches: [{path: patch.yaml}, {path: ops.yaml, target: {kind: Deployment}}]
patchesStrategicMerge: [old.yaml]
replacements: [{path: replacement.yaml}]
transformers: [prefix.yaml]
configurations: [fields.yaml]
crds: [crd.json]
openapi: {path: schema.json}
configMapGenerator: [{name: made, files: [text.txt], envs: [values.env]}]
",
    );
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: infrastructure-own, namespace: infrastructure-own-system}\n";
    let part = |name: &str, text: &str| world.write(format!("{HOME}/layer/{name}"), text);
    part("../../parts/kustomization.yaml", &format!("kind: Component\n{TWO_REPLICAS}"));
    part("patch.yaml", &format!("{deployment}spec: {{paused: true}}\n"));
    part("old.yaml", &format!("{deployment}spec: {{minReadySeconds: 7}}\n"));
    part("ops.yaml", "[{op: add, path: /spec/revisionHistoryLimit, value: 3}]\n");
    part(
        "replacement.yaml",
        "source: {kind: Deployment, fieldPath: spec.replicas}\ntargets: [{select: {kind: Deployment}, fieldPaths: [spec.revisionHistoryLimit]}]\n",
    );
    part(
        "prefix.yaml",
        "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: my-\nfieldSpecs: [{kind: ConfigMap, path: metadata/name}]\n",
    );
    part("fields.yaml", "commonLabels: []\n");
    part("crd.json", "{}");
    part("schema.json", "{\"definitions\": {}}");
    part("text.txt", "text");
    part("values.env", "A=b\n");
    let here = world.run_expecting_success(GENERATE).stdout;
    world.run_expecting_success("bundle create -i own:v1.0.0 --file lab.tar");
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    let there =
        world.run_expecting_success(&format!("{GENERATE} --locked --config site/clusterctl.yaml")).stdout;
    assert!(here == there && here.contains("my-made"), "{here}\n{there}");
}

#[cfg(unix)]
#[test]
fn an_overlay_behind_a_link_stops_a_bundle_before_any_write() {
    let world = customised("resources: [link]\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n";
    world.write(format!("{HOME}/layer/real/kustomization.yaml"), "resources: [map.yaml]\n");
    world.write(format!("{HOME}/layer/real/map.yaml"), map);
    std::os::unix::fs::symlink("real", world.current_dir().join(HOME).join("layer/link")).unwrap();
    assert_eq!(of_kind(&objects(&world, GENERATE), "ConfigMap")["metadata"]["name"], "extra");
    assert_data_eq!(
        world.run_line("bundle create -i own:v1.0.0 --file lab.tar").to_string(),
        str![[r#"
exit 1
--- stderr
error: the kustomization of `infrastructure-own` cannot be relocated: its files no longer find each other
hint: use relative paths without symbolic links in the kustomization

"#]]
    );
    assert!(!world.current_dir().join("lab.tar").exists());
}

#[test]
fn an_overlay_that_removes_or_renames_a_definition_is_refused() {
    let world = with_small_providers();
    world.configure(with_layer());
    let layer = |text: &str| world.write(format!("{HOME}/layer/kustomization.yaml"), text);
    let of_definitions = "target: {kind: CustomResourceDefinition}";
    let mut screens = String::new();
    for text in [
        format!(
            "patches:\n- {of_definitions}\n  patch: '{{$patch: delete, kind: x, metadata: {{name: x}}}}'\n"
        ),
        format!(
            "patches:\n- {of_definitions}\n  options: {{allowNameChange: true}}\n  patch: '[{{op: replace, path: /metadata/name, value: other}}]'\n"
        ),
    ] {
        layer(&text);
        screens += &world.screens([GENERATE]);
    }
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan generate provider -i own:v1.0.0 -o json
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","the kustomization `[HOME]/.config/cluster-api/layer` removes definitions that the provider requires: CustomResourceDefinition ownclusters.infrastructure.cluster.x-k8s.io"],"hints":[]}
$ capstan generate provider -i own:v1.0.0 -o json
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","the kustomization `[HOME]/.config/cluster-api/layer` removes definitions that the provider requires: CustomResourceDefinition ownclusters.infrastructure.cluster.x-k8s.io"],"hints":[]}

"#]]
    );
    // The prefix applies to other objects, because kustomize does not rename definitions.
    layer("namePrefix: my-\n");
    world.run_expecting_success(GENERATE);
}

//! Tests of remote kustomizations over providers, and of kustomizations with remote resources: on hosts and in
//! repositories.

use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    git::{GitForge, GitHost},
    host::{FakeHost, Reply},
    registry::{Registry, RegistryAccess, RegistryTransport},
};

use crate::customise::{GENERATE, HOME, TWO_REPLICAS, customised, objects, of_kind, with_layer};

const PATCH: &str = "[{op: add, path: /spec/replicas, value: 2}]\n";

/// Returns a world whose configuration applies a patch from the host to one provider.
fn with_patch_of(host: &FakeHost) -> TestEnvironment {
    host.on("files.example.org/p.yaml", Reply::text(PATCH));
    let world =
        customised("patches: [{target: {kind: Deployment}, path: 'https://files.example.org/p.yaml'}]\n");
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
}

#[test]
fn only_overlays_of_rendered_providers_are_fetched() {
    let host = FakeHost::internet();
    let world = with_patch_of(&host);
    world.write("mine/kustomization.yaml", TWO_REPLICAS);
    for unconcerned in [
        "generate provider -b kubeadm:v1.0.0".to_owned(),
        format!("{GENERATE} --kustomization mine"),
        format!("{GENERATE} --raw"),
    ] {
        assert_eq!(world.run_expecting_success(&unconcerned).stderr, "", "{unconcerned}");
        assert_eq!(host.connections(), 0, "{unconcerned}");
    }
    assert_eq!(of_kind(&objects(&world, GENERATE), "Deployment")["spec"]["replicas"], 2);
    assert_eq!(host.connections(), 1);
    world.write(format!("{HOME}/layer/kustomization.yaml"), "resource: []\n");
    world.run_expecting_success("generate provider -b kubeadm:v1.0.0");
}

fn lock(world: &TestEnvironment) -> String {
    world.read(world.current_dir().join(HOME).join("capstan.lock"))
}

#[test]
fn a_remote_patch_is_locked_cached_and_left_out_of_a_bundle() {
    let host = FakeHost::internet();
    let world = with_patch_of(&host);
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    assert!(lock(&world).contains("file = \"https://files.example.org/p.yaml\"\n"), "{}", lock(&world));
    let connections = host.connections();
    let offline = objects(&world, &format!("{GENERATE} --locked --offline"));
    assert_eq!(of_kind(&offline, "Deployment")["spec"]["replicas"], 2);
    assert_eq!(host.connections(), connections);
    assert_data_eq!(
        world.run_line("bundle create --from-lock --file lab.tar").to_string(),
        str![[r#"
exit 1
--- stderr
error: the kustomization of `infrastructure-own` refers to `https://files.example.org/p.yaml`, which an air-gapped site cannot reach
hint: copy it beside the kustomization, and refer to the copy

"#]]
    );
}

#[test]
fn a_token_in_a_url_appears_in_no_lock_and_no_message() {
    let host = FakeHost::internet();
    let world = with_patch_of(&host);
    let address = "https://files.example.org/p.yaml?token=s3cret";
    let layer = format!("patches: [{{target: {{kind: Deployment}}, path: '{address}'}}]\n");
    world.write(format!("{HOME}/layer/kustomization.yaml"), layer);
    let shown = "https://files.example.org/p.yaml?token=***";
    let run_expecting_failure = world.run_line(GENERATE).to_string();
    assert!(!run_expecting_failure.contains("s3cret"), "{run_expecting_failure}");
    assert_data_eq!(
        run_expecting_failure,
        str![[r#"
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot apply the kustomization `[HOME]/.config/cluster-api/layer`: [HOME]/.config/cluster-api/layer/kustomization.yaml: patches[0].path: cannot fetch `https://files.example.org/p.yaml?token=***`: the host answered with status 404: Not Found"],"hints":["the request went through the proxy http://127.0.0.1:[..]/"]}

"#]]
    );
    host.on("files.example.org/p.yaml?token=s3cret", Reply::text(PATCH));
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    assert!(lock(&world).contains(&format!("file = \"{shown}\"\n")), "{}", lock(&world));
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n";

/// Returns a forge with a kustomization of two folders under the tag `v1`.
fn forge() -> GitForge {
    let forge = GitForge::new();
    let overlay = format!("resources: [../../overlays/base]\n{TWO_REPLICAS}");
    forge.commit(
        "layers",
        &[
            ("overlays/base/kustomization.yaml", "resources: [map.yaml]\n"),
            ("overlays/base/map.yaml", MAP),
            ("overlays/own/kustomization.yaml", &overlay),
        ],
    );
    forge.git("layers", &["tag", "v1"]);
    forge
}

/// Returns a world whose configuration applies the kustomization of the forge to one provider.
fn with_layer_of(forge: &GitForge, host: &GitHost) -> TestEnvironment {
    let path = forge.variables().into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let world = customised("").env("PATH", path).env("SSL_CERT_FILE", host.ca_file());
    let url = format!("'{}//overlays/own?ref=v1'", host.url("layers"));
    world.configure(with_layer().replace("kustomization: layer", &format!("kustomization: {url}")));
    world
}

fn assert_customised(world: &TestEnvironment, arguments: &str) {
    let objects = objects(world, arguments);
    assert_eq!(of_kind(&objects, "Deployment")["spec"]["replicas"], 2, "{arguments}");
    assert_eq!(of_kind(&objects, "ConfigMap")["metadata"]["name"], "extra", "{arguments}");
}

#[test]
fn a_git_overlay_is_rendered_locked_cached_and_bundled() {
    let forge = forge();
    let host = forge.serve(None);
    let world = with_layer_of(&forge, &host);
    assert_customised(&world, GENERATE);
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    assert!(lock(&world).contains("file = \"../base/map.yaml\"\n"), "{}", lock(&world));
    let fetches = host.fetches();
    assert_customised(&world, &format!("{GENERATE} --locked --offline"));
    world.run_expecting_success("bundle create --from-lock --offline --file lab.tar");
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    assert_eq!(host.fetches(), fetches);
    drop(host);
    assert_customised(&world, &format!("{GENERATE} --locked --config site/clusterctl.yaml"));
}

#[test]
fn a_moved_tag_of_a_git_overlay_fails_the_lock_check() {
    let forge = forge();
    let host = forge.serve(None);
    let world = with_layer_of(&forge, &host);
    world.run_expecting_success("lock --infrastructure own:v1.0.0");
    let locked = forge.git("layers", &["rev-parse", "HEAD"]);
    let moved = forge.commit("layers", &[("overlays/base/map.yaml", &MAP.replace("extra", "moved"))]);
    forge.git("layers", &["tag", "--force", "v1"]);
    let run_expecting_failure = world.run_line(&format!("{GENERATE} --refresh")).to_string();
    assert_data_eq!(
        run_expecting_failure.replace(&locked, "[LOCKED]").replace(&moved, "[MOVED]"),
        str![[r#"
exit 1
--- stderr
warning: the tag `v1` of https://localhost:[..]/layers has moved from [LOCKED] to [MOVED]; capstan uses [MOVED]
{"kind":"conflict","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml`","cannot use the kustomization `https://localhost:[..]/layers//overlays/own?ref=v1`","the kustomization of `infrastructure-own` does not match `[HOME]/.config/cluster-api/capstan.lock`: `../base/map.yaml` was changed"],"hints":["review the change; accept it with `capstan lock --update infrastructure-own`"]}

"#]]
    );
}

#[test]
fn a_site_reads_releases_from_a_registry_and_overlays_from_the_bundle() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::Anonymous) else { return };
    let world = customised(TWO_REPLICAS);
    let ca = world.write("ca.pem", registry.ca_pem());
    let world = world.env("SSL_CERT_FILE", ca);
    world.run_expecting_success("bundle create -i own:v1.0.0 --file lab.tar");
    let loaded = world
        .run_expecting_success(&format!("bundle load lab.tar --to-registry oci://{}/capi", registry.host()));
    assert_data_eq!(
        loaded.to_string(),
        str![[r#"
exit 0
--- stdout
cert-manager:
  url: oci://localhost:[..]/capi/cert-manager
  version: v1.0.0
providers:
- name: kubeadm
  type: BootstrapProvider
  url: oci://localhost:[..]/capi/bootstrap-kubeadm
- name: cluster-api
  type: CoreProvider
  url: oci://localhost:[..]/capi/cluster-api
- name: kubeadm
  type: ControlPlaneProvider
  url: oci://localhost:[..]/capi/control-plane-kubeadm
- kustomization: kustomizations/infrastructure-own
  name: own
  type: InfrastructureProvider
  url: oci://localhost:[..]/capi/infrastructure-own
--- stderr
warning: a registry cannot store the kustomizations of the bundle; run `capstan bundle load FILE --to-folder DIR` to write them beside clusterctl.yaml
loaded release bootstrap-kubeadm:v1.0.0 (oci://localhost:[..]/capi/bootstrap-kubeadm:v1.0.0)
loaded release cert-manager:v1.0.0 (oci://localhost:[..]/capi/cert-manager:v1.0.0)
loaded release cluster-api:v1.0.0 (oci://localhost:[..]/capi/cluster-api:v1.0.0)
loaded release control-plane-kubeadm:v1.0.0 (oci://localhost:[..]/capi/control-plane-kubeadm:v1.0.0)
loaded release infrastructure-own:v1.0.0 (oci://localhost:[..]/capi/infrastructure-own:v1.0.0)
done in [..]: loaded 5 parts to `oci://localhost:[..]/capi`

"#]]
    );
    world.write("site/clusterctl.yaml", &loaded.stdout);
    assert_data_eq!(
        world.run_line(&format!("{GENERATE} --config site/clusterctl.yaml")).to_string(),
        str![[r#"
exit 1
--- stderr
{"kind":"environment","exitCode":1,"message":"cannot generate `infrastructure-own` v1.0.0","causes":["cannot customise `oci://localhost:[..]/capi/infrastructure-own:v1.0.0/infrastructure-components.yaml`","cannot apply the kustomization `[CWD]/site/kustomizations/infrastructure-own`: the folder `[CWD]/site/kustomizations/infrastructure-own` does not exist"],"hints":[]}

"#]]
    );
    world.run_expecting_success("bundle load lab.tar --to-folder site");
    assert_eq!(world.read("site/clusterctl.yaml"), loaded.stdout);
    let objects = objects(&world, &format!("{GENERATE} --config site/clusterctl.yaml"));
    assert_eq!(of_kind(&objects, "Deployment")["spec"]["replicas"], 2);
}

//! Kustomizations over providers that are elsewhere, or name what is elsewhere: on hosts, in repositories.

use support::{
    binary::World,
    host::{FakeHost, Reply},
};

use crate::customise::{GENERATE, HOME, TWO_REPLICAS, customised, objects, of_kind};

const PATCH: &str = "[{op: add, path: /spec/replicas, value: 2}]\n";

/// A world whose configuration lays a patch over one provider that is a file of the host.
fn with_patch_of(host: &FakeHost) -> World {
    host.on("files.example.org/p.yaml", Reply::text(PATCH));
    let world =
        customised("patches: [{target: {kind: Deployment}, path: 'https://files.example.org/p.yaml'}]\n");
    let ca = world.write("ca.pem", host.ca_pem());
    world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca)
}

#[test]
fn only_the_kustomization_of_a_provider_that_is_rendered_is_fetched() {
    let host = FakeHost::internet();
    let world = with_patch_of(&host);
    world.write("mine/kustomization.yaml", TWO_REPLICAS);
    for unconcerned in [
        "generate provider -b kubeadm:v1.0.0".to_owned(),
        format!("{GENERATE} --kustomization mine"),
        format!("{GENERATE} --raw"),
    ] {
        assert_eq!(world.done(&unconcerned).stderr, "", "{unconcerned}");
        assert_eq!(host.connections(), 0, "{unconcerned}");
    }
    assert_eq!(of_kind(&objects(&world, GENERATE), "Deployment")["spec"]["replicas"], 2);
    assert_eq!(host.connections(), 1);
    world.write(format!("{HOME}/layer/kustomization.yaml"), "resource: []\n");
    world.done("generate provider -b kubeadm:v1.0.0");
}

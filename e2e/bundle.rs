//! From the internet to a closed site. The commands of the guide are the test script.

#[cfg(target_os = "linux")]
mod closed;

use std::fs;

use serde_json::json;
use support::{
    binary::{RunOutput, TestEnvironment},
    host::{FakeHost, GitHubRelease, Reply},
    registry::{Registry, RegistryAccess, RegistryTransport},
};

use crate::{project, world};

const HOSTS: [&str; 4] =
    ["github.com", "api.github.com", "objects.githubusercontent.com", "registry.example.com"];
const CORE: [&str; 2] = ["v1.13.2", "v1.14.0"];
const AWS: [&str; 2] = ["v2.10.0", "v2.11.1"];
const CERT_MANAGER: &str = "v1.21.1";

/// Labels and components files in the releases of Cluster API.
const CORE_FILES: [(&str, &str); 3] = [
    ("cluster-api", "core-components.yaml"),
    ("bootstrap-kubeadm", "bootstrap-components.yaml"),
    ("control-plane-kubeadm", "control-plane-components.yaml"),
];

fn fixture(path: &str) -> String {
    fs::read_to_string(project("e2e/fixtures/repository").join(path)).unwrap()
}

fn metadata(series: &str) -> String {
    format!(
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{series}]
"
    )
}

/// A host with the small providers under the names of real ones, and a registry with their images.
fn internet() -> FakeHost {
    let host = FakeHost::start(&HOSTS);
    let core = metadata("{major: 1, minor: 13, contract: v1beta2}, {major: 1, minor: 14, contract: v1beta2}");
    for version in CORE {
        let mut release =
            GitHubRelease::new("kubernetes-sigs/cluster-api", version).file("metadata.yaml", &*core);
        for (label, file) in CORE_FILES {
            release =
                release.file(file, fixture(&format!("{label}/v1.1.0/{file}")).replace("v1.1.0", version));
        }
        release.publish(&host);
    }
    for version in AWS {
        let series = "{major: 2, minor: 10, contract: v1beta2}, {major: 2, minor: 11, contract: v1beta2}";
        let file =
            |file: &str| fixture(&format!("infrastructure-sandbox/v1.1.0/{file}")).replace("v1.1.0", version);
        GitHubRelease::new("kubernetes-sigs/cluster-api-provider-aws", version)
            .file("metadata.yaml", metadata(series))
            .file("infrastructure-components.yaml", file("infrastructure-components.yaml"))
            .file("cluster-template.yaml", file("cluster-template.yaml"))
            .publish(&host);
    }
    let manifest = fixture("cert-manager/v1.0.0/cert-manager.yaml").replace("v1.0.0", CERT_MANAGER);
    let release = GitHubRelease::new("cert-manager/cert-manager", CERT_MANAGER);
    release.file("cert-manager.yaml", manifest).publish(&host);
    for name in ["cluster-api", "kubeadm-bootstrap", "kubeadm-control-plane"] {
        image(&host, name, CORE[0], "");
    }
    image(&host, "sandbox", AWS[0], "");
    for name in ["controller", "cainjector", "webhook"] {
        image(&host, &format!("cert-manager-{name}"), CERT_MANAGER, "");
    }
    host
}

/// An image for two platforms. Its layers start with the platform names.
fn image(host: &FakeHost, name: &str, tag: &str, layer: &str) {
    let repository = format!("registry.example.com/v2/fixtures/{name}");
    let mut manifests = Vec::new();
    for architecture in ["amd64", "arm64"] {
        let blob = |text: String, media_type: &str| {
            let digest = transport::Digest::of(text.as_bytes());
            host.on(format!("{repository}/blobs/{digest}"), Reply::file(text.clone()));
            json!({"mediaType": media_type, "digest": digest.to_string(), "size": text.len()})
        };
        let config = blob(
            json!({"architecture": architecture, "os": "linux"}).to_string(),
            "application/vnd.oci.image.config.v1+json",
        );
        let layer =
            blob(format!("{name} {architecture}{layer}"), "application/vnd.oci.image.layer.v1.tar+gzip");
        let media_type = "application/vnd.oci.image.manifest.v1+json";
        let manifest =
            json!({"schemaVersion": 2, "mediaType": media_type, "config": config, "layers": [layer]});
        let manifest = manifest.to_string();
        let digest = transport::Digest::of(manifest.as_bytes());
        let reply = Reply::file(manifest.clone()).header("content-type", media_type);
        host.on(format!("{repository}/manifests/{digest}"), reply);
        manifests.push(json!({"mediaType": media_type, "digest": digest.to_string(), "size": manifest.len(),
            "platform": {"os": "linux", "architecture": architecture}}));
    }
    let media_type = "application/vnd.oci.image.index.v1+json";
    let index = json!({"schemaVersion": 2, "mediaType": media_type, "manifests": manifests}).to_string();
    host.on(format!("{repository}/manifests/{tag}"), Reply::file(index).header("content-type", media_type));
}

/// Commands to run with a connection.
const CONNECTED: [&str; 3] = [
    "capstan bundle create --core cluster-api:v1.13.2 --bootstrap kubeadm:v1.13.2 --control-plane kubeadm:v1.13.2 \
     --infrastructure aws:v2.10.0 --with-images --platform linux/amd64 --file lab.tar",
    "capstan lock --core cluster-api:v1.14.0 --bootstrap kubeadm:v1.14.0 --control-plane kubeadm:v1.14.0 \
     --infrastructure aws:v2.11.1",
    "capstan bundle create --from-lock --file newer.tar",
];

/// Commands to run at the site.
const AT_THE_SITE: [&str; 9] = [
    "capstan bundle verify lab.tar",
    "capstan bundle inspect lab.tar",
    "capstan bundle load lab.tar --to-folder /srv/capi",
    "capstan init --infrastructure aws --config /srv/capi/clusterctl.yaml --locked --offline",
    "capstan generate cluster demo --infrastructure aws:v2.10.0 --kubernetes-version v1.35.0 \
     --target-namespace default --config /srv/capi/clusterctl.yaml --offline",
    "capstan bundle load lab.tar --to-registry oci://registry.lab/capi > clusterctl.yaml",
    "capstan init list-images --infrastructure aws:v2.10.0 --config clusterctl.yaml",
    "capstan bundle load newer.tar --to-folder /srv/capi",
    "capstan upgrade apply --contract v1beta2 --config /srv/capi/clusterctl.yaml --offline",
];

/// Runs a command line with replacements for some paths.
fn run(world: &TestEnvironment, line: &str, places: &[(&str, &str)]) -> RunOutput {
    let line = places.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
    let (line, file) =
        line.split_once(" > ").map_or((line.as_str(), None), |(line, file)| (line, Some(file)));
    let words = line.strip_prefix("capstan ").expect("a command runs capstan");
    let run = world.run(words.split_whitespace());
    assert_eq!(run.status, 0, "{line}\n{run}");
    if let Some(file) = file {
        world.write(file, &run.stdout);
    }
    run
}

fn connected(host: &FakeHost) -> TestEnvironment {
    let world = world();
    let ca = world.write("ca.pem", host.ca_pem());
    let variables = ["SANDBOX_ENDPOINT", "SANDBOX_REGION", "SANDBOX_MACHINE_TYPE"];
    let world = world.env("HTTPS_PROXY", host.proxy_url()).env("SSL_CERT_FILE", ca);
    variables.into_iter().fold(world, |world, name| world.env(name, "x"))
}

/// A site that could connect to the host, to check that no connection is made.
struct Site(TestEnvironment);

impl Site {
    fn of(host: &FakeHost) -> Self {
        let world = connected(host);
        let state = world.home().join("state");
        Self(world.env("XDG_STATE_HOME", state).env("NO_PROXY", "127.0.0.1,localhost"))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.0.run(["sandbox", "delete", "lab"]);
    }
}

fn carry(from: &TestEnvironment, to: &TestEnvironment, file: &str) {
    fs::copy(from.current_dir().join(file), to.current_dir().join(file)).unwrap();
}

// Row: PRV-85, D-215
#[test]
fn a_bundle_installs_an_air_gapped_site() {
    let host = internet();
    let outside = connected(&host);
    for line in CONNECTED {
        run(&outside, line, &[]);
    }
    let Some(registry) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let site = Site::of(&host);
    carry(&outside, &site.0, "lab.tar");
    carry(&outside, &site.0, "newer.tar");
    let before = host.connections();
    let places = [
        ("/srv/capi", "capi"),
        ("registry.lab", &*registry.host()),
        ("capstan init --infra", "capstan init --sandbox lab --infra"),
        ("generate cluster demo", "generate cluster demo --sandbox lab"),
        ("upgrade apply", "upgrade apply --sandbox lab"),
    ];
    let mut outputs = Vec::new();
    for line in AT_THE_SITE {
        let outcome = run(&site.0, line, &places);
        outputs.push((line, outcome));
    }
    assert_eq!(host.connections(), before, "{:?}", &host.addresses());
    let output = |part: &str| &outputs.iter().find(|(line, _)| line.contains(part)).unwrap().1;

    let direct = outside.run(
        "generate cluster demo -i aws:v2.10.0 --kubernetes-version v1.35.0 -n default --lock off".split(' '),
    );
    assert_eq!(output("generate cluster").stdout, direct.stdout);
    assert!(output("inspect").stdout.contains("registry.example.com/fixtures/sandbox:v2.10.0 (linux/amd64)"));
    for image in output("list-images").stdout.lines() {
        let mirror = format!("{}/capi/registry.example.com/fixtures/", registry.host());
        assert!(image.starts_with(&mirror), "{image}");
    }
    // Both environments have the same lock from here on.
    let render = |world: &TestEnvironment, config: &[&str]| {
        let run = world.run(["render", "--infrastructure", "aws"].iter().chain(config));
        assert_eq!(run.status, 0, "{run}");
        run.stdout
    };
    let of_site = render(&site.0, &["--config", "capi/clusterctl.yaml", "--offline"]);
    assert_eq!(of_site, render(&outside, &[]));
    let status = site.0.run(["status", "--sandbox", "lab"]);
    assert!(status.stdout.contains("v2.11.1") && !status.stdout.contains("v2.10.0"), "{status}");
}

#[test]
fn loading_a_bundle_is_idempotent_and_keeps_local_changes() {
    let host = internet();
    let outside = connected(&host);
    run(&outside, &CONNECTED[0].replace("--with-images --platform linux/amd64", ""), &[]);
    let load = || outside.run(["bundle", "load", "lab.tar", "--to-folder", "site"]);
    assert_eq!(load().status, 0);
    let first = outside.files();
    let again = load();
    assert!(
        again.status == 0 && !again.stderr.contains("loaded") && again.stderr.contains("nothing to load: "),
        "{again}"
    );
    assert_eq!(outside.files(), first);
    outside.write("site/clusterctl.yaml", "own: true\n");
    outside.write("site/infrastructure-aws/v2.10.0/metadata.yaml", "other");
    let refused = load();
    assert!(refused.status == 1 && refused.stderr.contains("it has other content"), "{refused}");
    outside.write("site/infrastructure-aws/v2.10.0/metadata.yaml", "other");
    let forced = outside.run(["bundle", "load", "lab.tar", "--to-folder", "site", "--force"]);
    assert_eq!(forced.status, 0, "{forced}");
    assert_eq!(outside.files(), first);
    outside.write("site/clusterctl.yaml", "own: true\n");
    let kept = load();
    assert!(kept.status == 0 && kept.stderr.contains("warning: kept `"), "{kept}");
    assert_eq!(outside.read("site/clusterctl.yaml"), "own: true\n");
}

#[test]
fn a_bundle_contains_no_secrets_of_the_configuration() {
    let host = internet();
    let outside = connected(&host);
    outside.configure(
        "github-token: ghp_secret\nAWS_B64ENCODED_CREDENTIALS: c2VjcmV0\nimages: {all: {tag: v9}}\n",
    );
    run(&outside, &CONNECTED[0].replace("--with-images --platform linux/amd64", ""), &[]);
    let bytes = fs::read(outside.current_dir().join("lab.tar")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("ghp_secret") && !text.contains("c2VjcmV0"));
    assert!(text.contains("tag: v9"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_layer_larger_than_memory_is_bundled_and_loaded() {
    const MEMORY_MEBIBYTES: usize = 32;
    let host = internet();
    image(&host, "sandbox", AWS[0], &"x".repeat(2 * MEMORY_MEBIBYTES * 1024 * 1024));
    let outside = connected(&host).env("NO_PROXY", "127.0.0.1,localhost");
    let mut lines = vec![CONNECTED[0].trim_start_matches("capstan ").to_owned()];
    lines.extend(["bundle verify lab.tar", "bundle load lab.tar --to-folder site"].map(str::to_owned));
    let registry = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous);
    if let Some(registry) = &registry {
        lines.push(format!("bundle load lab.tar --to-registry oci://{}/capi", registry.host()));
    }
    for line in lines {
        let run = outside.run_in_memory(&line, MEMORY_MEBIBYTES);
        assert_eq!(run.status, 0, "{line}: {run}");
    }
}

#[test]
fn a_multi_platform_image_keeps_its_digest() {
    let host = internet();
    let outside = connected(&host).env("NO_PROXY", "127.0.0.1,localhost");
    run(&outside, &CONNECTED[0].replace("--platform linux/amd64", ""), &[]);
    let Some(registry) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let json = |arguments: &str| -> serde_json::Value {
        let run = outside.run(arguments.split_whitespace());
        assert_eq!(run.status, 0, "{run}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let inspected = json("bundle inspect lab.tar -o json");
    let verified = json("bundle verify lab.tar -o json");
    assert_eq!(verified["entries"].as_u64(), inspected["contents"].as_array().map(|all| all.len() as u64));
    assert_eq!(verified["unreferenced"], serde_json::json!([]));
    let images = inspected["contents"].as_array().unwrap().iter().filter(|it| it["kind"] == "image");
    for image in images {
        let (path, tag) = image["name"].as_str().unwrap().rsplit_once(':').unwrap();
        let path = path.replace("registry.example.com/", "registry.example.com/v2/");
        let index = host.body(&format!("{path}/manifests/{tag}"));
        assert_eq!(image["digest"], transport::Digest::of(&index).to_string());
    }
    let load = format!("bundle load lab.tar --to-registry oci://{}/a/b -o json", registry.host());
    for expected in ["new", "unchanged"] {
        let loaded = json(&load);
        let contents = loaded["contents"].as_array().unwrap();
        assert_eq!(contents.len(), 12);
        assert!(contents.iter().all(|it| it["state"] == expected), "{loaded}");
    }
}

#[test]
fn images_of_charts_are_bundled_by_name() {
    const WEB: &str = "registry.example.com/fixtures/web:v1";
    let host = internet();
    image(&host, "web", "v1", "");
    let outside = connected(&host).env("NO_PROXY", "127.0.0.1,localhost");
    let create = |images: &str| {
        CONNECTED[0].replace("--with-images --platform linux/amd64", images).replace("capstan ", "")
    };
    let missing = outside.run(create("--with-image registry.example.com/fixtures/none:v1").split(' '));
    assert_eq!(missing.status, 1, "{missing}");
    assert!(!outside.current_dir().join("lab.tar").exists());

    let created = outside.run(create(&format!("--with-image {WEB}")).split(' '));
    assert_eq!(created.status, 0, "{created}");
    let json = |arguments: &str| -> serde_json::Value {
        let run = outside.run(arguments.split_whitespace());
        assert_eq!(run.status, 0, "{run}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let inspected = json("bundle inspect lab.tar -o json");
    let contents = inspected["contents"].as_array().unwrap();
    let images: Vec<_> = contents.iter().filter(|it| it["kind"] == "image").collect();
    assert_eq!(images.len(), 1, "{inspected}");
    assert_eq!(images[0]["name"], WEB);
    let digest = transport::Digest::of(&host.body("registry.example.com/v2/fixtures/web/manifests/v1"));
    assert_eq!(images[0]["digest"], digest.to_string());

    json("bundle load lab.tar --to-folder site -o json");
    let listed: serde_json::Value = serde_json::from_str(&outside.read("site/images.json")).unwrap();
    let listed = listed["images"].as_array().unwrap().iter().find(|it| it["image"] == WEB).unwrap();
    assert_eq!(listed["digest"], digest.to_string());
    let Some(registry) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let loaded = json(&format!("bundle load lab.tar --to-registry oci://{}/capi -o json", registry.host()));
    assert!(loaded["contents"].as_array().unwrap().iter().any(|it| it["name"] == WEB), "{loaded}");
}

//! Providers in a real registry: publishing, reading, pinning, and password protection.

use std::fs;

use serde_json::Value;
use support::{
    binary::{RunOutput, TestEnvironment},
    registry::{Registry, RegistryAccess, RegistryTransport},
};

use crate::{project, world};

/// An environment that trusts the registry.
fn lab(registry: &Registry) -> TestEnvironment {
    let world = world();
    let ca = world.write("ca.pem", registry.ca_pem());
    world.env("SSL_CERT_FILE", ca)
}

fn target(registry: &Registry) -> String {
    format!("oci://{}/providers/infrastructure-sandbox", registry.host())
}

fn release(version: &str) -> String {
    project(&format!("e2e/fixtures/repository/infrastructure-sandbox/{version}")).display().to_string()
}

fn configure(world: &TestEnvironment, url: &str, more: &str) {
    world.configure(format!(
        "providers:\n- {{name: sandbox, type: InfrastructureProvider, url: \"{url}\"{more}}}\nSANDBOX_ENDPOINT: https://x\n"
    ));
}

fn publish(world: &TestEnvironment, registry: &Registry, version: &str, tag: &str) -> RunOutput {
    world.run(["publish", &release(version), &format!("{}:{tag}", target(registry)), "-o", "json"])
}

fn json(run: &RunOutput) -> Value {
    assert_eq!(run.status, 0, "{run}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn generate(world: &TestEnvironment, version: &str) -> RunOutput {
    world.run(["generate", "provider", "-i", &format!("sandbox{version}")])
}

// Row: PRV-85, D-200
#[test]
fn a_published_release_is_read_from_the_registry() {
    for transport in [RegistryTransport::Tls, RegistryTransport::Plain] {
        let Some(registry) = Registry::start(transport, RegistryAccess::Anonymous) else { return };
        let world = lab(&registry);
        for version in ["v1.0.0", "v1.1.0"] {
            assert_eq!(json(&publish(&world, &registry, version, version))["outcome"], "published");
        }
        configure(&world, &target(&registry), "");
        let newest = generate(&world, "");
        assert_eq!(newest.status, 0, "{newest}");
        let local = format!("{}/infrastructure-components.yaml", release("v1.1.0"));
        configure(&world, &local, "");
        assert_eq!(newest.stdout, generate(&world, "").stdout);
    }
}

#[test]
fn a_published_version_changes_only_with_force() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::Anonymous) else { return };
    let world = lab(&registry);
    let first = json(&publish(&world, &registry, "v1.0.0", "v1.0.0"));
    assert_eq!(json(&publish(&world, &registry, "v1.0.0", "v1.0.0"))["outcome"], "alreadyThere");
    let refused = publish(&world, &registry, "v1.1.0", "v1.0.0");
    assert_eq!(refused.status, 1, "{refused}");
    assert!(
        refused.stderr.contains("it exists with digest") && refused.stderr.contains("`--force`"),
        "{refused}"
    );

    let url = format!("{}:v1.0.0@{}", target(&registry), first["digest"].as_str().unwrap());
    configure(&world, &url, "");
    let before = generate(&world, "").stdout;
    let target = format!("{}:v1.0.0", target(&registry));
    let forced = world.run(["publish", &release("v1.1.0"), &target, "--force", "-o", "json"]);
    assert_eq!(json(&forced)["outcome"], "tagMoved");
    assert_eq!(generate(&world, "").stdout, before);
    let other = generate(&world, ":v1.1.0");
    assert!(other.status == 1 && other.stderr.contains("pins v1.0.0"), "{other}");
}

#[test]
fn a_configured_provider_is_published_unchanged() {
    let Some(registry) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let world = lab(&registry);
    let config = project("e2e/fixtures/clusterctl.yaml").display().to_string();
    let publish = |more: &[&str]| {
        let target = target(&registry);
        let words = ["publish", "-i", "sandbox:v1.1.0", &target, "--config", &config, "-o", "json"];
        json(&world.run(words.iter().chain(more)))
    };
    assert_eq!(publish(&["--dry-run"])["outcome"], "planned");
    let published = publish(&[]);
    assert_eq!(published["outcome"], "published");
    assert_eq!(published["target"], format!("{}:v1.1.0", target(&registry)));
    assert_eq!(json(&self::publish(&world, &registry, "v1.1.0", "v1.1.0"))["digest"], published["digest"]);
}

#[test]
fn an_unsigned_release_is_refused_if_signatures_are_required() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::Anonymous) else { return };
    let world = lab(&registry);
    assert_eq!(publish(&world, &registry, "v1.0.0", "v1.0.0").status, 0);
    let key = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
-----END PUBLIC KEY-----
";
    let key = world.write("cosign.pub", key);
    configure(&world, &target(&registry), &format!(", verify: {{key: \"{}\"}}", key.display()));
    let run = generate(&world, ":v1.0.0");
    assert!(run.status == 1 && run.stderr.contains("has no signature"), "{run}");
    assert_eq!(run.stdout, "");
}

#[test]
fn an_untrusted_registry_certificate_is_refused() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::Anonymous) else { return };
    let run = publish(&world(), &registry, "v1.0.0", "v1.0.0");
    assert!(run.status == 1 && run.stderr.contains("https://"), "{run}");
}

#[test]
fn registry_passwords_come_from_docker_or_hosts() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::PasswordRequired) else {
        return;
    };
    let nobody = publish(&lab(&registry), &registry, "v1.0.0", "v1.0.0");
    assert!(nobody.status == 1 && nobody.stderr.contains("docker login"), "{nobody}");

    // The credentials `ann:hunter2`, as written by `docker login`.
    let auths = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"YW5uOmh1bnRlcjI=\"}}}}}}", registry.host());
    let world = lab(&registry);
    let folder = world.write("docker/config.json", auths).parent().unwrap().to_owned();
    let world = world.env("DOCKER_CONFIG", folder);
    assert_eq!(json(&publish(&world, &registry, "v1.0.0", "v1.0.0"))["outcome"], "published");

    let world = lab(&registry);
    let hosts = format!(
        "providers:\n- {{name: sandbox, type: InfrastructureProvider, url: \"{}\"}}\nSANDBOX_ENDPOINT: https://x\n\
         hosts:\n  \"{}\": {{username: {}, password: {}}}\n",
        target(&registry),
        registry.host(),
        Registry::USER,
        Registry::PASSWORD,
    );
    world.configure(hosts);
    let first = generate(&world, ":v1.0.0");
    assert_eq!(first.status, 0, "{first}");
    drop(registry);
    let again = world.run(["generate", "provider", "-i", "sandbox:v1.0.0", "--offline"]);
    assert_eq!((again.status, &again.stdout), (0, &first.stdout), "{again}");
}

#[test]
fn image_digests_are_read_from_the_registry_and_locked() {
    let Some(registry) = Registry::start(RegistryTransport::Tls, RegistryAccess::PasswordRequired) else {
        return;
    };
    let world = lab(&registry);
    let fixtures = project("e2e/fixtures/repository").canonicalize().unwrap().display().to_string();
    let config = fs::read_to_string(project("e2e/fixtures/clusterctl.yaml")).unwrap();
    world.configure(format!(
        "{}\nregistryMap: {{registry.example.com: \"{host}\"}}\nhosts:\n  \"{host}\": {{username: {}, password: {}}}\n",
        config.replace("./repository", &fixtures),
        Registry::USER,
        Registry::PASSWORD,
        host = registry.host(),
    ));
    // An artifact in place of an image, because the registry treats both alike.
    let image = format!("{}/fixtures/sandbox:v1.1.0", registry.host());
    let published =
        json(&world.run(["publish", &release("v1.1.0"), &format!("oci://{image}"), "-o", "json"]));
    let digest = published["digest"].as_str().unwrap();

    let listed = world.run(["init", "list-images", "-i", "sandbox", "--digests"]);
    assert!(listed.status == 0 && listed.stdout.contains(&format!("{image}@{digest}\n")), "{listed}");
    let unknown = format!("cannot read the digest of `{}/fixtures/cluster-api:v1.1.0`", registry.host());
    assert!(listed.stderr.contains(&unknown), "{listed}");

    let locked = world.run(["lock", "--update", "infrastructure-sandbox", "--digests"]);
    assert_eq!(locked.status, 0, "{locked}");
    assert_eq!(world.run(["lock", "--check", "--digests"]).status, 0);
    let moved = world.run(["publish", &release("v1.0.0"), &format!("oci://{image}"), "--force"]);
    assert_eq!(moved.status, 0, "{moved}");
    let checked = world.run(["lock", "--check", "--digests"]);
    assert!(checked.status == 1 && checked.stdout.contains(&digest[..19]), "{checked}");
}

use std::fs;

use serde_json::Value;
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
};

#[cfg(unix)]
use crate::{lab::Lab, releases::CONFIG};
use crate::{releases::ROOT, repository::with_repository};

const LOCK: &str = "../home/.config/cluster-api/capstan.lock";
const OWN: &str = "infrastructure-own";

/// Returns a world whose four providers and cert-manager are locked.
fn locked() -> TestEnvironment {
    let world = with_repository();
    world.run_expecting_success(
        "lock --infrastructure own:v1.0.0 --core cluster-api:v1.0.0 -b kubeadm:v1.0.0 -c kubeadm:v1.0.0",
    );
    world
}

/// Changes a file of the locked release.
fn tamper(world: &TestEnvironment, file: &str) {
    let path = format!("{ROOT}/{OWN}/v1.0.0/{file}");
    let text = world.read(world.current_dir().join(&path));
    world.write(path, text + "# reviewed by nobody\n");
}

fn lock_of(world: &TestEnvironment) -> String {
    world.read(world.current_dir().join(LOCK))
}

// Row: PRV-17
#[test]
fn a_lock_has_every_file_of_every_provider_and_is_the_same_each_time() {
    let world = locked();
    let first = lock_of(&world);
    let labels: Vec<&str> = first.lines().filter_map(|line| line.strip_prefix("label = ")).collect();
    assert_eq!(
        labels,
        [
            "\"bootstrap-kubeadm\"",
            "\"cert-manager\"",
            "\"cluster-api\"",
            "\"control-plane-kubeadm\"",
            "\"infrastructure-own\""
        ]
    );
    for file in ["clusterclass-small.yaml", "cluster-template-big.yaml", "infrastructure-components.yaml"] {
        assert!(first.contains(&format!("name = \"{file}\"\ndigest = \"sha256:")), "{first}");
    }
    assert!(first.contains("reference = \"registry.example.com/infrastructure-own/manager:v1\""), "{first}");
    assert!(!first.contains("not-to-be-shown") && !first.contains("v1.1.0/"), "{first}");
    let again = world.run_expecting_success("lock");
    assert!(again.stdout.is_empty() && again.stderr.contains("nothing changed"), "{again}");
    assert_eq!(lock_of(&world), first);
    world.run_expecting_success("lock --check");
}

// Row: D-210
#[test]
fn a_file_that_changed_stops_every_command_that_reads_it() {
    let world = locked().env("TOKEN", "x");
    world.run_expecting_success("generate provider --infrastructure own:v1.0.0");
    tamper(&world, "infrastructure-components.yaml");
    tamper(&world, "cluster-template.yaml");
    for arguments in [
        "generate provider --infrastructure own:v1.0.0",
        "init list-images --infrastructure own",
        "render --infrastructure own",
        "generate cluster a --infrastructure own:v1.0.0 --kubernetes-version v1.35.0 -n team",
    ] {
        let told = world.run_expecting_failure(arguments);
        assert!(told.contains("is not the file that was locked: sha256:"), "{told}");
        assert!(told.contains("accept it with `capstan lock --update infrastructure-own:v1.0.0`"), "{told}");
    }
    let explained = world.run_expecting_success("explain file --infrastructure own:v1.0.0");
    assert!(explained.stdout.contains("is not the file that was locked"), "{explained}");
    world.run_expecting_success("generate provider --infrastructure own:v1.0.0 --lock off");
    world.run_expecting_success("generate provider --core cluster-api:v1.0.0");
}

// Row: D-210
#[test]
fn an_override_and_cert_manager_are_held_to_the_lock_too() {
    let world = locked();
    let file = format!("{OWN}/v1.0.0/metadata.yaml");
    world.write(format!("../home/.config/cluster-api/overrides/{file}"), "a: b");
    let told = world.run_expecting_failure("generate provider --infrastructure own:v1.0.0");
    assert!(told.contains(&format!("overrides/{file}`")), "{told}");
    let manifest = format!("{ROOT}/cert-manager/v1.0.0/cert-manager.yaml");
    world.write(&manifest, "---\n");
    let told = world.run_expecting_failure("render --lock off");
    assert!(!told.contains("locked"), "{told}");
    let told = world.run_expecting_failure("render");
    assert!(told.contains("`cert-manager.yaml` of `cert-manager` v1.0.0 is not the file"), "{told}");
    assert!(told.contains("`capstan lock --update cert-manager`"), "{told}");
}

// Row: D-211
#[test]
fn the_locked_version_is_the_newest_one_and_no_other_is_taken() {
    let world = locked().env("TOKEN", "x");
    let described = world.run_expecting_success("generate provider --infrastructure own --describe");
    assert!(described.stdout.contains("Version:            v1.0.0\n"), "{described}");
    let told = world.run_expecting_failure("generate provider --infrastructure own:v1.1.0");
    assert!(told.contains("`infrastructure-own` is locked at v1.0.0"), "{told}");
    assert!(told.contains("`capstan lock --update infrastructure-own:v1.1.0`"), "{told}");
    world.write(format!("{ROOT}/{OWN}/v1.0.0/cluster-template-new.yaml"), "");
    let told = world.run_expecting_failure(
        "generate cluster a --infrastructure own:v1.0.0 --flavor new --kubernetes-version v1.35.0 -n team",
    );
    assert!(told.contains("`cluster-template-new.yaml` of `infrastructure-own` v1.0.0 is not in"), "{told}");
}

#[test]
fn a_provider_that_is_not_locked_is_read_unless_the_lock_must_have_it() {
    let world = with_repository().env("TOKEN", "x");
    let told = world.run_expecting_failure("generate provider --infrastructure own:v1.0.0 --locked");
    assert!(told.contains("there is no lock at"), "{told}");
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    world.run_expecting_success("generate provider --core cluster-api:v1.0.0");
    world.run_expecting_success("generate provider --infrastructure own --locked");
    let told = world.run_expecting_failure("generate provider --core cluster-api:v1.0.0 --locked");
    assert!(
        told.contains("`cluster-api` is not in") && told.contains("`capstan lock --update cluster-api`"),
        "{told}"
    );
    world.run_expecting_failure("generate provider --core cluster-api:v1.0.0 --locked --lock off");
}

#[test]
fn what_is_locked_changes_only_when_it_is_named() {
    let world = locked();
    let before = lock_of(&world);
    tamper(&world, "metadata.yaml");
    fs::remove_file(world.current_dir().join(format!("{ROOT}/{OWN}/v1.0.0/cluster-template-big.yaml")))
        .unwrap();
    let checked = world.run_line("lock --check");
    assert_eq!(checked.status, 1, "{checked}");
    let rows: Vec<Vec<&str>> =
        checked.stdout.lines().skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
    assert_eq!(rows, [[OWN, "gone", "cluster-template-big.yaml"], [OWN, "changed", "metadata.yaml"]]);
    for arguments in ["lock", "lock --update cluster-api,bootstrap-kubeadm --infrastructure own"] {
        let told = world.run_line(arguments);
        assert!(told.status == 1 && told.stderr.contains("nothing was written"), "{told}");
    }
    assert_eq!(lock_of(&world), before);
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    assert_ne!(lock_of(&world), before);
    world.run_expecting_success("lock --check");
}

#[test]
fn an_update_goes_to_the_newest_release_and_tells_what_changed() {
    let world = locked();
    let json = world.run_expecting_success("lock --update infrastructure-own -o json");
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let provider = &report["providers"][0];
    assert_eq!((provider["provider"].as_str(), provider["version"].as_str()), (Some(OWN), Some("v1.1.0")));
    let version = &provider["changes"][0];
    assert_eq!((version["locked"].as_str(), version["found"].as_str()), (Some("v1.0.0"), Some("v1.1.0")));
    assert!(lock_of(&world).contains("version = \"v1.1.0\""));
    let told = world.run_expecting_failure("lock --update infrastructure-won");
    assert!(told.contains("did you mean `infrastructure-own`?"), "{told}");
}

#[test]
fn a_lock_that_cannot_be_used_stops_everything_and_is_never_overwritten() {
    let world = with_repository();
    for (text, part) in [
        ("version = 9\n", "it has version 9, and this program knows version 1"),
        ("version = 1\n<<<<<<< ours\n", "line 2: "),
    ] {
        world.write(LOCK, text);
        for arguments in ["init list-images", "lock", "lock --check"] {
            let told = world.run_expecting_failure(arguments);
            assert!(told.contains(part) && told.contains("cannot use the lock"), "{told}");
        }
        assert_eq!(lock_of(&world), text);
    }
    let elsewhere = world.run_expecting_success("lock --lock mine.lock --update cluster-api:v1.0.0");
    assert!(elsewhere.stderr.contains("mine.lock"), "{elsewhere}");
    world.run_expecting_success(
        "generate provider --core cluster-api:v1.0.0 --list-variables --lock mine.lock --locked",
    );
}

// Row: D-211
#[cfg(unix)]
#[test]
fn an_upgrade_goes_to_the_locked_version_and_to_no_other() {
    let lab = Lab::start(&[]);
    let latest = CONFIG.replace("v1.0.0/core", "latest/core").replace("v1.0.0/boot", "latest/boot");
    lab.world().configure(latest.replace("v1.0.0/control", "latest/control"));
    lab.world().run_expecting_success("lock --update cluster-api:v1.0.0,bootstrap-kubeadm:v1.0.0,control-plane-kubeadm:v1.0.0,infrastructure-own:v1.0.0",
    );
    lab.done("init --infrastructure own");
    let plan = |lab: &Lab| lab.done("upgrade plan").stdout;
    assert!(!plan(&lab).contains("v1.1.0"), "{}", plan(&lab));
    let refused = lab.run("upgrade apply --infrastructure own:v1.1.0");
    assert_eq!(refused.status, 1, "{refused}");
    assert!(refused.stderr.contains("lock --update infrastructure-own:v1.1.0"), "{refused}");
    lab.world().run_expecting_success("lock --update infrastructure-own:v1.1.0");
    assert!(plan(&lab).contains("v1.1.0"), "{}", plan(&lab));
    lab.done("upgrade apply --infrastructure own:v1.1.0");
}

/// Returns a local registry with all images of the releases. The name of each image defines its digest.
fn with_registry(world: &TestEnvironment) -> FakeHost {
    let host = FakeHost::start(&[]);
    let registry = host.address();
    let config = world.read(world.config_file());
    world.configure(format!("{config}registryMap: {{registry.example.com: \"{registry}\"}}\n"));
    host.on(format!("{}/v2/", registry.ip()), Reply::status(200));
    for name in ["bootstrap-kubeadm", "cert-manager", "cluster-api", "control-plane-kubeadm", OWN] {
        image(&host, name, name);
    }
    host
}

fn image(host: &FakeHost, name: &str, text: &str) {
    let digest = transport::Digest::of(text.as_bytes()).to_string();
    let address = format!("{}/v2/{name}/manager/manifests/v1", host.address().ip());
    host.on(address, Reply::status(200).header("docker-content-digest", &digest).body(text));
}

#[test]
fn digests_of_images_are_locked_from_their_registries_and_held_against_them() {
    let world = locked();
    let host = with_registry(&world);
    let before = host.connections();
    world.run_expecting_success("lock");
    assert_eq!((host.connections(), lock_of(&world).contains("manager:v1\"\ndigest")), (before, false));
    world.run_expecting_success("lock --digests");
    let first = lock_of(&world);
    let known = |name: &str| {
        let digest = transport::Digest::of(name.as_bytes());
        format!("reference = \"{}/{name}/manager:v1\"\ndigest = \"{digest}\"\n", host.address())
    };
    assert!(first.contains(&known(OWN)) && first.contains(&known("cert-manager")), "{first}");
    assert!(host.received().iter().all(|request| request.method == "HEAD"), "{:?}", host.addresses());
    world.run_expecting_success("lock --check --digests");
    // Known digests need no registry.
    let json = world.run_expecting_success("init list-images -i own -o json --offline");
    let list: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(list["images"].as_array().unwrap().iter().all(|image| image["digest"].is_string()), "{list}");

    image(&host, OWN, "another one");
    world.run_expecting_success("lock --check");
    let checked = world.run_line("lock --check --digests");
    assert_eq!(checked.status, 1, "{checked}");
    assert!(
        checked.stdout.contains("changed") && checked.stdout.contains("infrastructure-own/manager:v1"),
        "{checked}"
    );
    let told = world.run_line("lock --digests");
    assert!(told.status == 1 && told.stderr.contains("nothing was written"), "{told}");
    assert_eq!(lock_of(&world), first);
    world.run_expecting_success("lock --digests --update infrastructure-own:v1.0.0");
    assert_ne!(lock_of(&world), first);
}

#[test]
fn an_image_that_cannot_be_asked_for_is_told_and_keeps_what_was_known() {
    let world = locked();
    let host = with_registry(&world);
    world.run_expecting_success("lock --digests");
    let first = lock_of(&world);
    let missing = Reply::json(404, "{}");
    host.on(format!("{}/v2/cluster-api/manager/manifests/v1", host.address().ip()), missing);
    let told = world.run_expecting_success("lock --digests").stderr;
    let expected = format!("the digest of `{}/cluster-api/manager:v1` is not known", host.address());
    assert!(told.contains(&expected) && told.contains("has no such image"), "{told}");
    let offline = world.run_expecting_success("lock --digests --offline").stderr;
    assert!(offline.contains("connections are switched off"), "{offline}");
    assert_eq!(lock_of(&world), first);
    let told = world.run_expecting_failure("lock --check --digests");
    assert!(told.contains("the digest of one image could not be checked"), "{told}");
    let listed = world.run_expecting_success("init list-images --lock off --digests");
    let of = |name: &str| listed.stdout.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(of("bootstrap-kubeadm/").contains("manager:v1@sha256:"), "{listed}");
    assert!(of("/cluster-api/").ends_with("manager:v1") && listed.stderr.contains(&expected), "{listed}");
}

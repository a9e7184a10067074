use std::fs;

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::{
    binary::TestEnvironment,
    host::{FakeHost, Reply},
};

#[cfg(unix)]
use crate::testing::{Lab, releases::CONFIG};
use crate::{repository::with_repository, testing::releases::ROOT};

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
fn a_lock_lists_every_file_and_is_reproducible() {
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
    assert_data_eq!(
        world.run_line("lock").to_string(),
        str![[r#"
exit 0
--- stderr
done in [..]: nothing changed in `[HOME]/.config/cluster-api/capstan.lock`

"#]]
    );
    assert_eq!(lock_of(&world), first);
    world.run_expecting_success("lock --check");
}

// Row: D-210
#[test]
fn a_changed_file_stops_every_command_that_reads_it() {
    let world = locked().env("TOKEN", "x");
    world.run_expecting_success("generate provider --infrastructure own:v1.0.0");
    tamper(&world, "infrastructure-components.yaml");
    tamper(&world, "cluster-template.yaml");
    assert_data_eq!(
        world.screens([
            "generate provider --infrastructure own:v1.0.0",
            "init list-images --infrastructure own",
            "render --infrastructure own",
            "generate cluster a --infrastructure own:v1.0.0 --kubernetes-version v1.35.0 -n team",
            "explain file --infrastructure own:v1.0.0",
        ]),
        str![[r#"
$ capstan generate provider --infrastructure own:v1.0.0
exit 1
--- stderr
error: cannot generate `infrastructure-own` v1.0.0
  cause: cannot read `infrastructure-components.yaml` of `infrastructure-own` v1.0.0
  cause: `infrastructure-components.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml` has sha256:2f9371cf649692d9a5850bd61140a51099750c12c8e0cd07d67f8bc1588efeac, `[HOME]/.config/cluster-api/capstan.lock` has sha256:cbe7fc5474dfaedf56f34c996500feff2bc6bd8119a3d00e1cd01fdeca2c45c9 from the repository
hint: review the change; accept it with `capstan lock --update infrastructure-own:v1.0.0`

$ capstan init list-images --infrastructure own
exit 1
--- stderr
error: cannot list the images of `infrastructure-own`
  cause: cannot read `infrastructure-components.yaml` of `infrastructure-own` v1.0.0
  cause: `infrastructure-components.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml` has sha256:2f9371cf649692d9a5850bd61140a51099750c12c8e0cd07d67f8bc1588efeac, `[HOME]/.config/cluster-api/capstan.lock` has sha256:cbe7fc5474dfaedf56f34c996500feff2bc6bd8119a3d00e1cd01fdeca2c45c9 from the repository
hint: review the change; accept it with `capstan lock --update infrastructure-own:v1.0.0`

$ capstan render --infrastructure own
exit 1
--- stderr
error: cannot render a provider
  cause: cannot read `infrastructure-components.yaml` of `infrastructure-own` v1.0.0: `infrastructure-components.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml` has sha256:2f9371cf649692d9a5850bd61140a51099750c12c8e0cd07d67f8bc1588efeac, `[HOME]/.config/cluster-api/capstan.lock` has sha256:cbe7fc5474dfaedf56f34c996500feff2bc6bd8119a3d00e1cd01fdeca2c45c9 from the repository
hint: review the change; accept it with `capstan lock --update infrastructure-own:v1.0.0`

$ capstan generate cluster a --infrastructure own:v1.0.0 --kubernetes-version v1.35.0 -n team
exit 1
--- stderr
error: cannot read `cluster-template.yaml` of `infrastructure-own` v1.0.0
  cause: `cluster-template.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/repository/infrastructure-own/v1.0.0/cluster-template.yaml` has sha256:2df0c9180dc591b28f2bd5522afba14918d1e25558e40ffd191b39834bc91178, `[HOME]/.config/cluster-api/capstan.lock` has sha256:e2011bfd134f81f132aaf9f3dd4480356d94cc967fabd7614dff5ef63b772764 from the repository
hint: review the change; accept it with `capstan lock --update infrastructure-own:v1.0.0`

$ capstan explain file --infrastructure own:v1.0.0
exit 0
--- stdout
infrastructure-components.yaml of infrastructure-own v1.0.0
  absent      [HOME]/.cluster-api/overrides/infrastructure-own/v1.0.0/infrastructure-components.yaml (override)
  unreadable  [HOME]/.config/repository/infrastructure-own (`infrastructure-components.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/repository/infrastructure-own/v1.0.0/infrastructure-components.yaml` has sha256:2f9371cf649692d9a5850bd61140a51099750c12c8e0cd07d67f8bc1588efeac, `[HOME]/.config/cluster-api/capstan.lock` has sha256:cbe7fc5474dfaedf56f34c996500feff2bc6bd8119a3d00e1cd01fdeca2c45c9 from the repository)

"#]]
    );
    world.run_expecting_success("generate provider --infrastructure own:v1.0.0 --lock off");
    world.run_expecting_success("generate provider --core cluster-api:v1.0.0");
}

// Row: D-210
#[test]
fn overrides_and_cert_manager_are_checked_against_the_lock() {
    let world = locked();
    let file = format!("{OWN}/v1.0.0/metadata.yaml");
    world.write(format!("../home/.config/cluster-api/overrides/{file}"), "a: b");
    assert_data_eq!(
        world.run_line("generate provider --infrastructure own:v1.0.0").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot generate `infrastructure-own` v1.0.0
  cause: cannot read `metadata.yaml` of `infrastructure-own` v1.0.0
  cause: `metadata.yaml` of `infrastructure-own` v1.0.0 does not match the lock: `[HOME]/.config/cluster-api/overrides/infrastructure-own/v1.0.0/metadata.yaml` has sha256:75cd1899337ffbc9341398f7456f1027e2fc4b2658f9f0555a7a965cb309c6dd, `[HOME]/.config/cluster-api/capstan.lock` has sha256:0111c73ce857d92ec0f2ca3ff6502640b42048648c60b400d3fc3cf435de6484 from the repository
hint: review the change; accept it with `capstan lock --update infrastructure-own:v1.0.0`

"#]]
    );
    let manifest = format!("{ROOT}/cert-manager/v1.0.0/cert-manager.yaml");
    world.write(&manifest, "---\n");
    assert_data_eq!(
        world.screens(["render --lock off", "render"]),
        str![[r#"
$ capstan render --lock off
exit 1
--- stderr
error: cannot render 3 providers
  cause: cannot build the components of `cluster-api` v1.0.0: a variable has no value: `TOKEN` at [HOME]/.config/repository/cluster-api/v1.0.0/core-components.yaml:17
  cause: cannot build the components of `bootstrap-kubeadm` v1.0.0: a variable has no value: `TOKEN` at [HOME]/.config/repository/bootstrap-kubeadm/v1.0.0/bootstrap-components.yaml:17
  cause: cannot build the components of `control-plane-kubeadm` v1.0.0: a variable has no value: `TOKEN` at [HOME]/.config/repository/control-plane-kubeadm/v1.0.0/control-plane-components.yaml:17
hint: set the missing variables with `export TOKEN=VALUE`, or in clusterctl.yaml: `TOKEN: VALUE`
hint: list all variables with their defaults: `capstan generate cluster NAME --list-variables --lock off`, or for a provider `capstan generate provider --describe --lock off`

$ capstan render
exit 1
--- stderr
error: cannot read cert-manager v1.0.0
  cause: `cert-manager.yaml` of `cert-manager` v1.0.0 does not match the lock: `[HOME]/.config/repository/cert-manager/v1.0.0/cert-manager.yaml` has sha256:f52d711103d50a437830c6fbcd04fb4bab49a0f82f6d26d1c791c6e8488dd090, `[HOME]/.config/cluster-api/capstan.lock` has sha256:2804534221bd3774bad262a95c35ec5afe753eb4f9c9aa97260daf0176fbcf47 from the repository
hint: review the change; accept it with `capstan lock --update cert-manager`

"#]]
    );
}

// Row: D-211
#[test]
fn the_locked_version_counts_as_the_newest() {
    let world = locked().env("TOKEN", "x");
    let described = world.run_expecting_success("generate provider --infrastructure own --describe");
    assert_data_eq!(
        described.to_string(),
        str![[r#"
exit 0
--- stdout
Name:               own
Type:               InfrastructureProvider
URL:                [HOME]/.config/repository/infrastructure-own/
Version:            v1.0.0
File:               infrastructure-components.yaml
TargetNamespace:    infrastructure-own-system
Variables:
  - FLAG
  - TOKEN
Images:
  - registry.example.com/infrastructure-own/manager:v1


"#]]
    );
    world.write(format!("{ROOT}/{OWN}/v1.0.0/cluster-template-new.yaml"), "");
    let generate = "generate cluster a --infrastructure own:v1.0.0 --kubernetes-version v1.35.0 -n team";
    assert_data_eq!(
        world
            .screens(["generate provider --infrastructure own:v1.1.0", &format!("{generate} --flavor new"),]),
        str![[r#"
$ capstan generate provider --infrastructure own:v1.1.0
exit 1
--- stderr
error: cannot generate `infrastructure-own` v1.1.0
  cause: cannot read `metadata.yaml` of `infrastructure-own` v1.1.0
  cause: `infrastructure-own` is locked at v1.0.0 in `[HOME]/.config/cluster-api/capstan.lock`, not at v1.1.0
hint: omit the version, or lock it with `capstan lock --update infrastructure-own:v1.1.0`

$ capstan generate cluster a --infrastructure own:v1.0.0 --kubernetes-version v1.35.0 -n team --flavor new
exit 1
--- stderr
error: cannot read `cluster-template-new.yaml` of `infrastructure-own` v1.0.0
  cause: `cluster-template-new.yaml` of `infrastructure-own` v1.0.0 is not in `[HOME]/.config/cluster-api/capstan.lock`
hint: if it is a file of the release, lock it with `capstan lock --file cluster-template-new.yaml`, or lock all files with `capstan lock --update infrastructure-own:v1.0.0`

"#]]
    );
}

#[test]
fn an_unlocked_provider_is_read_unless_locking_is_required() {
    let world = with_repository().env("TOKEN", "x");
    assert_data_eq!(
        world.run_line("generate provider --infrastructure own:v1.0.0 --locked").to_string(),
        str![[r#"
exit 1
--- stderr
error: the lock `[HOME]/.config/cluster-api/capstan.lock` does not exist
hint: create it with `capstan lock`

"#]]
    );
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    world.run_expecting_success("generate provider --core cluster-api:v1.0.0");
    world.run_expecting_success("generate provider --infrastructure own --locked");
    assert_data_eq!(
        world.run_line("generate provider --core cluster-api:v1.0.0 --locked").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot generate `cluster-api` v1.0.0
  cause: cannot read `metadata.yaml` of `cluster-api` v1.0.0
  cause: `cluster-api` is not in `[HOME]/.config/cluster-api/capstan.lock`, and unlocked providers are not allowed
hint: lock it with `capstan lock --update cluster-api`

"#]]
    );
    world.run_expecting_failure("generate provider --core cluster-api:v1.0.0 --locked --lock off");
}

#[test]
fn lock_update_changes_only_named_providers() {
    let world = locked();
    let before = lock_of(&world);
    tamper(&world, "metadata.yaml");
    fs::remove_file(world.current_dir().join(format!("{ROOT}/{OWN}/v1.0.0/cluster-template-big.yaml")))
        .unwrap();
    assert_data_eq!(
        world.screens([
            "lock --check",
            "lock",
            "lock --update cluster-api,bootstrap-kubeadm --infrastructure own",
        ]),
        str![[r#"
$ capstan lock --check
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                        LOCKED                FOUND
infrastructure-own   gone      cluster-template-big.yaml   sha256:95fbca177038   -
infrastructure-own   changed   metadata.yaml               sha256:0111c73ce857   sha256:6a95518c15b3
--- stderr
error: 1 provider differs from the lock `[HOME]/.config/cluster-api/capstan.lock`
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

$ capstan lock
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                        LOCKED                FOUND
infrastructure-own   gone      cluster-template-big.yaml   sha256:95fbca177038   -
infrastructure-own   changed   metadata.yaml               sha256:0111c73ce857   sha256:6a95518c15b3
--- stderr
error: 1 provider differs from the lock; nothing was written
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

$ capstan lock --update cluster-api,bootstrap-kubeadm --infrastructure own
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                        LOCKED                FOUND
infrastructure-own   gone      cluster-template-big.yaml   sha256:95fbca177038   -
infrastructure-own   changed   metadata.yaml               sha256:0111c73ce857   sha256:6a95518c15b3
--- stderr
error: 1 provider differs from the lock; nothing was written
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

"#]]
    );
    assert_eq!(lock_of(&world), before);
    world.run_expecting_success("lock --update infrastructure-own:v1.0.0");
    assert_ne!(lock_of(&world), before);
    world.run_expecting_success("lock --check");
}

#[test]
fn lock_update_selects_the_newest_release_and_lists_changes() {
    let world = locked();
    let json = world.run_expecting_success("lock --update infrastructure-own -o json");
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let provider = &report["providers"][0];
    assert_eq!((provider["provider"].as_str(), provider["version"].as_str()), (Some(OWN), Some("v1.1.0")));
    let version = &provider["changes"][0];
    assert_eq!((version["locked"].as_str(), version["found"].as_str()), (Some("v1.0.0"), Some("v1.1.0")));
    assert!(lock_of(&world).contains("version = \"v1.1.0\""));
    assert_data_eq!(
        world.run_line("lock --update infrastructure-won").to_string(),
        str![[r#"
exit 1
--- stderr
error: no provider has the label `infrastructure-won`
hint: did you mean `infrastructure-own`?

"#]]
    );
}

#[test]
fn an_invalid_lock_stops_every_command_and_is_kept() {
    let world = with_repository();
    let mut screens = String::new();
    for text in ["version = 9\n", "version = 1\n<<<<<<< ours\n"] {
        world.write(LOCK, text);
        screens += &world.screens(["init list-images", "lock", "lock --check"]);
        assert_eq!(lock_of(&world), text);
    }
    assert_data_eq!(
        screens,
        str![[r#"
$ capstan init list-images
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: it has version 9, but only version 1 is supported
hint: use the version of capstan that wrote it, or remove it and create a new lock with `capstan lock`

$ capstan lock
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: it has version 9, but only version 1 is supported
hint: use the version of capstan that wrote it, or remove it and create a new lock with `capstan lock`

$ capstan lock --check
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: it has version 9, but only version 1 is supported
hint: use the version of capstan that wrote it, or remove it and create a new lock with `capstan lock`
$ capstan init list-images
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: line 2: key with no value, expected `=`
hint: restore a reviewed version of the file, or remove it and create a new lock with `capstan lock`

$ capstan lock
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: line 2: key with no value, expected `=`
hint: restore a reviewed version of the file, or remove it and create a new lock with `capstan lock`

$ capstan lock --check
exit 1
--- stderr
error: cannot use the lock `[HOME]/.config/cluster-api/capstan.lock`
  cause: line 2: key with no value, expected `=`
hint: restore a reviewed version of the file, or remove it and create a new lock with `capstan lock`

"#]]
    );
    assert_data_eq!(
        world.run_line("lock --lock mine.lock --update cluster-api:v1.0.0").to_string(),
        str![[r#"
exit 0
--- stdout
PROVIDER      CHANGE    WHAT                                          LOCKED    FOUND
cluster-api   added     version                                       -         v1.0.0
cluster-api   added     core-components.yaml                          -         sha256:301f1375ab78
cluster-api   added     metadata.yaml                                 -         sha256:0111c73ce857
cluster-api   added     registry.example.com/cluster-api/manager:v1   -         -
--- stderr
done in [..]: locked 1 provider in `[CWD]/mine.lock`

"#]]
    );
    world.run_expecting_success(
        "generate provider --core cluster-api:v1.0.0 --list-variables --lock mine.lock --locked",
    );
}

// Row: D-211
#[cfg(unix)]
#[test]
fn an_upgrade_targets_only_the_locked_version() {
    let lab = Lab::start(&[]);
    let latest = CONFIG.replace("v1.0.0/core", "latest/core").replace("v1.0.0/boot", "latest/boot");
    lab.world().configure(latest.replace("v1.0.0/control", "latest/control"));
    lab.world().run_expecting_success("lock --update cluster-api:v1.0.0,bootstrap-kubeadm:v1.0.0,control-plane-kubeadm:v1.0.0,infrastructure-own:v1.0.0",
    );
    lab.done("init --infrastructure own");
    let plan = |lab: &Lab| lab.done("upgrade plan").stdout;
    assert!(!plan(&lab).contains("v1.1.0"), "{}", plan(&lab));
    assert_data_eq!(
        lab.run("upgrade apply --infrastructure own:v1.1.0").to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot render a new provider version
  cause: cannot read `infrastructure-components.yaml` of `infrastructure-own` v1.1.0: `infrastructure-own` is locked at v1.0.0 in `[HOME]/.config/cluster-api/capstan.lock`, not at v1.1.0
hint: omit the version, or lock it with `capstan lock --update infrastructure-own:v1.1.0`

"#]]
    );
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
fn image_digests_are_locked_and_verified() {
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
    assert_data_eq!(
        world.screens(["lock --check --digests", "lock --digests"]),
        str![[r#"
$ capstan lock --check --digests
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                                            LOCKED                FOUND
infrastructure-own   changed   127.0.0.1:[..]/infrastructure-own/manager:v1   sha256:16e831afc218   sha256:08518b71617e
--- stderr
error: 1 provider differs from the lock `[HOME]/.config/cluster-api/capstan.lock`
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

$ capstan lock --digests
exit 1
--- stdout
PROVIDER             CHANGE    WHAT                                            LOCKED                FOUND
infrastructure-own   changed   127.0.0.1:[..]/infrastructure-own/manager:v1   sha256:16e831afc218   sha256:08518b71617e
--- stderr
error: 1 provider differs from the lock; nothing was written
hint: review the changes, then accept them with `capstan lock --update infrastructure-own`

"#]]
    );
    assert_eq!(lock_of(&world), first);
    world.run_expecting_success("lock --digests --update infrastructure-own:v1.0.0");
    assert_ne!(lock_of(&world), first);
}

#[test]
fn an_unreachable_image_is_reported_and_keeps_its_digest() {
    let world = locked();
    let host = with_registry(&world);
    world.run_expecting_success("lock --digests");
    let first = lock_of(&world);
    let missing = Reply::json(404, "{}");
    host.on(format!("{}/v2/cluster-api/manager/manifests/v1", host.address().ip()), missing);
    assert_data_eq!(
        world.screens(["lock --digests", "lock --digests --offline"]),
        str![[r#"
$ capstan lock --digests
exit 0
--- stderr
warning: cannot read the digest of `127.0.0.1:[..]/cluster-api/manager:v1`: 127.0.0.1:[..] does not have this image
done in [..]: nothing changed in `[HOME]/.config/cluster-api/capstan.lock`

$ capstan lock --digests --offline
exit 0
--- stderr
warning: cannot read the digest of `127.0.0.1:[..]/bootstrap-kubeadm/manager:v1`: cannot fetch `https://127.0.0.1:[..]/v2/bootstrap-kubeadm/manager/manifests/v1` in offline mode: it is not cached
warning: cannot read the digest of `127.0.0.1:[..]/cert-manager/manager:v1`: cannot fetch `https://127.0.0.1:[..]/v2/cert-manager/manager/manifests/v1` in offline mode: it is not cached
warning: cannot read the digest of `127.0.0.1:[..]/cluster-api/manager:v1`: cannot fetch `https://127.0.0.1:[..]/v2/cluster-api/manager/manifests/v1` in offline mode: it is not cached
warning: cannot read the digest of `127.0.0.1:[..]/control-plane-kubeadm/manager:v1`: cannot fetch `https://127.0.0.1:[..]/v2/control-plane-kubeadm/manager/manifests/v1` in offline mode: it is not cached
warning: cannot read the digest of `127.0.0.1:[..]/infrastructure-own/manager:v1`: cannot fetch `https://127.0.0.1:[..]/v2/infrastructure-own/manager/manifests/v1` in offline mode: it is not cached
done in [..]: nothing changed in `[HOME]/.config/cluster-api/capstan.lock`

"#]]
    );
    assert_eq!(lock_of(&world), first);
    assert_data_eq!(
        world.screens(["lock --check --digests", "init list-images --lock off --digests"]),
        str![[r#"
$ capstan lock --check --digests
exit 1
--- stderr
warning: cannot read the digest of `127.0.0.1:[..]/cluster-api/manager:v1`: 127.0.0.1:[..] does not have this image
error: cannot verify the digest of 1 image
hint: everything else matches the lock; omit `--digests` to verify without registries

$ capstan init list-images --lock off --digests
exit 0
--- stdout
127.0.0.1:[..]/bootstrap-kubeadm/manager:v1@sha256:f20a708a9f2525746ab455ed166683de73765106c83fe64e82dc68907e03ed32
127.0.0.1:[..]/cert-manager/manager:v1@sha256:e6bb20df7151448c93c41c1c37336c5d68f13348ede4432c2df950b5f9071f73
127.0.0.1:[..]/cluster-api/manager:v1
127.0.0.1:[..]/control-plane-kubeadm/manager:v1@sha256:4394433389b8b1a9c1419ea9c78b62b990a7531b005c5f5bc90f7c7d83a80d8b
--- stderr
warning: cannot read the digest of `127.0.0.1:[..]/cluster-api/manager:v1`: 127.0.0.1:[..] does not have this image

"#]]
    );
}

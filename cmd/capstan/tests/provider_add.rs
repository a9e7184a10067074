use snapbox::{assert_data_eq, str};

use crate::world;

const MINE: [&str; 7] = [
    "provider",
    "add",
    "mine",
    "--type",
    "infrastructure",
    "--url",
    "/srv/infrastructure-mine/v1.0.0/components.yaml",
];

#[test]
fn provider_add_creates_the_file_and_is_idempotent() {
    let world = world();
    assert_data_eq!(
        world.run(MINE).to_string(),
        str![[r#"
exit 0
--- stderr
added `infrastructure-mine` in `[HOME]/.config/cluster-api/clusterctl.yaml`:
  - name: mine
    type: InfrastructureProvider
    url: /srv/infrastructure-mine/v1.0.0/components.yaml

"#]]
    );
    assert_data_eq!(
        world.read(world.config_file()),
        str![[r#"
providers:
  - name: mine
    type: InfrastructureProvider
    url: /srv/infrastructure-mine/v1.0.0/components.yaml

"#]]
    );
    assert_data_eq!(
        world.run(MINE).to_string(),
        str![[r#"
exit 0
--- stderr
`[HOME]/.config/cluster-api/clusterctl.yaml` already contains `infrastructure-mine` with this URL; nothing was written

"#]]
    );
    assert_eq!(world.files(), ["[HOME]/.config/cluster-api/clusterctl.yaml"]);
    assert!(world.run(["provider", "list"]).stdout.contains("mine "));
}

#[test]
fn concurrent_edits_keep_every_entry() {
    let world = world();
    let names: Vec<String> = (0..8).map(|number| format!("cloud-{number}")).collect();
    let add = &|name: &String| {
        let url = format!("/srv/infrastructure-{name}/v1.0.0/components.yaml");
        world.run(["provider", "add", name, "--type", "infrastructure", "--url", &*url])
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = names.iter().map(|name| scope.spawn(move || add(name))).collect();
        for run in runs {
            let run = run.join().unwrap();
            assert_eq!(run.status, 0, "{run}");
        }
    });
    let text = world.read(world.config_file());
    assert!(names.iter().all(|name| text.contains(&format!("- name: {name}\n"))), "{text}");
    assert_eq!(world.files(), ["[HOME]/.config/cluster-api/clusterctl.yaml"]);
}

#[test]
fn the_lock_of_a_killed_run_blocks_no_edit() {
    let world = world();
    world.write(world.config_file().with_added_extension("lock"), "4711");
    let run = world.run(MINE);
    assert_eq!(run.status, 0, "{run}");
    assert_eq!(world.files(), ["[HOME]/.config/cluster-api/clusterctl.yaml"]);
}

#[cfg(unix)]
#[test]
fn a_new_configuration_file_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    world.run(MINE);
    assert_eq!(std::fs::metadata(world.config_file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn comments_and_layout_are_preserved() {
    let world = world();
    let path = world.configure("# the team's\nWHO: 'me'   # quoted\n\nproviders: []   # none yet\n");
    world.run(MINE);
    assert_data_eq!(
        world.read(&path),
        str![[r#"
# the team's
WHO: 'me'   # quoted

providers:   # none yet
  - name: mine
    type: InfrastructureProvider
    url: /srv/infrastructure-mine/v1.0.0/components.yaml

"#]]
    );
}

#[test]
fn an_invalid_configuration_is_not_edited() {
    let world = world();
    let path = world.configure("providers:\n  - name: a\n    type: CoreProvider\n    url: /a\n");
    let before = world.read(&path);
    assert_data_eq!(
        world.run(MINE).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot add a provider to this file
  cause: 1 invalid provider in `[HOME]/.config/cluster-api/clusterctl.yaml`: providers[0] ("a", "CoreProvider"): a CoreProvider must be named `cluster-api`
hint: correct or remove the entry; one invalid entry blocks all providers

"#]]
    );
    assert_eq!(world.read(&path), before);
}

#[test]
fn an_unsupported_repository_url_is_refused() {
    let arguments = [&MINE[..6], &["https://example.com/components.yaml"]].concat();
    assert_data_eq!(
        world().run(arguments).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot use `https://example.com/components.yaml` for the provider `mine`
  cause: `example.com` is not a known release host, and the path does not end with /infrastructure-mine/{version}/{file} of a web folder

"#]]
    );
}

#[test]
fn another_url_is_written_only_on_request() {
    let world = world();
    world.run(MINE);
    let other = [&MINE[..6], &["/mirror/infrastructure-mine/v1.0.0/components.yaml"]].concat();
    assert_data_eq!(
        world.run(&other).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot add the provider `mine` to `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the file contains `mine` with the URL `/srv/infrastructure-mine/v1.0.0/components.yaml`
hint: add `--replace` to replace the entry

"#]]
    );
    assert_data_eq!(
        world.run([&other[..], &["--replace"]].concat()).to_string(),
        str![[r#"
exit 0
--- stderr
replaced `infrastructure-mine` in `[HOME]/.config/cluster-api/clusterctl.yaml`:
  - name: mine
    type: InfrastructureProvider
    url: /mirror/infrastructure-mine/v1.0.0/components.yaml

"#]]
    );
    assert!(world.read(world.config_file()).contains("url: /mirror/"));
}

#[test]
fn an_uneditable_file_is_kept_and_the_entry_printed() {
    let world = world();
    let text = "providers: [{name: a, type: InfrastructureProvider, url: /a/v1.0.0/c.yaml}]\n";
    let path = world.configure(text);
    assert_data_eq!(
        world.run(MINE).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot add the provider `mine` to `[HOME]/.config/cluster-api/clusterctl.yaml`
  cause: the field `providers` is on one line
hint: add these lines manually:
    providers:
    - name: mine
      type: InfrastructureProvider
      url: /srv/infrastructure-mine/v1.0.0/components.yaml

"#]]
    );
    assert_eq!(world.read(path), text);
}

#[test]
fn an_invalid_provider_is_refused_before_any_write() {
    let world = world();
    assert_data_eq!(
        world
            .run(["provider", "add", "Mine", "--type", "infrastructure", "--url", "/srv/c.yaml"])
            .to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot add the provider `Mine`
  cause: name must be in lower case

"#]]
    );
    assert_data_eq!(
        world
            .run(["provider", "add", "mine", "--type", "infrastrukture", "--url", "/srv/c.yaml"])
            .to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown provider type `infrastrukture`
hint: did you mean `--type infrastructure`?

"#]]
    );
    assert_data_eq!(
        world.run(["provider", "add", "mine", "--url", "/srv/c.yaml"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: the type of the provider is missing
hint: add `--type TYPE`, with one of core, bootstrap, control-plane, infrastructure, ipam, runtime-extension, addon

"#]]
    );
    assert_data_eq!(
        world.run(["provider", "add", "mine", "--type", "ipam"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: the URL of the provider is missing
hint: add `--url URL` with the address or path of the components file

"#]]
    );
    assert_eq!(world.files(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_not_yaml_is_not_edited() {
    let world = world();
    world.write("clusterctl.toml", "");
    let arguments = [&MINE[..], &["--config", "clusterctl.toml"]].concat();
    assert_data_eq!(
        world.run(arguments).to_string(),
        str![[r#"
exit 1
--- stderr
error: cannot edit `[CWD]/clusterctl.toml`: the file is not YAML
hint: edit `providers` in the file manually, or use a YAML file with `--config FILE`

"#]]
    );
}

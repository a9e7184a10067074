#![cfg(unix)]

use snapbox::{assert_data_eq, str};

use crate::world;

#[test]
fn the_plugin_with_the_longest_name_is_run() {
    let world = world();
    world.script("clusterctl-foo", "echo short \"$@\"");
    world.script("clusterctl-foo-bar_baz", "echo long \"$@\"");
    assert_eq!(world.run(["foo", "bar-baz", "x", "--flag", "-v5"]).stdout, "long x --flag -v5\n");
    assert_eq!(world.run(["foo", "--flag", "bar-baz"]).stdout, "short --flag bar-baz\n");
    assert_eq!(world.run(["foo"]).stdout, "short\n");
}

#[test]
fn a_plugin_keeps_its_exit_status_and_streams() {
    let world = world();
    world.script("capstan-foo", "echo data; echo trouble >&2; exit 42");
    let outcome = world.run(["foo"]);
    assert_eq!(
        (outcome.status, outcome.stdout.as_str(), outcome.stderr.as_str()),
        (42, "data\n", "trouble\n")
    );
}

#[test]
fn longer_plugin_names_win_then_capstan_over_clusterctl() {
    let world = world();
    world.script("clusterctl-foo", "echo theirs");
    world.script("capstan-foo", "echo ours");
    world.script("clusterctl-foo-bar", "echo longer");
    assert_eq!(world.run(["foo"]).stdout, "ours\n");
    assert_eq!(world.run_as("clusterctl", ["foo"]).stdout, "theirs\n");
    assert_eq!(world.run(["foo", "bar"]).stdout, "longer\n");
}

#[test]
fn a_built_in_verb_is_never_a_plugin() {
    let world = world();
    world.script("clusterctl-version", "echo mine");
    world.script("clusterctl-config-mine", "echo mine");
    assert_eq!(world.run(["version", "-o", "short"]).stdout, "v1.14.0\n");
    assert_data_eq!(
        world.run_line("config mine").to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown command `config mine`
hint: run `capstan config --help` to list the commands

"#]]
    );
}

#[test]
fn a_plugin_of_clusterctl_keeps_its_name_beside_new_commands() {
    let world = world();
    world.script("clusterctl-status", "echo mine \"$@\"");
    world.script("clusterctl-get", "echo mine");
    assert_eq!(world.run_as("clusterctl", ["status", "--all"]).stdout, "mine --all\n");
    assert_eq!(
        world.run_as("clusterctl", ["get"]).stdout.lines().next(),
        world.run(["get"]).stdout.lines().next()
    );
    assert_eq!(world.run(["status"]).status, 1);
}

#[test]
fn a_flag_before_a_plugin_name_is_refused() {
    let world = world();
    world.script("clusterctl-foo", "echo mine");
    assert_data_eq!(
        world.run(["-v5", "foo"]).to_string(),
        str![[r#"
exit 1
--- stderr
error: unknown command `foo`
hint: run `capstan --help` to list the commands
hint: if `foo` is a plugin, put its name before `-v5`; flags after the name go to the plugin

"#]]
    );
}

#[test]
fn only_executables_on_the_path_are_plugins() {
    let world = world();
    world.write(world.bin().join("clusterctl-foo"), "#!/bin/sh\necho mine\n");
    world.write(world.bin().join("clusterctl-a/b"), "#!/bin/sh\necho mine\n");
    assert_eq!(world.run(["foo"]).status, 1);
    assert_eq!(world.run(["a/b"]).status, 1);
    assert_eq!(world.run(["../bin/x"]).status, 1);
}

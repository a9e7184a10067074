use snapbox::{assert_data_eq, str};

use crate::world;

fn output(arguments: &[&str]) -> String {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    let platform = platform.replace("x86_64", "amd64").replace("aarch64", "arm64").replace("macos", "darwin");
    let outcome = world().run(arguments).to_string();
    outcome.replace(&platform, "[PLATFORM]").replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
}

// Row: D-69
#[test]
fn version_names_the_matching_clusterctl_release() {
    assert_data_eq!(
        output(&["version"]),
        str![[r#"
exit 0
--- stdout
clusterctl version: &version.Info{Major:"1", Minor:"14", GitVersion:"v1.14.0", GitCommit:"", GitTreeState:"clean", BuildDate:"", GoVersion:"", Compiler:"rustc", Platform:"[PLATFORM]"}

"#]]
    );
}

// Row: D-69
#[test]
fn the_version_is_printed_in_every_format() {
    assert_data_eq!(
        output(&["version", "-o", "short"]),
        str![[r#"
exit 0
--- stdout
v1.14.0

"#]]
    );
    assert_data_eq!(
        output(&["version", "-o", "json"]),
        str![[r#"
exit 0
--- stdout
{
  "clusterctl": {
    "major": "1",
    "minor": "14",
    "gitVersion": "v1.14.0",
    "gitTreeState": "clean",
    "capstan": "v[VERSION]",
    "compiler": "rustc",
    "platform": "[PLATFORM]"
  }
}

"#]]
    );
    assert_data_eq!(
        output(&["version", "--output=yaml"]),
        str![[r#"
exit 0
--- stdout
clusterctl:
  capstan: v[VERSION]
  compiler: rustc
  gitTreeState: clean
  gitVersion: v1.14.0
  major: "1"
  minor: "14"
  platform: [PLATFORM]

"#]]
    );
}

#[test]
fn an_unknown_version_format_is_refused() {
    assert_data_eq!(
        output(&["version", "-o", "xml"]),
        str![[r#"
exit 1
--- stderr
error: invalid output format `xml`
hint: use short, yaml or json, or omit `--output`

"#]]
    );
}

#[test]
fn the_version_flag_prints_the_binary_version() {
    assert_data_eq!(
        output(&["--version"]),
        str![[r#"
exit 0
--- stdout
capstan [VERSION] (as clusterctl v1.14.0)

"#]]
    );
}

// Row: D-04
#[test]
fn a_broken_configuration_does_not_stop_version() {
    let world = world();
    world.configure("a: [");
    assert_eq!(world.run(["version", "-o", "short"]).stdout, "v1.14.0\n");
}

//! A new user with a clone of the project creates a cluster from the providers in the repository.

use support::binary::TestEnvironment;

use crate::{project, world};

/// The path as typed at the root of the project.
const CONFIG: &str = "e2e/fixtures/clusterctl.yaml";

fn fixtures() -> String {
    project(CONFIG).display().to_string()
}

fn demo() -> Vec<String> {
    let words = [
        "generate",
        "cluster",
        "demo",
        "--infrastructure",
        "sandbox:v1.1.0",
        "--flavor",
        "development",
        "--target-namespace",
        "default",
        "--kubernetes-version",
        "v1.35.0",
        "--config",
    ];
    words.into_iter().map(str::to_owned).chain([fixtures()]).collect()
}

fn kinds(yaml: &str) -> Vec<&str> {
    yaml.lines().filter_map(|line| line.strip_prefix("kind: ")).collect()
}

/// An environment with the two sandboxes of the tour. Dropping the value removes them.
struct Tour(TestEnvironment);

impl Drop for Tour {
    fn drop(&mut self) {
        self.0.run(["quickstart", "--remove"]);
    }
}

#[test]
fn the_first_command_of_the_readme_shows_everything_once() {
    let text = std::fs::read_to_string(project("README.md")).expect("the project has a README");
    let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
    let commands: Vec<_> = commands.filter(|line| line.starts_with("cargo ")).take(2).collect();
    assert_eq!(commands, ["cargo run -- quickstart", "cargo xtask test"]);
    let world = world();
    let state = world.home().join("state");
    let tour = Tour(world.env("XDG_STATE_HOME", state));
    let run = tour.0.run(["quickstart"]);
    assert_eq!(run.status, 0, "{run}");
    let shown = text.split_once("```console,ignore\n# ").unwrap().1.split_once("```").unwrap().0;
    // Lines that end with `…` are printed only during a wait, so a fast run may omit them.
    for line in shown.lines().filter(|line| !line.ends_with('…')) {
        // The elapsed time differs between runs.
        let line = line.strip_prefix("done in 1s").unwrap_or(line);
        assert!(run.stdout.contains(line) || run.stderr.contains(line), "the tour does not print `{line}`");
    }
}

// Row: PRV-03
// Row: PRV-36
// Row: PRV-39
#[test]
fn a_cluster_is_rendered_with_its_class_and_without_a_management_cluster() {
    let run = world().run(demo());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert_eq!(kinds(&run.stdout).first(), Some(&"ClusterClass"));
    assert_eq!(kinds(&run.stdout).last(), Some(&"Cluster"));
}

#[test]
fn called_as_clusterctl_the_output_is_identical() {
    let world = world();
    let (ours, theirs) = (world.run(demo()), world.run_as("clusterctl", demo()));
    assert_eq!((ours.status, ours.stdout), (0, theirs.stdout));
    assert!(world.run_as("clusterctl", ["help"]).stdout.contains("clusterctl [OPTIONS]"));
}

// Row: PRV-21
// Row: PRV-22
#[test]
fn all_built_in_providers_can_be_generated() {
    let world = world();
    for (flag, name) in [
        ("--core", "cluster-api"),
        ("-b", "kubeadm"),
        ("-c", "kubeadm"),
        ("-i", "sandbox"),
        ("-i", "sandbox:v1.0.0"),
    ] {
        let config = fixtures();
        let variables = world.run([
            "generate",
            "provider",
            flag,
            name,
            "--list-variables",
            "-o",
            "json",
            "--config",
            &config,
        ]);
        let list: serde_json::Value = serde_json::from_str(&variables.stdout).unwrap();
        let required =
            list["variables"].as_array().unwrap().iter().filter(|variable| variable["required"] == true);
        let mut command = world.command(["generate", "provider", flag, name, "--config", &config]);
        for variable in required {
            command.env(variable["name"].as_str().unwrap(), "x");
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(kinds(&text).first(), Some(&"Namespace"), "{name}");
        assert!(kinds(&text).contains(&"Deployment"), "{name}");
    }
}

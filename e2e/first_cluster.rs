//! A newcomer with nothing but a clone: from the providers that ship with the project to a cluster.

use support::binary::{Outcome, World};

use crate::{project, world};

/// As it is typed at the root of the project.
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

/// The commands of the README in a world of their own, whose sandbox is deleted with it.
struct Readme {
    world: World,
    text: String,
}

impl Readme {
    fn open() -> Self {
        let world = world();
        let state = world.home().join("state");
        let text = std::fs::read_to_string(project("README.md")).expect("the project has a README");
        let text = text.replace("\\\n", " ");
        Self { world: world.env("XDG_STATE_HOME", state), text }
    }

    /// Runs a command line as it stands there. The files it names are those of the project.
    fn run(&self, typed: &str) -> Outcome {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line(&self.text).contains(&one_line(typed)), "the README does not say `{typed}`");
        let words = typed.strip_prefix("cargo run --release -- ").or(typed.strip_prefix("capstan "));
        let words = words.expect("a command of the README runs capstan");
        let fixtures = fixtures();
        let word = |word| if word == CONFIG { fixtures.as_str() } else { word };
        let run = self.world.run(words.split_whitespace().map(word));
        assert_eq!(run.status, 0, "{typed}\n{run}");
        run
    }
}

impl Drop for Readme {
    fn drop(&mut self) {
        self.world.run(["sandbox", "delete", "lab"]);
        self.world.run(["quickstart", "--remove"]);
    }
}

#[test]
fn the_first_command_of_the_readme_shows_everything_once() {
    let readme = Readme::open();
    let commands = readme.text.lines().filter(|line| line.starts_with("cargo "));
    let commands: Vec<_> = commands.take(2).collect();
    assert_eq!(commands, ["cargo run --release -- quickstart", "cargo test --workspace"]);
    let tour = readme.run(commands[0]);
    let shown = readme.text.split_once("```text\n# ").unwrap().1.split_once("```").unwrap().0;
    for line in shown.lines() {
        // The time is another one in each run.
        let line = line.strip_prefix("done in 1s").unwrap_or(line);
        assert!(tour.stdout.contains(line) || tour.stderr.contains(line), "the tour does not print `{line}`");
    }
}

// Row: PRV-03
// Row: PRV-36
// Row: PRV-39
#[test]
fn the_commands_of_the_readme_go_from_nothing_to_a_management_cluster_and_back() {
    let readme = Readme::open();
    let init = readme
        .run("capstan init --sandbox lab --infrastructure sandbox --config e2e/fixtures/clusterctl.yaml");
    assert!(init.stderr.contains("Your management cluster has been initialized successfully!"), "{init}");
    let status = readme.run("capstan status --sandbox lab");
    for line in status.stdout.lines() {
        assert!(readme.text.contains(line.trim_end()), "the README does not show `{line}`");
    }
    readme.run("capstan upgrade plan --sandbox lab --config e2e/fixtures/clusterctl.yaml");
    let demo = readme.run(
        "capstan generate cluster demo --sandbox lab --flavor development --kubernetes-version v1.35.0 \
         --config e2e/fixtures/clusterctl.yaml",
    );
    assert_eq!(kinds(&demo.stdout).first(), Some(&"ClusterClass"));
    assert_eq!(kinds(&demo.stdout).last(), Some(&"Cluster"));
    readme.run("capstan delete --all --sandbox lab");
    assert_eq!(readme.world.run(["status", "--sandbox", "lab"]).stdout, "no providers are installed\n");
    readme.run("capstan sandbox delete lab");
}

#[test]
fn a_cluster_is_rendered_with_its_class_and_without_a_management_cluster() {
    let run = world().run(demo());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert_eq!(kinds(&run.stdout).first(), Some(&"ClusterClass"));
    assert_eq!(kinds(&run.stdout).last(), Some(&"Cluster"));
}

#[test]
fn called_as_clusterctl_it_prints_the_same() {
    let world = world();
    let (ours, theirs) = (world.run(demo()), world.run_as("clusterctl", demo()));
    assert_eq!((ours.status, ours.stdout), (0, theirs.stdout));
    assert!(world.run_as("clusterctl", ["help"]).stdout.contains("clusterctl [OPTIONS]"));
}

// Row: PRV-21
// Row: PRV-22
#[test]
fn all_providers_that_ship_can_be_generated() {
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

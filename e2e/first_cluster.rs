//! A newcomer with nothing but a clone: from the providers that ship with the project to a cluster.

use crate::{project, world};

fn fixtures() -> String {
    project("e2e/fixtures/clusterctl.yaml").display().to_string()
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

// Row: PRV-03
// Row: PRV-36
// Row: PRV-39
#[test]
fn the_first_command_of_the_readme_renders_a_cluster_with_its_class() {
    let readme = std::fs::read_to_string(project("README.md")).unwrap();
    let run = world().run(demo());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run}");
    assert_eq!(kinds(&run.stdout).first(), Some(&"ClusterClass"));
    assert_eq!(kinds(&run.stdout).last(), Some(&"Cluster"));
    let typed = "generate cluster demo --infrastructure sandbox:v1.1.0 --flavor development \
                 --target-namespace default --kubernetes-version v1.35.0 --config e2e/fixtures/clusterctl.yaml";
    let one_line = readme.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        one_line.contains(&typed.split_whitespace().collect::<Vec<_>>().join(" ")),
        "the README says another command"
    );
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

//! Tests with real providers.

use support::{binary::TestEnvironment, skip::corpus};

use crate::world;

pub(super) fn config(root: &std::path::Path) -> String {
    let providers = root.join("providers");
    let entry = |name: &str, provider_type: &str, file: &str| {
        format!("- {{name: {name}, type: {provider_type}, url: \"{}/{file}\"}}\n", providers.display())
    };
    [
        "providers:\n".to_owned(),
        entry("cluster-api", "CoreProvider", "cluster-api/latest/core-components.yaml"),
        entry("kubeadm", "BootstrapProvider", "bootstrap-kubeadm/latest/bootstrap-components.yaml"),
        entry(
            "kubeadm",
            "ControlPlaneProvider",
            "control-plane-kubeadm/latest/control-plane-components.yaml",
        ),
        entry(
            "docker",
            "InfrastructureProvider",
            "infrastructure-docker/latest/infrastructure-components.yaml",
        ),
        entry("aws", "InfrastructureProvider", "infrastructure-aws/latest/infrastructure-components.yaml"),
        format!(
            "cert-manager: {{url: \"{}/cert-manager/v1.21.1/cert-manager.yaml\"}}\n",
            providers.display()
        ),
        "AWS_B64ENCODED_CREDENTIALS: eA==\n".to_owned(),
    ]
    .concat()
}

/// Configures a cluster without Pods, where the webhooks of cert-manager cannot be served.
pub(super) fn config_without_webhooks(root: &std::path::Path, world: &TestEnvironment) -> String {
    let file = "cert-manager/v1.21.1/cert-manager.yaml";
    let path = root.join("providers").join(file);
    let whole = std::fs::read_to_string(&path).unwrap();
    let stays = whole.split("\n---\n").filter(|document| !document.contains("WebhookConfiguration\n"));
    let copy = world.write(file, stays.collect::<Vec<_>>().join("\n---\n"));
    config(root).replace(&path.display().to_string(), &copy.display().to_string())
}

// Row: PRV-15
// Row: PRV-16
#[test]
fn the_newest_release_of_every_real_provider_is_generated() {
    let Some(root) = corpus() else { return };
    let world = world();
    world.configure(config(&root));
    for (flag, name, objects) in [
        ("--core", "cluster-api", 20),
        ("-b", "kubeadm", 10),
        ("-c", "kubeadm", 10),
        ("-i", "docker", 20),
        ("-i", "aws", 30),
    ] {
        let run = world.run(["generate", "provider", flag, name]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
        assert!(run.stdout.matches("\nkind: ").count() >= objects, "{name}");
    }
}

#[test]
fn the_images_of_a_real_installation_are_listed() {
    let Some(root) = corpus() else { return };
    let world = world();
    world.configure(config(&root));
    let run = world.run(["init", "list-images", "--infrastructure", "docker,aws"]);
    assert_eq!(run.status, 0, "{run}");
    // No container runs this image: cert-manager gets it as an argument.
    assert!(run.stderr.contains("cert-manager-acmesolver:v1.21.1"), "{run}");
    let images: Vec<&str> = run.stdout.lines().collect();
    assert!(images.len() >= 8 && images.is_sorted(), "{run}");
    assert!(images.iter().any(|image| image.contains("cert-manager-controller:v1.21.1")), "{run}");
}

#[test]
fn every_flavor_of_every_real_release_lists_its_variables() {
    let Some(root) = corpus() else { return };
    let world = world();
    world.configure(config(&root));
    for provider in ["docker", "aws"] {
        let run = world.run(["provider", "show", "-i", provider, "-o", "json"]);
        let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let flavors = shown["flavors"].as_array().unwrap();
        assert!(flavors.len() >= 2, "{run}");
        for flavor in flavors {
            let reference = format!("{provider}:{}", shown["version"].as_str().unwrap());
            let run = world.run([
                "generate",
                "cluster",
                "demo",
                "-i",
                &reference,
                "-f",
                flavor.as_str().unwrap(),
                "-n",
                "x",
                "--list-variables",
                "-o",
                "json",
            ]);
            let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            assert!(
                list["variables"].as_array().is_some_and(|variables| !variables.is_empty()),
                "{flavor}: {run}"
            );
        }
    }
}

//! The releases of test providers.

use support::binary::TestEnvironment;

/// A configuration that names four providers and cert-manager by paths relative to the configuration.
pub(crate) const CONFIG: &str = "providers:
- {name: cluster-api, type: CoreProvider, url: ../repository/cluster-api/v1.0.0/core-components.yaml}
- {name: kubeadm, type: BootstrapProvider, url: ../repository/bootstrap-kubeadm/v1.0.0/bootstrap-components.yaml}
- {name: kubeadm, type: ControlPlaneProvider, url: ../repository/control-plane-kubeadm/v1.0.0/control-plane-components.yaml}
- {name: own, type: InfrastructureProvider, url: ../repository/infrastructure-own/latest/infrastructure-components.yaml}
cert-manager: {url: ../repository/cert-manager/v1.0.0/cert-manager.yaml, version: v1.0.0}
";

/// The folder of the releases.
pub(crate) const ROOT: &str = "../home/.config/repository";

/// Writes releases of the four providers. `components` returns the components of a label and version.
pub(crate) fn write(
    world: &TestEnvironment,
    versions: &[&str],
    metadata: &str,
    components: impl Fn(&str, &str) -> String,
) {
    for (label, file) in [
        ("cluster-api", "core-components.yaml"),
        ("bootstrap-kubeadm", "bootstrap-components.yaml"),
        ("control-plane-kubeadm", "control-plane-components.yaml"),
        ("infrastructure-own", "infrastructure-components.yaml"),
    ] {
        for version in versions {
            world.write(format!("{ROOT}/{label}/{version}/metadata.yaml"), metadata);
            world.write(format!("{ROOT}/{label}/{version}/{file}"), components(label, version));
        }
    }
}

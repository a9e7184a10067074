//! Plans of real providers, as people read them.

use support::fixture::Fixture;

use super::peer::{FIRST_REAL, Management};
use crate::corpus::{config, corpus};

const UPGRADE: &[&str] = &["upgrade", "apply", "--contract", "v1beta2"];

#[tokio::test(flavor = "multi_thread")]
async fn the_diff_of_a_real_upgrade_fits_300_lines() {
    let Some(root) = corpus() else { return };
    let fixture = Fixture::builder().controllers(sandbox::Switches::default()).start().await;
    let newest = config(&root);
    let older =
        newest.replace("v1.21.1/cert-manager.yaml\"", "v1.20.3/cert-manager.yaml\", version: v1.20.3");
    let cluster = Management::over(older, fixture.kubeconfig().await);
    let installed = cluster.capstan(&[FIRST_REAL, &["--diff"]].concat());
    assert!(installed.lines().count() <= 600, "{installed}");
    cluster.capstan(FIRST_REAL);
    cluster.configure(&newest);

    let diff = cluster.capstan(&[UPGRADE, &["--diff"]].concat());
    assert!(diff.lines().count() <= 300, "{} lines\n{diff}", diff.lines().count());
    for line in [
        "cert-manager: upgrade from v1.20.3 to v1.21.1",
        "    ~ image cert-manager-controller: v1.20.3 to v1.21.1",
        "cluster-api: v1.13.5 to v1.14.0 in capi-system",
        "    ~ image cluster-api-controller: v1.13.5 to v1.14.0",
        "    + permission to get, list, watch kubeadmcontrolplanes.controlplane.cluster.x-k8s.io",
        "    + v1beta2: status.controlPlane.versions (array)",
        "    - v1beta1, v1beta2: spec.bootstrapped (boolean)",
    ] {
        assert!(diff.lines().any(|found| found == line), "{line}\n{diff}");
    }
    assert!(!diff.contains("caBundle"));
    let full = cluster.capstan(&[UPGRADE, &["--diff=full"]].concat());
    assert!(full.lines().count() > 1_000 && full.contains("controller-gen.kubebuilder.io/version: v0.21.0"));
}

//! Tests of deletions that cannot finish.
#![cfg(unix)]

use serde_json::json;
use support::{fixture::Fixture, kind::Kind};

use crate::{lifecycle::INIT, testing::with_small_providers};

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_blocked_by_a_finalizer_fails_after_its_timeout() {
    let fixture = Fixture::start().await;
    let world = with_small_providers();
    let config = world.read(world.config_file());
    world.configure(config.replace("cert-manager: {", "cert-manager: {mode: none, "));
    let kubeconfig = fixture.kubeconfig().await.display().to_string();
    let run = |arguments: &str| {
        let arguments = arguments.split_whitespace().chain(["--kubeconfig", &kubeconfig]);
        tokio::task::block_in_place(|| world.run(arguments))
    };
    let installed = run(&format!("{INIT} --no-wait"));
    assert_eq!(installed.status, 0, "{installed}");
    for deployment in fixture.list(DEPLOYMENT).await {
        let metadata = &deployment["metadata"];
        let place =
            format!("{}/{}", metadata["namespace"].as_str().unwrap(), metadata["name"].as_str().unwrap());
        let held = json!({"metadata": {"finalizers": ["example.org/held"]}});
        fixture.merge(DEPLOYMENT, &place, &held).await;
    }
    let deleted = run("delete -i own --timeout 1s");
    assert_eq!(deleted.status, 1, "{deleted}");
}

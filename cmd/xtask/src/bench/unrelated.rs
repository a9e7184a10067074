use std::path::Path;

use serde_json::json;
use support::{everything::client_of, fixture::apply};

const DEFINITIONS: usize = 300;
const SECRETS: usize = 5_000;
/// The number of objects written sequentially. Chunks are written concurrently.
const CHUNK: usize = 100;

/// Writes objects unrelated to providers.
pub(super) async fn fill(kubeconfig: &Path) {
    let client = client_of(kubeconfig).await;
    let objects: Vec<String> = (0..DEFINITIONS).map(definition).chain((0..SECRETS).map(secret)).collect();
    let mut writers = tokio::task::JoinSet::new();
    for chunk in objects.chunks(CHUNK) {
        let (client, yaml) = (client.clone(), chunk.join("\n---\n"));
        writers.spawn(async move { apply(&client, &yaml).await });
    }
    writers.join_all().await;
}

fn secret(index: usize) -> String {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": format!("unrelated-{index}")},
        "data": {"value": "A".repeat(2_000)}})
    .to_string()
}

fn definition(index: usize) -> String {
    let group = format!("g{}.example.org", index % 30);
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("unrelated{index}s.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": format!("unrelated{index}s"), "singular": format!("unrelated{index}"),
                "kind": format!("Unrelated{index}"), "listKind": format!("Unrelated{index}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    .to_string()
}

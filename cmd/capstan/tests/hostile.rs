//! Tests of hostile input that attacks the terminal, the memory or the time of a run.
#![cfg(target_os = "linux")]

mod backups;
mod bundles;
mod catalogs;
mod hosts;
mod releases;

use serde_json::json;
use support::{binary::RunOutput, cluster_api::cluster, fixture::Fixture, kind};

use crate::{testing::Management, world};

/// The memory limit of a run. A run that accepts hostile input would exceed the limit.
const MEMORY_MEBIBYTES: usize = 280;
/// The largest size that the header of an entry can claim.
const HUGE: u64 = 0o77_777_777_777;
const ESCAPE: &str = "\u{1b}[2J\u{202e}";

/// Asserts the exit status, and that neither stream contains terminal control characters.
fn ends_quietly(run: &RunOutput, status: i32, row: &str) {
    assert_eq!(run.status, status, "{row}: {run}");
    for stream in [&run.stdout, &run.stderr] {
        assert!(!stream.contains(['\u{1b}', '\u{202e}', '\r']), "{row}: {run:?}");
    }
}

/// Returns the causes of a failure, joined.
fn causes(run: &RunOutput) -> String {
    run.stderr.lines().filter_map(|line| line.strip_prefix("  cause: ")).collect::<Vec<_>>().join(": ")
}

// Row: D-265
#[test]
fn hostile_files_end_with_an_error_or_a_clean_result() {
    let large = "x".repeat(1_000_000);
    let aliases = format!("kind: A\na: &a {large}\nb:\n{}", "- *a\n".repeat(4_000));
    let laughs: Vec<String> = (1..12)
        .map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", ")))
        .collect();
    let files = [
        ("aliases.yaml", aliases),
        ("laughs.yaml", format!("kind: A\na0: &a0 [x]\n{}", laughs.concat())),
        ("deep.yaml", format!("kind: A\na: {}{}\n", "[".repeat(200_000), "]".repeat(200_000))),
        ("pattern.yaml", "kind: A\na: ${V##*x*/}\n".to_owned()),
        ("default.yaml", format!("kind: A\na: \"${{OTHER:={ESCAPE}}}\"\n")),
        ("escape.yaml", format!("kind: A\nmetadata: {{name: \"{}\"}}\n", "\\e[2J")),
        ("name.yaml", format!("kind: A\n{ESCAPE}: [\n")),
    ];
    let rows = [
        ("generate yaml --from aliases.yaml", 1),
        ("convert aliases.yaml", 1),
        ("kustomize build aliases", 1),
        ("generate yaml --from laughs.yaml", 1),
        ("generate yaml --from deep.yaml", 1),
        ("convert deep.yaml", 1),
        ("generate yaml --from pattern.yaml", 1),
        ("generate yaml --from default.yaml", 1),
        ("generate yaml --from name.yaml", 1),
        ("convert name.yaml", 1),
        ("generate yaml --from escape.yaml", 0),
        ("bundle inspect escape.yaml", 1),
        ("backup verify escape.yaml", 1),
        ("get kubeconfig demo --kubeconfig aliases.yaml", 1),
    ];
    let world = world().env("V", "/".repeat(100_000));
    for (name, text) in files {
        world.write(name, &text);
    }
    world.write("aliases/kustomization.yaml", "resources: [../aliases.yaml]\n");
    for (row, status) in rows {
        ends_quietly(&world.run(row.split(' ')), status, row);
    }
}

// Row: D-265
#[tokio::test(flavor = "multi_thread")]
async fn cluster_texts_cannot_control_the_terminal() {
    let lab = Management::start(Fixture::builder()).await;
    lab.fixture.create(cluster("default/demo")).await;
    let condition = json!({
        "type": "Ready", "status": "False", "severity": "Error", "reason": "Broken", "message": format!("{ESCAPE}\rforged"),
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    lab.fixture
        .merge_status(kind::CLUSTER, "default/demo", &json!({"conditions": [condition], "phase": ESCAPE}))
        .await;
    let annotation = json!({"metadata": {"annotations": {"note": ESCAPE}}});
    lab.fixture.merge(kind::CLUSTER, "default/demo", &annotation).await;
    let rows = [
        "describe cluster demo --show-conditions all",
        "describe cluster demo --color never",
        "graph",
        "graph -o dot",
        "graph -o mermaid",
        "status",
        "get kubeconfig demo --merge=mine",
        "get clusters -A",
        "provider list",
    ];
    for row in rows {
        ends_quietly(&lab.run(row), 0, row);
    }
}

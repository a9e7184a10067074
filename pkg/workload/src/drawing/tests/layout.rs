//! The layout of the page, run by Node.js.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use api::output::OwnerGraph;
use serde::Deserialize;
use support::skip::program;

use super::{graph, page, page_data};

const LAYOUT: &str = include_str!("../page/layout.js");
const PRINT: &str = include_str!("layout.js");

#[derive(Debug, Deserialize)]
struct Layout {
    boxes: Vec<Rectangle>,
    frames: Vec<Rectangle>,
    clusters: Vec<Rectangle>,
    titles: Vec<Title>,
    listed: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Rectangle {
    #[serde(default)]
    title: String,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Debug, Deserialize)]
struct Title {
    scale: f64,
    name: String,
    right: f64,
    width: f64,
}

impl Rectangle {
    fn overlaps(&self, other: &Self) -> bool {
        let apart = |a: f64, b: f64, size: f64| a >= b + size;
        !(apart(self.x, other.x, other.width)
            || apart(other.x, self.x, self.width)
            || apart(self.y, other.y, other.height)
            || apart(other.y, self.y, self.height))
    }

    fn holds(&self, other: &Self) -> bool {
        self.x <= other.x
            && self.y <= other.y
            && other.x + other.width <= self.x + self.width
            && other.y + other.height <= self.y + self.height
    }
}

fn lay_out(graph: &OwnerGraph, folding: &str) -> Option<Layout> {
    program("node")?;
    let script = format!("{LAYOUT}{PRINT}");
    let mut node = Command::new("node");
    node.args(["-e", &script, "--", folding]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().unwrap();
    let data = page(graph);
    node.stdin.take().unwrap().write_all(page_data(&data).as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn assert_apart(rectangles: &[Rectangle]) {
    for (at, one) in rectangles.iter().enumerate() {
        for other in &rectangles[at + 1..] {
            assert!(!one.overlaps(other), "{one:?} {other:?}");
        }
    }
}

/// Makes six Clusters with a class each, in namespaces with long names. There are enough Machines for a fold, and
/// Certificates in namespaces that sort first.
fn fleet() -> OwnerGraph {
    let mut lines = String::from("Certificate a/serving\nCertificate b/serving\nIdentity who\n");
    for number in 0..6 {
        let place = format!("production-of-a-team-with-a-rather-long-name-{}", number / 2);
        writeln!(
            lines,
            "ClusterClass {place}/class{number}\nCluster {place}/c{number} class={place}/class{number}"
        )
        .unwrap();
        writeln!(lines, "Set {place}/s{number} < Cluster c{number}").unwrap();
        for machine in 0..9 {
            let name = format!("m{number}{machine}");
            writeln!(lines, "Machine {place}/{name} < Set s{number}\nConfig {place}/{name} < Machine {name}")
                .unwrap();
            writeln!(lines, "Secret {place}/{name} < Config {name}").unwrap();
        }
    }
    graph(&lines)
}

#[test]
fn page_layout_has_no_overlaps() {
    for folding in ["folded", "unfolded"] {
        let graph = fleet();
        let Some(layout) = lay_out(&graph, folding) else { return };
        assert_eq!(layout.clusters.len(), 6);
        assert!(folding == "folded" || layout.boxes.len() >= graph.objects.len());
        for rectangles in [&layout.boxes, &layout.frames, &layout.clusters] {
            assert_apart(rectangles);
        }
        for inside in layout.boxes.iter().chain(&layout.clusters) {
            assert_eq!(layout.frames.iter().filter(|frame| frame.holds(inside)).count(), 1, "{inside:?}");
        }
        for cluster in &layout.clusters {
            let is_split = |one: &&Rectangle| one.overlaps(cluster) && !cluster.holds(one);
            assert_eq!(layout.boxes.iter().filter(is_split).count(), 0, "{cluster:?}");
        }
        let too_long = layout.titles.iter().find(|title| title.right > title.width && !title.name.is_empty());
        assert!(too_long.is_none(), "{too_long:?}");
        let is_cluster = |title: &&Title| title.name.contains("Cluster c") && title.scale >= 0.1;
        assert_eq!(layout.titles.iter().filter(is_cluster).count(), 6 * 5, "{:?}", layout.titles);
    }
}

#[test]
fn page_begins_with_clusters_and_lists_them_first() {
    let Some(layout) = lay_out(&fleet(), "folded") else { return };
    let first = layout.frames.iter().min_by(|a, b| (a.y, a.x).partial_cmp(&(b.y, b.x)).unwrap()).unwrap();
    assert!(layout.clusters.iter().any(|cluster| first.holds(cluster)), "{first:?}");
    let titles: Vec<&str> = layout.frames.iter().map(|frame| &*frame.title).collect();
    let names =
        (0..3).map(|number| format!("namespace production-of-a-team-with-a-rather-long-name-{number}"));
    let rest = ["namespace a", "namespace b", "cluster-scoped"].map(str::to_owned);
    assert_eq!(titles, names.chain(rest).collect::<Vec<_>>());
    let first: Vec<&str> = layout.listed.iter().take(9).map(String::as_str).collect();
    let clusters = ["Cluster c0", "Cluster c1", "Cluster c2", "Cluster c3", "Cluster c4", "Cluster c5"];
    let others = ["Certificate serving", "Certificate serving", "ClusterClass class0"];
    assert_eq!(first, [&clusters[..], &others].concat());
}

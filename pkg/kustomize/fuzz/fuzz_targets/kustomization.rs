#![no_main]
//! A kustomization, its component, its objects and its patch build or fail the same way twice, whatever they contain.

use kustomize::{Build, BuildOptions, ConflictDetection, FetchResults, MemoryTree, TreePath};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|texts: (&str, &str, &str, &str)| {
    let (fields, component, objects, patch) = texts;
    let top = format!("resources: [a.yaml, b.yaml]\ncomponents: [part]\npatches: [{{path: p.yaml}}]\n{fields}");
    let component = format!("kind: Component\n{component}");
    let objects = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\n{objects}");
    let tree: MemoryTree = [
        ("/kustomization.yaml", top.as_str()),
        ("/part/kustomization.yaml", &component),
        ("/a.yaml", &objects),
        ("/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  k: v\n"),
        ("/p.yaml", patch),
    ]
    .into_iter()
    .map(|(path, text)| (path, text.as_bytes()))
    .collect();
    let options = BuildOptions { conflicts: ConflictDetection::Reported, ..BuildOptions::default() };
    let fetch_results = FetchResults::new();
    let build = || match (Build { tree: &tree, fetch_results: &fetch_results, options }).run(&TreePath::new("/")) {
        Ok(output) => output.text(),
        Err(report) => report.to_string(),
    };
    assert_eq!(build(), build());
});

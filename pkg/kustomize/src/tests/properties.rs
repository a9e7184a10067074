//! Properties of every build: of trees of bases, overlays and components, and of any bytes.

use std::sync::Arc;

use manifest::provenance::Trace;
use proptest::prelude::*;

use crate::{Build, BuildOptions, BuildOutput, FetchResults, MemoryTree, TreePath};

type Files = Vec<(String, String)>;

fn text_of(files: &Files, folder: &str) -> Result<String, String> {
    output_of(files, folder, Trace::Off).map(|output| output.text())
}

fn output_of(files: &Files, folder: &str, trace: Trace) -> Result<BuildOutput, String> {
    let tree: MemoryTree = files.iter().map(|(path, text)| (path, text.as_bytes())).collect();
    let options = BuildOptions { trace, ..BuildOptions::default() };
    let build = Build { tree: &tree, fetch_results: &FetchResults::new(), options };
    build.run(&TreePath::new(folder)).map_err(|report| report.to_string())
}

/// Generates one change of a kustomization.
fn change() -> impl Strategy<Value = String> {
    let name = "[a-c]";
    prop_oneof![
        name.prop_map(|text| format!("namePrefix: {text}-")),
        name.prop_map(|text| format!("nameSuffix: -{text}")),
        name.prop_map(|text| format!("namespace: in-{text}")),
        name.prop_map(|text| format!("labels: [{{pairs: {{team: {text}}}, includeSelectors: true}}]")),
        name.prop_map(|text| format!("commonAnnotations: {{by: {text}}}")),
        name.prop_map(|text| format!("images: [{{name: app, newTag: {text}}}]")),
        name.prop_map(|text| format!("configMapGenerator: [{{name: made, literals: [k={text}]}}]")),
        name.prop_map(|text| {
            format!("patches: [{{target: {{kind: Deployment}}, patch: '[{{op: add, path: /spec/{text}, value: 1}}]'}}]")
        }),
    ]
}

/// Generates a base with a few objects that refer to each other, and its changes.
fn base() -> impl Strategy<Value = Files> {
    (prop::collection::btree_set("[a-d]", 1..4), prop::collection::vec(change(), 0..3)).prop_map(|(names, changes)| {
        let object = |name: &String| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: v}}\n---\napiVersion: apps/v1\n\
                 kind: Deployment\nmetadata: {{name: {name}}}\nspec: {{template: {{spec: {{containers: [{{name: c, image: \
                 app, envFrom: [{{configMapRef: {{name: {name}}}}}]}}]}}}}}}\n"
            )
        };
        let objects: Vec<String> = names.iter().map(object).collect();
        let kustomization = format!("resources: [all.yaml]\n{}", distinct(changes));
        vec![
            ("/base/kustomization.yaml".to_owned(), kustomization),
            ("/base/all.yaml".to_owned(), objects.join("---\n")),
        ]
    })
}

/// Keeps one change per field.
fn distinct(changes: Vec<String>) -> String {
    let mut fields = std::collections::BTreeMap::new();
    for change in changes {
        let field = change.split(':').next().unwrap_or_default().to_owned();
        fields.insert(field, change);
    }
    fields.into_values().collect::<Vec<_>>().join("\n")
}

fn with_files(files: &Files, more: &[(&str, &str)]) -> Files {
    let more = more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    files.iter().cloned().chain(more).collect()
}

proptest! {
    // Row: KUS-29
    #[test]
    fn an_empty_overlay_changes_nothing_and_builds_are_deterministic(files in base()) {
        let files = with_files(&files, &[
            ("/over/kustomization.yaml", "resources: [../base]"),
            ("/over/over/kustomization.yaml", "resources: [..]\ncomponents: []"),
        ]);
        let plain = text_of(&files, "/base").unwrap();
        prop_assert_eq!(&plain, &text_of(&files, "/base").unwrap());
        prop_assert_eq!(&plain, &text_of(&files, "/over").unwrap());
        let reported = text_of(&files, "/over/over").unwrap_err();
        prop_assert!(reported.contains("`/over`") && reported.contains("`/over/over`"), "{}", reported);
    }

    // Row: KUS-50
    #[test]
    fn a_component_changes_its_parent_like_an_overlay(files in base(), changes in prop::collection::vec(change(), 0..3)) {
        let fields = distinct(changes);
        let component = format!("kind: Component\n{fields}");
        let alone = format!("kind: Component\nresources: [../base]\n{fields}");
        let files = with_files(&files, &[
            ("/over/kustomization.yaml", &format!("resources: [../base]\n{fields}")),
            ("/part/kustomization.yaml", &component),
            ("/top/kustomization.yaml", "resources: [../base]\ncomponents: [../part]"),
            ("/alone/kustomization.yaml", &alone),
        ]);
        let overlay = text_of(&files, "/over");
        prop_assert_eq!(&overlay, &text_of(&files, "/alone").map_err(|reported| reported.replace("/alone/", "/over/")));
        if let (Ok(overlay), Ok(component)) = (overlay, text_of(&files, "/top")) {
            prop_assert_eq!(overlay, component);
        }
    }

    #[test]
    fn tracing_changes_no_object_and_accounts_for_every_field(files in base(), changes in prop::collection::vec(change(), 0..3)) {
        let over = format!("resources: [../base]\n{}", distinct(changes));
        let files = with_files(&files, &[("/over/kustomization.yaml", &over)]);
        match (output_of(&files, "/over", Trace::Off), output_of(&files, "/over", Trace::On)) {
            (Ok(plain), Ok(traced)) => {
                prop_assert_eq!(&plain.objects, &traced.objects);
                for object in traced.objects {
                    let mut again = object.clone();
                    again.record_provenance(&Arc::default());
                    prop_assert_eq!(object.changed_fields(), again.changed_fields());
                }
            }
            (plain, traced) => prop_assert_eq!(plain.unwrap_err(), traced.unwrap_err()),
        }
    }

    // Row: KUS-12
    #[test]
    fn overlays_of_one_base_coexist_under_different_names(files in base()) {
        let files = with_files(&files, &[
            ("/one/kustomization.yaml", "resources: [../base]\nnamePrefix: one-"),
            ("/two/kustomization.yaml", "resources: [../base]\nnamePrefix: two-"),
            ("/both/kustomization.yaml", "resources: [../one, ../two]"),
        ]);
        let documents = |folder: &str| -> Vec<String> {
            let text = text_of(&files, folder).unwrap();
            let mut documents: Vec<String> = text.trim_end().split("\n---\n").map(str::to_owned).collect();
            documents.sort();
            documents
        };
        let mut apart = documents("/one");
        apart.extend(documents("/two"));
        apart.sort();
        prop_assert_eq!(apart, documents("/both"));
    }

    #[test]
    fn any_text_builds_or_is_refused(kustomization in "\\PC{0,80}", field in 0..14_usize, value in "[\\[\\]{}:,&*!|'\" a-z0-9\n-]{0,60}") {
        const FIELDS: [&str; 14] = [
            "resources", "components", "patches", "images", "labels", "replacements", "vars", "configMapGenerator",
            "generators", "transformers", "openapi", "configurations", "replicas", "patchesStrategicMerge",
        ];
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        for text in [kustomization, format!("resources: [a.yaml]\n{}: {value}\n", FIELDS[field])] {
            let files = vec![("/kustomization.yaml".to_owned(), text), ("/a.yaml".to_owned(), format!("{object}x: {value}\n"))];
            prop_assert_eq!(text_of(&files, "/"), text_of(&files, "/"));
        }
    }
}

// Row: KUS-48, KUS-49
#[test]
fn every_combination_of_three_parts_builds() {
    let part = |at: usize| {
        format!(
            "kind: Component\nsecretGenerator: [{{name: s{at}, literals: [k=v]}}]\nconfigMapGenerator: [{{name: conf, behavior: \
             merge, literals: [part{at}=x]}}]\npatches:\n- target: {{kind: Deployment}}\n  patch: '[{{op: add, path: \
             /spec/template/spec/volumes/0, value: {{name: v{at}, secret: {{secretName: s{at}}}}}}}]'\n"
        )
    };
    let mut files: Files = (0..3).map(|at| (format!("/part{at}/kustomization.yaml"), part(at))).collect();
    files.extend(with_files(&Vec::new(), &[
        ("/base/kustomization.yaml", "resources: [d.yaml]\nconfigMapGenerator: [{name: conf, literals: [k=v]}]"),
        (
            "/base/d.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {volumes: [{name: c, \
             configMap: {name: conf}}]}}}\n",
        ),
    ]));
    for choice in 0..8_usize {
        let parts: Vec<usize> = (0..3).filter(|at| choice >> at & 1 == 1).collect();
        let listed: Vec<String> = parts.iter().map(|at| format!("../part{at}")).collect();
        let top = format!("resources: [../base]\ncomponents: [{}]\n", listed.join(", "));
        let text = text_of(&with_files(&files, &[("/top/kustomization.yaml", &top)]), "/top").unwrap();
        for at in 0..3 {
            let marks = text.matches(&format!("part{at}: x")).count()
                + text.matches(&format!("name: v{at}\n")).count();
            assert_eq!(marks, if parts.contains(&at) { 2 } else { 0 }, "{choice}: {text}");
        }
        // The ConfigMap and the workload that mounts it use the same name.
        let made = text.lines().find_map(|line| line.strip_prefix("  name: conf-")).unwrap();
        assert_eq!(text.matches(&format!("name: conf-{made}\n")).count(), 2, "{text}");
    }
}

// Row: KUS-26
#[test]
fn a_component_that_only_adds_objects_equals_an_overlay() {
    let object = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
    let files = |kind: &str, top: &str| -> Files {
        let more = [
            ("/base/kustomization.yaml", "resources: [a.yaml]"),
            ("/base/a.yaml", &*object("a")),
            ("/more/kustomization.yaml", &*format!("kind: {kind}\nresources: [b.yaml]")),
            ("/more/b.yaml", &*object("b")),
            ("/top/kustomization.yaml", top),
        ];
        with_files(&Vec::new(), &more)
    };
    let overlay = text_of(&files("Kustomization", "resources: [../base, ../more]"), "/top");
    let component = text_of(&files("Component", "resources: [../base]\ncomponents: [../more]"), "/top");
    assert!(overlay.is_ok());
    assert_eq!(overlay, component);
}

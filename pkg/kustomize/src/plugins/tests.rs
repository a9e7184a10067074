use snapbox::{assert_data_eq, str};

use crate::tests::build_top as build;

const CONFIG_MAP: &str = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: x}\nliterals: [a=b]\n\
                          options: {disableNameSuffixHash: true}\n";

// Row: KUS-46
#[test]
fn inline_generators_run_before_files_and_folders() {
    let inline = CONFIG_MAP.replace("name: x", "name: inline").replace('\n', "\n  ");
    let (text, _) = build(&[
        ("/top/kustomization.yaml", &format!("generators:\n- a.yaml\n- ../more\n- |-\n  {inline}\n")),
        ("/top/a.yaml", &CONFIG_MAP.replace("literals", "name: file\nliterals")),
        ("/more/kustomization.yaml", "resources: [b.yaml]\nnamePrefix: p-"),
        ("/more/b.yaml", CONFIG_MAP),
    ])
    .unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  name: ")).collect();
    assert_eq!(names, ["inline", "file", "p-x"]);
}

#[test]
fn a_cloud_account_gets_its_service_account() {
    let config = "apiVersion: builtin\nkind: IAMPolicyGenerator\nmetadata: {name: x}\ncloud: gke\n\
                  kubernetesService: {name: k, namespace: ns}\nserviceAccount: {name: s, projectId: p}\n";
    let files = |config| [("/top/kustomization.yaml", "generators: [a.yaml]"), ("/top/a.yaml", config)];
    let expected = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    \
                    iam.gke.io/gcp-service-account: s@p.iam.gserviceaccount.com\n  name: k\n  namespace: ns\n";
    assert_eq!(build(&files(config)).unwrap().0, expected);
    let reported = build(&files(&config.replace("gke", "eks"))).unwrap_err();
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: generators[0]: `IAMPolicyGenerator` in `/top/a.yaml`: `cloud` must be `gke`, not `eks`"
        ]
    );
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{image: i}]}\n---\n\
                   apiVersion: v1\nkind: Service\nmetadata: {name: a}\n";

fn transformed(config: &str) -> Result<String, String> {
    let metadata = if config.starts_with("metadata") { "" } else { "metadata: {name: t}\n" };
    let files = [
        ("/top/kustomization.yaml", "resources: [pod.yaml]\ntransformers: [t.yaml]"),
        ("/top/pod.yaml", POD),
        ("/top/t.yaml", &*format!("apiVersion: builtin\n{metadata}{config}")),
    ];
    build(&files).map(|(text, _)| text)
}

#[test]
fn transformers_write_the_fields_of_their_settings() {
    let spec = |rest: &str| format!("fieldSpecs: [{{kind: Pod, {rest}}}]\n");
    let labels = spec("path: metadata/labels, create: true");
    let (name, count) = (spec("path: metadata/name"), spec("path: spec/replicas, create: true"));
    let cases = [
        (format!("kind: PrefixTransformer\nprefix: p-\n{name}"), "  name: p-a\n"),
        (format!("kind: SuffixTransformer\nsuffix: -s\n{name}"), "  name: a-s\n"),
        (format!("kind: PrefixSuffixTransformer\nprefix: p-\nsuffix: -s\n{name}"), "  name: p-a-s\n"),
        ("kind: ImageTagTransformer\nimageTag: {name: i, newTag: v2}\n".to_owned(), "  - image: i:v2\n"),
        (format!("kind: LabelTransformer\nlabels: {{l: v}}\n{labels}"), "  labels:\n    l: v\n  name: a\n"),
        (
            format!("kind: LabelTransformer\nlabels: {{l: true, m: 42}}\n{labels}"),
            "  labels:\n    l: \"true\"\n    m: \"42\"\n  name: a\n",
        ),
        (format!("kind: AnnotationsTransformer\nannotations: {{l: v}}\n{labels}"), "  labels:\n    l: v\n"),
        ("kind: HashTransformer\n".to_owned(), "  name: a\n"),
        (
            format!("kind: ReplicaCountTransformer\nreplica: {{name: a, count: 3}}\n{count}"),
            "  replicas: 3\n",
        ),
    ];
    for (config, expected) in cases {
        let text = transformed(&config).unwrap();
        assert!(text.contains(expected), "{config}: {text}");
        assert!(text.ends_with("kind: Service\nmetadata:\n  name: a\n"), "{config}: {text}");
    }
    let reported = transformed("kind: PrefixTransformer\nprefix: p-\n").unwrap_err();
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: transformers[0]: `PrefixTransformer` in `/top/t.yaml` requires `fieldSpecs`"
        ]
    );
}

// Row: D-227
#[test]
fn unknown_plugins_are_refused_with_a_reason() {
    let cases = [
        ("builtin", "PrefixTransformr", ""),
        ("builtin", "SecretGenerator", ""),
        ("example.com/v1", "Mine", ""),
        ("v1", "Mine", "annotations: {config.kubernetes.io/function: 'container: {image: x}'}"),
    ];
    let reported = cases.map(|(version, kind, more)| {
        let config = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: t\n  {more}\n");
        let files = [("/top/kustomization.yaml", "transformers: [t.yaml]"), ("/top/t.yaml", &config)];
        build(&files).unwrap_err()
    });
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
/top/kustomization.yaml: transformers[0]: unknown built-in plugin `PrefixTransformr`; did you mean `PrefixTransformer`?
/top/kustomization.yaml: transformers[0]: `SecretGenerator` is not a transformer: list it under `generators`
/top/kustomization.yaml: transformers[0]: `Mine` of `example.com/v1` is a program: capstan runs only built-in plugins (`apiVersion: builtin`)
/top/kustomization.yaml: transformers[0]: `Mine` of `v1` is a container function: capstan runs only built-in plugins (`apiVersion: builtin`)
"#]]
    );
}

// Row: D-236
#[test]
fn all_faulty_settings_are_reported_and_unknown_fields_warn() {
    let reported = transformed("kind: PrefixTransformer\nprefix: 1\nfieldSpecs: {}\n").unwrap_err();
    assert_data_eq!(
        reported.replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml: transformers[0]: `PrefixTransformer` in `/top/t.yaml`: `prefix` must be a string, not a number
/top/kustomization.yaml: transformers[0]: `PrefixTransformer` in `/top/t.yaml`: `fieldSpecs` must be a list, not a mapping
"#]]
    );
    let files = [
        ("/top/kustomization.yaml", "generators: [a.yaml]"),
        ("/top/a.yaml", &*format!("{CONFIG_MAP}label: {{a: b}}\n")),
    ];
    let (_, warnings) = build(&files).unwrap();
    assert_data_eq!(
        warnings.join("\n"),
        str![
            "/top/kustomization.yaml: generators[0]: `ConfigMapGenerator` in `/top/a.yaml`: unknown field `label`"
        ]
    );
}

#[test]
fn a_validator_may_not_change_objects() {
    let config = |prefix: &str| {
        format!(
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {{name: t}}\nprefix: '{prefix}'\n\
                 fieldSpecs: [{{path: metadata/name}}]\n"
        )
    };
    let reported = |prefix: &str| {
        let files = [
            ("/top/kustomization.yaml", "resources: [pod.yaml]\nvalidators: [v.yaml]"),
            ("/top/pod.yaml", POD),
            ("/top/v.yaml", &config(prefix)),
        ];
        build(&files).map(drop)
    };
    assert_eq!(reported(""), Ok(()));
    assert_data_eq!(
        reported("p-").unwrap_err(),
        str![
            "/top/kustomization.yaml: validators[0]: `PrefixTransformer` in `/top/v.yaml` changes objects, but a validator cannot: list it under `transformers`"
        ]
    );
}

#[test]
fn the_namespace_plugin_uses_its_settings() {
    let text = transformed("metadata: {name: t, namespace: ns}\nkind: NamespaceTransformer\n").unwrap();
    assert_eq!(text.matches("  namespace: ns\n").count(), 2, "{text}");
    let reported = transformed("kind: NamespaceTransformer\nsetRoleBindingSubjects: all\n").unwrap_err();
    assert_data_eq!(
        reported,
        str![
            "/top/kustomization.yaml: transformers[0]: `NamespaceTransformer` in `/top/t.yaml`: `setRoleBindingSubjects` must be `defaultOnly`, `allServiceAccounts` or `none`, not `all`"
        ]
    );
}

// Row: D-237
#[test]
fn patches_replacements_and_values_work_as_plugins() {
    let patch = "apiVersion: v1\\nkind: Pod\\nmetadata: {name: a}\\nspec: {x: y}";
    let operation = "[{\\\"op\\\": \\\"add\\\", \\\"path\\\": \\\"/spec/x\\\", \\\"value\\\": \\\"y\\\"}]";
    let target = "target: {kind: Pod, name: a}";
    let cases = [
        format!("kind: PatchTransformer\npatch: \"{patch}\"\n"),
        format!("kind: PatchTransformer\npatch: \"{operation}\"\n{target}\n"),
        format!("kind: PatchStrategicMergeTransformer\npatches: \"{patch}\"\n"),
        format!("kind: PatchJson6902Transformer\njsonOp: \"{operation}\"\n{target}\n"),
        "kind: ReplacementTransformer\nreplacements: [{sourceValue: 'y', targets: [{select: {kind: Pod}, fieldPaths: [spec.x], \
         options: {create: true}}]}]\n"
            .to_owned(),
        "kind: ValueAddTransformer\nvalue: 'y'\ntargets: [{selector: {kind: Pod}, fieldPath: spec/x}]\n".to_owned(),
    ];
    for config in cases {
        let text = transformed(&config).unwrap();
        assert!(text.contains("  x: \"y\"\n"), "{config}: {text}");
    }
}

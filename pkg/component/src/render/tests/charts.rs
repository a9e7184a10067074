//! Charts beyond the recorded cases.

use super::*;

/// Renders a ConfigMap with annotations as the only template of a chart, for a revision.
fn annotated(annotations: &str, revision: i64) -> Result<Vec<Value>, RenderError> {
    let text =
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, annotations: {annotations}}}}}");
    let files: [(&str, &[u8]); 2] = [("Chart.yaml", b"name: demo"), ("templates/a.yaml", text.as_bytes())];
    let tree: MemoryTree = files.into_iter().collect();
    let mut request = RenderRequest::new(&tree, "web", "shop");
    request.revision = revision;
    Ok(render(&request)?.into_iter().map(Object::into_value).collect())
}

/// Returns the annotations of a hook without the prefix, or `None` if it is not deployed.
fn wave(annotations: &str, revision: i64) -> Option<Vec<(String, String)>> {
    let objects = annotated(annotations, revision).expect("a hook");
    let annotations = objects.first()?["metadata"]["annotations"].as_object()?;
    let own = annotations.iter().filter_map(|(key, value)| {
        let name = key.strip_prefix("component-operator.cs.sap.com/")?;
        Some((name.to_owned(), value.as_str()?.to_owned()))
    });
    Some(own.collect())
}

#[test]
fn hooks_of_an_upgrade_run_at_each_change() {
    let pairs = |pairs: &[(&str, &str)]| {
        Some(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>())
    };
    let both = "{helm.sh/hook: 'pre-install,post-upgrade', helm.sh/hook-delete-policy: hook-succeeded}";
    let install = [("apply-order", "-101"), ("purge-order", "-1"), ("reconcile-policy", "once")];
    assert_eq!(wave(both, 1), pairs(&install));
    let upgrade = [
        ("apply-order", "101"),
        ("purge-order", "201"),
        ("reconcile-policy", "on-object-or-component-change"),
    ];
    assert_eq!(wave(both, 2), pairs(&upgrade));
    let only_upgrade = "{helm.sh/hook: pre-upgrade, helm.sh/hook-weight: '5'}";
    assert_eq!(wave(only_upgrade, 1), None);
    let upgrade = [
        ("apply-order", "-96"),
        ("reconcile-policy", "on-object-or-component-change"),
        ("update-policy", "recreate"),
    ];
    assert_eq!(wave(only_upgrade, 2), pairs(&upgrade));
    assert_eq!(wave("{helm.sh/hook: 'test,pre-rollback'}", 2), None);
}

// Row: D-414
#[test]
fn an_annotation_that_is_no_string_is_reported_with_its_object() {
    for annotations in ["{x: 5}", "{helm.sh/hook: pre-install, helm.sh/hook-weight: 5}", "[x]"] {
        let text = annotated(annotations, 1).expect_err("no string").to_string();
        assert!(text.contains("ConfigMap a") && text.contains("templates/a.yaml"), "{text}");
    }
    assert_eq!(names(&annotated("null", 1).expect("an object")), ["a"]);
    let objects = annotated("{helm.sh/hook: pre-install, x: }", 1).expect("a hook");
    assert_eq!(objects[0]["metadata"]["annotations"]["x"], "");
}

#[test]
fn a_hook_outside_the_range_of_weights_is_refused() {
    for weight in ["101", "-101", "x", ""] {
        let annotations = format!("{{helm.sh/hook: pre-install, helm.sh/hook-weight: '{weight}'}}");
        assert!(annotated(&annotations, 1).is_err(), "{weight}");
    }
}

// Row: D-410
#[test]
fn a_chart_without_templates_renders_its_subcharts() {
    let files = [
        (
            "Chart.yaml",
            "name: demo\ndependencies: [{name: sub, alias: other, condition: other.on}, {name: extra, tags: [t]}]",
        ),
        ("values.yaml", "other: {on: true, x: 1}\ntags: {t: false}"),
        ("charts/sub/Chart.yaml", "name: sub"),
        ("charts/sub/values.yaml", "x: 0\nk: 2"),
        (
            "charts/sub/templates/a.yaml",
            &map("{{ .Chart.Name }}-{{ .Values.x }}{{ .Values.k }}{{ .Values.z }}"),
        ),
        ("charts/extra/Chart.yaml", "name: extra"),
        ("charts/extra/templates/a.yaml", "{{ fail \"disabled\" }}"),
    ];
    assert_eq!(rendered_names(&files, json!({"other": {"z": 3}})), ["other-123"]);
}

#[test]
fn a_missing_subchart_is_named() {
    let files = [("Chart.yaml", "name: demo\ndependencies: [{name: gone}]")];
    match rendered(&files, json!({})).expect_err("no subchart").problems.as_slice() {
        [RenderProblem::NoSubchart { name, .. }] => assert_eq!(name, "gone"),
        other => panic!("{other:?}"),
    }
}

/// Renders a chart with one template, and returns the data of its ConfigMap.
fn data(template: &str, files: &[(&str, &[u8])]) -> Result<Value, RenderError> {
    let text = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: {template}}}}}");
    let own: [(&str, &[u8]); 2] =
        [("Chart.yaml", b"{name: demo, version: 1.0.0}"), ("templates/a.yaml", text.as_bytes())];
    let tree: MemoryTree = own.into_iter().chain(files.iter().copied()).collect();
    let objects = render(&RenderRequest::new(&tree, "web", "shop"))?;
    Ok(objects.into_iter().map(Object::into_value).next().unwrap_or_default()["data"]["a"].clone())
}

#[test]
fn files_are_those_of_the_runtime() {
    let files: [(&str, &[u8]); 2] = [("x.txt", b"1"), ("y.bin", b"\x7f")];
    let printed = |template: &str| data(template, &files).expect("data");
    assert_eq!(printed("{{ (.Files.Glob \"*.txt\").AsConfig | quote }}"), json!("x.txt: \"1\"\n"));
    assert_eq!(printed("{{ typeOf .Files }}"), json!("helm.Files"));
    for template in ["{{ (.Files.Glob \"y*\").AsConfig | quote }}", "{{ .Files.Glob \"[\" | quote }}"] {
        assert!(data(template, &files).is_err(), "{template}");
    }
}

#[test]
fn structs_are_json_in_the_order_of_the_runtime() {
    let printed = |template: &str| data(template, &[]).expect("data");
    assert_eq!(
        printed("{{ toJson .Capabilities.KubeVersion | squote }}"),
        json!(r#"{"version":"v1.37.0","major":"1","minor":"37","gitVersion":"v1.37.0"}"#)
    );
    assert_eq!(
        printed("{{ toJson .Template | squote }}"),
        json!(r#"{"name":"templates/a.yaml","basePath":"templates"}"#)
    );
}

#[test]
fn charts_of_another_type_have_no_objects() {
    let files: [(&str, &[u8]); 2] =
        [("Chart.yaml", b"{name: demo, type: other}"), ("templates/a.yaml", b"{{ fail \"x\" }}")];
    let tree: MemoryTree = files.into_iter().collect();
    assert_eq!(render(&RenderRequest::new(&tree, "web", "shop")).expect("no objects").len(), 0);
}

#[test]
fn an_import_of_values_is_a_name_or_two_paths() {
    for (import, is_valid) in
        [("name", true), ("{child: a, parent: b}", true), ("1", false), ("{child: [a]}", false)]
    {
        let metadata = format!("{{name: demo, dependencies: [{{name: sub, import-values: [{import}]}}]}}");
        let files: [(&str, &[u8]); 2] =
            [("Chart.yaml", metadata.as_bytes()), ("charts/sub/Chart.yaml", b"name: sub")];
        let tree: MemoryTree = files.into_iter().collect();
        assert_eq!(render(&RenderRequest::new(&tree, "web", "shop")).is_ok(), is_valid, "{import}");
    }
}

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

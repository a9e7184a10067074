use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::kustomization::entries::{FieldSpecEntry, VarField};
use crate::resource::ObjectOrigin;
use crate::tests::build_in;
use crate::{BuildOptions, TreePath};

/// Builds `/top`. Returns the errors, or else the warnings.
fn messages(files: &[(&str, &str)]) -> String {
    match build_in("/top", files, BuildOptions::default()) {
        Ok(output) => {
            let warnings = output.warnings.iter().filter(|problem| problem.error.is::<VarError>());
            warnings.map(ToString::to_string).collect::<Vec<_>>().join("; ")
        }
        Err(report) => report.to_string(),
    }
}

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n";

fn var(name: &str, object: &str, field: &str) -> String {
    format!("{{name: {name}, objref: {{apiVersion: v1, {object}}}, fieldref: {{fieldPath: '{field}'}}}}")
}

#[test]
fn faults_and_unused_variables_are_reported_with_their_place() {
    let vars = [
        var("A", "kind: Service, name: s", ""),
        var("A", "kind: Service, name: s", "spec.ports[0].port"),
        var("B", "kind: Service, name: gone", ""),
        var("C", "kind: Service, name: s", "spec.none"),
        var("D", "kind: Service, name: s", "spec"),
    ];
    let text = format!("resources: [s.yaml]\nvars: [{}]", vars.join(", "));
    let files = |text| [("/top/kustomization.yaml", text), ("/top/s.yaml", SERVICE)];
    assert_data_eq!(
        messages(&files(&text)).replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml: vars[1]: duplicate variable `A`: in /top/kustomization.yaml: vars[0] and in /top/kustomization.yaml: vars[1]
/top/kustomization.yaml: vars[2]: cannot read variable `B`: no object `Service.v1.[noGrp]/gone.[noNs]`
/top/kustomization.yaml: vars[3]: cannot read variable `C` from `spec.none` of `Service.v1.[noGrp]/s.[noNs]`: `none` not found
"#]]
    );
    let text = format!("resources: [s.yaml]\nvars: [{}, {}]", vars[0], vars[4]);
    assert_data_eq!(
        messages(&files(&text)).replace("; /top", "\n/top"),
        str![[r#"
/top/kustomization.yaml: vars[0]: the variable `A` is unused
/top/kustomization.yaml: vars[1]: the variable `D` is a mapping and is not substituted: text can contain only single values
"#]]
    );
}

#[test]
fn variables_of_two_targets_must_have_different_names() {
    let child = |name: &str| {
        format!(
            "resources: [s.yaml]\nnamePrefix: {name}-\nvars: [{}]",
            var("A", "kind: Service, name: s", "")
        )
    };
    let (one, two) = (child("one"), child("two"));
    let text = messages(&[
        ("/top/kustomization.yaml", "resources: [one, two]"),
        ("/top/one/kustomization.yaml", &one),
        ("/top/one/s.yaml", SERVICE),
        ("/top/two/kustomization.yaml", &two),
        ("/top/two/s.yaml", SERVICE),
    ]);
    assert_data_eq!(
        text,
        str![
            "/top/kustomization.yaml: resources[1]: duplicate variable `A`: in /top/kustomization.yaml > /top/one/kustomization.yaml: vars[0] and in /top/kustomization.yaml > /top/two/kustomization.yaml: vars[0]"
        ]
    );
}

#[test]
fn a_target_without_a_namespace_must_be_unambiguous() {
    let wanted = id_of(&VarObject {
        api_version: "apps/v1".into(),
        kind: "Deployment".into(),
        name: "a".into(),
        ..VarObject::default()
    });
    let id = |namespace: &str| ResId::new(wanted.gvk.clone(), "a", namespace);
    assert!(matches_id(&wanted, &id("")) && matches_id(&wanted, &id("x")));
    assert!(matches_id(&id("x"), &id("x")) && !matches_id(&id("x"), &id("y")));
    assert_eq!(&*wanted.gvk.group, "apps");
    assert_eq!(field_of(&Var { field: VarField::default(), ..Var::default() }), "metadata.name");
}

// Row: D-237
#[test]
fn variables_are_replaced_in_strings_lists_and_mappings_only() {
    let object = |spec: &Value| {
        let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec});
        Resource::new(Object::try_from(value).unwrap(), Arc::new(ObjectOrigin::File(TreePath::new("a"))))
    };
    let spec = json!({"one": "$(N)", "list": ["$(N)", "-$(N)", 1], "map": {"a": "$(N)", "b": {"c": "$(N)"}}, "no": "$(N)"});
    let mut objects = Accumulator::default();
    objects.append(object(&spec)).unwrap();
    let mut values = VariableValues::default();
    values.add("N", json!(7));
    let entry = |path: &str| FieldSpecEntry { path: path.into(), create: true, ..FieldSpecEntry::default() };
    let paths = ["spec/one", "spec/list", "spec/map", "spec/none"];
    let fields: FieldTable = paths.map(|path| entry(path).into()).into_iter().collect();
    replace(&mut values, &fields, &mut objects);
    let expected = json!({"one": 7, "list": [7, "-7", 1], "map": {"a": 7, "b": {"c": "$(N)"}}, "no": "$(N)"});
    assert_eq!(objects.iter().next().unwrap().1.object.get(&["spec"]), Some(&expected));
}

#[test]
fn a_list_name_may_be_followed_by_an_index() {
    let cases = [
        ("spec.ports[0].port", "spec.ports.0.port"),
        ("spec.ports.[1]", "spec.ports.1"),
        ("spec.ports.0", "spec.ports.0"),
        ("a[1][2]", "a.1.2"),
        ("a.[name=x.y].b", "a.[name=x.y].b"),
        ("metadata.annotations.[a.b/c]", "metadata.annotations.[a.b/c]"),
    ];
    for (path, expected) in cases {
        assert_eq!(with_steps(path), expected, "{path}");
    }
}

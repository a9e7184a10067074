use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;

/// Merges a patch into the `spec` of an object, both given as YAML.
fn merged(kind: &str, spec: &str, patch: &str) -> Result<Value, String> {
    let read = |text: &str| yaml::read_value(text, &manifest::YamlLimits::default()).unwrap();
    let (api_version, kind) = kind.rsplit_once('/').unwrap();
    let object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": read(spec)});
    let mut object = Object::try_from(object).unwrap();
    let Value::Object(patch) = json!({"spec": read(patch)}) else { unreachable!() };
    merge(&mut object, &patch, None, &Schema::default()).map_err(|problem| problem.to_string())?;
    Ok(object.get(&["spec"]).cloned().unwrap_or_default())
}

fn check(kind: &str, cases: &[(&str, &str, &str)]) {
    for (spec, patch, expected) in cases {
        let expected = yaml::read_value(expected, &manifest::YamlLimits::default()).unwrap();
        assert_eq!(merged(kind, spec, patch), Ok(expected), "{spec} <- {patch}");
    }
}

#[test]
fn mappings_merge_null_deletes_and_plain_lists_are_replaced() {
    check(
        "example.com/v1/Widget",
        &[
            ("{a: 1, b: {c: 1, d: 1}}", "{b: {c: 2, d: null}}", "{a: 1, b: {c: 2}}"),
            ("{a: {b: 1}}", "{a: {b: null}}", "{a: {}}"),
            ("{}", "{a: null, b: {c: null}, l: [{n: null}]}", "{b: {}, l: [{n: null}]}"),
            ("{a: null, x: 1}", "{x: 2}", "{a: null, x: 2}"),
            ("{l: [{name: a}]}", "{l: [{name: b}]}", "{l: [{name: b}]}"),
            ("{l: [1]}", "{l: []}", "{l: []}"),
            ("{containers: [{name: a}]}", "{containers: [{name: b}]}", "{containers: [{name: b}]}"),
        ],
    );
}

#[test]
fn list_elements_with_one_key_follow_the_order_of_the_patch() {
    check(
        "v1/Pod",
        &[
            (
                "{containers: [{name: a, image: a}, {name: b, image: b}, {name: c}]}",
                "{containers: [{name: n}, {name: b, args: [x]}]}",
                "{containers: [{name: n}, {name: b, image: b, args: [x]}, {name: a, image: a}, {name: c}]}",
            ),
            ("{volumes: [{name: a}]}", "{volumes: [{name: a, $patch: delete}]}", "{volumes: []}"),
            ("{volumes: [{name: a}]}", "{volumes: [{name: b, $patch: delete}]}", "{volumes: [{name: a}]}"),
            ("{}", "{volumes: [{name: b, $patch: delete}, {name: c, x: null}]}", "{volumes: [{name: c}]}"),
            ("{volumes: [{name: a}]}", "{volumes: [{name: z}, {$patch: replace}]}", "{volumes: [{name: z}]}"),
            ("{volumes: [{name: a}]}", "{volumes: [{name: z}, {$patch: delete}]}", "{}"),
            ("{volumes: [{name: a}]}", "{volumes: []}", "{volumes: [{name: a}]}"),
            (
                "{volumes: [{name: a, x: 1}, {name: b}]}",
                "{volumes: [{name: b, y: 1, $patch: replace}]}",
                "{volumes: [{name: b}, {name: a, x: 1}]}",
            ),
            (
                "{}",
                "{containers: [{name: a, env: [{value: x}]}]}",
                "{containers: [{name: a, env: [{value: x}]}]}",
            ),
        ],
    );
}

#[test]
fn new_list_elements_with_several_keys_come_first() {
    let ports = |ports: &str| format!("{{ports: {ports}}}");
    for (old, patch, expected) in [
        ("[{port: 80, targetPort: 1}]", "[{port: 80, targetPort: 2}]", "[{port: 80, targetPort: 2}]"),
        (
            "[{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]",
            "[{port: 80, protocol: UDP, name: u}]",
            "[{port: 80, protocol: TCP}, {port: 80, protocol: UDP, name: u}]",
        ),
        ("[{port: 80}, {port: 90}]", "[{port: 81}]", "[{port: 81}, {port: 80}, {port: 90}]"),
        ("[{port: 80}, {port: 90}]", "[{port: 90, $patch: delete}]", "[{port: 80}]"),
        ("[{port: 80}]", "[{protocol: TCP}]", "[{protocol: TCP}, {port: 80}]"),
        // kustomize treats these elements as the same and keeps the existing one.
        ("[{port: 80, name: a}]", "[{port: 80, protocol: TCP, name: b}]", "[{port: 80, name: a}]"),
        (
            "[{port: 80, protocol: TCP, name: a}]",
            "[{port: 80, name: b}]",
            "[{port: 80, protocol: TCP, name: a}]",
        ),
    ] {
        check("v1/Service", &[(&ports(old), &ports(patch), &ports(expected))]);
    }
}

#[test]
fn directives_apply_to_mappings_and_foreign_ones_are_fields() {
    check(
        "apps/v1/Deployment",
        &[
            (
                "{a: {b: 1, c: 2}}",
                "{a: {$patch: replace, d: 1, e: null, f: {g: null}}}",
                "{a: {d: 1, f: {}}}",
            ),
            ("{a: {b: 1}}", "{a: {$patch: delete}}", "{}"),
            ("{x: 1}", "{a: {$patch: delete, b: 1}, c: {$patch: merge, d: 1}}", "{x: 1, c: {d: 1}}"),
            ("{x: 1}", "{$retainKeys: [x]}", "{x: 1, $retainKeys: [x]}"),
        ],
    );
}

#[test]
fn sets_keep_each_value_once_and_embedded_objects_have_their_own_keys() {
    let mut object = Object::try_from(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "finalizers": ["a", "b"]}}))
    .unwrap();
    let Value::Object(patch) = json!({"metadata": {"finalizers": ["c", "b"]}}) else { unreachable!() };
    merge(&mut object, &patch, None, &Schema::default()).unwrap();
    assert_eq!(object.get(&["metadata", "finalizers"]), Some(&json!(["c", "b", "a"])));
    check(
        "example.com/v1/Widget",
        &[(
            "{base: {apiVersion: v1, kind: Pod, spec: {volumes: [{name: a}]}}}",
            "{base: {spec: {volumes: [{name: b}]}}}",
            "{base: {apiVersion: v1, kind: Pod, spec: {volumes: [{name: b}, {name: a}]}}}",
        )],
    );
}

#[test]
fn a_quoted_string_stays_a_string() {
    check(
        "example.com/v1/Widget",
        &[("{a: '1', b: x, c: 1}", "{a: 2, b: 2, c: '2'}", "{a: '2', b: 2, c: '2'}")],
    );
}

// Row: D-235
#[test]
fn merge_conflicts_are_refused_with_their_path() {
    let refused = |spec: &str, patch: &str| merged("v1/Pod", spec, patch).unwrap_err();
    let reported = [
        ("{x: {k: 1}}", "{x: {k: {z: 1}}}"),
        ("{x: [1]}", "{x: {y: 1}}"),
        ("{x: {y: 1}}", "{x: q}"),
        ("{containers: [{name: a}]}", "{containers: [{image: z}]}"),
        ("{containers: [{name: a}]}", "{containers: [z]}"),
        ("{}", "{x: {$patch: foo}}"),
    ]
    .map(|(spec, patch)| refused(spec, patch));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`spec.x.k` is a mapping in the patch and a number in the object
`spec.x` is a mapping in the patch and a list in the object
`spec.x` is a string in the patch and a mapping in the object
an element of `spec.containers` has no merge key `name`
`spec.containers[]` is a string in the patch and a mapping in the object
`$patch` in `spec.x` must be `delete`, `replace` or `merge`
"#]]
    );
}

#[test]
fn a_merge_key_missing_from_every_element_is_ignored() {
    check(
        "v1/Service",
        &[
            (
                "{ports: [{port: 80}, {port: 443}]}",
                "{ports: [{port: 443, name: tls}, {port: 9090}]}",
                "{ports: [{port: 443, name: tls}, {port: 9090}, {port: 80}]}",
            ),
            (
                "{ports: [{port: 80}, {port: 443, protocol: TCP}]}",
                "{ports: [{port: 443, name: tls, protocol: TCP}, {port: 9090}]}",
                "{ports: [{port: 9090}, {port: 80}, {port: 443, name: tls, protocol: TCP}]}",
            ),
        ],
    );
}

// Row: D-244
#[test]
fn the_last_of_duplicate_elements_replaces_the_first() {
    check(
        "v1/Pod",
        &[
            (
                "{volumes: [{name: a, x: 1}, {name: b}, {name: a, x: 2}]}",
                "{volumes: [{name: c}]}",
                "{volumes: [{name: c}, {name: a, x: 2}, {name: b}]}",
            ),
            (
                "{volumes: [{name: a, x: 1}, {name: a, x: 2}]}",
                "{volumes: [{name: a, y: 3}]}",
                "{volumes: [{name: a, x: 2, y: 3}]}",
            ),
            (
                "{}",
                "{volumes: [{name: a, x: 1}, {name: b}, {name: a, x: 2}]}",
                "{volumes: [{name: a, x: 2}, {name: b}]}",
            ),
            (
                "{volumes: []}",
                "{volumes: [{name: a, x: 1}, {name: a, x: 2}]}",
                "{volumes: [{name: a, x: 1}]}",
            ),
        ],
    );
}

// Row: D-244
#[test]
fn equal_ports_are_kept_if_one_has_no_protocol() {
    let ports = "[{containerPort: 53, protocol: UDP}, {containerPort: 53, name: tcp}]";
    let spec = format!("{{containers: [{{name: c, ports: {ports}}}]}}");
    let expected = format!("{{containers: [{{name: c, ports: {ports}}}], hostNetwork: true}}");
    check("v1/Pod", &[(&spec, "{hostNetwork: true}", &expected)]);
}

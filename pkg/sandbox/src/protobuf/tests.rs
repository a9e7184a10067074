mod fixtures;

use serde_json::json;

use super::*;

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn decoded(digits: &str) -> Value {
    decode(&bytes(digits)).unwrap()
}

#[test]
fn a_decoded_pod_equals_its_json() {
    assert_eq!(
        decoded(fixtures::POD),
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "labels": {"app": "web"}, "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {
                "activeDeadlineSeconds": 0,
                "enableServiceLinks": false,
                "containers": [{
                    "name": "main",
                    "image": "nginx",
                    "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                    "ports": [{"containerPort": 80}],
                    "resources": {"limits": {"cpu": "100m"}},
                    "livenessProbe": {"httpGet": {"path": "/", "port": "web"}},
                }],
                "volumes": [{"name": "tmp", "emptyDir": {}}],
            },
            "status": {},
        })
    );
}

#[test]
fn bytes_nested_lists_and_any_objects_are_decoded() {
    assert_eq!(decoded(fixtures::SECRET)["data"], json!({"key": "AQL/"}));
    assert_eq!(decoded(fixtures::REVIEW)["spec"], json!({"user": "u", "extra": {"k": ["a", "b"]}}));
    let revision = decoded(fixtures::REVISION);
    assert_eq!((&revision["data"], &revision["revision"]), (&json!({"spec": {"a": 1}}), &json!(3)));
}

#[test]
fn a_micro_time_keeps_its_microseconds() {
    assert_eq!(
        decoded(fixtures::LEASE)["spec"],
        json!({"holderIdentity": "h", "leaseTransitions": 0, "renewTime": "2026-01-02T03:04:05.000600Z"})
    );
}

#[test]
fn a_nested_message_field_is_decoded() {
    let policy = decoded(fixtures::POLICY);
    assert_eq!(
        policy["spec"]["matchConstraints"]["resourceRules"],
        json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"], "scope": "*"}])
    );
}

#[test]
fn a_schema_union_is_decoded() {
    let version = &decoded(fixtures::DEFINITION)["spec"]["versions"][0];
    assert_eq!(
        version["schema"]["openAPIV3Schema"]["properties"],
        json!({
            "a": {"type": "array", "default": [1], "minItems": 0, "items": {"type": "integer", "maximum": 1.5}},
            "b": {"additionalProperties": true, "x-kubernetes-map-type": "atomic"},
            "c": {"enum": ["x", null], "additionalProperties": {"type": "string"}},
        })
    );
    assert_eq!(version["subresources"], json!({"status": {}}));
}

#[test]
fn delete_options_exist_in_every_version() {
    assert_eq!(
        decoded(fixtures::DELETE_OPTIONS),
        json!({
            "apiVersion": "apps/v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": "u"},
        })
    );
}

#[test]
fn invalid_protobuf_is_refused_with_a_reason() {
    // Type meta `{1: "x/v1", 2: "Y"}`.
    let foreign = b"k8s\0\x0a\x09\x0a\x04x/v1\x12\x01Y";
    for (body, message) in [
        (
            &b"{}"[..],
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        ),
        (b"k8s\0\x0a\x7f", "unexpected EOF"),
        (b"k8s\0", "no kind \"\" is registered for version \"\""),
        (foreign, "no kind \"Y\" is registered for version \"x/v1\""),
    ] {
        let status = decode(body).unwrap_err();
        assert_eq!((status.code, &*status.reason, &*status.message), (400, "BadRequest", message));
    }
}

#[test]
fn truncated_or_modified_protobuf_never_panics() {
    let whole = bytes(fixtures::DEFINITION);
    for end in 0..whole.len() {
        let _ = decode(&whole[..end]);
        let mut changed = whole.clone();
        changed[end] ^= 0x55;
        let _ = decode(&changed);
    }
}

#[test]
fn deeply_nested_protobuf_is_refused() {
    // Nests 200 schemas through `not` (field 28) in a version of a definition.
    let wrap = |number: u64, inner: &[u8]| {
        let varint = |mut value: u64| {
            let mut bytes = Vec::new();
            while value >= 0x80 {
                bytes.push(value.to_le_bytes()[0] | 0x80);
                value >>= 7;
            }
            bytes.push(value.to_le_bytes()[0]);
            bytes
        };
        [varint(number << 3 | 2), varint(inner.len() as u64), inner.to_vec()].concat()
    };
    let schema = (0..200).fold(Vec::new(), |inner, _| wrap(28, &inner));
    let spec = wrap(7, &wrap(4, &wrap(1, &schema)));
    let meta = [wrap(1, b"apiextensions.k8s.io/v1"), wrap(2, b"CustomResourceDefinition")].concat();
    let body = [b"k8s\0".to_vec(), wrap(1, &meta), wrap(2, &wrap(2, &spec))].concat();
    assert_eq!(decode(&body).unwrap_err().message, "the body is nested too deeply");
}

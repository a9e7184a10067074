//! Tests of ownership changes. All expectations were measured on kube-apiserver 1.36.

mod laws;
pub(crate) mod schema_reader;

use serde_json::{Value, json};

use super::*;
use crate::schema::SchemaRoot;

const TIME: &str = "2026-01-01T00:00:00Z";

/// A schema with every kind of list and map.
pub(super) fn schema() -> SchemaRoot {
    let text = json!({"type": "string"});
    let item = json!({
        "type": "object",
        "required": ["port"],
        "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": text},
    });
    let spec = json!({
        "type": "object",
        "properties": {
            "a": text,
            "replicas": {"type": "integer"},
            "data": {"type": "object", "additionalProperties": text},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": item,
            },
            "atomic": {"type": "array", "items": text},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": text, "y": text}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let status = json!({"type": "object", "properties": {"x": text}});
    schema_reader::read(
        &json!({"type": "object", "properties": {"spec": spec, "status": status}}),
        &Value::Null,
    )
}

/// A server with one kind.
pub(super) struct Server {
    schema: SchemaRoot,
    empty: Value,
    pub(super) live: Option<Value>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self { schema: schema(), empty: json!({"apiVersion": "x.io/v1", "kind": "Thing"}), live: None }
    }

    fn holding(object: Value) -> Self {
        Self { live: Some(object), ..Self::new() }
    }

    fn target(&self) -> TrackedKind<'_> {
        TrackedKind {
            kind: "Thing",
            schema: self.schema.schema(),
            other_versions: &[],
            empty_object: &self.empty,
            reset_fields: &[&["status"]],
        }
    }

    pub(super) fn apply(&mut self, name: &str, spec: Value, force: bool) -> Result<(), Status> {
        let manager = Manager { name, subresource: "", api_version: "x.io/v1", time: TIME };
        let object = apply(self.live.as_ref(), &thing(spec), self.target(), manager, force)?;
        self.live = Some(object);
        Ok(())
    }

    /// Applies `change` to the live object, or to an empty one, and stores the result.
    fn update(&mut self, name: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        let mut new = self.live.clone().unwrap_or_else(|| thing(json!({})));
        change(&mut new);
        let manager = Manager { name, subresource, api_version: "x.io/v1", time: TIME };
        let reset: &[&[&str]] = if subresource.is_empty() { &[&["status"]] } else { &[&["spec"]] };
        track_update(
            self.live.as_ref(),
            &mut new,
            TrackedKind { reset_fields: reset, ..self.target() },
            manager,
        );
        self.live = Some(new);
    }

    pub(super) fn spec(&self) -> Value {
        self.live.as_ref().unwrap()["spec"].clone()
    }

    /// Returns the owners as `name operation fields`, one per entry, in order.
    pub(super) fn owners(&self) -> Vec<String> {
        let entries = managed::entries(self.live.as_ref().unwrap()).cloned().unwrap_or_default();
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        entries
            .iter()
            .map(|e| format!("{} {} {}", text(e, "manager"), text(e, "operation"), e["fieldsV1"]["f:spec"]))
            .collect()
    }
}

pub(super) fn thing(spec: Value) -> Value {
    let mut thing = json!({"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "t"}});
    thing["spec"] = spec;
    thing
}

#[test]
fn a_creator_owns_every_field_except_identity() {
    let mut server = Server::new();
    server.update("me", "", |new| {
        new["metadata"]["labels"] = json!({"l": "1"});
        new["spec"] = json!({"a": "x", "set": ["v"], "ports": [{"port": 1}], "whole": {"x": "1"}});
        new["status"] = json!({"x": "ignored"});
    });
    let expected = json!([{
        "manager": "me", "operation": "Update", "apiVersion": "x.io/v1", "time": TIME, "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {"f:labels": {".": {}, "f:l": {}}},
            "f:spec": {
                ".": {}, "f:a": {}, "f:whole": {},
                "f:set": {".": {}, "v:\"v\"": {}},
                "f:ports": {".": {}, "k:{\"port\":1,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}},
            },
        },
    }]);
    assert_eq!(server.live.unwrap()["metadata"]["managedFields"], expected);
}

#[test]
fn an_apply_conflict_names_the_other_managers() {
    let mut server = Server::new();
    server.apply("a", json!({"a": "1", "replicas": 1}), false).unwrap();
    server.update("kubectl", "", |new| new["spec"]["data"] = json!({"x": "1"}));

    let one = server.apply("b", json!({"data": {"x": "2"}}), false).unwrap_err();
    assert_eq!((one.code, &*one.reason), (409, "Conflict"));
    assert_eq!(
        one.message,
        "Apply failed with 1 conflict: conflict with \"kubectl\" using x.io/v1: .spec.data.x"
    );

    let many = server.apply("b", json!({"a": "2", "replicas": 2, "data": {"x": "2"}}), false).unwrap_err();
    assert_eq!(
        many.message,
        "Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.a\n- .spec.replicas\nconflicts with \
         \"kubectl\" using x.io/v1:\n- .spec.data.x"
    );
    let causes = many.details.unwrap().causes;
    assert_eq!(causes.len(), 3);
    assert_eq!((&*causes[0].reason, &*causes[0].message), ("FieldManagerConflict", "conflict with \"a\""));
    assert_eq!(causes[0].field, ".spec.a");
}

#[test]
fn force_takes_ownership_and_equal_values_are_shared() {
    let mut server = Server::new();
    server.apply("a", json!({"a": "1", "replicas": 1}), false).unwrap();
    server.apply("b", json!({"a": "1", "replicas": 2}), true).unwrap();
    assert_eq!(server.owners(), [r#"a Apply {"f:a":{}}"#, r#"b Apply {"f:a":{},"f:replicas":{}}"#]);
}

#[test]
fn dropped_fields_are_removed_unless_co_owned() {
    let mut server = Server::new();
    server
        .apply("a", json!({"a": "1", "data": {"x": "1", "y": "1"}, "ports": [{"port": 1}]}), false)
        .unwrap();
    server.apply("b", json!({"data": {"y": "1"}}), false).unwrap();
    server.update("c", "", |new| new["spec"]["data"]["z"] = "1".into());
    server.apply("a", json!({"a": "2"}), false).unwrap();
    assert_eq!(server.spec(), json!({"a": "2", "data": {"y": "1", "z": "1"}}));
}

#[test]
fn applied_items_are_merged_into_the_live_list() {
    let names = |server: &Server| -> Vec<String> {
        let spec = server.spec();
        spec["set"].as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    for (live, applied, expected) in [
        (&["a", "b", "c"][..], &["x", "b"][..], &["a", "x", "b", "c"][..]),
        (&["a", "b", "c"], &["c", "a"], &["b", "c", "a"]),
        (&["a", "b"], &["c", "d"], &["a", "b", "c", "d"]),
        (&["a", "b", "c", "d"], &["d", "x", "b"], &["a", "c", "d", "x", "b"]),
    ] {
        let mut server = Server::new();
        server.update("me", "", |new| new["spec"]["set"] = json!(live));
        server.apply("a", json!({"set": applied}), true).unwrap();
        assert_eq!(names(&server), expected, "{applied:?} over {live:?}");
    }
}

#[test]
fn an_untracked_object_belongs_to_before_first_apply() {
    let mut server = Server::holding(thing(json!({"a": "1", "replicas": 1})));
    server.update("nobody", "", |new| new["spec"]["data"] = json!({"x": "1"}));
    assert!(server.owners().is_empty());
    server.apply("a", json!({"replicas": 2}), true).unwrap();
    assert_eq!(
        server.owners(),
        [
            r#"a Apply {"f:replicas":{}}"#,
            r#"before-first-apply Update {".":{},"f:a":{},"f:data":{".":{},"f:x":{}}}"#
        ]
    );
}

#[test]
fn managed_fields_can_be_reset_but_not_broken() {
    let mut server = Server::new();
    server.apply("a", json!({"a": "1"}), false).unwrap();
    let before = server.owners();
    for harmless in [Value::Null, json!([{"manager": "x", "operation": "Nope", "apiVersion": "v1"}])] {
        server.update("b", "", |new| new["metadata"]["managedFields"] = harmless);
        assert_eq!(server.owners(), before);
    }
    server.update("b", "", |new| new["metadata"]["managedFields"] = json!([{}]));
    assert!(server.owners().is_empty());
}

#[test]
fn the_status_subresource_owns_status_alone() {
    let mut server = Server::new();
    server.apply("a", json!({"a": "1"}), false).unwrap();
    server.update("b", "status", |new| {
        new["spec"]["a"] = "2".into();
        new["status"] = json!({"x": "1"});
    });
    let live = server.live.unwrap();
    let entries = managed::entries(&live).unwrap();
    assert_eq!(entries[1]["subresource"], "status");
    assert_eq!(entries[1]["fieldsV1"], json!({"f:status": {".": {}, "f:x": {}}}));
    assert_eq!(entries[0]["fieldsV1"], json!({"f:spec": {"f:a": {}}}));
}

#[test]
fn entries_of_scale_have_no_time() {
    let mut server = Server::new();
    server.apply("a", json!({"replicas": 1}), false).unwrap();
    server.update("b", "scale", |new| new["status"] = json!({"x": "1"}));
    let live = server.live.unwrap();
    let entry = &managed::entries(&live).unwrap()[1];
    assert_eq!((&entry["subresource"], entry.get("time")), (&json!("scale"), None));
}

#[test]
fn entries_of_unserved_versions_are_dropped() {
    let mut server = Server::new();
    server.apply("a", json!({"a": "1"}), false).unwrap();
    server.update("b", "", |new| {
        new["metadata"]["managedFields"][0]["apiVersion"] = "x.io/v0".into();
        new["spec"]["replicas"] = 1.into();
    });
    assert_eq!(server.owners(), [r#"b Update {"f:replicas":{}}"#]);
}

#[test]
fn more_than_ten_updaters_are_merged_into_one_entry() {
    let mut server = Server::new();
    server.apply("a", json!({}), false).unwrap();
    for i in 0..12 {
        server.update(&format!("u{i:02}"), "", |new| new["spec"]["data"][format!("k{i:02}")] = "1".into());
    }
    let owners = server.owners();
    assert_eq!(owners.len(), 11, "{owners:?}");
    assert!(owners.iter().any(|owner| {
        owner.starts_with("ancient-changes") && owner.contains("f:k00") && owner.contains("f:k02")
    }));
}

#[test]
fn kubectl_migrates_client_side_apply() {
    let mut server = Server::new();
    let applied = thing(json!({"a": "1"})).to_string();
    server.update("kubectl-client-side-apply", "", |new| {
        new["spec"] = json!({"a": "1"});
        new["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    });
    assert_eq!(server.apply("other", json!({"a": "2"}), false).unwrap_err().code, 409);
    server.apply("kubectl", json!({"a": "2"}), false).unwrap();
    let live = server.live.unwrap();
    assert_eq!(
        live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
        "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"t\"},\"spec\":{\"a\":\"2\"}}\n"
    );
}

#[test]
fn apply_schema_errors_have_the_text_of_the_real_server() {
    let mut server = Server::new();
    for (spec, message) in [
        (json!({"a": 1}), ".spec.a: expected string, got &value.valueUnstructured{Value:1}"),
        (json!({"data": [{"b": null}]}), ".spec.data: expected map, got &{[map[b:<nil>]]}"),
        (json!({"replicas": "x"}), ".spec.replicas: expected numeric (int or float), got string"),
        (
            json!({"a": 1, "nope": 1}),
            "errors:\n  .spec.a: expected string, got &value.valueUnstructured{Value:1}\n  .spec.nope: field not \
             declared in schema",
        ),
        (
            json!({"ports": [{"port": 1}, {"port": 1}]}),
            ".spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]",
        ),
        (
            json!({"ports": [null]}),
            ".spec.ports: element 0: associative list with keys may not have a null element",
        ),
    ] {
        let status = server.apply("a", spec, false).unwrap_err();
        let expected = format!("failed to create typed patch object (/t; x.io/v1, Kind=Thing): {message}");
        assert_eq!((status.code, status.message), (500, expected));
    }
}

#[test]
fn a_configuration_of_another_kind_or_with_managed_fields_is_refused() {
    let server = Server::new();
    let manager = Manager { name: "a", subresource: "", api_version: "x.io/v1", time: TIME };
    let refused = |configuration: Value| {
        apply(None, &configuration, server.target(), manager, false).unwrap_err().message
    };
    assert_eq!(refused(json!({"kind": "Pod", "apiVersion": "v1"})), "invalid object type: /v1, Kind=Pod");
    let mut configuration = thing(json!({}));
    configuration["metadata"]["managedFields"] = json!([]);
    assert_eq!(refused(configuration), "metadata.managedFields must be nil");
}

#[test]
fn a_write_without_effect_keeps_timestamps() {
    let mut server = Server::new();
    server.update("a", "", |new| new["spec"] = json!({"a": "1"}));
    let live = server.live.unwrap();
    let mut later = live.clone();
    later["metadata"]["managedFields"][0]["time"] = "2027-01-01T00:00:00Z".into();
    let mut changed = later.clone();
    changed["spec"]["a"] = "2".into();
    restore_times(&live, &mut later);
    assert_eq!(later, live);
    let expected = changed.clone();
    restore_times(&live, &mut changed);
    assert_eq!(changed, expected);
}

#[test]
fn items_with_equal_keys_are_owned_together() {
    let mut server = Server::new();
    server.update("a", "", |new| {
        new["spec"] = json!({"ports": [{"port": 1, "name": "x"}, {"port": 1, "name": "y"}]});
    });
    let key = r#""k:{\"port\":1,\"protocol\":\"TCP\"}""#;
    assert_eq!(server.owners(), [format!(r#"a Update {{".":{{}},"f:ports":{{".":{{}},{key}:{{}}}}}}"#)]);
    server.apply("b", json!({"ports": [{"port": 1, "name": "z"}]}), true).unwrap();
    assert_eq!(server.spec(), json!({"ports": [{"port": 1, "name": "z"}]}));
}

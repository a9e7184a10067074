//! Tests of complete definitions and objects. A real kube-apiserver 1.36.3 produced the expected errors.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{fill_defaults, prune, resources, set_defaults, status, validate, validate_object, warnings};
use crate::{
    kinds::{ResourceType, version_priority},
    status::FieldError,
};

fn definition(schema: &Value) -> Value {
    let mut definition = json!({
        "metadata": { "name": "things.ex.dev" },
        "spec": {
            "group": "ex.dev",
            "scope": "Cluster",
            "names": { "plural": "things", "kind": "Thing" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    });
    set_defaults(&mut definition);
    definition
}

fn resource(spec: &Value) -> Arc<ResourceType> {
    resources(&definition(&json!({ "type": "object", "properties": { "spec": spec } }))).remove(0)
}

fn lines(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// Prunes and defaults an object with this spec, and returns its errors as text.
fn validation_errors(resource: &ResourceType, spec: &Value, old: Option<&Value>) -> Vec<String> {
    let object = |spec: &Value| {
        let mut object = json!({ "apiVersion": "ex.dev/v1", "kind": "Thing", "spec": spec });
        prune(&mut object, resource.schema.schema());
        fill_defaults(&mut object, resource.schema.schema());
        object
    };
    lines(&validate_object(resource, "", &object(spec), old.map(object).as_ref()))
}

#[test]
fn validation_errors_have_the_text_of_the_real_server() {
    let resource = resource(&json!({ "type": "object", "required": ["req"], "properties": {
        "req": { "type": "string" },
        "i": { "type": "integer", "minimum": 3, "maximum": 10 },
        "i32": { "type": "integer", "format": "int32" },
        "ex": { "type": "integer", "maximum": 10, "exclusiveMaximum": true },
        "n": { "type": "number", "multipleOf": 0.5 },
        "s": { "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a" },
        "e": { "type": "string", "enum": ["a", "b"] },
        "ei": { "type": "integer", "enum": [1, 2] },
        "l": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "type": "string" } },
        "ap": { "type": "object", "additionalProperties": { "type": "integer" } },
        "ios": { "x-kubernetes-int-or-string": true },
        "d": { "type": "string", "format": "date-time" },
    }}));
    for (spec, expected) in [
        (json!({}), &["spec.req: Required value"][..]),
        (
            json!({ "req": 1 }),
            &["spec.req: Invalid value: \"integer\": spec.req in body must be of type string: \"integer\""],
        ),
        (
            json!({ "req": "", "i": 1 }),
            &["spec.i: Invalid value: 1: spec.i in body should be greater than or equal to 3"],
        ),
        (
            json!({ "req": "", "i": 4.5 }),
            &[
                "spec.i: Invalid value: \"number\": spec.i in body must be of type integer: \"number\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.i",
            ],
        ),
        (json!({ "req": "", "i": 4.0 }), &[]),
        (
            json!({ "req": "", "i32": 3_000_000_000_u64 }),
            &[
                "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.i32",
            ],
        ),
        (
            json!({ "req": "", "ex": 10 }),
            &["spec.ex: Invalid value: 10: spec.ex in body should be less than 10"],
        ),
        (
            json!({ "req": "", "n": 1.7 }),
            &["spec.n: Invalid value: 1.7: spec.n in body should be a multiple of 0.5"],
        ),
        (
            json!({ "req": "", "n": 1 }),
            &["spec.n: Invalid value: 0: factor MultipleOf declared for spec.n must be positive: 0"],
        ),
        (
            json!({ "req": "", "s": "a" }),
            &["spec.s: Invalid value: \"a\": spec.s in body should be at least 2 chars long"],
        ),
        (json!({ "req": "", "s": "abcde" }), &["spec.s: Too long: may not be more than 4 bytes"]),
        (
            json!({ "req": "", "s": "bcd" }),
            &["spec.s: Invalid value: \"bcd\": spec.s in body should match '^a'"],
        ),
        (
            json!({ "req": "", "e": "z" }),
            &["spec.e: Unsupported value: \"z\": supported values: \"a\", \"b\""],
        ),
        (json!({ "req": "", "ei": 5 }), &["spec.ei: Unsupported value: 5: supported values: \"1\", \"2\""]),
        (
            json!({ "req": "", "l": [] }),
            &["spec.l: Invalid value: 0: spec.l in body should have at least 1 items"],
        ),
        (json!({ "req": "", "l": ["a", "b", "c"] }), &["spec.l: Too many: 3: must have at most 2 items"]),
        (
            json!({ "req": "", "ap": { "a.b/c": "x" } }),
            &[
                "spec.ap.a.b/c: Invalid value: \"string\": spec.ap.a.b/c in body must be of type integer: \"string\"",
            ],
        ),
        (
            json!({ "req": "", "ios": true }),
            &[
                "spec.ios: Invalid value: \"boolean\": spec.ios in body must be of type integer,string: \"boolean\"",
            ],
        ),
        (
            json!({ "req": "", "d": 5 }),
            &["spec.d: Invalid value: \"int64\": spec.d in body must be of type date-time: \"int64\""],
        ),
        (
            json!({ "req": "", "d": "noon" }),
            &["spec.d: Invalid value: \"noon\": spec.d in body must be of type date-time: \"noon\""],
        ),
    ] {
        assert_eq!(validation_errors(&resource, &spec, None), expected, "{spec}");
    }
}

#[test]
fn any_of_reports_the_closest_alternative() {
    let fields = json!({ "a": { "type": "string" }, "b": { "type": "string" } });
    let both = json!([{ "required": ["a"] }, { "required": ["b"] }]);
    let resource = resource(&json!({ "type": "object", "properties": {
        "one": { "type": "object", "properties": fields, "oneOf": both },
        "any": { "type": "object", "properties": fields, "anyOf": both },
        "all": { "type": "object", "properties": fields, "allOf": both },
        "not": { "type": "object", "properties": fields, "not": { "required": ["a"] } },
    }}));
    for (spec, expected) in [
        (
            json!({ "one": {} }),
            &[
                "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found none valid",
                "spec.one.a: Required value",
            ][..],
        ),
        (
            json!({ "one": { "a": "", "b": "" } }),
            &[
                "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found 2 valid \
               alternatives",
            ],
        ),
        (
            json!({ "any": {} }),
            &[
                "<nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf)",
                "spec.any.a: Required value",
            ],
        ),
        (
            json!({ "all": { "a": "" } }),
            &[
                "spec.all.b: Required value",
                "<nil>: Invalid value: \"\": \"spec.all\" must validate all the schemas (allOf)",
            ],
        ),
        (
            json!({ "not": { "a": "" } }),
            &["<nil>: Invalid value: \"\": \"spec.not\" must not validate the schema (not)"],
        ),
    ] {
        assert_eq!(validation_errors(&resource, &spec, None), expected, "{spec}");
    }
}

#[test]
fn sets_and_maps_refuse_duplicates() {
    let resource = resource(&json!({ "type": "object", "properties": {
        "set": { "type": "array", "x-kubernetes-list-type": "set", "items": { "type": "string" } },
        "map": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": { "type": "object", "properties": { "k": { "type": "string" }, "v": { "type": "integer" } } },
        },
    }}));
    let spec = json!({ "set": ["a", "b", "a", "a"], "map": [{ "k": "a" }, { "k": "a", "v": 1 }] });
    let expected = ["spec.map[1]: Duplicate value: {\"k\":\"a\"}", "spec.set[2]: Duplicate value: \"a\""];
    assert_eq!(validation_errors(&resource, &spec, None), expected);
    assert_eq!(validation_errors(&resource, &spec, Some(&spec)), [""; 0], "what was there before may stay");
}

/// A walk through the list or through the errors for each item would take minutes.
#[test]
fn long_lists_are_validated_against_the_old_value() {
    const LENGTH: usize = 20_000;
    let resource = resource(&json!({ "type": "object", "properties": {
        "map": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object",
                "properties": { "k": { "type": "integer" }, "v": { "type": "string", "maxLength": 1 } },
            },
        },
    }}));
    let items = |value: &str| (0..LENGTH).map(|k| json!({ "k": k, "v": value })).collect::<Vec<_>>();
    let mut backwards = items("long");
    backwards.reverse();
    let spec = json!({ "map": backwards });
    assert_eq!(validation_errors(&resource, &spec, None).len(), LENGTH);
    assert_eq!(validation_errors(&resource, &spec, Some(&json!({ "map": items("long") }))), [""; 0]);
    assert_eq!(validation_errors(&resource, &spec, Some(&json!({ "map": items("other") }))).len(), LENGTH);
}

#[test]
fn unknown_fields_are_pruned_and_defaults_added() {
    let resource = resource(&json!({ "type": "object", "properties": {
        "filled": { "type": "object", "default": {}, "properties": { "x": { "type": "integer", "default": 5 } } },
        "nullable": { "type": "string", "nullable": true },
        "text": { "type": "string" },
        "kept": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "properties": { "known": { "type": "object", "properties": { "z": { "type": "string" } } } },
        },
        "any": { "type": "object", "additionalProperties": true },
    }}));
    let mut object = json!({ "metadata": { "odd": 1 }, "other": 1, "spec": {
        "foo": 1, "nullable": null, "text": null,
        "kept": { "new": 1, "known": { "y": 1 } },
        "any": { "x": { "y": 1 } },
    }});
    let removed = prune(&mut object, resource.schema.schema());
    assert_eq!(removed, ["other", "spec.any.x.y", "spec.foo", "spec.kept.known.y"]);
    fill_defaults(&mut object, resource.schema.schema());
    let expected = json!({
        "filled": { "x": 5 }, "nullable": null, "kept": { "new": 1, "known": {} }, "any": { "x": {} },
    });
    assert_eq!(object["spec"], expected);
}

fn resource_with_rules() -> Arc<ResourceType> {
    resource(&json!({
        "type": "object",
        "properties": {
            "a": { "type": "integer" },
            "b": { "type": "integer" },
            "fixed": { "type": "string", "x-kubernetes-validations": [{ "rule": "self == oldSelf", "message": "is immutable" }] },
            "once": { "type": "string", "x-kubernetes-validations": [{
                "rule": "!oldSelf.hasValue() || oldSelf.value() == self", "optionalOldSelf": true, "message": "once" }] },
            "list": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {
                    "type": "object",
                    "properties": { "k": { "type": "string" }, "v": { "type": "integer" } },
                    "x-kubernetes-validations": [{ "rule": "self.v >= oldSelf.v", "message": "no shrink" }],
                },
            },
            "map": { "type": "object", "additionalProperties": {
                "type": "integer", "x-kubernetes-validations": [{ "rule": "self > 1", "message": "gt1" }] } },
            "time": { "type": "string", "format": "date-time", "x-kubernetes-validations": [{
                "rule": "self < timestamp('2030-01-01T00:00:00Z')" }] },
            "short": { "type": "string", "maxLength": 3 },
        },
        "x-kubernetes-validations": [
            { "rule": "self.a <= self.b" },
            { "rule": "self.a < 100", "message": "small", "reason": "FieldValueForbidden" },
            { "rule": "self.a != 7", "messageExpression": "'a is ' + string(self.a)", "fieldPath": ".a" },
        ],
    }))
}

#[test]
fn rules_are_evaluated_on_their_own_field() {
    for (spec, expected) in [
        (json!({ "a": 1, "b": 2 }), &[][..]),
        (json!({ "a": 3, "b": 2 }), &["spec: Invalid value: failed rule: self.a <= self.b"]),
        (json!({ "a": 200, "b": 300 }), &["spec: Forbidden: small"]),
        (json!({ "a": 7, "b": 8 }), &["spec.a: Invalid value: a is 7"]),
        (
            json!({ "b": 2 }),
            &[
                "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a <= self.b",
                "spec: Invalid value: \"object\": no such key: a evaluating rule: small",
                "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a != 7",
            ],
        ),
        (json!({ "a": 1, "b": 2, "map": { "x": 1 } }), &["spec.map[x]: Invalid value: 1: gt1"]),
        (
            json!({ "a": 1, "b": 2, "time": "2031-01-01T00:00:00Z" }),
            &["spec.time: Invalid value: \"2031-01-01T00:00:00Z\": failed rule: self < \
               timestamp('2030-01-01T00:00:00Z')"],
        ),
        (json!({ "a": 1, "b": 2, "once": "x" }), &[]),
        (
            json!({ "a": 3, "b": 2, "short": "long" }),
            &[
                "spec.short: Too long: may not be more than 3 bytes",
                "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; \
                 correct the existing errors to complete validation",
            ],
        ),
    ] {
        assert_eq!(validation_errors(&resource_with_rules(), &spec, None), expected, "{spec}");
    }
}

#[test]
fn transition_rules_compare_with_the_old_value() {
    for (old, new, expected) in [
        (
            json!({ "fixed": "x" }),
            json!({ "fixed": "y" }),
            &["spec.fixed: Invalid value: \"y\": is immutable"][..],
        ),
        (json!({ "once": "x" }), json!({ "once": "y" }), &["spec.once: Invalid value: \"y\": once"]),
        (json!({}), json!({ "once": "y" }), &[]),
        (
            json!({ "list": [{ "k": "a", "v": 5 }, { "k": "b", "v": 1 }] }),
            json!({ "list": [{ "k": "b", "v": 1 }, { "k": "a", "v": 1 }] }),
            &["spec.list[1]: Invalid value: no shrink"],
        ),
    ] {
        let with = |mut spec: Value| {
            spec["a"] = 1.into();
            spec["b"] = 2.into();
            spec
        };
        assert_eq!(
            validation_errors(&resource_with_rules(), &with(new.clone()), Some(&with(old))),
            expected,
            "{new}"
        );
    }
}

#[test]
fn unchanged_invalid_values_are_accepted() {
    let resource = resource_with_rules();
    let old = json!({ "a": 1, "b": 2, "short": "long", "map": { "x": 1 } });
    assert_eq!(validation_errors(&resource, &old, Some(&old)), [""; 0]);
    let new = json!({ "a": 1, "b": 2, "short": "longer", "map": { "x": 1 } });
    assert_eq!(
        validation_errors(&resource, &new, Some(&old)).len(),
        2,
        "a changed fault, and the rules that wait for it"
    );
}

#[test]
fn definition_errors_have_the_text_of_the_real_server() {
    let at = "spec.validation.openAPIV3Schema.properties[spec]";
    for (spec, expected) in [
        (
            json!({}),
            vec![format!("{at}.type: Required value: must not be empty for specified object fields")],
        ),
        (json!({ "type": "array" }), vec![format!("{at}.items: Required value: must be specified")]),
        (
            json!({ "type": "string", "pattern": "(?!a)" }),
            vec![format!(
                "{at}.pattern: Invalid value: \"(?!a)\": must be a valid regular expression, but isn't: error parsing \
                 regexp: invalid or unsupported Perl syntax: `(?!`"
            )],
        ),
        (
            json!({ "type": "integer", "default": "x" }),
            vec![format!(
                "{at}.default: Invalid value: \"string\":  in body must be of type integer: \"string\""
            )],
        ),
        (
            json!({ "type": "object", "anyOf": [{ "type": "string" }] }),
            vec![format!("{at}.anyOf[0].type: Forbidden: must be empty to be structural")],
        ),
        (json!({ "$ref": "#/a" }), vec![format!("{at}.$ref: Forbidden: $ref is not supported")]),
        (
            json!({ "type": "string", "x-kubernetes-map-type": "zz" }),
            vec![
                format!(
                    "{at}.type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified"
                ),
                format!(
                    "{at}.x-kubernetes-map-type: Unsupported value: \"zz\": supported values: \"atomic\", \"granular\""
                ),
            ],
        ),
        (
            json!({ "type": "object", "x-kubernetes-validations": [{ "rule": "true", "optionalOldSelf": true }] }),
            vec![format!(
                "{at}.x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is \
                 not used in rule"
            )],
        ),
    ] {
        let schema = json!({ "type": "object", "properties": { "spec": spec } });
        assert_eq!(lines(&validate(&definition(&schema), None)), expected, "{spec}");
    }
}

#[test]
fn versions_names_and_groups_of_a_definition_are_checked() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut definition = definition(&json!({ "type": "object" }));
        change(&mut definition);
        lines(&validate(&definition, None))
    };
    assert_eq!(with(&|_| {}), [""; 0]);
    let unstored = with(&|d| d["spec"]["versions"][0]["storage"] = false.into());
    assert_eq!(
        unstored[1],
        "status.storedVersions: Invalid value: null: must have at least one stored version"
    );
    assert_eq!(
        with(&|d| d["metadata"]["name"] = "x.ex.dev".into()),
        ["metadata.name: Invalid value: \"x.ex.dev\": must be spec.names.plural+\".\"+spec.group"]
    );
    assert_eq!(
        with(&|d| d["spec"]["names"]["listKind"] = "Thing".into()),
        ["spec.names.listKind: Invalid value: \"Thing\": kind and listKind may not be the same"]
    );
    assert_eq!(
        with(&|d| d["spec"]["versions"][0]["selectableFields"] = json!([{ "jsonPath": ".spec.q" }])),
        [
            "spec.selectableFields[0].jsonPath: Invalid value: \".spec.q\": is an invalid path: does not refer to a valid \
          field"
        ]
    );
    assert_eq!(
        with(&|d| {
            d["spec"]["group"] = "x.k8s.io".into();
            d["metadata"]["name"] = "things.x.k8s.io".into();
        }),
        [
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval \
          annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"
        ]
    );
}

#[test]
fn an_established_definition_keeps_its_scope_and_its_stored_versions() {
    let mut old = definition(&json!({ "type": "object" }));
    old["status"] = status(&old, &[], "2026-01-01T00:00:00Z");
    let mut new = old.clone();
    new["spec"]["scope"] = "Namespaced".into();
    new["spec"]["versions"][0]["name"] = "v2".into();
    let errors = lines(&validate(&new, Some(&old)));
    assert_eq!(errors[0], "spec.scope: Invalid value: \"Namespaced\": field is immutable");
    assert!(
        errors[1].starts_with(
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was"
        )
    );
}

#[test]
fn a_name_conflict_prevents_serving_a_definition() {
    let time = "2026-01-01T00:00:00Z";
    let mut first = definition(&json!({ "type": "object" }));
    first["status"] = status(&first, &[], time);
    assert_eq!(first["status"]["conditions"][1]["reason"], "InitialNamesAccepted");
    assert_eq!(first["status"]["storedVersions"], json!(["v1"]));
    let mut second = definition(&json!({ "type": "object" }));
    second["spec"]["names"]["plural"] = "others".into();
    let status = status(&second, &[first], time);
    let [accepted, established] = [&status["conditions"][0], &status["conditions"][1]];
    assert_eq!((&accepted["status"], &accepted["reason"]), (&json!("False"), &json!("ListKindConflict")));
    assert_eq!(accepted["message"], "\"ThingList\" is already in use");
    assert_eq!((&established["status"], &established["reason"]), (&json!("False"), &json!("NotAccepted")));
    assert_eq!(status["acceptedNames"]["plural"], "others");
}

#[test]
fn versions_are_ordered_by_maturity() {
    let mut names = ["v1alpha1", "foo", "v2beta1", "v10", "v1", "bar", "v2", "v1beta2"];
    names.sort_by_key(|name| std::cmp::Reverse(version_priority(name)));
    assert_eq!(names, ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "bar", "foo"]);
}

#[test]
fn an_unknown_format_gives_one_warning() {
    let odd = definition(
        &json!({ "type": "object", "properties": { "a": { "type": "string", "format": "zork" } } }),
    );
    assert_eq!(warnings(&odd, None), ["unrecognized format \"zork\""]);
    assert_eq!(warnings(&odd, Some(&odd)), [""; 0]);
}

use std::sync::Arc;

use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::TreePath;
use crate::resource::ObjectOrigin;

fn objects() -> Accumulator {
    let mut all = Accumulator::default();
    for (api_version, kind, name, namespace) in [
        ("apps/v1", "Deployment", "web", ""),
        ("apps/v1", "StatefulSet", "db", "data"),
        ("v1", "ConfigMap", "web", ""),
        ("v1", "Namespace", "data", ""),
    ] {
        let mut object = Object::try_from(json!({"apiVersion": api_version, "kind": kind})).unwrap();
        object.set_name(name);
        object.set_namespace(namespace);
        object.set_label("app", name);
        object.set_annotation("tier", kind);
        all.append(Resource::new(object, Arc::new(ObjectOrigin::File(TreePath::new("/a"))))).unwrap();
    }
    all
}

fn targets(selector: &Selector, objects: &mut Accumulator) -> Vec<String> {
    let found = Matcher::read(selector).unwrap().find_targets(objects);
    found.into_iter().map(|at| objects.get(at).unwrap().object.kind().to_owned()).collect()
}

/// Makes a selector from `field: text` pairs.
fn selector(fields: &[(&str, &str)]) -> Selector {
    let mut selector = Selector::default();
    for (field, text) in fields {
        *match *field {
            "group" => &mut selector.group,
            "kind" => &mut selector.kind,
            "name" => &mut selector.name,
            "namespace" => &mut selector.namespace,
            "annotations" => &mut selector.annotations,
            _ => &mut selector.labels,
        } = (*text).to_owned();
    }
    selector
}

#[test]
fn selector_texts_are_anchored_regular_expressions() {
    for (fields, expected) in [
        (&[][..], &["Deployment", "StatefulSet", "ConfigMap", "Namespace"][..]),
        (&[("name", "web")], &["Deployment", "ConfigMap"]),
        (&[("name", "we")], &[]),
        (&[("name", "w.*|db")], &["Deployment", "StatefulSet", "ConfigMap"]),
        (&[("kind", "Deployment|.*Set")], &["Deployment", "StatefulSet"]),
        (&[("group", "apps"), ("name", ".b|web")], &["Deployment", "StatefulSet"]),
        (&[("namespace", "default")], &["Deployment", "ConfigMap"]),
        (&[("namespace", "data")], &["StatefulSet"]),
        (&[("labels", "app in (web, x)"), ("kind", "ConfigMap")], &["ConfigMap"]),
        (&[("annotations", "tier!=ConfigMap"), ("name", "web")], &["Deployment"]),
    ] {
        assert_eq!(targets(&selector(fields), &mut objects()), expected, "{fields:?}");
    }
}

#[test]
fn a_target_matches_the_original_and_the_current_name() {
    let mut objects = objects();
    let position = objects.find_by_any_name("web")[0];
    for name in ["b-web", "a-b-web"] {
        objects.edit(position, |resource| resource.object.set_name(name));
    }
    for (name, count) in [("web", 2), ("b-web", 0), ("a-b-web", 1), ("a-.*", 1)] {
        assert_eq!(targets(&selector(&[("name", name)]), &mut objects).len(), count, "{name}");
    }
    let known = Matcher::read(&selector(&[("name", "b-web")])).unwrap().find_known(&mut objects);
    assert_eq!(known, [position]);
}

#[test]
fn label_selectors_support_every_api_form() {
    let object = &objects().into_resources()[0].object;
    for (text, fits) in [
        ("", true),
        ("app", true),
        ("!app", false),
        ("!other", true),
        ("app=web", true),
        ("app==web", true),
        ("app = db", false),
        ("app!=db", true),
        ("other!=x", true),
        ("app in (web,db),!x", true),
        ("app in(db)", false),
        ("app notin (web)", false),
        ("other notin (web)", true),
        ("app>1", false),
    ] {
        let matcher = Matcher::read(&selector(&[("labels", text)])).unwrap();
        assert_eq!(matcher.matches_metadata(object), fits, "{text}");
    }
}

#[test]
fn all_invalid_selectors_are_reported() {
    let reported =
        Matcher::read(&selector(&[("name", "a("), ("kind", "["), ("labels", "a in x")])).unwrap_err();
    let reported: Vec<String> = reported.iter().map(ToString::to_string).collect();
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`kind: [` is not a valid regular expression: error: unclosed character class
`name: a(` is not a valid regular expression: error: unclosed group
`labelSelector: a in x` is invalid: the values in `a in x` must be in parentheses
"#]]
    );
    for text in ["a b", "=x", "a>b", "a in", "a,,b", "a=b=c", "a=b c", "a in (-)"] {
        assert!(Matcher::read(&selector(&[("labels", text)])).is_err(), "{text}");
    }
}

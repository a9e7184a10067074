use manifest::Object;
use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::TreePath;
use crate::kustomization::entries::FieldSpecEntry;
use crate::resource::{ObjectOrigin, Resource};

fn image(name: &str, new_name: &str, new_tag: &str, digest: &str, tag_suffix: &str) -> Image {
    let [name, new_name, new_tag, digest, tag_suffix] =
        [name, new_name, new_tag, digest, tag_suffix].map(str::to_owned);
    Image { name, new_name, tag_suffix, new_tag, digest }
}

fn change_one(text: &str, image: &Image) -> String {
    new_image(&[ImageRule::new(image).unwrap()], &json!(text)).unwrap_or_else(|| text.to_owned())
}

#[test]
fn a_rule_changes_name_tag_and_digest() {
    let (named, tagged, pinned) =
        (image("a", "b", "", "", ""), image("a", "", "2", "", ""), image("a", "", "", "sha256:1", ""));
    let (both, suffixed) = (image("a", "", "2", "sha256:1", ""), image("a", "", "", "", "-x"));
    let cases = [
        ("a", &named, "b"),
        ("a:1", &named, "b:1"),
        ("a:1@sha256:f", &named, "b:1@sha256:f"),
        ("a:1@sha256:f", &tagged, "a:2"),
        ("a:1@sha256:f", &pinned, "a@sha256:1"),
        ("a:1", &both, "a:2@sha256:1"),
        ("a:1", &suffixed, "a:1-x"),
        ("a@sha256:f", &suffixed, "a:-x"),
        ("ab:1", &tagged, "ab:1"),
        ("x/a:1", &tagged, "x/a:1"),
        ("a:$VERSION", &tagged, "a:$VERSION"),
    ];
    for (text, image, expected) in cases {
        assert_eq!(change_one(text, image), expected, "{text}");
    }
}

#[test]
fn a_colon_before_the_path_is_a_port() {
    let tagged = image("host:5000/a", "", "2", "", "");
    assert_eq!(change_one("host:5000/a:1", &tagged), "host:5000/a:2");
    assert_eq!(change_one("host:5000/a", &tagged), "host:5000/a:2");
}

#[test]
fn a_name_is_a_regular_expression_and_rules_follow_each_other() {
    let (any, next) = (image("(ex|in)ternal/.*", "mirror/a", "", "", ""), image("mirror/a", "", "9", "", ""));
    let rules = [ImageRule::new(&any).unwrap(), ImageRule::new(&next).unwrap()];
    assert_eq!(new_image(&rules, &json!("external/app:1")).as_deref(), Some("mirror/a:9"));
    assert_eq!(new_image(&rules, &json!("other/app:1")), None);
    let reported = ImageRule::new(&image("a(", "", "", "", "")).err().unwrap().to_string();
    assert_data_eq!(reported, str!["`a(` is not a valid regular expression: error: unclosed group"]);
}

fn gathered(kind: &str, spec: &Value) -> Accumulator {
    let value =
        json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec});
    let mut objects = Accumulator::default();
    let origin = ObjectOrigin::File(TreePath::new("a")).into();
    objects.append(Resource::new(Object::try_from(value).unwrap(), origin)).unwrap();
    objects
}

fn set_one(kind: &str, spec: &Value) -> Value {
    let suffixed = image("a", "", "", "", "-x");
    let paths = ["spec/containers[]/image", "spec/volumes[]/image/reference"];
    let entry = |path: &str| FieldSpecEntry { path: path.into(), create: true, ..FieldSpecEntry::default() };
    let fields: FieldTable = paths.map(|path| entry(path).into()).into_iter().collect();
    let mut objects = gathered(kind, spec);
    set(&[ImageRule::new(&suffixed).unwrap()], &fields, &mut objects);
    objects.iter().next().unwrap().1.object.get(&["spec"]).unwrap().clone()
}

// Row: D-222
#[test]
fn images_are_changed_once_at_any_depth() {
    let spec = json!({
        "containers": [{"image": "a:1"}, {"name": "no image"}, {"image": "b:1"}],
        "deep": [{"initContainers": [{"image": "a:1"}]}],
        "volumes": [{"image": {"reference": "a:1"}}, {"name": "no image"}],
        "image": "a:1",
    });
    let expected = json!({
        "containers": [{"image": "a:1-x"}, {"name": "no image"}, {"image": "b:1"}],
        "deep": [{"initContainers": [{"image": "a:1-x"}]}],
        "volumes": [{"image": {"reference": "a:1-x"}}, {"name": "no image"}],
        "image": "a:1",
    });
    assert_eq!(set_one("Pod", &spec), expected);
    let mapping = json!({"containers": {"image": "a:1"}, "deep": {"containers": {"image": "a:1"}}});
    let expected = json!({"containers": {"image": "a:1-x"}, "deep": {"containers": {"image": "a:1"}}});
    assert_eq!(set_one("Pod", &mapping), expected);
    assert_eq!(set_one("CustomResourceDefinition", &spec), spec);
}

use serde_json::json;
use snapbox::{assert_data_eq, str};

use super::*;

const DIGEST: &str = "sha256:7cc4b5aefd1d0cadf8d97d4350462ba51c694ebca145b08d7d41b41acc8db5aa";

fn parse(text: &str) -> Result<(String, String, Option<String>, Option<String>), ImageReferenceError> {
    let part = |part: Option<&str>| part.map(str::to_owned);
    ImageReference::parse(text)
        .map(|it| (it.repository.to_owned(), it.name.to_owned(), part(it.tag), part(it.digest)))
}

fn deployment(images: &[&str]) -> Object {
    let containers: Vec<_> = images.iter().map(|image| json!({"name": "manager", "image": image})).collect();
    let pod =
        json!({"containers": containers, "initContainers": [{"name": "first", "image": "quay.io/init:1"}]});
    Object::try_from(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "capi", "namespace": "capi-system"},
        "spec": {"template": {"spec": pod}},
    }))
    .unwrap()
}

#[test]
fn a_reference_is_split_into_repository_name_tag_and_digest() {
    let cases = [
        ("localhost/x", ("localhost", "x", None, None)),
        ("host:5000/a/b:1", ("host:5000/a", "b", Some("1"), None)),
        ("docker.io/library/nginx", ("docker.io/library", "nginx", None, None)),
        (
            "registry.k8s.io/cluster-api/manager:v1.14.0",
            ("registry.k8s.io/cluster-api", "manager", Some("v1.14.0"), None),
        ),
        ("[fe80::1]:5000/x:a_B-.9", ("[fe80::1]:5000", "x", Some("a_B-.9"), None)),
        ("[::1]/x", ("[::1]", "x", None, None)),
        ("Host/x", ("Host", "x", None, None)),
        ("a_b.c/x", ("a_b.c", "x", None, None)),
        ("q.io/a__b/c---d", ("q.io/a__b", "c---d", None, None)),
    ];
    for (text, (repository, name, tag, digest)) in cases {
        let expected = (repository.to_owned(), name.to_owned(), tag.map(str::to_owned), digest);
        assert_eq!(parse(text), Ok(expected), "{text}");
    }
    let tagged = format!("quay.io/x:1@{DIGEST}");
    let expected = ("quay.io".to_owned(), "x".to_owned(), Some("1".to_owned()), Some(DIGEST.to_owned()));
    assert_eq!(parse(&tagged), Ok(expected));
}

// Row: D-58
#[test]
fn an_unqualified_image_is_refused_with_its_full_name() {
    for (text, full) in [
        ("nginx", "docker.io/library/nginx"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("a/b:1", "docker.io/a/b:1"),
        ("docker.io/nginx", "docker.io/library/nginx"),
        ("index.docker.io/a/b", "docker.io/a/b"),
        ("index.docker.io/b", "docker.io/library/b"),
    ] {
        assert_eq!(
            parse(text),
            Err(ImageReferenceError::NotCanonical { canonical: full.to_owned() }),
            "{text}"
        );
    }
}

#[test]
fn a_broken_reference_is_refused_with_the_invalid_part() {
    let name = |part: &str| ImageReferenceError::Name { part: part.to_owned() };
    let tag = |tag: &str| ImageReferenceError::Tag { tag: tag.to_owned() };
    let long = "x".repeat(256);
    for (text, reason) in [
        ("", ImageReferenceError::Empty),
        ("quay.io/A", ImageReferenceError::Uppercase),
        ("quay.io/", name("")),
        ("quay.io/a//b", name("a//b")),
        ("quay.io/a..b", name("a..b")),
        ("quay.io/a___b", name("a___b")),
        ("quay.io/-a", name("-a")),
        ("quay.io/a b", name("a b")),
        ("-host.io/a", name("-host.io")),
        ("host:/a", name("host:")),
        ("[::1/a", name("[::1")),
        ("[::1]5000/a", name("[::1]5000")),
        ("q.io/x:", tag("")),
        ("q.io/x:a:b", tag("a:b")),
        ("q.io/x:${TAG}", tag("${TAG}")),
        ("q.io/ä", name("ä")),
        (&format!("q.io/{long}"), ImageReferenceError::TooLong { length: 256, limit: 255 }),
        (&format!("q.io/x:{}", "1".repeat(129)), tag(&"1".repeat(129))),
        ("q.io/x@sha256:12", ImageReferenceError::Digest { digest: "sha256:12".to_owned() }),
        ("q.io/x@md5:1", ImageReferenceError::Digest { digest: "md5:1".to_owned() }),
        ("q.io/x@", ImageReferenceError::Digest { digest: String::new() }),
    ] {
        assert_eq!(parse(text), Err(reason), "{text}");
    }
}

#[test]
fn an_override_replaces_the_parts_it_names_and_keeps_a_digest() {
    let text = format!("quay.io/a/b:1@{DIGEST}");
    let image = ImageReference::parse(&text).unwrap();
    let change = |repository: &str, name: &str, tag: &str| {
        let [repository, name, tag] = [repository, name, tag].map(str::to_owned);
        image.with_override(&ImageOverride { repository, name, tag, digest: String::new() })
    };
    assert_eq!(change("", "", ""), text);
    assert_eq!(change("mirror.local/x", "", ""), format!("mirror.local/x/b:1@{DIGEST}"));
    assert_eq!(change("mirror.local/", "c", ""), format!("mirror.local/c:1@{DIGEST}"));
    assert_eq!(change("mirror.local//", "", "2"), format!("mirror.local//b:2@{DIGEST}"));
    assert_eq!(change("", "", "2"), format!("quay.io/a/b:2@{DIGEST}"));
    let pinned = ImageOverride { digest: DIGEST.to_owned(), ..ImageOverride::default() };
    let plain = ImageReference::parse("quay.io/a/b:1").unwrap();
    assert_eq!(plain.with_override(&pinned), text);
}

#[test]
fn images_are_listed_containers_first() {
    let object = deployment(&["quay.io/b:1", "quay.io/a:1"]);
    assert_eq!(images_of(&object), ["quay.io/b:1", "quay.io/a:1", "quay.io/init:1"]);
    let pod =
        json!({"kind": "Pod", "spec": {"template": {"spec": {"containers": [{"image": "quay.io/a"}]}}}});
    assert!(images_of(&Object::try_from(pod).unwrap()).is_empty(), "only Deployments and DaemonSets count");
}

#[test]
fn overrides_reach_all_containers_by_image_name() {
    let mut object = deployment(&["quay.io/b:1", "quay.io/a:1"]);
    override_images(&mut object, &|image| {
        (image.name != "a")
            .then(|| ImageOverride { repository: "mirror.local/x".into(), ..ImageOverride::default() })
    })
    .unwrap();
    assert_eq!(images_of(&object), ["mirror.local/x/b:1", "quay.io/a:1", "mirror.local/x/init:1"]);
}

#[test]
fn an_object_with_unchanged_images_is_not_copied() {
    let original = deployment(&["quay.io/b:1"]);
    let mut object = original.clone();
    override_images(&mut object, &|_| Some(ImageOverride::default())).unwrap();
    assert!(std::ptr::eq(original.as_map(), object.as_map()));
}

// Row: D-58
#[test]
fn every_invalid_image_is_named_with_its_container() {
    let mut object = deployment(&["nginx", "quay.io/fine:1", ""]);
    let errors = override_images(&mut object, &|_| None).unwrap_err();
    let texts: Vec<_> = errors.iter().map(|error| format!("{error}: {}", error.reason)).collect();
    assert_data_eq!(
        texts.join("\n"),
        str![[r#"
image `nginx` of container `manager` in `Deployment capi-system/capi` is not valid: the name is not fully qualified; use `docker.io/library/nginx`
image `` of container `manager` in `Deployment capi-system/capi` is not valid: the reference is empty
"#]]
    );
}

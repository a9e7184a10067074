use std::path::Path;

use repository::{RepositoryContext, open};
use support::{
    host::{FakeHost, Reply},
    registry::{PROGRAM, Registry as RealRegistry, RegistryAccess, RegistryTransport},
    skip::TestRequirement,
};
use transport::{Credential, HostSettings, Hosts, RequestAction, RequestFailure, Secret, Settings};

use super::*;
use crate::{BundleError, tests::settings};

const HOST: &str = "ghe.example.org";

fn file(name: &str, content: &'static [u8]) -> PackageFile {
    PackageFile { name: name.to_owned(), content: PackageContent::Bytes(Bytes::from_static(content)) }
}

fn package(files: Vec<PackageFile>, created: Option<&str>) -> Result<Package, BundleError> {
    Package::new(files, BTreeMap::new(), created.map(str::to_owned))
}

// Row: D-201
#[test]
fn the_manifest_equals_that_of_the_operator() {
    let files = vec![file("metadata.yaml", b"a: 1\n"), file("components.yaml", b"b: 2\n")];
    let package = package(files, Some("2025-01-01T00:00:00Z")).unwrap();
    // Output of oras-go 2.6, called in the same way as by the operator.
    let expected = concat!(
        r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","#,
        r#""artifactType":"application/vnd.acme.config","config":{"mediaType":"application/vnd.oci.empty.v1+json","#,
        r#""digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2,"data":"e30="},"#,
        r#""layers":[{"mediaType":"application/vnd.test.file","#,
        r#""digest":"sha256:d4eed209fa44e2eb45f5dbe26726d1985cef0bc7b9a2c923a8d7e8003662234e","size":5,"#,
        r#""annotations":{"org.opencontainers.image.title":"components.yaml"}},"#,
        r#"{"mediaType":"application/vnd.test.file","#,
        r#""digest":"sha256:37b128c59f1f5097f73f82691cb519f1f568667faab5ced1b4ab979d36837eae","size":5,"#,
        r#""annotations":{"org.opencontainers.image.title":"metadata.yaml"}}],"#,
        r#""annotations":{"org.opencontainers.image.created":"2025-01-01T00:00:00Z"}}"#
    );
    assert_eq!(std::str::from_utf8(&package.manifest).unwrap(), expected);
}

#[test]
fn the_same_files_give_the_same_artifact_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, "a: 1\n").unwrap();
    let on_disk = PackageFile { name: "a.yaml".to_owned(), content: PackageContent::Path(path) };
    let one = package(vec![on_disk, file("b.yaml", b"b: 2\n")], None).unwrap();
    let two = package(vec![file("b.yaml", b"b: 2\n"), file("a.yaml", b"a: 1\n")], None).unwrap();
    assert_eq!(one.digest(), two.digest());
    let later =
        package(vec![file("a.yaml", b"a: 1\n"), file("b.yaml", b"b: 2\n")], Some("2025-01-01T00:00:00Z"));
    assert_ne!(later.unwrap().digest(), one.digest());
}

#[test]
fn empty_duplicate_and_unsafe_files_are_refused() {
    assert!(package(Vec::new(), None).is_err());
    assert!(package(vec![file("a", b"1"), file("a", b"2")], None).is_err());
    assert!(package(vec![file("../a", b"1")], None).is_err());
}

#[test]
fn a_target_is_a_repository_and_a_version() {
    let parse = |text: &str| PackageTarget::parse(text, Some("v1.0.0+b")).map(|target| target.address());
    assert_eq!(parse("oci://lab:5000/a/b:v1.2.3").unwrap(), "oci://lab:5000/a/b:v1.2.3");
    assert_eq!(parse("oci://lab/a").unwrap(), "oci://lab/a:v1.0.0_b");
    let digest = Digest::of(b"");
    for text in [
        "lab/a",
        "https://lab/a",
        "oci://lab/a:latest",
        "oci://lab/a:main",
        &format!("oci://lab/a:v1.0.0@{digest}"),
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(PackageTarget::parse("oci://lab/a", None).is_err());
}

/// Returns settings with a login for one host.
fn login(host: &str, password: &str) -> Hosts {
    let password = Secret::new("config", password).unwrap();
    let credential = Credential::Basic { user: RealRegistry::USER.to_owned(), password };
    let of_host = HostSettings { credential: Some(credential), ..HostSettings::default() };
    Hosts::new([(host.to_owned(), of_host)])
}

fn guest(registry: &RealRegistry, password: &str) -> RepositoryContext {
    RepositoryContext::new(Settings {
        extra_roots: vec![registry.ca_pem().as_bytes().to_vec()],
        system_roots: false,
        hosts: login(&registry.host(), password),
        ..Settings::default()
    })
}

async fn upload_to(location: &str) -> (FakeHost, Result<(), transport::Error>) {
    upload_with_reply(location, Reply::status(201)).await
}

/// Uploads to a registry that requires a login, names `location` as the upload address, and responds with `answer`.
async fn upload_with_reply(location: &str, answer: Reply) -> (FakeHost, Result<(), transport::Error>) {
    let host = FakeHost::internet();
    let digest = Digest::of(b"a: 1\n");
    let challenge = Reply::status(401).header("www-authenticate", "Basic realm=\"lab\"");
    host.on_sequence(format!("{HOST}/v2/lab/aws/blobs/{digest}"), [challenge, Reply::status(404)]);
    host.on(format!("{HOST}/v2/lab/aws/blobs/uploads/"), Reply::status(202).header("location", location));
    for place in [HOST, "objects.githubusercontent.com"] {
        host.on(format!("{place}/up?digest={}", digest.to_string().replace(':', "%3A")), answer.clone());
    }
    let context = RepositoryContext::new(Settings { hosts: login(HOST, "hunter2"), ..settings(&host) });
    let content = RequestBody::Bytes(Bytes::from_static(b"a: 1\n"));
    let outcome = Registry::new(HOST, &context).push_blob("lab/aws", content, &digest).await;
    (host, outcome)
}

#[tokio::test]
async fn an_upload_that_breaks_begins_again() {
    let host = FakeHost::internet();
    let digest = Digest::of(b"a: 1\n");
    host.on(format!("{HOST}/v2/lab/aws/blobs/{digest}"), Reply::status(404));
    let begun = |place: &str| Reply::status(202).header("location", place);
    let uploads = format!("{HOST}/v2/lab/aws/blobs/uploads/");
    host.on_sequence(uploads.as_str(), [begun("/first"), begun("/second"), begun("/third")]);
    let put = |place: &str| format!("{HOST}/{place}?digest={}", digest.to_string().replace(':', "%3A"));
    host.on_sequence(put("first"), [Reply::close(), Reply::status(404)]);
    host.on_sequence(put("second"), [Reply::status(503), Reply::status(404)]);
    host.on(put("third"), Reply::status(201));
    let content = RequestBody::Bytes(Bytes::from_static(b"a: 1\n"));
    let registry = Registry::new(HOST, &RepositoryContext::new(settings(&host)));
    registry.push_blob("lab/aws", content, &digest).await.unwrap();
    let methods: Vec<String> = host.received().iter().map(|request| request.method.clone()).collect();
    assert_eq!(methods, ["HEAD", "POST", "PUT"].repeat(3));
}

#[tokio::test]
async fn an_upload_to_another_host_omits_the_login() {
    for (location, shows_login) in [("/up", true), ("https://objects.githubusercontent.com/up", false)] {
        let (host, outcome) = upload_to(location).await;
        outcome.unwrap();
        let put = host.received().pop().unwrap();
        assert_eq!((put.method.as_str(), put.body.as_slice()), ("PUT", &b"a: 1\n"[..]), "{location}");
        assert_eq!(put.header("authorization").is_some(), shows_login, "{location}");
    }
}

#[tokio::test]
async fn another_upload_host_never_receives_the_login() {
    let challenge = Reply::status(401).header("www-authenticate", "Basic realm=\"lab\"");
    let (host, outcome) = upload_with_reply("https://objects.githubusercontent.com/up", challenge).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.status(), error.request().unwrap().action), (Some(401), RequestAction::Upload));
    let received = host.received();
    let mut elsewhere = received.iter().filter(|request| request.host != HOST);
    assert!(elsewhere.all(|request| request.header("authorization").is_none()), "{received:?}");
}

#[tokio::test]
async fn an_upload_with_another_digest_is_refused() {
    let other = Digest::of(b"other");
    let answer = Reply::status(201).header("docker-content-digest", &other.to_string());
    let (_, outcome) = upload_with_reply("/up", answer).await;
    assert!(matches!(outcome, Err(transport::Error::Digest { found, .. }) if found == other));
}

#[tokio::test]
async fn a_tag_of_another_artifact_is_not_overwritten() {
    let host = FakeHost::internet();
    let there = package(vec![file("metadata.yaml", b"a: 1\n")], None).unwrap();
    let reply = Reply::status(200).header("content-type", MANIFEST_MEDIA_TYPE).body(there.manifest.clone());
    host.on(format!("{HOST}/v2/lab/aws/manifests/v1.0.0"), reply);
    let target = PackageTarget::parse(&format!("oci://{HOST}/lab/aws:v1.0.0"), None).unwrap();
    let new = package(vec![file("metadata.yaml", b"a: 2\n")], None).unwrap();
    let outcome = new.publish(&RepositoryContext::new(settings(&host)), &target, ExistingTag::Keep).await;
    assert!(matches!(outcome, Err(BundleError::TagTaken { existing: found, .. }) if found == there.digest()));
    assert!(host.received().iter().all(|request| request.method == "GET"));
}

#[tokio::test]
async fn an_upload_from_https_to_http_is_refused() {
    let (host, outcome) = upload_to(&format!("http://{HOST}/up")).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error.request().unwrap().failure, RequestFailure::Redirect { .. }), "{error:?}");
    assert!(host.received().iter().all(|request| request.tls && request.method != "PUT"));
}

#[tokio::test]
async fn a_real_registry_stores_a_release_and_checks_the_password() {
    let Some(registry) = RealRegistry::start(RegistryTransport::Tls, RegistryAccess::PasswordRequired) else {
        return;
    };
    let url = format!("oci://{}/lab/infrastructure-aws", registry.host());
    let target = PackageTarget::parse(&url, Some("v1.0.0+b")).unwrap();
    let package =
        package(vec![file("metadata.yaml", b"a: 1\n"), file("same.yaml", b"a: 1\n")], None).unwrap();

    let refused = package.publish(&guest(&registry, "wrong"), &target, ExistingTag::Keep).await.unwrap_err();
    let BundleError::Transport(refused) = refused else { panic!("{refused:?}") };
    assert_eq!((refused.status(), format!("{refused:?}").contains("wrong")), (Some(401), false));

    let ann = guest(&registry, RealRegistry::PASSWORD);
    for state in [TagState::Free, TagState::Same] {
        assert_eq!(package.publish(&ann, &target, ExistingTag::Keep).await.unwrap(), state);
    }
    let lab = open(&url, "infrastructure-aws", None, &ann).unwrap();
    assert_eq!(lab.versions().await.unwrap()[0].as_str(), "v1.0.0+b");
    assert_eq!(lab.files("v1.0.0+b").await.unwrap(), ["metadata.yaml", "same.yaml"]);
    assert_eq!(lab.read("v1.0.0+b", "same.yaml").await.unwrap().bytes.as_ref(), b"a: 1\n");
}

#[tokio::test]
async fn a_registry_address_may_be_ipv6_in_brackets() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return TestRequirement::Ipv6.skip();
    }
    let registry = RealRegistry::start_at(
        "[::1]",
        Path::new(PROGRAM),
        RegistryTransport::Plain,
        RegistryAccess::Anonymous,
    );
    let Some(registry) = registry else { return };
    let url = format!("oci://{}/lab/infrastructure-aws", registry.host());
    let target = PackageTarget::parse(&url, Some("v1.0.0")).unwrap();
    let context = RepositoryContext::new(Settings::default());
    let package = package(vec![file("metadata.yaml", b"a: 1\n")], None).unwrap();
    assert_eq!(package.publish(&context, &target, ExistingTag::Keep).await.unwrap(), TagState::Free);
    let lab = open(&url, "infrastructure-aws", None, &context).unwrap();
    assert_eq!(lab.read("v1.0.0", "metadata.yaml").await.unwrap().bytes.as_ref(), b"a: 1\n");
}

use api::with_causes;
use serde_json::{Value, json};
use support::host::{FakeHost, Reply};
use transport::{
    Credential, Digest, HostSettings, Hosts, NetworkAccess, RegistryScheme, RequestFailure, Secret, Settings,
    registry::{INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE, TITLE_ANNOTATION},
};

use super::*;
use crate::{
    open,
    testing::{settings, text},
};

pub(super) const HOST: &str = "ghe.example.org";
const REPOSITORY: &str = "lab/aws";
const METADATA: &str = "kind: Metadata\n";
const COMPONENTS: &str = "kind: Namespace\n";

pub(super) fn at(rest: &str) -> String {
    format!("{HOST}/v2/{REPOSITORY}/{rest}")
}

fn repository(url: &str, settings: Settings) -> Box<dyn Repository> {
    open(url, "infrastructure-aws", None, &RepositoryContext::new(settings)).unwrap()
}

fn lab(host: &FakeHost) -> Box<dyn Repository> {
    repository(&format!("oci://{HOST}/{REPOSITORY}"), settings(host))
}

/// Serves a blob under its digest. Returns its descriptor.
pub(super) fn blob(host: &FakeHost, title: Option<&str>, media_type: &str, content: &[u8]) -> Value {
    let digest = Digest::of(content).to_string();
    host.on(at(&format!("blobs/{digest}")), Reply::status(200).body(content));
    let mut layer = json!({"mediaType": media_type, "digest": digest, "size": content.len()});
    if let Some(title) = title {
        layer["annotations"] = json!({TITLE_ANNOTATION: title});
    }
    layer
}

fn file(host: &FakeHost, title: &str, content: &str) -> Value {
    blob(host, Some(title), "application/vnd.test.file", content.as_bytes())
}

pub(super) fn manifest(layers: &[Value], annotations: &Value) -> Value {
    let config =
        json!({"mediaType": "application/vnd.oci.empty.v1+json", "digest": Digest::of(b"{}"), "size": 2});
    json!({"schemaVersion": 2, "mediaType": MANIFEST_MEDIA_TYPE, "config": config, "layers": layers, "annotations": annotations})
}

/// Serves a manifest or an index under a reference and under its digest.
pub(super) fn put(host: &FakeHost, reference: &str, document: &Value) -> Digest {
    let bytes = serde_json::to_vec(document).unwrap();
    let digest = Digest::of(&bytes);
    let reply = Reply::status(200)
        .header("content-type", document["mediaType"].as_str().unwrap())
        .header("docker-content-digest", &digest.to_string())
        .body(bytes);
    host.on(at(&format!("manifests/{reference}")), reply.clone());
    host.on(at(&format!("manifests/{digest}")), reply);
    digest
}

/// Serves a release in the form that cluster-api-operator publishes.
fn release(host: &FakeHost, tag: &str) -> Digest {
    let layers =
        [file(host, "metadata.yaml", METADATA), file(host, "infrastructure-components.yaml", COMPONENTS)];
    put(host, tag, &manifest(&layers, &json!({})))
}

fn oci_error(error: Error) -> OciError {
    match error {
        Error::Oci(error) => *error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_release_is_read_by_layer_titles_and_resolved_once() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let lab = lab(&host);
    assert_eq!(text(&lab.read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
    let components = lab.read("v2.9.0", lab.components_file()).await.unwrap();
    assert_eq!(text(&components), COMPONENTS);
    let origin = format!("oci://{HOST}/{REPOSITORY}:v2.9.0/infrastructure-components.yaml");
    assert_eq!(components.source.to_string(), origin);
    assert_eq!(lab.files("v2.9.0").await.unwrap(), ["infrastructure-components.yaml", "metadata.yaml"]);
    assert_eq!(host.received().iter().filter(|request| request.method == "GET").count(), 3);
    let missing = lab.read("v2.9.0", "cluster-template.yaml").await.unwrap_err();
    assert!(matches!(missing, Error::UnknownFile { available, .. } if available.len() == 2));
}

#[tokio::test]
async fn a_file_name_with_version_is_preferred() {
    let host = FakeHost::internet();
    let layers = [
        file(&host, "metadata.yaml", "plain"),
        file(&host, "infrastructure-aws-v2.9.0-metadata.yaml", "long"),
        file(&host, "bootstrap-kubeadm-v2.9.0-metadata.yaml", "other"),
        file(&host, "components.yaml", COMPONENTS),
    ];
    put(&host, "v2.9.0", &manifest(&layers, &json!({})));
    let lab = lab(&host);
    assert_eq!(text(&lab.read("v2.9.0", "metadata.yaml").await.unwrap()), "long");
    assert_eq!(text(&lab.read("v2.9.0", "infrastructure-components.yaml").await.unwrap()), COMPONENTS);
}

#[tokio::test]
async fn versions_are_the_semantic_version_tags_of_all_pages() {
    let host = FakeHost::internet();
    let next = format!("</v2/{REPOSITORY}/tags/list?n=1000&last=v1.10.0>; rel=\"next\"");
    let page = Reply::json(200, r#"{"name":"x","tags":["latest","v1.10.0"]}"#).header("link", &next);
    host.on(at("tags/list?n=1000"), page);
    let last = r#"{"tags":["v1.9.0","sha256-00.sig","v1.9.0_build.1"]}"#;
    host.on(at("tags/list?n=1000&last=v1.10.0"), Reply::json(200, last));
    let versions = lab(&host).versions().await.unwrap();
    let versions: Vec<&str> = versions.iter().map(Version::as_str).collect();
    assert_eq!(versions, ["v1.9.0", "v1.9.0+build.1", "v1.10.0"]);
}

#[tokio::test]
async fn a_missing_version_is_reported_with_existing_ones() {
    let host = FakeHost::internet();
    host.on(at("tags/list?n=1000"), Reply::json(200, r#"{"tags":["v2.9.0"]}"#));
    let missing = lab(&host).read("v3.0.0", "metadata.yaml").await.unwrap_err();
    assert!(matches!(missing, Error::UnknownRelease { available, .. } if available == ["v2.9.0"]));
}

#[tokio::test]
async fn a_version_without_v_is_found_under_a_tag_with_v() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    assert!(lab(&host).read("2.9.0", "metadata.yaml").await.is_ok());
}

#[tokio::test]
async fn content_with_another_digest_or_size_is_refused() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let blob = at(&format!("blobs/{}", Digest::of(METADATA.as_bytes())));
    let mut errors = Vec::new();
    for lie in ["kind: Metadatb\n", "kind: Metadata", "kind: Metadata\n\n"] {
        for reply in [
            Reply::status(200).body(lie),
            Reply::status(200).body(lie).without_content_length().header("connection", "close"),
        ] {
            host.on(blob.clone(), reply);
            errors.push(lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err());
        }
    }
    assert!(
        errors[..2].iter().all(|error| matches!(error, Error::Transport(transport::Error::Digest { .. }))),
        "{errors:?}"
    );
    for error in errors.drain(2..) {
        assert!(matches!(error, Error::Transport(transport::Error::Size { expected_bytes: 15, .. })));
    }
}

#[tokio::test]
async fn a_manifest_with_another_digest_header_is_refused() {
    let host = FakeHost::internet();
    let document = serde_json::to_vec(&manifest(&[], &json!({}))).unwrap();
    let other = Digest::of(b"other");
    let reply = Reply::status(200).header("docker-content-digest", &other.to_string()).body(document.clone());
    host.on(at("manifests/v2.9.0"), reply);
    let error = lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(transport::Error::Digest { expected, .. }) if expected == other)
    );

    host.on(at(&format!("manifests/{other}")), Reply::status(200).body(document));
    let pinned = repository(&format!("oci://{HOST}/{REPOSITORY}:v2.9.0@{other}"), settings(&host));
    let error = pinned.read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(transport::Error::Digest { expected, .. }) if expected == other)
    );
}

#[tokio::test]
async fn a_pinned_digest_wins_over_a_moved_tag() {
    let host = FakeHost::internet();
    let digest = release(&host, "v2.9.0");
    put(&host, "v2.9.0", &manifest(&[file(&host, "metadata.yaml", "moved")], &json!({})));
    let pinned = repository(&format!("oci://{HOST}/{REPOSITORY}:v2.9.0@{digest}"), settings(&host));
    assert_eq!(text(&pinned.read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
    assert_eq!(pinned.versions().await.unwrap().len(), 1);
    let other = oci_error(pinned.read("v2.10.0", "metadata.yaml").await.unwrap_err());
    assert!(matches!(other, OciError::Pinned { pinned, .. } if pinned == "v2.9.0"));
}

#[tokio::test]
async fn a_manifest_over_four_mebibytes_is_refused() {
    let host = FakeHost::internet();
    let padding = " ".repeat(4 << 20);
    let text = format!("{}{padding}", manifest(&[], &json!({})));
    host.on(
        at("manifests/v2.9.0"),
        Reply::status(200).header("content-type", MANIFEST_MEDIA_TYPE).body(text),
    );
    let error = lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(&error.request().unwrap().failure, RequestFailure::TooLarge { .. }),
        "{}",
        with_causes(&error)
    );
}

fn index(host: &FakeHost, entries: &[(Digest, Value)]) -> Value {
    let entries = entries.iter().map(|(digest, annotations)| {
        let size = host.body(&at(&format!("manifests/{digest}"))).len();
        json!({"mediaType": MANIFEST_MEDIA_TYPE, "digest": digest, "size": size, "annotations": annotations})
    });
    json!({"schemaVersion": 2, "mediaType": INDEX_MEDIA_TYPE, "manifests": entries.collect::<Vec<_>>()})
}

#[tokio::test]
async fn the_artifact_of_the_provider_is_selected_from_an_index() {
    let host = FakeHost::internet();
    let aws = release(&host, "aws");
    let other = put(&host, "other", &manifest(&[file(&host, "metadata.yaml", "other")], &json!({})));
    let provider = |of: &str, name: &str| json!({"cluster-api.sigs.k8s.io/provider-type": of, "cluster-api.sigs.k8s.io/provider-name": name});
    let by_provider =
        [(other, provider("controlPlane", "kubeadm")), (aws, provider("infrastructure", "aws"))];
    let by_title = [
        (other, json!({TITLE_ANNOTATION: "core-cluster-api"})),
        (aws, json!({TITLE_ANNOTATION: "infrastructure-aws"})),
    ];
    for entries in [&by_provider[..], &by_title[..], &[(aws, json!({}))]] {
        put(&host, "v2.9.0", &index(&host, entries));
        assert_eq!(text(&lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
    }
    put(&host, "v2.9.0", &index(&host, &by_title[..1]));
    let none = oci_error(lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err());
    assert!(matches!(none, OciError::NotInIndex { found: 0, titles, .. } if titles == ["core-cluster-api"]));
}

#[tokio::test]
async fn a_manifest_with_another_size_than_in_its_index_is_refused() {
    let host = FakeHost::internet();
    let aws = release(&host, "aws");
    let mut document = index(&host, &[(aws, json!({}))]);
    document["manifests"][0]["size"] = json!(7);
    put(&host, "v2.9.0", &document);
    let error = lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::Size { expected_bytes: 7, .. })));
}

#[tokio::test]
async fn an_index_inside_an_index_is_refused() {
    let host = FakeHost::internet();
    let inner = put(&host, "inner", &index(&host, &[]));
    put(&host, "v2.9.0", &index(&host, &[(inner, json!({}))]));
    let error = oci_error(lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err());
    assert!(matches!(error, OciError::NestedIndex { .. }));
}

#[tokio::test]
async fn an_image_a_foreign_artifact_and_hostile_names_are_refused() {
    let host = FakeHost::internet();
    let read = async |layers: &[Value], annotations: Value| {
        put(&host, "v2.9.0", &manifest(layers, &annotations));
        lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap_err()
    };
    let image = blob(&host, None, "application/octet-stream", b"x");
    assert!(matches!(oci_error(read(&[image], json!({})).await), OciError::NoFiles { .. }));
    let metadata = file(&host, "metadata.yaml", METADATA);
    let foreign = json!({"cluster-api.sigs.k8s.io/provider-type": "infrastructure",
        "cluster-api.sigs.k8s.io/provider-name": "azure"});
    let error = oci_error(read(std::slice::from_ref(&metadata), foreign).await);
    assert!(matches!(error, OciError::WrongProvider { found, .. } if found == "infrastructure azure"));
    let twice = read(&[metadata.clone(), metadata], json!({})).await;
    assert!(matches!(oci_error(twice), OciError::DuplicateFile { .. }));
    let climbing = file(&host, "../metadata.yaml", METADATA);
    assert!(matches!(
        read(&[climbing], json!({})).await,
        Error::Transport(transport::Error::UnsafeName { .. })
    ));
    let climbing = packed(&host, "../metadata.yaml", METADATA.as_bytes());
    assert!(matches!(
        read(&[climbing], json!({})).await,
        Error::Transport(transport::Error::UnsafeName { .. })
    ));
}

/// Serves a packed layer with one file.
fn packed(host: &FakeHost, name: &str, content: &[u8]) -> Value {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    // The tar builder rejects names with `..`.
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    archive.append(&header, content).unwrap();
    let packed = archive.into_inner().unwrap().finish().unwrap();
    blob(host, None, "application/vnd.oci.image.layer.v1.tar+gzip", &packed)
}

#[tokio::test]
async fn a_file_over_the_limit_is_not_requested() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let limited = Settings { max_file_bytes: METADATA.len() as u64 - 1, ..settings(&host) };
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), limited);
    let error = lab.read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::TooLarge { .. })), "{error:?}");
    assert!(host.addresses().iter().all(|address| !address.contains("/blobs/")));
}

#[tokio::test]
async fn packed_layers_share_one_size_limit() {
    let host = FakeHost::internet();
    let large = vec![b'x'; 6000];
    let layers = ["a", "b", "metadata.yaml"].map(|name| packed(&host, name, &large));
    for (count, fits) in [(1, true), (3, false)] {
        put(&host, "v2.9.0", &manifest(&layers[3 - count..], &json!({})));
        let limited = Settings { max_file_bytes: 10_000, ..settings(&host) };
        let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), limited);
        match lab.read("v2.9.0", "metadata.yaml").await {
            Ok(_) => assert!(fits),
            Err(error) => assert!(!fits && matches!(oci_error(error), OciError::Archive { .. })),
        }
    }
}

// Row: D-201
#[tokio::test]
async fn files_packed_into_one_layer_are_read() {
    let host = FakeHost::internet();
    let layer = packed(&host, "metadata.yaml", METADATA.as_bytes());
    let annotations = json!({"cluster-api.sigs.k8s.io/provider-type": "infrastructure",
        "cluster-api.sigs.k8s.io/provider-name": "aws", TITLE_ANNOTATION: "infrastructure-aws"});
    put(&host, "v2.9.0", &manifest(&[layer], &annotations));
    assert_eq!(text(&lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
}

fn ann() -> Credential {
    Credential::Basic { user: "ann".to_owned(), password: Secret::new("config", "hunter2").unwrap() }
}

fn with_ann(host: &FakeHost) -> Settings {
    let mut settings = settings(host);
    let of_host = HostSettings { credential: Some(ann()), ..HostSettings::default() };
    settings.hosts = Hosts::new([(HOST.to_owned(), of_host)]);
    settings
}

fn refusing(realm: &str) -> Reply {
    let challenge =
        format!("Bearer realm=\"{realm}\",service=\"lab\",scope=\"repository:{REPOSITORY}:pull\"");
    Reply::json(401, "{}").header("www-authenticate", &challenge)
}

const TOKENS: &str = "files.example.org/token?service=lab&scope=repository%3Alab%2Faws%3Apull";

#[tokio::test]
async fn a_token_is_used_for_all_requests_and_refreshed_once() {
    let host = FakeHost::internet();
    let digest = release(&host, "v2.9.0");
    let whole = manifest(
        &[file(&host, "metadata.yaml", METADATA), file(&host, "infrastructure-components.yaml", COMPONENTS)],
        &json!({}),
    );
    let refused = refusing("https://files.example.org/token");
    let served = Reply::status(200).header("content-type", MANIFEST_MEDIA_TYPE).body(whole.to_string());
    host.on_sequence(at("manifests/v2.9.0"), [refused.clone(), served]);
    let blob = at(&format!("blobs/{}", Digest::of(METADATA.as_bytes())));
    host.on_sequence(blob, [refused, Reply::status(200).body(METADATA)]);
    host.on_sequence(
        TOKENS,
        [Reply::json(200, r#"{"token":"one"}"#), Reply::json(200, r#"{"access_token":"two"}"#)],
    );
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    lab.read("v2.9.0", "metadata.yaml").await.unwrap();
    assert_eq!(digest, Digest::of(whole.to_string().as_bytes()));
    let sent: Vec<_> = host
        .received()
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| request.header("authorization").unwrap_or_default().to_owned())
        .collect();
    let basic = "Basic YW5uOmh1bnRlcjI=";
    assert_eq!(sent, ["", basic, "Bearer one", "Bearer one", basic, "Bearer two"]);
}

#[tokio::test]
async fn a_missing_token_server_is_no_missing_release() {
    let host = FakeHost::internet();
    host.on(at("manifests/v2.9.0"), refusing("https://files.example.org/token"));
    host.on("files.example.org/token", Reply::status(404));
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    let error = lab.read("v2.9.0", "metadata.yaml").await.unwrap_err();
    let Error::Transport(error) = error else { panic!("{error:?}") };
    assert_eq!(error.request().unwrap().action, transport::RequestAction::Authorize);
}

#[tokio::test]
async fn an_identity_token_is_exchanged_and_never_sent_to_the_registry() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let served = Reply::status(200)
        .header("content-type", MANIFEST_MEDIA_TYPE)
        .body(host.body(&at("manifests/v2.9.0")));
    host.on_sequence(at("manifests/v2.9.0"), [refusing("https://files.example.org/token"), served]);
    host.on("files.example.org/token", Reply::json(200, r#"{"access_token":"one"}"#));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    std::fs::write(&file, format!(r#"{{"auths": {{"{HOST}": {{"identitytoken": "s3cret+/="}}}}}}"#)).unwrap();
    let mut settings = settings(&host);
    settings.credentials.auth_files = vec![file];
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), settings);
    lab.read("v2.9.0", "metadata.yaml").await.unwrap();
    let received = host.received();
    let traded: Vec<_> = received.iter().filter(|request| request.method == "POST").collect();
    assert_eq!(traded.len(), 1, "{received:?}");
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&traded[0].body).into_owned().collect();
    let expected = [
        ("grant_type", "refresh_token"),
        ("client_id", "capstan"),
        ("service", "lab"),
        ("scope", "repository:lab/aws:pull"),
        ("refresh_token", "s3cret+/="),
    ];
    assert_eq!(form, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let shown: Vec<&str> = received.iter().filter_map(|request| request.header("authorization")).collect();
    assert_eq!(shown, ["Bearer one"; 2]);
}

#[tokio::test]
async fn a_registry_without_tls_requires_a_setting() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let read = async |scheme: RegistryScheme| {
        let of_host = HostSettings { registry_scheme: scheme, ..HostSettings::default() };
        let hosts = Hosts::new([(HOST.to_owned(), of_host)]);
        let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), Settings { hosts, ..settings(&host) });
        lab.read("v2.9.0", "metadata.yaml").await.unwrap();
    };
    read(RegistryScheme::Https).await;
    assert!(host.received().iter().all(|request| request.tls));
    let before = host.received().len();
    read(RegistryScheme::Http).await;
    let received = &host.received()[before..];
    assert!(!received.is_empty() && received.iter().all(|request| !request.tls), "{received:?}");
}

#[tokio::test]
async fn a_password_is_not_sent_to_a_realm_in_another_domain() {
    let host = FakeHost::internet();
    host.on(at("manifests/v2.9.0"), refusing("https://gitlab.com/token"));
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    assert!(lab.read("v2.9.0", "metadata.yaml").await.is_err());
    let received = host.received();
    assert!(received.iter().any(|request| request.host == "gitlab.com"));
    assert!(received.iter().all(|request| request.header("authorization").is_none()), "{received:?}");
}

#[tokio::test]
async fn a_password_is_not_sent_to_a_realm_over_http() {
    let host = FakeHost::internet();
    host.on(at("manifests/v2.9.0"), refusing(&format!("http://{HOST}/token")));
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    assert!(lab.read("v2.9.0", "metadata.yaml").await.is_err());
    assert!(host.received().iter().all(|request| request.tls));
}

#[tokio::test]
async fn an_identity_token_is_not_used_as_a_password() {
    let host = FakeHost::internet();
    let challenge = Reply::json(401, "{}").header("www-authenticate", "Basic realm=\"lab\"");
    host.on(at("manifests/v2.9.0"), challenge);
    let token = Secret::new("config", "s3cret").unwrap();
    let credential = Credential::Basic { user: "<token>".to_owned(), password: token };
    let of_host = HostSettings { credential: Some(credential), ..HostSettings::default() };
    let hosts = Hosts::new([(HOST.to_owned(), of_host)]);
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), Settings { hosts, ..settings(&host) });
    assert!(lab.read("v2.9.0", "metadata.yaml").await.is_err());
    assert!(host.received().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn a_truncated_blob_is_read_again_from_its_start() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let whole = Reply::status(200).body(METADATA);
    let blob = at(&format!("blobs/{}", Digest::of(METADATA.as_bytes())));
    host.on_sequence(blob, [whole.clone().cut_after(5), whole]);
    assert_eq!(text(&lab(&host).read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
}

#[tokio::test]
async fn a_wrong_password_is_reported_with_its_origin_and_not_retried() {
    let host = FakeHost::internet();
    let refused = Reply::json(401, "{}").header("www-authenticate", "Basic realm=\"lab\"");
    host.on(at("manifests/v2.9.0"), refused);
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    let error = lab.read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert_eq!(error.request().unwrap().credential, Some(ann()));
    assert_eq!(host.received().iter().filter(|request| request.method == "GET").count(), 2);
}

#[tokio::test]
async fn a_blob_redirect_to_another_host_omits_the_credential() {
    let host = FakeHost::internet();
    let layers = [file(&host, "metadata.yaml", METADATA)];
    put(&host, "v2.9.0", &manifest(&layers, &json!({})));
    let blob = at(&format!("blobs/{}", Digest::of(METADATA.as_bytes())));
    let refused = Reply::json(401, "{}").header("www-authenticate", "Basic realm=\"lab\"");
    host.on_sequence(blob, [refused, Reply::redirect("https://objects.githubusercontent.com/blob")]);
    host.on("objects.githubusercontent.com/blob", Reply::file(METADATA));
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), with_ann(&host));
    assert_eq!(text(&lab.read("v2.9.0", "metadata.yaml").await.unwrap()), METADATA);
    let received = host.received();
    let elsewhere = received.iter().find(|request| request.host == "objects.githubusercontent.com").unwrap();
    assert_eq!(elsewhere.header("authorization"), None);
}

#[tokio::test]
async fn offline_no_registry_is_asked() {
    let host = FakeHost::internet();
    release(&host, "v2.9.0");
    let settings = Settings { network: NetworkAccess::Forbidden, ..settings(&host) };
    let lab = repository(&format!("oci://{HOST}/{REPOSITORY}"), settings);
    let error = lab.read("v2.9.0", "metadata.yaml").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::Offline { .. })));
    assert!(host.received().is_empty());
}

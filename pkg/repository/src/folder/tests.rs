use api::Version;
use serde_json::json;
use support::host::{FakeHost, Reply};
use transport::{Digest, HostKind, HostSettings, Hosts, RequestFailure, Settings, StoreSettings};

use crate::testing;
use crate::{
    Error, Repository, RepositoryContext, latest_version, open,
    testing::{settings, text},
};

const BASE: &str = "files.example.org/capi/infrastructure-aws";

fn folder(host: &FakeHost, version: &str) -> Box<dyn Repository> {
    let url = format!("https://{BASE}/{version}/infrastructure-components.yaml");
    open(&url, "infrastructure-aws", None, &RepositoryContext::new(settings(host))).unwrap()
}

fn index(host: &FakeHost, text: &str) {
    host.on(format!("{BASE}/index.json"), Reply::json(200, text));
}

/// Serves an index of versions whose metadata is `good`.
fn list_good_metadata(host: &FakeHost, versions: &[&str]) {
    let files = json!({"files": {"metadata.yaml": Digest::of(b"good").to_string()}});
    let versions: serde_json::Map<_, _> =
        versions.iter().map(|version| ((*version).to_owned(), files.clone())).collect();
    index(host, &json!({"versions": versions}).to_string());
}

#[tokio::test]
async fn a_pinned_version_needs_no_index_but_a_list_does() {
    let host = FakeHost::internet();
    host.on(format!("{BASE}/v1.0.0/metadata.yaml"), Reply::file("good"));
    let folder = folder(&host, "latest");
    let file = folder.read("v1.0.0", "metadata.yaml").await.unwrap();
    assert_eq!(text(&file), "good");
    assert_eq!(file.source.to_string(), format!("https://{BASE}/v1.0.0/metadata.yaml"));
    assert!(
        matches!(folder.versions().await, Err(Error::CannotList { place }) if place == format!("https://{BASE}"))
    );
    assert!(matches!(folder.files("v1.0.0").await, Err(Error::CannotList { .. })));
    let missing = folder.read("v1.0.0", "absent.yaml").await;
    assert!(matches!(missing, Err(Error::UnknownFile { available, .. }) if available.is_empty()));
    let of_index = host.addresses().iter().filter(|address| address.ends_with("index.json")).count();
    assert_eq!(of_index, 1);
}

// Row: D-198
#[tokio::test]
async fn an_index_lists_versions_and_files_with_their_digests() {
    let host = FakeHost::internet();
    list_good_metadata(&host, &["1.9.0", "1.10.0"]);
    host.on(format!("{BASE}/1.9.0/metadata.yaml"), Reply::file("good"));
    host.on(format!("{BASE}/1.10.0/metadata.yaml"), Reply::file("evil"));
    let folder = folder(&host, "latest");
    let versions = folder.versions().await.unwrap();
    assert_eq!(versions.iter().map(Version::as_str).collect::<Vec<_>>(), ["1.9.0", "1.10.0"]);
    assert_eq!(folder.files("v1.10.0").await.unwrap(), ["metadata.yaml"]);
    assert_eq!(text(&folder.read("v1.9.0", "metadata.yaml").await.unwrap()), "good");
    let error = folder.read("1.10.0", "metadata.yaml").await.unwrap_err();
    let Error::Transport(transport::Error::Digest { expected, found, .. }) = error else { panic!("{error}") };
    assert_eq!((expected, found), (Digest::of(b"good"), Digest::of(b"evil")));
    let missing = folder.read("v2.0.0", "metadata.yaml").await;
    assert!(
        matches!(missing, Err(Error::UnknownRelease { available, .. }) if available == ["1.9.0", "1.10.0"])
    );
}

#[tokio::test]
async fn the_newest_version_of_an_index_is_the_latest() {
    let host = FakeHost::internet();
    index(&host, r#"{"versions": {"v1.0.0": {}, "v1.1.0": {}, "v2.0.0-rc.0": {}, "notes": {}}}"#);
    for version in ["v1.1.0", "v2.0.0-rc.0"] {
        host.on(format!("{BASE}/{version}/metadata.yaml"), Reply::file("x"));
    }
    let folder = folder(&host, "latest");
    let newest = latest_version(&*folder, "v1beta2", &|_| None).await.unwrap();
    assert_eq!(newest.as_str(), "v1.1.0");
}

#[tokio::test]
async fn a_missing_or_invalid_index_is_an_error() {
    for (reply, status) in [(Reply::status(403), Some(403)), (Reply::json(200, "{}"), None)] {
        let host = FakeHost::internet();
        host.on(format!("{BASE}/v1.0.0/metadata.yaml"), Reply::file("good"));
        host.on(format!("{BASE}/index.json"), reply);
        let error = folder(&host, "v1.0.0").read("v1.0.0", "metadata.yaml").await.unwrap_err();
        assert_eq!(testing::status(&error), status, "{error:?}");
        let unreadable = matches!(error.request().unwrap().failure, RequestFailure::InvalidResponse { .. });
        assert_eq!(unreadable, status.is_none());
    }
}

#[tokio::test]
async fn the_configured_kind_of_a_host_selects_its_url_form() {
    let host = FakeHost::internet();
    let path = "files.example.org/o/r/releases";
    host.on(format!("{path}/download/v1.0.0/c.yaml"), Reply::file("of a release"));
    let set = HostSettings { kind: Some(HostKind::GitHub), ..HostSettings::default() };
    let hosts = Hosts::new([("files.example.org".to_owned(), set)]);
    let context = RepositoryContext::new(Settings { hosts, ..settings(&host) });
    // Without a kind, this url has the form of a web folder.
    let url = "https://files.example.org/o/releases/v1.0.0/c.yaml";
    assert!(open(url, "releases", None, &context).is_err());
    assert!(open(url, "releases", Some(HostKind::Folder), &context).is_ok());
    let github = open(&format!("https://{path}/v1.0.0/c.yaml"), "releases", None, &context).unwrap();
    assert_eq!(text(&github.read("v1.0.0", "c.yaml").await.unwrap()), "of a release");
}

#[tokio::test]
async fn a_file_with_another_digest_is_not_cached() {
    let (host, kept) = (FakeHost::internet(), tempfile::tempdir().unwrap());
    list_good_metadata(&host, &["v1.0.0"]);
    let file = format!("{BASE}/v1.0.0/metadata.yaml");
    host.on_sequence(file, [Reply::file("evil"), Reply::file("good")]);
    let read = async || {
        let store = StoreSettings { folder: kept.path().join("cache"), max_bytes: u64::MAX };
        let context = RepositoryContext::new(Settings { store: Some(store), ..settings(&host) });
        let url = format!("https://{BASE}/v1.0.0/infrastructure-components.yaml");
        open(&url, "infrastructure-aws", None, &context).unwrap().read("v1.0.0", "metadata.yaml").await
    };
    assert!(matches!(read().await, Err(Error::Transport(transport::Error::Digest { .. }))));
    assert_eq!(text(&read().await.unwrap()), "good");
}

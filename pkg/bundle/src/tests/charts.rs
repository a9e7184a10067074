//! Tests of charts in bundles.

use std::thread;

use repository::{CHART_FOLDER, RepositoryContext, chart_archive, find_published_chart};
use serde_json::json;
use support::registry::{Registry, RegistryAccess, RegistryTransport};
use transport::registry::{Reference, Registry as Client};

use super::*;

const URL: &str = "https://files.example.org/charts/web";
const ARCHIVE: &[u8] = b"archive of web";
const METADATA: &[u8] = br#"{"name":"web","version":"1.2.0"}"#;

/// Adds a lock that has this archive of the chart, and writes the bundle.
fn finish(writer: BundleWriter, lock: LockFile, url: &str, locked: &[u8]) {
    let charts = [(url.to_owned(), [("1.2.0".to_owned(), Digest::of(locked))].into())].into();
    let lock = Bytes::from(LockFile { charts, ..lock }.to_string());
    writer.add_configuration(BTreeMap::from([(LockFile::FILE.to_owned(), lock)])).unwrap();
    writer.finish().unwrap();
}

/// Returns a bundle with a release and a chart, whose lock has this archive.
fn bundle_of(url: &str, locked: &[u8]) -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("a.tar");
    let writer = BundleWriter::create(&path).unwrap();
    writer.add_release(LABEL, VERSION, files()).unwrap();
    writer.add_chart(url, "1.2.0", ARCHIVE, METADATA).unwrap();
    finish(writer, lock(), url, locked);
    fs::read(path).unwrap()
}

fn with_chart() -> Vec<u8> {
    bundle_of(URL, ARCHIVE)
}

/// Returns a bundle with a chart and a changed index.
fn with_changed_index(change: impl Fn(String) -> String) -> Vec<u8> {
    let mut entries = entries(&with_chart());
    entries[1].1 = change(String::from_utf8(entries[1].1.clone()).unwrap()).into_bytes();
    pack(&entries, |_, _| {})
}

#[test]
fn a_chart_is_the_artifact_that_helm_pushes() {
    let bytes = with_chart();
    assert_eq!(Digest::of(&bytes), Digest::of(&with_chart()));
    let bundle = open(&bytes).unwrap();
    assert_eq!(bundle.verify().unwrap(), []);
    let items: Vec<String> = bundle.entries().iter().map(|entry| entry.item.name()).collect();
    assert_eq!(items, ["configuration", "infrastructure-aws:v1.0.0", "files.example.org/charts/web:1.2.0"]);
    let chart = &bundle.entries()[2];
    assert_eq!(chart.files[0].name, "files.example.org/charts/web-1.2.0.tgz");
    assert_eq!(bundle.read(&chart.files[0].digest).unwrap(), ARCHIVE);
    let manifest: serde_json::Value = serde_json::from_slice(&bundle.read(&chart.digest).unwrap()).unwrap();
    let layer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
    let config = "application/vnd.cncf.helm.config.v1+json";
    let descriptor = |media_type: &str, bytes: &[u8]| json!({"mediaType": media_type, "digest": Digest::of(bytes).to_string(), "size": bytes.len()});
    let expected = json!({"schemaVersion": 2, "mediaType": MANIFEST_MEDIA_TYPE,
        "config": descriptor(config, METADATA), "layers": [descriptor(layer, ARCHIVE)]});
    assert_eq!(manifest, expected);
}

#[test]
fn a_folder_receives_each_chart_once() {
    let folder = folder();
    let bundle = open(&with_chart()).unwrap();
    let load = |existing| load_into_folder(&bundle, folder.path(), existing);
    let state = |loaded: Vec<LoadedContent>| loaded[1].state;
    assert_eq!(state(load(ExistingContent::Refuse).unwrap()), LoadedContentState::New);
    assert_eq!(state(load(ExistingContent::Refuse).unwrap()), LoadedContentState::Unchanged);
    let path = folder.path().join(CHART_FOLDER).join(chart_archive(URL, "1.2.0"));
    assert_eq!(fs::read(&path).unwrap(), ARCHIVE);
    for other in [&b"archive of wep"[..], b"a much longer archive of web", b""] {
        fs::write(&path, other).unwrap();
        let refused = load(ExistingContent::Refuse).unwrap_err();
        assert!(matches!(refused, BundleError::Exists { paths } if paths == [path.clone()]));
        assert_eq!(fs::read(&path).unwrap(), other);
        assert_eq!(state(load(ExistingContent::Replace).unwrap()), LoadedContentState::Replaced);
        assert_eq!(fs::read(&path).unwrap(), ARCHIVE);
    }
    let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1);
}

#[test]
fn concurrent_loads_of_a_chart_leave_one_complete_archive() {
    let folder = folder();
    let path = folder.path().join("a.tar");
    let writer = BundleWriter::create(&path).unwrap();
    writer.add_chart(URL, "1.2.0", ARCHIVE, METADATA).unwrap();
    finish(writer, LockFile::default(), URL, ARCHIVE);
    let bytes = fs::read(path).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let bundle = open(&bytes).unwrap();
                load_into_folder(&bundle, &folder.path().join("a"), ExistingContent::Replace).unwrap();
            });
        }
    });
    let bundle = open(&bytes).unwrap();
    let loaded = load_into_folder(&bundle, &folder.path().join("a"), ExistingContent::Refuse).unwrap();
    assert!(loaded.iter().all(|it| it.state == LoadedContentState::Unchanged), "{loaded:?}");
}

#[test]
fn a_truncated_or_damaged_chart_is_refused_and_writes_nothing() {
    let bytes = with_chart();
    for length in (0..bytes.len()).step_by(97) {
        assert!(open(&bytes[..length]).and_then(|it| it.verify()).is_err(), "{length} bytes");
    }
    let mut damaged = bytes.clone();
    let at = damaged.windows(ARCHIVE.len()).position(|it| it == ARCHIVE).unwrap();
    damaged[at] ^= 1;
    let target = folder();
    let loaded = load_into_folder(&open(&damaged).unwrap(), target.path(), ExistingContent::Replace);
    assert!(matches!(
        loaded,
        Err(BundleError::InvalidBundle { problem: BundleFormatError::Digest { .. }, .. })
    ));
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
}

#[test]
fn an_unusable_entry_of_a_chart_is_refused() {
    let mut problems = Vec::new();
    for (from, to) in [
        (URL, "https://files.example.org"),
        (URL, "../../etc/web"),
        (URL, "https://me:pa55@files.example.org/charts/web"),
        (r#"version": "1.2.0""#, r#"version": "../1.2.0""#),
        (r#"kind": "release""#, r#"kind": "chart""#),
    ] {
        problems.push(problem(&with_changed_index(|index| index.replace(from, to))).to_string());
    }
    let release_as_chart = with_changed_index(|index| {
        let other = format!(r#"kind": "chart", "dev.capstan.bundle.chart": "{URL}2""#);
        index.replace(r#"kind": "release""#, &other)
    });
    problems.push(problem(&release_as_chart).to_string());
    problems.push(problem(&bundle_of(URL, b"another archive")).to_string());
    assert_data_eq!(
        problems.join("\n"),
        str![[r#"
the chart `https://files.example.org` is not the URL of a chart
the chart `../../etc/web` is not the URL of a chart
the chart `https://me:pa55@files.example.org/charts/web` is not the URL of a chart
the version `../1.2.0` is not a plain name
its manifest sha256:bcd20d43dc1fd9cf910399d0af0264a0e87a1256fece7c326c063072427e2670 has no annotation for its kind
its manifest sha256:bcd20d43dc1fd9cf910399d0af0264a0e87a1256fece7c326c063072427e2670 has no archive of a chart
`1.2.0` of `https://files.example.org/charts/web` does not match its lock
"#]]
    );
}

#[test]
fn two_charts_with_one_path_are_refused() {
    let folder = folder();
    let writer = BundleWriter::create(&folder.path().join("a.tar")).unwrap();
    writer.add_chart(URL, "1.2.0", ARCHIVE, METADATA).unwrap();
    writer.add_chart(URL, "1.3.0", ARCHIVE, METADATA).unwrap();
    let twice = writer.add_chart(&URL.replace("https", "http"), "1.2.0", b"another", METADATA);
    assert!(matches!(twice, Err(BundleError::DuplicateChart { .. })), "{twice:?}");
}

#[test]
fn paths_of_charts_stay_in_their_folder() {
    for (name, path) in [
        (URL, "files.example.org/charts/web"),
        ("oci://[::1]:5000/Team/web", "1-5000/team/web"),
        ("https://h/../..//.a/%2e%2e/b\\c/.tgz", "h/a/2e-2e/b-c"),
        ("https://h/web-1.tgz", "h/web-1"),
        ("https://h/a_b..c/-d--e.", "h/a_b-c/d-e"),
    ] {
        assert_eq!(repository::chart_path(name), path);
    }
    assert_eq!(chart_archive(URL, "1.0.0+b/../x"), "files.example.org/charts/web-1.0.0+b-..-x.tgz");
}

// Row: PRV-85
#[tokio::test]
async fn a_chart_in_a_registry_keeps_its_digest_and_its_signature() {
    let Some(site) = Registry::start(RegistryTransport::Plain, RegistryAccess::Anonymous) else { return };
    let inside = RepositoryContext::new(Settings::default());
    let load = |bytes: &[u8], prefix: &str| {
        let bundle = open(bytes).unwrap();
        let target = RegistryTarget::parse(&format!("oci://{}/{prefix}", site.host())).unwrap();
        let inside = inside.clone();
        async move {
            let loaded =
                load_into_registry(&bundle, &inside, &target, ExistingContent::Refuse).await.unwrap();
            (bundle, loaded)
        }
    };
    let (bundle, loaded) = load(&with_chart(), "capi").await;
    let url = format!("oci://{}/capi/files.example.org/charts/web", site.host());
    assert_eq!(loaded[1].place, format!("{url}:1.2.0"));
    let (_, again) = load(&with_chart(), "capi").await;
    assert_eq!(again[1].state, LoadedContentState::Unchanged);

    let published = find_published_chart(&url, "1.2.0", Digest::of(ARCHIVE), &inside).await.unwrap();
    assert_eq!(published.map(|it| it.manifest.digest), Some(bundle.entries()[2].digest));
    assert!(find_published_chart(&url, "1.2.0", Digest::of(b"x"), &inside).await.unwrap().is_none());

    let digest = bundle.entries()[2].digest;
    let client = Client::new(&site.host(), &inside);
    let repository = "capi/files.example.org/charts/web";
    let found = client.manifest(repository, &Reference::Digest(digest)).await.unwrap().unwrap();
    let signature = Reference::of_signature(&digest);
    client.push_manifest(repository, &signature, MANIFEST_MEDIA_TYPE, found.bytes).await.unwrap();
    let folder = folder();
    let path = folder.path().join("b.tar");
    let writer = BundleWriter::create(&path).unwrap();
    writer.add_chart_from(&inside, (&url, "1.2.0"), ARCHIVE, b"{}").await.unwrap();
    finish(writer, LockFile::default(), &url, ARCHIVE);
    let (copied, loaded) = load(&fs::read(&path).unwrap(), "copy").await;
    assert_eq!(copied.entries()[1].digest, digest);
    assert!(matches!(copied.entries()[2].item, BundleItem::Signature { .. }), "{loaded:?}");
    assert_eq!(loaded.len(), 2);
}

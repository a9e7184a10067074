mod charts;
mod signed;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Duration,
};

use api::output::{LoadedContent, LoadedContentState};
use bytes::Bytes;
use repository::{LockFile, LockedFile, LockedFileOrigin, LockedProvider};
use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use transport::{Context, Digest, RetryPolicy, Settings, registry::MANIFEST_MEDIA_TYPE};

use super::*;

/// Returns settings that resolve every name of [`FakeHost::INTERNET`] to the host and retry without waiting.
pub(crate) fn settings(host: &FakeHost) -> Settings {
    Settings {
        extra_roots: vec![host.ca_pem().as_bytes().to_vec()],
        system_roots: false,
        resolve: FakeHost::INTERNET.iter().map(|name| ((*name).to_owned(), host.address())).collect(),
        retry: RetryPolicy { waits: vec![Duration::ZERO; 2], max_retry_after: Duration::from_millis(100) },
        ..Settings::default()
    }
}

pub(crate) fn context(host: &FakeHost) -> Context {
    Context::new(settings(host))
}

const LABEL: &str = "infrastructure-aws";
const VERSION: &str = "v1.0.0";

fn files() -> BTreeMap<String, Bytes> {
    let file = |(name, text): (&str, &'static str)| (name.to_owned(), Bytes::from_static(text.as_bytes()));
    [("metadata.yaml", "a"), ("infrastructure-components.yaml", "b"), ("templates/x.yaml", "a")]
        .map(file)
        .into()
}

fn lock() -> LockFile {
    let file = |(name, bytes): (String, Bytes)| {
        (name, LockedFile { digest: Digest::of(&bytes), origin: LockedFileOrigin::Repository })
    };
    let provider = LockedProvider {
        version: VERSION.to_owned(),
        url: "https://example.com".to_owned(),
        files: files().into_iter().map(file).collect(),
        images: BTreeMap::new(),
        kustomization: BTreeMap::new(),
    };
    LockFile { providers: BTreeMap::from([(LABEL.to_owned(), provider)]), ..LockFile::default() }
}

fn write(path: &Path) {
    let writer = BundleWriter::create(path).unwrap();
    writer.add_release(LABEL, VERSION, files()).unwrap();
    let lock = Bytes::from(lock().to_string());
    writer.add_configuration(BTreeMap::from([(LockFile::FILE.to_owned(), lock)])).unwrap();
    writer.finish().unwrap();
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns the bytes of a valid bundle.
fn valid_bundle() -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("a.tar");
    write(&path);
    fs::read(path).unwrap()
}

fn open(bytes: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::from_stream(&mut &*bytes, "a.tar")
}

/// Returns the problem of invalid bytes.
fn problem(bytes: &[u8]) -> BundleFormatError {
    match open(bytes).and_then(|bundle| bundle.verify().map(drop)).unwrap_err() {
        BundleError::InvalidBundle { problem, .. } => problem,
        other => panic!("{other:?}"),
    }
}

/// Returns the entries of a bundle, so that a test can pack them differently.
fn entries(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(bytes);
    let read = |mut entry: tar::Entry<'_, &[u8]>| {
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).unwrap();
        (entry.path().unwrap().display().to_string(), content)
    };
    archive.entries().unwrap().map(|entry| read(entry.unwrap())).collect()
}

/// Packs entries without a check of their names.
fn pack(entries: &[(String, Vec<u8>)], change: impl Fn(&str, &mut Header)) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (name, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(EntryType::Regular);
        header.set_size(content.len() as u64);
        change(name, &mut header);
        header.set_cksum();
        builder.append(&header, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn with_entries(more: &[(&str, &str)]) -> Vec<u8> {
    let more = more.iter().map(|(name, content)| ((*name).to_owned(), content.as_bytes().to_vec()));
    pack(&entries(&valid_bundle()).into_iter().chain(more).collect::<Vec<_>>(), |_, _| {})
}

/// Returns a valid bundle with a changed index.
fn with_index(change: impl Fn(String) -> String) -> Vec<u8> {
    let mut entries = entries(&valid_bundle());
    let index = entries.iter_mut().find(|(name, _)| name == "index.json").unwrap();
    index.1 = change(String::from_utf8(index.1.clone()).unwrap()).into_bytes();
    pack(&entries, |_, _| {})
}

// Row: D-215
#[test]
fn the_same_content_gives_the_same_bytes() {
    let first = valid_bundle();
    assert_eq!(Digest::of(&first), Digest::of(&valid_bundle()));
    let bundle = open(&first).unwrap();
    assert_eq!(bundle.verify().unwrap(), []);
    let items: Vec<String> = bundle.entries().iter().map(|entry| entry.item.name()).collect();
    assert_eq!(items, ["configuration", "infrastructure-aws:v1.0.0"]);
    let release = &bundle.entries()[1];
    for (file, (name, bytes)) in release.files.iter().zip(files()) {
        assert_eq!((&file.name, bundle.read(&file.digest).unwrap()), (&name, bytes));
    }
    assert_eq!(bundle.read_lock().unwrap(), lock());
    let names: Vec<String> = entries(&first).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[..2], ["oci-layout", "index.json"]);
    assert!(names[2..].is_sorted() && names[2..].iter().all(|name| name.starts_with("blobs/sha256/")));
}

#[test]
fn a_full_disk_is_a_write_error_not_an_invalid_bundle() {
    let bundle = open(&valid_bundle()).unwrap();
    let (path, mut no_room) = (Path::new("metadata.yaml"), [0_u8; 0]);
    let copied = bundle.copy_blob(&bundle.entries()[1].files[0].digest, path, &mut no_room.as_mut_slice());
    assert!(matches!(copied, Err(BundleError::Write { path, .. }) if path == Path::new("metadata.yaml")));
}

// Row: D-216
#[test]
fn entries_with_unsafe_names_or_types_are_refused() {
    let mut texts = BTreeSet::new();
    for name in ["../x", "/etc/passwd", "blobs/sha256/../../x", "blobs/sha256/xyz", "blobs\\sha256\\x", "x"] {
        let problem = problem(&with_entries(&[(name, "x")]));
        assert!(matches!(&problem, BundleFormatError::Entry { .. }), "{name}: {problem}");
        texts.insert(problem.to_string().replace(&*name.escape_debug().to_string(), "NAME"));
    }
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::Directory,
    ] {
        let problem = problem(&pack(&entries(&valid_bundle()), |name, header| {
            if name == "index.json" {
                header.set_entry_type(kind);
            }
        }));
        assert!(matches!(&problem, BundleFormatError::Entry { .. }), "{kind:?}: {problem}");
        texts.insert(problem.to_string());
    }
    assert_data_eq!(
        texts.into_iter().collect::<Vec<_>>().join("\n"),
        str![[r#"
its entry `NAME` is not part of a bundle
its entry `index.json` is not a regular file
"#]]
    );
}

#[test]
fn duplicate_missing_and_unreferenced_entries_are_reported() {
    let twice = problem(&with_entries(&[("./oci-layout", "{}")]));
    assert!(matches!(&twice, BundleFormatError::Entry { name, .. } if name == "./oci-layout"), "{twice}");
    for removed in ["oci-layout", "index.json"] {
        let rest: Vec<_> = entries(&valid_bundle()).into_iter().filter(|(name, _)| name != removed).collect();
        let missing = problem(&pack(&rest, |_, _| {}));
        assert!(matches!(&missing, BundleFormatError::Missing { name } if name == removed), "{missing}");
    }
    let bytes = valid_bundle();
    for at in 2..entries(&bytes).len() {
        let mut rest = entries(&bytes);
        rest.remove(at);
        let missing = problem(&pack(&rest, |_, _| {}));
        assert!(
            matches!(&missing, BundleFormatError::Missing { name } if name.starts_with("sha256:")),
            "{missing}"
        );
    }
    let stray = Digest::of(b"stray");
    let bundle = open(&with_entries(&[(&format!("blobs/sha256/{}", stray.hex()), "stray")])).unwrap();
    assert_eq!(bundle.verify().unwrap(), [stray]);
}

#[test]
fn an_inconsistent_index_is_refused() {
    let cases: [(&str, &str); 9] = [
        (r#"provider": "infrastructure-aws""#, r#"provider": ".hidden""#),
        (r#""dev.capstan.bundle": "1""#, r#""dev.capstan.bundle": "2""#),
        (r#""dev.capstan.bundle": "1""#, r#""other": "1""#),
        (r#"provider": "infrastructure-aws""#, r#"provider": "../../etc""#),
        (r#"provider": "infrastructure-aws""#, r#"provider": "images""#),
        (r#"version": "v1.0.0""#, r#"version": "..""#),
        (r#"kind": "release""#, r#"kind": "program""#),
        (r#"kind": "configuration""#, r#"kind": "image""#),
        (r#""size": "#, r#""size": 1"#),
    ];
    let mut problems = String::new();
    for (from, to) in cases {
        let problem = problem(&with_index(|index| {
            assert!(index.contains(from), "{from}: {index}");
            index.replace(from, to)
        }));
        problems.extend([&*problem.to_string(), "\n"]);
    }
    assert_data_eq!(
        problems,
        str![[r#"
the provider `.hidden` is not a plain name
it has format 2, but only format 1 is supported
it contains images or artifacts, but `capstan bundle create` did not create it
the provider `../../etc` is not a plain name
the provider `images` is a reserved name
the version `..` is not a plain name
its manifest sha256:bcd20d43dc1fd9cf910399d0af0264a0e87a1256fece7c326c063072427e2670 has an unknown kind
it has no `configuration`
sha256:e4fbd420c817f3f624beabc60078a1aa150b59f98e3e81c48e5b5507292322d9 has 517 bytes, expected 1517

"#]]
    );
    let large = with_index(|index| index + &" ".repeat(4 * 1024 * 1024));
    let large = problem(&large);
    assert!(matches!(&large, BundleFormatError::Entry { name, .. } if name == "index.json"), "{large}");
    let mut layout = entries(&valid_bundle());
    layout[0].1 = br#"{"imageLayoutVersion":"2.0.0"}"#.to_vec();
    let newer = problem(&pack(&layout, |_, _| {}));
    assert!(matches!(&newer, BundleFormatError::Layout { version } if version == "2.0.0"), "{newer}");
}

#[test]
fn a_manifest_with_too_many_references_is_refused() {
    let padding = " ".repeat(3 * 1024 * 1024);
    let config = Digest::of(b"a");
    let manifest = format!(
        r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{{"mediaType":"x","digest":"{config}","size":1}},"layers":[]}}{padding}"#
    );
    let digest = Digest::of(manifest.as_bytes());
    let image = |number| {
        format!(
            r#"{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":{},"annotations":{{"dev.capstan.bundle.kind":"image","org.opencontainers.image.ref.name":"a/b:{number}"}}}}"#,
            manifest.len()
        )
    };
    let images: Vec<String> = (0..30).map(image).collect();
    let index = with_index(|index| {
        index.replacen("\"manifests\": [", &format!("\"manifests\": [{},", images.join(",")), 1)
    });
    let mut entries = entries(&index);
    entries.push((format!("blobs/sha256/{}", digest.hex()), manifest.into_bytes()));
    let problem = problem(&pack(&entries, |_, _| {}));
    assert!(matches!(&problem, BundleFormatError::Manifest { digest: of, .. } if *of == digest), "{problem}");
}

#[test]
fn truncated_bundles_and_flipped_bits_are_refused() {
    let bytes = valid_bundle();
    for length in (0..bytes.len()).step_by(97) {
        assert!(open(&bytes[..length]).and_then(|it| it.verify()).is_err(), "{length} bytes");
    }
    let content_of_b =
        bytes.windows(512).position(|it| it[0] == b'b' && it[1..].iter().all(|byte| *byte == 0));
    let mut turned = bytes.clone();
    turned[content_of_b.unwrap()] ^= 1;
    assert!(matches!(problem(&turned), BundleFormatError::Digest { .. }));
}

#[test]
fn a_release_that_differs_from_its_lock_is_refused() {
    let folder = folder();
    let path = folder.path().join("a.tar");
    let writer = BundleWriter::create(&path).unwrap();
    let mut other = files();
    other.insert("metadata.yaml".to_owned(), Bytes::from_static(b"other"));
    writer.add_release(LABEL, VERSION, other).unwrap();
    let lock = Bytes::from(lock().to_string());
    writer.add_configuration(BTreeMap::from([(LockFile::FILE.to_owned(), lock)])).unwrap();
    writer.finish().unwrap();
    let problem = problem(&fs::read(path).unwrap());
    assert!(
        matches!(&problem, BundleFormatError::LockMismatch { label, file } if label == LABEL && file == "metadata.yaml"),
        "{problem}"
    );
}

#[test]
fn a_folder_receives_each_release_once_and_keeps_other_files() {
    let folder = folder();
    let bundle = open(&valid_bundle()).unwrap();
    let load = |existing| load_into_folder(&bundle, folder.path(), existing);
    let states = |loaded: Vec<LoadedContent>| loaded.into_iter().map(|it| it.state).collect::<Vec<_>>();
    assert_eq!(states(load(ExistingContent::Refuse).unwrap()), [LoadedContentState::New]);
    assert_eq!(states(load(ExistingContent::Refuse).unwrap()), [LoadedContentState::Unchanged]);
    let release = folder.path().join(LABEL).join(VERSION);
    assert_eq!(fs::read(release.join("templates/x.yaml")).unwrap(), b"a");
    for (file, content) in [("metadata.yaml", "other"), ("more.yaml", "x")] {
        fs::write(release.join(file), content).unwrap();
        let refused = load(ExistingContent::Refuse).unwrap_err();
        assert!(matches!(refused, BundleError::Exists { paths } if paths == [release.clone()]));
        assert_eq!(fs::read_to_string(release.join(file)).unwrap(), content);
        assert_eq!(states(load(ExistingContent::Replace).unwrap()), [LoadedContentState::Replaced]);
        assert_eq!(states(load(ExistingContent::Refuse).unwrap()), [LoadedContentState::Unchanged]);
    }
    let left: Vec<_> =
        fs::read_dir(folder.path().join(LABEL)).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, [VERSION]);
}

// Row: D-216
#[cfg(unix)]
#[test]
fn a_bundle_follows_links_and_never_replaces_a_device() {
    let folder = folder();
    let (file, link) = (folder.path().join("lab.tar"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink("lab.tar", &link).unwrap();
    write(&link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Bundle::open(&file).unwrap().verify().is_ok());
    for path in [Path::new("/dev/null"), folder.path()] {
        let error = BundleWriter::create(path).unwrap_err();
        assert!(matches!(error, BundleError::NoFile { .. }), "{error:?}");
    }
}

#[test]
fn a_bundle_that_is_stopped_leaves_nothing() {
    let folder = folder();
    let writer = BundleWriter::create(&folder.path().join("lab.tar")).unwrap();
    let writer = writer.with_stop(std::sync::Arc::new(true.into()));
    writer.add_release(LABEL, VERSION, files()).unwrap();
    assert!(writer.finish().is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_load_that_is_stopped_leaves_no_release() {
    let (target, bundle) = (folder(), open(&valid_bundle()).unwrap());
    let bundle = bundle.with_stop(std::sync::Arc::new(true.into()));
    let error = load_into_folder(&bundle, target.path(), ExistingContent::Refuse).unwrap_err();
    assert!(matches!(error, BundleError::Stopped), "{error:?}");
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_bundle_writes_nothing() {
    let mut bytes = valid_bundle();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[last] ^= 1;
    let target = folder();
    let damaged =
        open(&bytes).and_then(|bundle| load_into_folder(&bundle, target.path(), ExistingContent::Replace));
    assert!(damaged.is_err());
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_write(changes in proptest::collection::vec((0usize..1 << 20, 0u8..=255), 1..20)) {
        let mut bytes = valid_bundle();
        let length = bytes.len();
        for (at, byte) in changes {
            bytes[at % length] = byte;
        }
        let target = folder();
        if let Err(_refused) = open(&bytes).and_then(|it| load_into_folder(&it, target.path(), ExistingContent::Refuse)) {
            proptest::prop_assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);
        }
    }
}

/// Loads a bundle into a registry that has another release under the same tag.
async fn into_registry(bytes: &[u8]) -> (FakeHost, BundleError) {
    let host = FakeHost::internet();
    let there = format!(
        r#"{{"schemaVersion":2,"mediaType":"{MANIFEST_MEDIA_TYPE}","config":{{"mediaType":"x","digest":"{}","size":1}},"layers":[]}}"#,
        Digest::of(b"a")
    );
    let reply = Reply::status(200).header("content-type", MANIFEST_MEDIA_TYPE).body(there);
    host.on(format!("ghe.example.org/v2/capi/{LABEL}/manifests/{VERSION}"), reply);
    let target = RegistryTarget::parse("oci://ghe.example.org/capi").unwrap();
    let bundle = open(bytes).unwrap();
    let loaded = load_into_registry(&bundle, &context(&host), &target, ExistingContent::Refuse).await;
    (host, loaded.unwrap_err())
}

#[tokio::test]
async fn a_registry_with_another_release_under_the_tag_is_unchanged() {
    let (host, error) = into_registry(&valid_bundle()).await;
    assert!(matches!(error, BundleError::TagTaken { .. }), "{error:?}");
    assert!(host.received().iter().all(|request| request.method == "GET"));
}

#[tokio::test]
async fn a_damaged_bundle_is_refused_before_any_request() {
    let mut entries = entries(&valid_bundle());
    let content = entries.iter_mut().find(|(_, content)| content == b"b").unwrap();
    content.1 = b"c".to_vec();
    let (host, error) = into_registry(&pack(&entries, |_, _| {})).await;
    assert!(
        matches!(error, BundleError::InvalidBundle { problem: BundleFormatError::Digest { .. }, .. }),
        "{error:?}"
    );
    assert!(host.received().is_empty());
}

/// Verifies a bundle with a changed lock.
fn locked(
    change: impl Fn(&mut BTreeMap<String, LockedFile>) -> Option<LockedFile>,
) -> Result<Vec<Digest>, BundleError> {
    let folder = folder();
    let path = folder.path().join("a.tar");
    let writer = BundleWriter::create(&path).unwrap();
    writer.add_release(LABEL, VERSION, files()).unwrap();
    let mut lock = lock();
    change(&mut lock.providers.get_mut(LABEL).unwrap().files);
    let lock = Bytes::from(lock.to_string());
    writer.add_configuration(BTreeMap::from([(LockFile::FILE.to_owned(), lock)])).unwrap();
    writer.finish().unwrap();
    Bundle::open(&path).unwrap().verify()
}

#[test]
fn a_release_has_exactly_the_locked_files() {
    let is_refused = |outcome: Result<Vec<Digest>, BundleError>, name: &str| {
        let Err(BundleError::InvalidBundle { problem: flaw, .. }) = outcome else { return false };
        matches!(flaw, BundleFormatError::LockMismatch { file, .. } if file == name)
    };
    let other = || LockedFile { digest: Digest::of(b"other"), origin: LockedFileOrigin::Repository };
    assert!(locked(|_| None).is_ok());
    assert!(is_refused(locked(|files| files.remove("metadata.yaml")), "metadata.yaml"));
    assert!(is_refused(locked(|files| files.insert("gone.yaml".to_owned(), other())), "gone.yaml"));
    assert!(is_refused(locked(|files| files.insert("metadata.yaml".to_owned(), other())), "metadata.yaml"));
}

#[test]
fn a_release_with_an_unsafe_file_name_is_refused() {
    for name in ["../metadata.yaml", "/metadata.yaml"] {
        let manifest = format!(
            r#"{{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{{"mediaType":"x","digest":"{0}","size":1}},"layers":[{{"mediaType":"x","digest":"{0}","size":1,"annotations":{{"org.opencontainers.image.title":"{name}"}}}}]}}"#,
            Digest::of(b"a")
        );
        let digest = Digest::of(manifest.as_bytes());
        let release = format!(
            r#"{{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"{digest}","size":{},"annotations":{{"dev.capstan.bundle.kind":"release","dev.capstan.bundle.provider":"core-x","dev.capstan.bundle.version":"v1.0.0"}}}}"#,
            manifest.len()
        );
        let index =
            with_index(|index| index.replacen("\"manifests\": [", &format!("\"manifests\": [{release},"), 1));
        let mut entries = entries(&index);
        entries.push((format!("blobs/sha256/{}", digest.hex()), manifest.into_bytes()));
        let refused = open(&pack(&entries, |_, _| {})).unwrap_err();
        assert!(
            matches!(refused, BundleError::InvalidBundle { problem: BundleFormatError::Name { .. }, .. }),
            "{refused:?}"
        );
    }
}

use api::output::LockChange;
use bytes::Bytes;
use snapbox::{assert_data_eq, str};
use transport::Settings;

use super::*;
use crate::{
    Error, FileSource, Overrides, ReleaseSettings, RepositoryContext, RepositoryWithOverrides,
    memory::MemoryRepository,
};

const LABEL: &str = "infrastructure-aws";

fn file(content: &str) -> LockedFile {
    LockedFile { digest: Digest::of(content.as_bytes()), origin: LockedFileOrigin::Repository }
}

/// A lock of one provider with two files and two images.
fn lock() -> LockFile {
    let files = [("metadata.yaml", file("m")), ("infrastructure-components.yaml", file("c"))];
    let images =
        [("registry.k8s.io/a:v1", None), ("registry.k8s.io/b:v1", Some(Digest::of(b"an image manifest")))];
    let provider = LockedProvider {
        version: "v1.0.0".to_owned(),
        url: "https://github.com/a/b/releases/latest/\"c\\.yaml".to_owned(),
        files: files.map(|(name, file)| (name.to_owned(), file)).into(),
        images: images.map(|(name, digest)| (name.to_owned(), digest)).into(),
        kustomization: BTreeMap::new(),
    };
    LockFile { providers: [(LABEL.to_owned(), provider)].into(), ..LockFile::default() }
}

fn repository() -> MemoryRepository {
    MemoryRepository::new("infrastructure-components.yaml")
        .with_file("v1.0.0", "metadata.yaml", "m")
        .with_file("v1.0.0", "infrastructure-components.yaml", "another")
        .with_file("v1.0.0", "cluster-template.yaml", "t")
        .with_file("v1.1.0", "metadata.yaml", "m")
}

/// The repository of a provider, read under the lock.
fn reader(label: &str, unlocked: UnlockedPolicy, overrides: Overrides) -> RepositoryWithOverrides {
    let locked = LockSettings {
        lock: lock(),
        location: "capstan.lock".to_owned(),
        unlocked_policy: unlocked,
        chart_folder: None,
    };
    let releases = ReleaseSettings { lock: Some(locked.into()), ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(Settings::default(), releases);
    RepositoryWithOverrides::new(Box::new(repository()), overrides, label, context)
}

async fn refused(reader: &RepositoryWithOverrides, version: &str, file: &str) -> LockMismatch {
    match reader.read(version, file).await {
        Err(Error::LockMismatch(refused)) => *refused,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lock_has_one_line_per_value_and_survives_a_round_trip() {
    let text = lock().to_string();
    assert_eq!(LockFile::parse(&text), Ok(lock()));
    let written = "\nversion = 1\n\n[[provider]]\nlabel = \"infrastructure-aws\"\nversion = \"v1.0.0\"\n\
        url = \"https://github.com/a/b/releases/latest/\\\"c\\\\.yaml\"\n\n[[provider.file]]\n\
        name = \"infrastructure-components.yaml\"\ndigest = \"sha256:";
    assert!(text.contains(written), "{text}");
    assert!(text.contains("\n[[provider.image]]\nreference = \"registry.k8s.io/a:v1\"\n\n"), "{text}");
}

#[test]
fn a_lock_with_charts_survives_a_round_trip() {
    let web = [("1.2.0", "a"), ("1.10.0+b", "b")];
    let versions = web.map(|(version, archive)| (version.to_owned(), Digest::of(archive.as_bytes())));
    let charts = [("https://files.example.org/charts/web".to_owned(), versions.into())].into();
    let with_charts = LockFile { charts, ..lock() };
    let text = with_charts.to_string();
    assert_eq!(LockFile::parse(&text), Ok(with_charts));
    let own = text.strip_prefix(&lock().to_string()).unwrap();
    assert_data_eq!(
        own,
        str![[r#"

[[chart]]
url = "https://files.example.org/charts/web"
version = "1.10.0+b"
digest = "sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"

[[chart]]
url = "https://files.example.org/charts/web"
version = "1.2.0"
digest = "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"

"#]]
    );
    let twice = LockFile::parse(&format!("{text}{own}")).unwrap_err();
    assert_data_eq!(
        twice.to_string(),
        str!["`1.10.0+b` of chart `https://files.example.org/charts/web` occurs twice"]
    );
}

#[test]
fn an_invalid_lock_is_refused_with_its_problem() {
    let error = |text: &str| LockFile::parse(text).unwrap_err();
    assert_eq!(error("version = 2\nnew = 1"), LockError::Version { version: 2 });
    let twice = "version = 1\n[[provider]]\nlabel = \"a\"\nversion = \"v1\"\nurl = \"u\"\n";
    let duplicate = LockError::Duplicate { what: "`a`".to_owned() };
    assert_eq!(error(&format!("{twice}{}", twice.replace("version = 1\n", ""))), duplicate);
    for (text, expected) in [
        ("", 1),
        ("version = 1\n<<<<<<< HEAD\n", 2),
        ("version = 1\n[[provider]]\nlable = \"a\"\n", 3),
        (
            "version = 1\n[[provider]]\nlabel='a'\nversion='v1'\nurl='u'\n[[provider.file]]\nname='f'\ndigest='md5:0'\n",
            8,
        ),
    ] {
        assert!(matches!(error(text), LockError::Form { line, .. } if line == expected), "{text}");
    }
}

#[tokio::test]
async fn a_changed_file_is_refused_with_both_digests_and_sources() {
    let reader = reader(LABEL, UnlockedPolicy::Allowed, Overrides::default());
    assert_eq!(reader.read("v1.0.0", "metadata.yaml").await.unwrap().bytes, "m");
    let without_v = refused(&reader, "1.0.0", "metadata.yml").await;
    assert!(matches!(without_v, LockMismatch::File { .. }), "{without_v}");
    let error = reader.read("v1.0.0", "infrastructure-components.yaml").await.unwrap_err();
    let Error::LockMismatch(mismatch) = &error else { panic!("{error:?}") };
    let LockMismatch::Content { found, locked, locked_from, lock, .. } = &**mismatch else {
        panic!("{mismatch:?}")
    };
    assert_eq!((found, locked), (&Digest::of(b"another"), &Digest::of(b"c")));
    assert_eq!((lock.as_str(), *locked_from), ("capstan.lock", LockedFileOrigin::Repository));
}

#[tokio::test]
async fn an_override_counts_as_changed_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(LABEL).join("v1.0.0");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("metadata.yaml"), "mine").unwrap();
    let reader = reader(LABEL, UnlockedPolicy::Allowed, Overrides::in_folder(folder.path()));
    let LockMismatch::Content { found_in, .. } = refused(&reader, "v1.0.0", "metadata.yaml").await else {
        panic!("not refused for its content")
    };
    assert_eq!(found_in, FileSource::Override(path.join("metadata.yaml")));
}

// Row: D-210
#[tokio::test]
async fn unlocked_versions_and_files_are_refused_before_they_are_read() {
    let reader = reader(LABEL, UnlockedPolicy::Allowed, Overrides::default());
    let LockMismatch::Version { version, locked, .. } = refused(&reader, "v1.1.0", "metadata.yaml").await
    else {
        panic!("not refused for its version")
    };
    assert_eq!((version.as_str(), locked.as_str()), ("v1.1.0", "v1.0.0"));
    let LockMismatch::File { suggestions, .. } = refused(&reader, "v1.0.0", "metadata.yml").await else {
        panic!("not refused for its name")
    };
    assert_eq!(suggestions, ["metadata.yaml"]);
}

#[tokio::test]
async fn an_unlocked_provider_is_read_unless_the_policy_refuses_it() {
    let open = reader("addon-helm", UnlockedPolicy::Allowed, Overrides::default());
    assert!(open.read("v1.1.0", "metadata.yaml").await.is_ok());
    assert_eq!(open.locked_version().unwrap(), None);
    let strict = reader("addon-helm", UnlockedPolicy::Refused, Overrides::default());
    assert!(matches!(refused(&strict, "v1.1.0", "metadata.yaml").await, LockMismatch::Provider { .. }));
    assert!(strict.locked_version().is_err());
}

#[test]
fn differences_list_added_removed_and_changed_files() {
    let (old, mut new) = (lock(), lock().providers.remove(LABEL).unwrap());
    let old = &old.providers[LABEL];
    assert_eq!(new.differences(Some(old)), []);
    new.version = "v1.1.0".to_owned();
    new.url = "elsewhere".to_owned();
    new.files.insert("metadata.yaml".to_owned(), file("other"));
    new.files.remove("infrastructure-components.yaml");
    new.files.insert(
        "clusterclass-a.yaml".to_owned(),
        LockedFile::of(&File {
            bytes: Bytes::from_static(b"x"),
            source: FileSource::Override("/o/clusterclass-a.yaml".into()),
        }),
    );
    let mut moved = new.clone();
    moved.images.insert("registry.k8s.io/a:v1".to_owned(), Some(Digest::of(b"now known")));
    let is_content: Vec<bool> =
        moved.differences(Some(&new)).iter().map(LockChange::affects_content).collect();
    assert_eq!(is_content, [false]);
    moved.images.insert("registry.k8s.io/b:v1".to_owned(), Some(Digest::of(b"another one")));
    let is_content: Vec<bool> =
        moved.differences(Some(&new)).iter().map(LockChange::affects_content).collect();
    assert_eq!(is_content, [false, true]);
    new.images.remove("registry.k8s.io/a:v1");
    let reported: Vec<(String, bool, bool)> = new
        .differences(Some(old))
        .iter()
        .map(|it| (it.subject().to_owned(), it.locked.is_some(), it.found.is_some()))
        .collect();
    let expected = [
        ("version", true, true),
        ("clusterclass-a.yaml", false, true),
        ("infrastructure-components.yaml", true, false),
        ("metadata.yaml", true, true),
        ("registry.k8s.io/a:v1", true, false),
    ];
    assert_eq!(reported, expected.map(|(name, locked, found)| (name.to_owned(), locked, found)));
    assert_eq!(new.differences(None).len(), 1 + 2 + 1);
    assert!(new.differences(None).iter().all(LockChange::is_addition));
}

#[test]
fn a_kustomization_that_differs_from_its_lock_is_refused() {
    let files = |content: &'static str| {
        BTreeMap::from([("kustomization.yaml".to_owned(), Bytes::from_static(content.as_bytes()))])
    };
    let mut lock = lock();
    let digests = files("a").into_iter().map(|(name, bytes)| (name, Digest::of(&bytes))).collect();
    lock.providers.get_mut(LABEL).unwrap().kustomization = digests;
    for (unlocked, admits) in [(UnlockedPolicy::Allowed, true), (UnlockedPolicy::Refused, false)] {
        let settings = LockSettings {
            lock: lock.clone(),
            location: "capstan.lock".to_owned(),
            unlocked_policy: unlocked,
            chart_folder: None,
        };
        assert!(settings.verify_kustomization(LABEL, &files("a")).is_ok());
        for other in [files("b"), BTreeMap::new()] {
            let refused = settings.verify_kustomization(LABEL, &other).unwrap_err();
            let Error::LockMismatch(refused) = refused else { panic!("{refused:?}") };
            assert!(matches!(*refused, LockMismatch::Kustomization { .. }));
        }
        assert_eq!(settings.check_unlocked_kustomization(LABEL).is_ok(), admits);
        assert_eq!(settings.verify_kustomization("core-other", &files("b")).is_ok(), admits);
    }
}

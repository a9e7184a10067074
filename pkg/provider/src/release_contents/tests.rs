use api::{ProviderId, output::ProviderSource};
use repository::{
    LockFile, LockSettings, LockedFileOrigin, ReleaseSettings, UnlockedPolicy, memory::MemoryRepository,
};
use transport::Settings;

use super::*;
use crate::{
    ProviderReleases,
    config::{Environment, ProviderConfig},
    testing::block_on,
};

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 1, minor: 0, contract: v1beta2}]
";
const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn components() -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: d}}
spec:
  selector: {{}}
  template:
    spec:
      containers:
      - {{name: a, image: 'quay.io/a:1@{DIGEST}', args: ['--solver-image=quay.io/solver:1', '--x=${{UNSET}}']}}
      - {{name: b, image: 'quay.io/b:1'}}
"
    )
}

fn repository() -> MemoryRepository {
    MemoryRepository::new("components.yaml")
        .with_file("v1.0.0", "metadata.yaml", METADATA)
        .with_file("v1.0.0", "components.yaml", components())
        .with_file("v1.0.0", "cluster-template-big.yaml", "t")
        .with_file("v1.0.0", "clusterclass-small.yaml", "c")
        .with_file("v1.0.0", "README.md", "r")
}

fn releases(
    provider_type: ProviderType,
    overrides: Overrides,
    lock: Option<LockSettings>,
) -> ProviderReleases {
    let id = ProviderId::new(provider_type, "own");
    let releases = ReleaseSettings { lock: lock.map(Into::into), ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(Settings::default(), releases);
    let files = RepositoryWithOverrides::new(Box::new(repository()), overrides, id.label(), context);
    let config = ProviderConfig { id, url: "memory".to_owned(), kind: None, source: ProviderSource::Config };
    ProviderReleases::with_files(config, files)
}

fn config() -> Config {
    Config::new(None, Environment::default()).unwrap()
}

#[test]
fn release_files_include_every_file_read_and_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("infrastructure-own/v1.0.0");
    std::fs::create_dir_all(&path).unwrap();
    std::fs::write(path.join("cluster-template-mine.yaml"), "").unwrap();
    let files = |provider_type| {
        let releases = releases(provider_type, Overrides::in_folder(folder.path()), None);
        block_on(async { release_files(&releases.release("v1.0.0")).await.unwrap() })
    };
    assert_eq!(files(ProviderType::Bootstrap), ["components.yaml", "metadata.yaml"]);
    assert_eq!(
        files(ProviderType::Infrastructure),
        [
            "cluster-template-big.yaml",
            "cluster-template-mine.yaml",
            "clusterclass-small.yaml",
            "components.yaml",
            "metadata.yaml"
        ]
    );
}

#[test]
fn release_contents_include_every_file_and_image() {
    let releases = releases(ProviderType::Infrastructure, Overrides::default(), None);
    let supply = |also: &[String]| {
        block_on(async {
            read_release_contents(&releases.release("v1.0.0"), &config(), None, also).await.unwrap()
        })
    };
    let plain = supply(&[]);
    assert_eq!(plain.files.len(), 4);
    let also = supply(&["README.md".to_owned(), "gone.yaml".to_owned()]);
    assert!(also.files.contains_key("README.md") && also.files.len() == 5);

    let before = LockedProvider {
        images: [("quay.io/b:1".to_owned(), Some(Digest::of(b"b")))].into(),
        ..plain.lock(String::new(), None)
    };
    let locked = plain.lock("memory".to_owned(), Some(&before));
    let images: Vec<_> = locked.images.iter().map(|(image, digest)| (image.as_str(), *digest)).collect();
    let written = format!("quay.io/a:1@{DIGEST}");
    assert_eq!(
        images,
        [
            (written.as_str(), Some(DIGEST.parse().unwrap())),
            ("quay.io/b:1", Some(Digest::of(b"b"))),
            ("quay.io/solver:1", None)
        ]
    );
    let metadata = locked.files["metadata.yaml"];
    assert_eq!(
        (metadata.digest, metadata.origin),
        (Digest::of(METADATA.as_bytes()), LockedFileOrigin::Repository)
    );
}

#[test]
fn latest_of_a_locked_provider_is_the_locked_version() {
    let open = releases(ProviderType::Infrastructure, Overrides::default(), None);
    let supply = block_on(async {
        read_release_contents(&open.release("v1.0.0"), &config(), None, &[]).await.unwrap()
    });
    let entry = LockedProvider { version: "v0.9.0".to_owned(), ..supply.lock(String::new(), None) };
    let lock = LockSettings {
        lock: LockFile {
            providers: [("infrastructure-own".to_owned(), entry)].into(),
            ..LockFile::default()
        },
        location: "capstan.lock".to_owned(),
        unlocked_policy: UnlockedPolicy::Allowed,
        chart_folder: None,
    };
    let locked = releases(ProviderType::Infrastructure, Overrides::default(), Some(lock));
    let versions = |releases: &ProviderReleases| -> Vec<String> {
        let versions = block_on(async { releases.versions().await.unwrap() });
        versions.iter().map(ToString::to_string).collect()
    };
    assert_eq!(versions(&open), ["v1.0.0"]);
    assert_eq!(versions(&locked), ["v0.9.0"]);
    let newest = block_on(async { locked.choose_release(None).await.unwrap().version().to_owned() });
    assert_eq!(newest, "v0.9.0");
    let refused =
        block_on(async { locked.choose_release(Some("v1.0.0")).await.unwrap().check().await.unwrap_err() });
    let ReleaseError::Read { source, .. } = refused else { panic!("{refused}") };
    assert!(matches!(*source, repository::Error::LockMismatch(_)));
}

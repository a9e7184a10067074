use api::{ProviderType, VersionOrLatest, output::ProviderSource};
use repository::memory::MemoryRepository;
use snapbox::{assert_data_eq, str};
use transport::Settings;

use super::*;
use crate::testing::block_on;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries:
- {major: 1, minor: 0, contract: v1alpha4}
- {major: 1, minor: 1, contract: v1beta1}
- {major: 1, minor: 2, contract: v1beta2}
";

fn releases(repository: MemoryRepository) -> ProviderReleases {
    releases_under(repository, Overrides::default())
}

fn releases_under(repository: MemoryRepository, overrides: Overrides) -> ProviderReleases {
    let id = ProviderId::new(ProviderType::Infrastructure, "own");
    let files = RepositoryWithOverrides::new(
        Box::new(repository),
        overrides,
        id.label(),
        RepositoryContext::new(Settings::default()),
    );
    ProviderReleases::with_files(
        ProviderConfig { id, url: "memory".to_owned(), kind: None, source: ProviderSource::Config },
        files,
    )
}

fn chosen(repository: MemoryRepository, version: Option<&str>) -> Result<String, ReleaseError> {
    let releases = releases(repository);
    block_on(async { releases.choose_release(version).await.map(|release| release.version().to_owned()) })
}

fn three_releases() -> MemoryRepository {
    ["v1.1.0", "v1.2.0", "v1.3.0-rc.1"].into_iter().fold(
        MemoryRepository::new("infrastructure-components.yaml").with_default_version(VersionOrLatest::Latest),
        |repository, version| repository.with_file(version, "metadata.yaml", METADATA),
    )
}

// Row: D-10
#[test]
fn without_a_version_the_newest_release_is_chosen() {
    assert_eq!(chosen(three_releases(), None).unwrap(), "v1.2.0");
    assert_eq!(chosen(three_releases(), Some("v1.1.0")).unwrap(), "v1.1.0");
    let pinned = VersionOrLatest::Pinned(Version::parse("v1.1.0").unwrap());
    assert_eq!(chosen(three_releases().with_default_version(pinned), None).unwrap(), "v1.1.0");
}

// Row: D-27
#[test]
fn a_version_without_v_has_the_name_of_its_release() {
    assert_eq!(chosen(three_releases(), Some("1.1.0")).unwrap(), "v1.1.0");
    assert_eq!(chosen(three_releases(), Some("1.9.0")).unwrap(), "1.9.0");
    let both = three_releases().with_file("1.1.0", "metadata.yaml", METADATA);
    assert_eq!(chosen(both, Some("1.1.0")).unwrap(), "1.1.0");
}

// Row: D-10
#[test]
fn a_pinned_version_is_chosen_without_looking_for_the_newest() {
    let latest = || MemoryRepository::new("c.yaml").with_default_version(VersionOrLatest::Latest);
    assert_eq!(chosen(latest(), Some("v1.1.0")).unwrap(), "v1.1.0");
    assert!(matches!(chosen(latest(), None).unwrap_err(), ReleaseError::Repository { .. }));
}

// Row: D-11
#[test]
fn latest_is_accepted_as_a_version() {
    let releases = releases(three_releases());
    let named =
        |version| block_on(async { releases.resolve_release(version).await.unwrap().version().to_owned() });
    assert_eq!(named("latest"), "v1.2.0");
    assert_eq!(named("v9.9.9"), "v9.9.9");
}

// Row: D-77
#[test]
fn an_override_of_latest_is_that_of_the_resolved_release() {
    let folder = tempfile::tempdir().unwrap();
    for (version, text) in [("v1.2.0", "of the release"), ("latest", "of the word")] {
        let folder = folder.path().join("infrastructure-own").join(version);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("cluster-template.yaml"), text).unwrap();
    }
    let releases = releases_under(three_releases(), Overrides::in_folder(folder.path()));
    let template =
        block_on(async { releases.resolve_release("latest").await.unwrap().cluster_template(None).await });
    assert_eq!(template.unwrap().text, "of the release");
}

#[test]
fn an_invalid_version_is_refused_before_anything_is_read() {
    for text in ["latest", "main", "1.2"] {
        let error = chosen(three_releases(), Some(text)).unwrap_err();
        assert!(matches!(&error, ReleaseError::Version { source, .. } if source.text == text), "{error}");
    }
}

fn checked(version: &str, metadata: Option<&str>) -> Result<(), ReleaseError> {
    let repository = MemoryRepository::new("c.yaml").with_file(version, "c.yaml", "");
    let releases = releases(match metadata {
        Some(text) => repository.with_file(version, "metadata.yaml", text.to_owned()),
        None => repository,
    });
    block_on(async { releases.release(version).check().await.map(|_| ()) })
}

// Row: PRV-01
#[test]
fn a_release_without_metadata_or_components_is_refused_by_file_name() {
    let error = checked("v1.2.0", None).unwrap_err();
    assert!(matches!(&error, ReleaseError::Read { file, .. } if file == "metadata.yaml"), "{error}");
    let releases = releases(MemoryRepository::new("c.yaml").with_file("v1.2.0", "metadata.yaml", METADATA));
    let error = block_on(async { releases.release("v1.2.0").components().await.unwrap_err() });
    assert!(matches!(&error, ReleaseError::Read { file, .. } if file == "c.yaml"), "{error}");
}

// Row: PRV-02
#[test]
fn a_release_without_templates_is_valid() {
    assert!(checked("v1.2.0", Some(METADATA)).is_ok());
    let releases = releases(MemoryRepository::new("c.yaml").with_file("v1.2.0", "metadata.yaml", METADATA));
    let error = block_on(async { releases.release("v1.2.0").cluster_template(None).await.unwrap_err() });
    assert_data_eq!(
        error.to_string(),
        str!["cannot read `cluster-template.yaml` of `infrastructure-own` v1.2.0"]
    );
}

// Row: PRV-19
// Row: PRV-20
#[test]
fn a_version_outside_the_series_or_of_an_old_contract_is_refused() {
    assert!(checked("v1.1.4", Some(METADATA)).is_ok());
    for version in ["v1.0.0", "v1.9.0"] {
        let error = checked(version, Some(METADATA)).unwrap_err();
        assert!(matches!(error, ReleaseError::UnusableVersion { .. }), "{error}");
    }
}

// Row: PRV-83
#[test]
fn flavors_are_read_from_file_names() {
    assert_eq!(flavor_of_file("cluster-template.yaml"), Some(""));
    assert_eq!(flavor_of_file("cluster-template-eks-ipv6.yaml"), Some("eks-ipv6"));
    for other in ["metadata.yaml", "cluster-template-.yaml", "cluster-templates.yaml", "clusterclass-x.yaml"]
    {
        assert_eq!(flavor_of_file(other), None, "{other}");
    }
}

#[test]
fn a_path_with_dots_is_opened_and_shown_unchanged() {
    let id = ProviderId::new(ProviderType::Infrastructure, "own");
    let url = "/srv/old/../new/infrastructure-own/v1.0.0/infrastructure-components.yaml".to_owned();
    let provider = ProviderConfig { id, url: url.clone(), kind: None, source: ProviderSource::Config };
    let context = RepositoryContext::new(Settings::default());
    let opened = ProviderReleases::open(provider, Overrides::default(), &context).unwrap();
    assert_eq!(opened.provider().url, url);
    assert_eq!(opened.repository().components_file(), "infrastructure-components.yaml");
}

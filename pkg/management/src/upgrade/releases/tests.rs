use api::Contract;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{
    UpgradeItem,
    testing::{NEW_VERSION, OLD_VERSION, Releases as Repository, components, docker, installed, metadata},
};

const PRE: &str = "v1.15.0-rc.0";
const NEXT: &str = "v1.15.0";

async fn candidate(
    repository: &Repository,
    target: Option<&UpgradeTarget>,
) -> Result<CandidateReleases, String> {
    let installed = [installed(&docker(), OLD_VERSION)];
    read_candidates(&repository.sources(), &installed, target).await.remove(0).releases
}

/// Returns the contract of a version, or `-`.
fn contract(releases: &CandidateReleases, version: &str) -> String {
    let version = Version::parse(version).unwrap();
    releases.contract_of(&version).map_or("-", Contract::as_str).to_owned()
}

/// Returns metadata with the series of both versions.
fn of_both(contracts: (&str, &str)) -> String {
    let (one, two) = (metadata(OLD_VERSION, contracts.0), metadata(NEW_VERSION, contracts.1));
    let series = two.lines().last().unwrap();
    format!("{one}{series}\n")
}

#[tokio::test]
async fn the_newest_metadata_suffices_if_it_lists_the_installed_version() {
    let repository = Repository::small()
        .with_file(&docker(), NEW_VERSION, Metadata::FILE, &of_both(("v1beta1", "v1beta2")))
        .with_file(&docker(), OLD_VERSION, Metadata::FILE, "a: [");
    let found = candidate(&repository, None).await.unwrap();
    assert_eq!((found.metadata.len(), found.warnings.len()), (1, 0));
    assert_eq!(
        (contract(&found, OLD_VERSION), contract(&found, NEW_VERSION)),
        ("v1beta1".to_owned(), "v1beta2".to_owned())
    );
}

#[tokio::test]
async fn metadata_is_read_from_pre_release_then_installed_version() {
    let repository = Repository::small().with(&docker(), PRE, &components(&docker(), PRE));
    let found = candidate(&repository, None).await.unwrap();
    assert_eq!(found.metadata.len(), 3);
    assert_data_eq!(
        found.warnings.join("\n"),
        str![
            "the metadata of `infrastructure-docker` v1.14.0 does not list v1.13.5; using the metadata of v1.13.5"
        ]
    );
    let listed = repository.with_file(&docker(), PRE, Metadata::FILE, &of_both(("v1beta1", "v1beta2")));
    let found = candidate(&listed, None).await.unwrap();
    assert_eq!((found.metadata.len(), contract(&found, OLD_VERSION).as_str()), (2, "v1beta1"));
}

#[tokio::test]
async fn the_contract_of_a_requested_version_is_read_as_well() {
    let repository = Repository::small().with(&docker(), NEXT, &components(&docker(), NEXT)).with_file(
        &docker(),
        NEXT,
        Metadata::FILE,
        &metadata(OLD_VERSION, "v1beta1"),
    );
    assert_eq!(contract(&candidate(&repository, None).await.unwrap(), NEW_VERSION), "-");
    let item = UpgradeItem { provider: docker(), namespace: None, version: NEW_VERSION.to_owned() };
    let target = UpgradeTarget::Providers(vec![item]);
    let found = candidate(&repository, Some(&target)).await.unwrap();
    assert_eq!(
        (contract(&found, OLD_VERSION), contract(&found, NEW_VERSION)),
        ("v1beta1".to_owned(), "v1beta2".to_owned())
    );
}

#[tokio::test]
async fn a_version_that_is_no_longer_in_the_repository_has_no_contract() {
    let repository = Repository::empty().with(&docker(), NEW_VERSION, &components(&docker(), NEW_VERSION));
    let found = candidate(&repository, None).await.unwrap();
    assert_eq!(
        (contract(&found, OLD_VERSION), contract(&found, NEW_VERSION)),
        ("-".to_owned(), "v1beta2".to_owned())
    );
}

#[tokio::test]
async fn unreadable_metadata_of_the_newest_release_is_a_reason() {
    let repository = Repository::small().with_file(&docker(), NEW_VERSION, Metadata::FILE, "a: [");
    let why = candidate(&repository, None).await.unwrap_err();
    assert_data_eq!(
        repository.redact(&why),
        str![
            "cannot use the metadata of `infrastructure-docker` v1.14.0: `RELEASES/infrastructure-docker/v1.14.0/metadata.yaml` is not valid YAML: line 1, column 4: did not find expected `,` or `]`"
        ]
    );
}

// Row: PRV-14
#[tokio::test]
async fn a_host_without_version_lists_requires_a_named_version() {
    let package = "https://gitlab.example.org/api/v4/projects/a%2Fb/packages/generic/capd";
    let url = format!("{package}/latest/infrastructure-components.yaml");
    let why = candidate(&Repository::empty().with_url(&docker(), &url), None).await.unwrap_err();
    assert_data_eq!(
        why,
        str![
            "cannot list the versions in `https://gitlab.example.org/api/v4/projects/a%2Fb/packages/generic/capd`"
        ]
    );
}

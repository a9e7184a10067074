use api::{Contract, ReleaseSeries};

use super::*;
use crate::memory::MemoryRepository;

/// Parses a test format such as `1.10 v1beta1, 1.11 v1beta2`. Any other text is invalid metadata.
fn parse(text: &[u8]) -> Option<Metadata> {
    let text = std::str::from_utf8(text).ok()?;
    let series = |entry: &str| {
        let (numbers, contract) = entry.trim().split_once(' ')?;
        let (major, minor) = numbers.split_once('.')?;
        Some(ReleaseSeries {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
            contract: Contract::new(contract),
        })
    };
    Some(Metadata { release_series: text.split(',').map(series).collect::<Option<_>>()? })
}

fn releases(metadata: &[(&str, Option<&'static str>)]) -> MemoryRepository {
    metadata.iter().fold(MemoryRepository::new("c.yaml"), |repository, (version, text)| match text {
        Some(text) => repository.with_file(version, "metadata.yaml", *text),
        None => repository.with_release(version),
    })
}

async fn latest_of(repository: &MemoryRepository) -> Result<String, Error> {
    latest_version(repository, "v1beta2", &parse).await.map(|version| version.as_str().to_owned())
}

const CURRENT: Option<&str> = Some("1.10 v1beta1, 1.11 v1beta2, 2.0 v1beta2");

#[tokio::test]
async fn a_release_beats_every_pre_release_and_versions_compare_by_number() {
    let plain = Some("?");
    let repository = releases(&[("v1.9.0", plain), ("v1.10.0", plain), ("v2.0.0-rc.1", plain)]);
    assert_eq!(latest_of(&repository).await.unwrap(), "v1.10.0");
    let only_pre = releases(&[("v1.0.0-beta.2", plain), ("v1.0.0-beta.10", plain)]);
    assert_eq!(latest_of(&only_pre).await.unwrap(), "v1.0.0-beta.10");
}

// Row: D-28
#[tokio::test]
async fn a_release_without_metadata_is_skipped() {
    let repository = releases(&[("v1.11.0", CURRENT), ("v1.11.1", None)]);
    assert_eq!(latest_of(&repository).await.unwrap(), "v1.11.0");
    assert_eq!(repository.reads(), ["v1.11.1/metadata.yaml", "v1.11.0/metadata.yaml"]);
}

// Row: PRV-01
#[tokio::test]
async fn metadata_missing_in_all_releases_is_reported_for_the_newest() {
    let all: Vec<_> = (0..7).map(|patch| format!("v1.0.{patch}")).collect();
    let missing: Vec<_> = all.iter().map(|version| (version.as_str(), None)).collect();
    let repository = releases(&missing);
    let error = latest_of(&repository).await.unwrap_err();
    let Error::UnknownFile { file, version, .. } = &error else { panic!("{error}") };
    assert_eq!((file.as_str(), version.as_str()), ("metadata.yaml", "v1.0.6"));
    assert_eq!(repository.reads().len(), 5);
}

#[tokio::test]
async fn the_newest_series_of_the_contract_wins_over_the_newest_release() {
    let other = Some("1.10 v1beta2, 2.0 v1beta3");
    let repository = releases(&[("v1.10.0", other), ("v1.10.1", other), ("v2.0.0", other)]);
    assert_eq!(latest_of(&repository).await.unwrap(), "v1.10.1");
}

// Row: D-29
#[tokio::test]
async fn a_series_without_a_release_is_skipped() {
    let repository = releases(&[("v1.10.0", CURRENT), ("v1.11.0", CURRENT)]);
    assert_eq!(latest_of(&repository).await.unwrap(), "v1.11.0");
}

#[tokio::test]
async fn a_contract_without_any_release_is_reported_with_its_series() {
    let repository = releases(&[("v1.10.0", Some("1.10 v1beta1, 2.0 v1beta2"))]);
    let error = latest_of(&repository).await.unwrap_err();
    assert!(
        matches!(&error, Error::EmptySeries { major: 2, minor: 0, listed_by, .. } if listed_by == "v1.10.0")
    );
}

#[tokio::test]
async fn invalid_metadata_or_other_contracts_keep_the_release() {
    for text in ["not metadata", "1.10 v1beta1"] {
        let repository = releases(&[("1.10.0", Some(text)), ("v1.9.0", Some(text))]);
        assert_eq!(latest_of(&repository).await.unwrap(), "1.10.0", "{text}");
    }
}

use super::*;
use crate::{Repository, open, testing::text};

fn repository(lab: &Lab, query: &str, context: &RepositoryContext) -> Box<dyn Repository> {
    let url = format!("git+file://{}//deploy/c.yaml{query}", lab.forge.repository("r").display());
    open(&url, "infrastructure-aws", None, context).unwrap()
}

fn releases() -> Lab {
    let lab = Lab::new();
    for version in ["v1.0.0", "1.1.0", "v2.0.0-rc.1"] {
        lab.forge.commit("r", &[("deploy/c.yaml", version), ("deploy/metadata.yaml", version)]);
        lab.forge.git("r", &["tag", version]);
    }
    lab.forge.git("r", &["tag", "nightly"]);
    lab
}

// Row: D-205
#[tokio::test]
async fn version_tags_are_releases_with_the_files_of_the_folder() {
    let lab = releases();
    let context = lab.run();
    let repository = repository(&lab, "?ref=latest", &context);
    assert_eq!(repository.default_version().unwrap(), api::VersionOrLatest::Latest);
    let versions = repository.versions().await.unwrap();
    assert_eq!(
        versions.iter().map(api::Version::as_str).collect::<Vec<_>>(),
        ["v1.0.0", "1.1.0", "v2.0.0-rc.1"]
    );
    assert_eq!(text(&repository.read("v1.0.0", "c.yaml").await.unwrap()), "v1.0.0");
    assert_eq!(repository.files("v1.1.0").await.unwrap(), ["c.yaml", "metadata.yaml"]);
    let file = repository.read("v1.1.0", "metadata.yaml").await.unwrap();
    assert_eq!(text(&file), "1.1.0", "however the tag is spelled");
    let commit = lab.forge.git("r", &["rev-parse", "1.1.0"]);
    let place = lab.forge.repository("r").display().to_string();
    assert_eq!(file.source.to_string(), format!("{place}//deploy/metadata.yaml@1.1.0 ({commit})"));
    assert_eq!(repository.display_address(), format!("{place}//deploy"));
}

#[tokio::test]
async fn missing_releases_and_files_are_reported_with_existing_ones() {
    let lab = releases();
    let context = lab.run();
    let repository = repository(&lab, "", &context);
    for version in ["v3.0.0", "nightly", "main"] {
        let error = repository.read(version, "c.yaml").await.unwrap_err();
        assert!(
            matches!(&error, Error::UnknownRelease { available, .. } if available.len() == 3),
            "{}",
            with_causes(&error)
        );
    }
    let error = repository.read("v1.0.0", "d.yaml").await.unwrap_err();
    assert!(
        matches!(&error, Error::UnknownFile { available, .. } if available == &["c.yaml", "metadata.yaml"]),
        "{}",
        with_causes(&error)
    );
}

// Row: D-205
#[tokio::test]
async fn a_pinned_commit_is_the_only_version() {
    let lab = releases();
    let context = lab.run();
    let repository = repository(&lab, "?ref=main~1&version=v9.9.9", &context);
    assert_eq!(repository.versions().await.unwrap()[0].as_str(), "v9.9.9");
    assert_eq!(text(&repository.read("v9.9.9", "c.yaml").await.unwrap()), "1.1.0");
    assert!(repository.read("v1.0.0", "c.yaml").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn a_repository_without_versions_is_reported_with_its_tags() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("deploy/c.yaml", "x")]);
    lab.forge.git("r", &["tag", "nightly"]);
    let context = lab.run();
    let error = repository(&lab, "", &context).versions().await.unwrap_err();
    assert!(
        matches!(&error, Error::NoVersions { ignored, .. } if ignored == &["nightly"]),
        "{}",
        with_causes(&error)
    );
}

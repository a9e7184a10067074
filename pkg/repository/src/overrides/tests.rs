use std::fs;

use transport::Settings;

use super::*;
use crate::{
    memory::MemoryRepository,
    testing::{EventLog, text},
};

fn with_file(folder: &Path, file: &str) {
    let path = folder.join("infrastructure-aws/v1.0.0").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "override").unwrap();
}

#[tokio::test]
async fn an_override_is_used_and_reported_without_any_request() {
    let folder = tempfile::tempdir().unwrap();
    with_file(folder.path(), "metadata.yaml");
    let log = EventLog::default();
    let mut settings = Settings::default();
    log.listen(&mut settings);
    let repository = MemoryRepository::new("c.yaml").with_file("v1.0.0", "c.yaml", "repository");
    let overrides = Overrides::in_folder(folder.path());
    let files = RepositoryWithOverrides::new(
        Box::new(repository),
        overrides,
        "infrastructure-aws",
        RepositoryContext::new(settings),
    );

    // The repository has no release v1.0.0 with a metadata file.
    let file = files.read("v1.0.0", "metadata.yaml").await.unwrap();
    assert_eq!((text(&file), file.source.is_override()), ("override", true));
    assert!(matches!(log.events().as_slice(), [Event::UsingOverride { version, .. }] if version == "v1.0.0"));
    let file = files.read("v1.0.0", "c.yaml").await.unwrap();
    assert_eq!((text(&file), file.source.is_override()), ("repository", false));
}

#[test]
fn an_unreadable_override_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    with_file(folder.path(), "metadata.yaml/inside");
    let overrides = Overrides::in_folder(folder.path());
    let error = overrides.read("infrastructure-aws", "v1.0.0", "metadata.yaml", 100).unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::IsFolder { .. })));
    let error = overrides.read("infrastructure-aws", "v1.0.0", "../x", 100).unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::UnsafeName { .. })));
}

#[test]
fn the_home_folder_is_used_only_without_configured_overrides() {
    let (xdg, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let choose = |configured: Option<&Path>| {
        Overrides::choose(configured, Some(xdg.path()), Some(home.path())).root().unwrap().to_owned()
    };
    assert_eq!(choose(Some(Path::new("/set"))), Path::new("/set"));
    assert_eq!(choose(None), home.path().join("overrides"));
    fs::create_dir(xdg.path().join("overrides")).unwrap();
    assert_eq!(choose(None), xdg.path().join("overrides"), "even when it is empty");
    assert_eq!(Overrides::choose(None, None, None), Overrides::default());
}

#[test]
fn overrides_of_an_unsafe_version_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    with_file(folder.path(), "metadata.yaml");
    let overrides = Overrides::in_folder(folder.path());
    assert_eq!(overrides.files("infrastructure-aws", "v1.0.0").unwrap(), ["metadata.yaml"]);
    for (label, version) in [("infrastructure-aws", ".."), ("..", "v1.0.0")] {
        assert!(matches!(
            overrides.files(label, version),
            Err(Error::Transport(transport::Error::UnsafeName { .. }))
        ));
    }
}

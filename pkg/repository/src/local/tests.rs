use transport::Settings;

use super::*;
use crate::{RepositoryContext, open, testing::text};

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for file in files {
            let path = tree.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("content of {file}")).unwrap();
        }
        tree
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join("infrastructure-aws").join(file)
    }

    fn open(&self, version: &str) -> Box<dyn Repository> {
        let url = self.path(version).join("infrastructure-components.yaml");
        open(url.to_str().unwrap(), "infrastructure-aws", None, &RepositoryContext::default()).unwrap()
    }
}

// Row: PRV-15
// Row: PRV-17
#[tokio::test]
async fn files_of_a_version_are_read_from_its_folder() {
    let tree = Tree::new(&["v1.0.0/metadata.yaml", "v1.0.0/cluster-template.yaml", "v1.1.0/metadata.yaml"]);
    let repository = tree.open("v1.0.0");
    let file = repository.read("v1.0.0", "metadata.yaml").await.unwrap();
    assert_eq!(text(&file), "content of v1.0.0/metadata.yaml");
    assert_eq!(file.source, FileSource::Local(tree.path("v1.0.0/metadata.yaml")));
    assert!(repository.read("v1.1.0", "metadata.yaml").await.is_ok());
    assert_eq!(repository.components_file(), "infrastructure-components.yaml");
}

// Row: PRV-16
#[tokio::test]
async fn only_folders_named_by_a_semantic_version_are_versions() {
    let tree = Tree::new(&["v1.10.0/x", "v1.9.0/x", "0.1.0/x", "v2/x", "main/x", "latest/x", "v3.0.0"]);
    let versions = tree.open("latest").versions().await.unwrap();
    let names: Vec<_> = versions.iter().map(Version::as_str).collect();
    assert_eq!(names, ["0.1.0", "v1.9.0", "v1.10.0"]);
}

// Row: D-27
#[tokio::test]
async fn a_folder_without_v_is_found_under_a_version_with_v() {
    let tree = Tree::new(&["1.0.0/metadata.yaml"]);
    let file = tree.open("latest").read("v1.0.0", "metadata.yaml").await.unwrap();
    assert_eq!(file.source, FileSource::Local(tree.path("1.0.0/metadata.yaml")));
}

// Row: PRV-01
#[tokio::test]
async fn a_missing_file_is_reported_with_existing_files() {
    let tree = Tree::new(&["v1.0.0/metadata.yml", "v1.0.0/components.yaml"]);
    let error = tree.open("v1.0.0").read("v1.0.0", "metadata.yaml").await.unwrap_err();
    let Error::UnknownFile { file, looked_at, available, .. } = &error else { panic!("{error}") };
    assert_eq!(file, "metadata.yaml");
    assert_eq!(looked_at, tree.path("v1.0.0/metadata.yaml").to_str().unwrap());
    assert_eq!(available, &["components.yaml", "metadata.yml"]);
}

#[tokio::test]
async fn a_missing_version_is_reported_with_existing_versions() {
    let tree = Tree::new(&["v1.0.0/x", "v1.1.0/x"]);
    let error = tree.open("latest").read("v2.0.0", "x").await.unwrap_err();
    let Error::UnknownRelease { version, available, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (version.as_str(), available.as_slice()),
        ("v2.0.0", ["v1.0.0".to_owned(), "v1.1.0".into()].as_slice())
    );
}

// Row: D-30
#[tokio::test]
async fn an_unsafe_name_is_refused_before_any_read() {
    let tree = Tree::new(&["v1.0.0/x"]);
    fs::write(tree.0.path().join("secret"), "s").unwrap();
    let repository = tree.open("v1.0.0");
    for (version, file) in
        [("v1.0.0", "../../secret"), ("..", "secret"), ("v1.0.0", "/etc/passwd"), ("../..", "x")]
    {
        let error = repository.read(version, file).await.unwrap_err();
        assert!(
            matches!(error, Error::Transport(transport::Error::UnsafeName { .. })),
            "{version} {file}: {error}"
        );
    }
}

#[tokio::test]
async fn a_folder_instead_of_a_file_is_reported() {
    let tree = Tree::new(&["v1.0.0/metadata.yaml/x"]);
    let error = tree.open("v1.0.0").read("v1.0.0", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(&error, Error::Transport(transport::Error::IsFolder { path }) if *path == tree.path("v1.0.0/metadata.yaml")),
        "{error}"
    );
}

// Row: D-34
#[tokio::test]
async fn a_file_over_the_limit_is_refused_with_the_limit() {
    let tree = Tree::new(&["v1.0.0/x"]);
    let context = RepositoryContext::new(Settings { max_file_bytes: 10, ..Settings::default() });
    let url = tree.path("v1.0.0/x");
    let repository = open(url.to_str().unwrap(), "infrastructure-aws", None, &context).unwrap();
    let error = repository.read("v1.0.0", "x").await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(transport::Error::TooLarge { limit_bytes: 10, .. })),
        "{error:?}"
    );
    assert!(!context.used_network());
}

#[tokio::test]
async fn a_missing_repository_folder_is_reported() {
    let tree = Tree::new(&[]);
    let repository = tree.open("latest");
    let error = repository.versions().await.unwrap_err();
    let Error::Transport(transport::Error::Read { path, .. }) = &error else { panic!("{error}") };
    assert_eq!(path, &tree.0.path().join("infrastructure-aws"));
    assert!(repository.read("v1.0.0", "x").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn a_folder_without_versions_lists_the_ignored_names() {
    let tree = Tree::new(&["v1/x", "main/x"]);
    let error = tree.open("latest").versions().await.unwrap_err();
    assert!(matches!(&error, Error::NoVersions { ignored, .. } if ignored == &["main", "v1"]), "{error}");
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_read_up_to_the_limit() {
    let read = read_limited(Path::new("/dev/zero"), 10);
    assert!(matches!(read, Err(transport::Error::TooLarge { limit_bytes: 10, .. })), "{read:?}");
}

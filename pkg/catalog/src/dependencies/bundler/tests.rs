//! Libraries from folders and from Git repositories.

use std::fs;
use std::path::Path;

use repository::git::GitSettings;
use repository::{ReleaseSettings, RepositoryContext};
use support::git::GitForge;

use super::*;

/// Installs the libraries of a folder.
async fn install(folder: &Path, local: &[&str], forge: &GitForge) -> Result<(), CatalogError> {
    let git = GitSettings { variables: forge.variables(), ..GitSettings::default() };
    let releases = ReleaseSettings { git, ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(transport::Settings::default(), releases);
    let local = local.iter().map(|name| folder.join(name)).collect();
    install_libraries(BundlerRequest { context: &context, folder, local }).await
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

// Row: D-442
#[tokio::test]
async fn folders_become_links_even_in_a_cycle() {
    let folder = tempfile::tempdir().unwrap();
    let needs = |name: &str| {
        format!(r#"{{"dependencies": [{{"source": {{"local": {{"directory": "../{name}"}}}}}}]}}"#)
    };
    write(folder.path(), "parts/a/jsonnetfile.json", &needs("b"));
    write(folder.path(), "parts/b/jsonnetfile.json", &needs("a"));
    write(folder.path(), "vendor/stale/x.libsonnet", "1");
    install(folder.path(), &["parts/a"], &GitForge::new()).await.unwrap();
    for (name, target) in [("a", "../parts/a"), ("b", "../parts/b")] {
        assert_eq!(fs::read_link(folder.path().join("vendor").join(name)).unwrap(), Path::new(target));
    }
    assert!(!folder.path().join("vendor/stale").exists());
    let written: Value = serde_json::from_str(&read(folder.path(), "jsonnetfile.json")).unwrap();
    assert_eq!(written["dependencies"][0]["source"]["local"]["directory"], "parts/a");
    assert_eq!(written["legacyImports"], true);
}

// Row: CAT-08
// Row: CAT-52
// Row: CAT-57
#[tokio::test]
async fn a_folder_of_a_repository_is_installed_with_its_libraries() {
    let forge = GitForge::new();
    let url = |name: &str| forge.repository(name).display().to_string();
    forge.commit("inner", &[("main.libsonnet", "{ inner: 1 }")]);
    let nested = format!(
        r#"{{"dependencies": [{{"source": {{"git": {{"remote": "{}"}}}}, "version": "main"}}]}}"#,
        url("inner")
    );
    let commit = forge
        .commit("outer", &[("lib/jsonnetfile.json", &nested), ("lib/sub/a.libsonnet", "{}"), ("other", "x")]);
    let folder = tempfile::tempdir().unwrap();
    let direct = format!(
        r#"{{"version": 1, "legacyImports": true, "dependencies": [{{"source": {{"git": {{"remote": "{}", "subdir": "lib"}}}}, "version": "main"}}]}}"#,
        url("outer")
    );
    write(folder.path(), "jsonnetfile.json", &direct);
    install(folder.path(), &[], &forge).await.unwrap();
    let vendor = folder.path().join("vendor");
    assert_eq!(read(&vendor, "lib/sub/a.libsonnet"), "{}");
    assert_eq!(read(&vendor, "inner/main.libsonnet"), "{ inner: 1 }");
    assert!(fs::read_link(vendor.join("lib")).unwrap().starts_with("localhost"));
    let lock: Value = serde_json::from_str(&read(folder.path(), "jsonnetfile.lock.json")).unwrap();
    assert_eq!(lock["dependencies"][0]["version"], commit);
    // The SHA-256 of both files, one after the other.
    assert_eq!(lock["dependencies"][0]["sum"], BASE64.encode(&Sha256::digest(format!("{nested}{{}}"))));
    install(folder.path(), &[], &forge).await.unwrap();
    assert_eq!(read(&vendor, "lib/sub/a.libsonnet"), "{}");
}

#[tokio::test]
async fn invalid_files_name_the_problem() {
    let forge = GitForge::new();
    for (text, problem) in [
        ("{", "is not valid: EOF while parsing an object at line 1 column 1"),
        (r#"{"dependencies": {}}"#, "is not valid: `dependencies` must be a list"),
        (r#"{"dependencies": [{}]}"#, "is not valid: a dependency has neither a git nor a local source"),
        (
            r#"{"dependencies": [{"source": {"git": {"remote": "x", "subdir": "../y"}}}]}"#,
            "is not valid: the folder `../y` leads out of its repository",
        ),
        (r#"{"dependencies": [{"source": {"local": {"directory": "nope"}}}]}"#, "does not exist"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "jsonnetfile.json", text);
        let error = install(folder.path(), &[], &forge).await.unwrap_err().to_string();
        assert!(
            error.starts_with("cannot install Jsonnet libraries: ") && error.ends_with(problem),
            "{error}"
        );
    }
}

use repository::ReleaseSettings;
use repository::git::GitSettings;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::git::GitForge;
use tempfile::TempDir;

use super::*;

/// Fetches dependencies of a target without any host.
fn problem(dependencies: &serde_json::Value) -> String {
    let folder = TempDir::new().unwrap();
    let parameters = json!({"kapitan": {"dependencies": dependencies}, "_base_directory": "/component"});
    let nodes = BTreeMap::from([("one".to_owned(), Node { parameters, ..Node::default() })]);
    let context = RepositoryContext::default();
    let targets = ["one".to_owned()];
    let fetched = fetch_dependencies(&nodes, &targets, folder.path(), &context);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(fetched).map_or_else(|error| error.to_string(), |()| "fetched".to_owned())
}

// Row: D-447
#[test]
fn invalid_dependencies_are_refused_before_any_request() {
    assert_eq!(problem(&json!(null)), "fetched");
    assert_data_eq!(
        problem(&json!({})),
        str!["`parameters.kapitan.dependencies` of target `one` is not a list"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "svn", "source": "x", "output_path": "y"}])),
        str![
            "`parameters.kapitan.dependencies[0]` of target `one` is invalid: unknown variant `svn`, expected one of `helm`, `http`, `https`, `git`, `oci`"
        ]
    );
    assert_data_eq!(
        problem(&json!([{"type": "helm", "source": "x", "output_path": "y"}])),
        str!["`parameters.kapitan.dependencies[0]` of target `one` is invalid: missing field `chart_name`"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "https", "source": "x", "output_path": "../y"}])),
        str!["dependency of target `one`: `../y` is outside of the output folder and of its component"]
    );
    assert_data_eq!(
        problem(&json!([{"type": "https", "source": "x", "output_path": "/etc/y"}])),
        str!["dependency of target `one`: `/etc/y` is outside of the output folder and of its component"]
    );
}

// Row: CAT-69
#[tokio::test]
async fn folders_of_repositories_are_written_for_all_targets() {
    let (forge, folder) = (GitForge::new(), TempDir::new().unwrap());
    forge.commit("lib", &[("a/x.yaml", "x: 1\n"), ("b.yaml", "b")]);
    forge.git("lib", &["tag", "v1"]);
    let url = forge.repository("lib").display().to_string();
    let node = |path: &str, subdir: serde_json::Value| {
        let entry = json!({"type": "git", "source": url, "ref": "v1", "output_path": path, "subdir": subdir});
        Node { parameters: json!({"kapitan": {"dependencies": [entry]}}), ..Node::default() }
    };
    let nodes = BTreeMap::from([
        ("all".to_owned(), node("vendor/all", json!(null))),
        ("part".to_owned(), node("vendor/part", json!("a"))),
        ("none".to_owned(), node("vendor/none", json!("c"))),
    ]);
    let git = GitSettings { variables: forge.variables(), ..GitSettings::default() };
    let releases = ReleaseSettings { git, ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(transport::Settings::default(), releases);
    let targets = ["all", "part"].map(str::to_owned);
    fetch_dependencies(&nodes, &targets, folder.path(), &context).await.unwrap();
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap_or_default();
    assert_eq!(read("vendor/all/a/x.yaml"), "x: 1\n");
    assert_eq!(read("vendor/all/b.yaml"), "b");
    assert_eq!(read("vendor/part/x.yaml"), "x: 1\n");
    let failed = fetch_dependencies(&nodes, &["none".to_owned()], folder.path(), &context).await;
    let error = failed.unwrap_err().to_string();
    assert_eq!(error, format!("v1 of {url}: subdir c not found in repo"));
}

// Row: D-453
#[cfg(unix)]
#[tokio::test]
async fn loops_of_links_in_a_repository_are_refused() {
    let (forge, folder) = (GitForge::new(), TempDir::new().unwrap());
    forge.commit("lib", &[("a.yaml", "a")]);
    for name in ["one", "two"] {
        std::os::unix::fs::symlink(".", forge.repository("lib").join(name)).unwrap();
    }
    forge.commit("lib", &[]);
    let url = forge.repository("lib").display().to_string();
    let entry = json!({"type": "git", "source": url, "ref": "main", "output_path": "out"});
    let parameters = json!({"kapitan": {"dependencies": [entry]}});
    let nodes = BTreeMap::from([("all".to_owned(), Node { parameters, ..Node::default() })]);
    let git = GitSettings { variables: forge.variables(), ..GitSettings::default() };
    let releases = ReleaseSettings { git, ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(transport::Settings::default(), releases);
    let failed = fetch_dependencies(&nodes, &["all".to_owned()], folder.path(), &context).await;
    let expected =
        format!("cannot fetch main of {url}: cannot read `one`: it is a link to a folder that contains it");
    assert_eq!(failed.unwrap_err().to_string(), expected);
    assert!(!folder.path().join("out").exists());
}

// Row: D-453
#[tokio::test]
async fn submodules_are_fetched_if_an_entry_asks_for_them() {
    let (forge, folder) = (GitForge::new(), TempDir::new().unwrap());
    let add = |name: &str, url: &str, path: &str| {
        forge.git(name, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, path]);
        forge.commit(name, &[]);
    };
    forge.commit("inner", &[("i.yaml", "i")]);
    forge.commit("lib", &[("l.yaml", "l")]);
    add("lib", "../inner", "in");
    forge.commit("all", &[("a.yaml", "a")]);
    add("all", "../lib", "sub/lib");
    // The submodule stays at its commit.
    forge.commit("lib", &[("l.yaml", "newer")]);
    let url = forge.repository("all").display().to_string();
    let node = |path: &str, submodules: serde_json::Value| {
        let entry = json!({"type": "git", "source": url, "output_path": path, "submodules": submodules});
        Node { parameters: json!({"kapitan": {"dependencies": [entry]}}), ..Node::default() }
    };
    let nodes = BTreeMap::from([
        ("one".to_owned(), node("with", json!(true))),
        ("two".to_owned(), node("without", json!(null))),
    ]);
    let git = GitSettings { variables: forge.variables(), ..GitSettings::default() };
    let releases = ReleaseSettings { git, ..ReleaseSettings::default() };
    let context = RepositoryContext::with_release_settings(transport::Settings::default(), releases);
    let targets = ["one", "two"].map(str::to_owned);
    fetch_dependencies(&nodes, &targets, folder.path(), &context).await.unwrap();
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).ok();
    assert_eq!(read("with/a.yaml").as_deref(), Some("a"));
    assert_eq!(read("with/sub/lib/l.yaml").as_deref(), Some("l"));
    assert!(!folder.path().join("with/sub/lib/in").exists(), "submodules of submodules are not fetched");
    assert_eq!(read("without/a.yaml").as_deref(), Some("a"));
    assert!(!folder.path().join("without/sub").exists());
}

#[tokio::test]
async fn files_of_one_commit_are_fetched_once() {
    let (forge, folder) = (GitForge::new(), TempDir::new().unwrap());
    forge.commit("lib", &[("a.yaml", "a: 1\n")]);
    let commit = forge.git("lib", &["rev-parse", "HEAD"]).trim().to_owned();
    let url = forge.repository("lib").display().to_string();
    let nodes = |reference: &str| {
        let entry = json!({"type": "git", "source": url, "ref": reference, "output_path": "out"});
        let parameters = json!({"kapitan": {"dependencies": [entry]}});
        BTreeMap::from([("one".to_owned(), Node { parameters, ..Node::default() })])
    };
    let cache = folder.path().join("cache");
    let context = || {
        let git = GitSettings { variables: forge.variables(), ..GitSettings::default() };
        let releases = ReleaseSettings { git, ..ReleaseSettings::default() };
        let store = transport::StoreSettings { folder: cache.clone(), max_bytes: 1 << 20 };
        let settings = transport::Settings { store: Some(store), ..transport::Settings::default() };
        RepositoryContext::with_release_settings(settings, releases)
    };
    let targets = ["one".to_owned()];
    let output = |name: &str| folder.path().join(name);
    fetch_dependencies(&nodes(&commit), &targets, &output("first"), &context()).await.unwrap();
    std::fs::remove_dir_all(forge.repository("lib")).unwrap();
    std::fs::remove_dir_all(cache.join("git")).unwrap();
    fetch_dependencies(&nodes(&commit), &targets, &output("second"), &context()).await.unwrap();
    assert_eq!(std::fs::read_to_string(output("second/out/a.yaml")).unwrap(), "a: 1\n");
    fetch_dependencies(&nodes("main"), &targets, &output("third"), &context()).await.unwrap_err();
}

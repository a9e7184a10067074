use std::fs;

use super::*;
use crate::git::GitCommit;

/// Commits `.gitmodules` and folders for other repositories.
fn commit_modules(lab: &Lab, modules: &[(&str, &str)]) -> GitCommit {
    let commit = lab.forge.commit("lib", &[("a.yaml", "a")]);
    let entry =
        |(path, url): &(&str, &str)| format!("[submodule \"{path}\"]\n path = {path}\n url = {url}\n");
    let text = modules.iter().map(entry).collect::<Vec<_>>().concat();
    let folder = lab.forge.repository("r");
    for (path, _) in modules {
        let entry = format!("160000,{commit},{path}");
        lab.forge.git("r", &["update-index", "--add", "--cacheinfo", &entry]);
    }
    fs::write(folder.join(".gitmodules"), text).unwrap();
    lab.forge.git("r", &["add", ".gitmodules"]);
    lab.forge.git("r", &["commit", "-q", "-m", "modules"]);
    GitCommit(lab.forge.git("r", &["rev-parse", "HEAD"]))
}

#[tokio::test]
async fn submodules_have_their_commits_and_remotes() {
    let lab = Lab::new();
    let commit = commit_modules(&lab, &[("sub", "../lib"), ("b/c", "../lib")]);
    lab.forge.git("r", &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},unnamed")]);
    lab.forge.git("r", &["commit", "-q", "-m", "a folder that the file does not name"]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let head = remote.resolve("main").await.unwrap();
    let modules = remote.submodules(&head).await.unwrap();
    let paths: Vec<&str> = modules.iter().map(|module| &*module.path).collect();
    assert_eq!(paths, ["b/c", "sub"]);
    let lib = &modules[1];
    assert_eq!(lib.remote.url().address(), lab.forge.repository("lib").to_str().unwrap());
    assert_eq!(lib.remote.resolve(lib.commit.as_str()).await.unwrap(), lib.commit);
    assert_eq!(remote.submodules(&commit).await.unwrap().len(), 2);
}

#[tokio::test]
async fn unusable_submodules_are_refused_before_any_request() {
    for (url, reason) in [
        ("-oProxyCommand=id", "it starts with a dash or contains a control character"),
        ("ext::sh -c id", "scheme `ext::` is not supported; use https, http, ssh or file"),
        ("../../../../../../../../../../../../../lib", "it leads out of the host"),
    ] {
        let lab = Lab::new();
        let commit = commit_modules(&lab, &[("sub", url)]);
        let context = lab.run();
        let remote = remote(lab.forge.repository("r"), &context);
        remote.resolve("main").await.unwrap();
        let error = remote.submodules(&commit).await.unwrap_err();
        assert!(matches!(failure(&error), GitFailure::Submodule { path, .. } if path == "sub"));
        assert!(with_causes(&error).ends_with(reason), "{}", with_causes(&error));
    }
    let lab = Lab::new();
    let names: Vec<String> = (0..=100).map(|at| format!("m{at}")).collect();
    let modules: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "../lib")).collect();
    let commit = commit_modules(&lab, &modules);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    remote.resolve("main").await.unwrap();
    let error = remote.submodules(&commit).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::TooManySubmodules { max: 100, .. }));
}

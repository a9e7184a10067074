use std::fs;

use super::*;
use crate::git::{LocalChangesPolicy, Worktree};

async fn check_out(remote: &GitRemote, tree_ish: &str, folder: &Path) -> Result<Worktree, Error> {
    let commit = remote.resolve(tree_ish).await?;
    remote.worktree(&commit, folder, LocalChangesPolicy::Refuse).await
}

/// A repository with two versions, and the folder for its worktree.
fn versions() -> (Lab, PathBuf) {
    let lab = Lab::new();
    lab.forge.commit("r", &[("class/defaults.yml", "1"), ("other/file", "x")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    lab.forge.commit("r", &[("class/defaults.yml", "2")]);
    lab.forge.git("r", &["tag", "v2.0.0"]);
    let folder = lab.kept.path().join("dependencies/x");
    (lab, folder)
}

// Row: CAT-20
// Row: CAT-23
// Row: CAT-24
#[tokio::test]
async fn a_worktree_contains_the_repository_at_the_version() {
    let (lab, folder) = versions();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    for (version, content) in [("v1.0.0", "1"), ("v2.0.0", "2"), ("v1.0.0", "1"), ("v1.0.0", "1")] {
        let worktree = check_out(&remote, version, &folder).await.unwrap();
        assert_eq!(fs::read_to_string(folder.join("class/defaults.yml")).unwrap(), content, "{version}");
        assert_eq!(worktree.commit, remote.resolve(version).await.unwrap());
        assert!(folder.join("other/file").exists());
    }
    let link = fs::read_to_string(folder.join(".git")).unwrap();
    assert!(link.contains(remote.clone_folder().to_str().unwrap()), "{link}");
}

#[tokio::test]
async fn a_checked_out_worktree_is_complete_and_on_no_branch() {
    let (lab, folder) = versions();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    check_out(&remote, "v1.0.0", &folder).await.unwrap();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        let run = git.arg("-C").arg(&folder).args(arguments).envs(lab.forge.variables()).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        String::from_utf8(run.stdout).unwrap().trim().to_owned()
    };
    // A branch of the user at the same commit, which a checkout leaves.
    git(&["checkout", "--quiet", "-b", "mine"]);
    check_out(&remote, "v1.0.0", &folder).await.unwrap();
    assert_eq!(git(&["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD");
    // A file of the commit that is missing.
    fs::remove_file(folder.join("other/file")).unwrap();
    let error = check_out(&remote, "v1.0.0", &folder).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::LocalChanges { .. }), "{}", with_causes(&error));
}

// Row: CAT-29
#[tokio::test]
async fn a_worktree_of_an_http_remote_pushes_by_ssh() {
    let (lab, folder) = versions();
    let host = lab.forge.serve(None);
    let context = lab.context(lab.trusting(&host));
    check_out(&remote(host.url("r"), &context), "v1.0.0", &folder).await.unwrap();
    let config = fs::read_to_string(remote(host.url("r"), &context).clone_folder().join("config")).unwrap();
    assert!(config.contains("pushurl = ssh://git@localhost/r\n"), "{config}");
}

#[tokio::test]
async fn local_changes_stop_a_checkout_unless_discarded() {
    let (lab, folder) = versions();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    check_out(&remote, "v1.0.0", &folder).await.unwrap();
    fs::write(folder.join("class/defaults.yml"), "mine").unwrap();
    fs::write(folder.join("note"), "mine").unwrap();
    let error = check_out(&remote, "v2.0.0", &folder).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::LocalChanges { .. }), "{}", with_causes(&error));
    let commit = remote.resolve("v2.0.0").await.unwrap();
    remote.worktree(&commit, &folder, LocalChangesPolicy::Discard).await.unwrap();
    assert_eq!(fs::read_to_string(folder.join("class/defaults.yml")).unwrap(), "2");
    assert!(folder.join("note").exists());
}

#[tokio::test]
async fn a_folder_of_another_remote_is_not_changed() {
    let (lab, folder) = versions();
    lab.forge.commit("other", &[("a", "1")]);
    let context = lab.run();
    let (wanted, other) =
        (remote(lab.forge.repository("r"), &context), remote(lab.forge.repository("other"), &context));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine"), "x").unwrap();
    let error = check_out(&wanted, "v1.0.0", &folder).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::ForeignFolder { .. }), "{}", with_causes(&error));
    let taken = folder.with_file_name("taken");
    check_out(&other, "main", &taken).await.unwrap();
    assert!(check_out(&wanted, "v1.0.0", &taken).await.is_err());
    assert_eq!(fs::read_to_string(taken.join("a")).unwrap(), "1");
}

#[tokio::test]
async fn a_removed_or_incomplete_worktree_is_recreated() {
    let (lab, folder) = versions();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    check_out(&remote, "v1.0.0", &folder).await.unwrap();
    fs::remove_dir_all(&folder).unwrap();
    check_out(&remote, "v1.0.0", &folder).await.unwrap();
    fs::remove_dir_all(folder.join("class")).unwrap();
    fs::write(remote.clone_folder().join("worktrees/x/locked"), "initializing\n").unwrap();
    check_out(&remote, "v2.0.0", &folder).await.unwrap();
    assert_eq!(fs::read_to_string(folder.join("class/defaults.yml")).unwrap(), "2");
}

// Row: D-207
#[cfg(unix)]
#[tokio::test]
async fn a_hostile_repository_cannot_run_code_or_write_elsewhere() {
    let lab = Lab::new();
    let folder = lab.forge.repository("r");
    let victim = lab.kept.path().join("victim");
    let hook = format!("#!/bin/sh\ntouch {}\n", victim.display());
    // Hooks that the user has installed for their own repositories.
    let hooks = lab.forge.home().join("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::write(hooks.join("post-checkout"), &hook).unwrap();
    fs::set_permissions(hooks.join("post-checkout"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    lab.forge
        .commit("r", &[("hooks/post-checkout", &hook), (".gitattributes", "* filter=evil\n"), ("a", "1")]);
    fs::write(lab.forge.home().join(".gitconfig"), format!("[core]\nhooksPath = {}\n", hooks.display()))
        .unwrap();
    let modules = "[submodule \"-x\"]\n path = sub\n url = -oProxyCommand=id\n";
    let empty = lab.forge.git("r", &["rev-parse", "HEAD"]);
    lab.forge.git("r", &["update-index", "--add", "--cacheinfo", &format!("160000,{empty},sub")]);
    fs::write(folder.join(".gitmodules"), modules).unwrap();
    lab.forge.git("r", &["add", ".gitmodules"]);
    lab.forge.git("r", &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "module"]);
    lab.forge.git("r", &["branch", "modules"]);
    let context = lab.run();
    let remote = remote(&folder, &context);
    let target = lab.kept.path().join("x");
    let worktree = check_out(&remote, "modules", &target).await.unwrap();
    assert_eq!(worktree.submodules, ["sub"], "said, not fetched");
    assert!(fs::read_dir(target.join("sub")).unwrap().next().is_none());
    assert!(!victim.exists(), "no hook ran");

    std::os::unix::fs::symlink("/etc", folder.join("out")).unwrap();
    lab.forge.git("r", &["add", "out"]);
    lab.forge.git("r", &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "link"]);
    let context = lab.run();
    let remote = super::remote(&folder, &context);
    let error = check_out(&remote, "main", &lab.kept.path().join("y")).await.unwrap_err();
    assert!(
        matches!(failure(&error), GitFailure::LinkEscapes { path, .. } if path == "out"),
        "{}",
        with_causes(&error)
    );
    assert!(!lab.kept.path().join("y").exists(), "before anything is written");
}

// Row: D-250
#[cfg(unix)]
#[tokio::test]
async fn filters_of_the_user_do_not_run_on_foreign_files() {
    let (lab, folder) = versions();
    let attributes = (".gitattributes", "class/* filter=planted ident\n");
    lab.forge.commit("r", &[attributes, ("class/id", "$Id$\n"), ("other/file", "x\n")]);
    let (home, ran) = (lab.forge.home(), lab.kept.path().join("ran"));
    let filter = format!("touch {}; cat", ran.display());
    let everywhere = home.join("attributes");
    fs::write(&everywhere, "other/* filter=planted\n").unwrap();
    let planted = format!(
        "[filter \"planted\"]\n smudge = {filter:?}\n clean = {filter:?}\n required = true\n\
         [core]\n attributesFile = {}\n autocrlf = true\n",
        everywhere.display()
    );
    fs::write(home.join(".gitconfig"), planted).unwrap();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    check_out(&remote, "main", &folder).await.unwrap();
    for (file, content) in [("class/id", "$Id$\n"), ("other/file", "x\n")] {
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), content, "{file}");
    }
    fs::write(folder.join("class/id"), "mine").unwrap();
    assert!(matches!(
        failure(&check_out(&remote, "v1.0.0", &folder).await.unwrap_err()),
        GitFailure::LocalChanges { .. }
    ));
    assert!(!ran.exists());
}

#[cfg(unix)]
#[tokio::test]
async fn a_tree_with_a_git_folder_in_it_is_not_checked_out() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let blob = lab.forge.git("r", &["hash-object", "-w", "a"]);
    let entry = lab.kept.path().join("entry");
    fs::write(&entry, format!("100644 blob {blob}\tconfig\n")).unwrap();
    let folder = lab.forge.repository("r");
    let run = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).current_dir(&folder).env_clear().envs(lab.forge.variables());
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let inner = run(&format!("git mktree <{}", entry.display()));
    fs::write(&entry, format!("040000 tree {inner}\t.git\n")).unwrap();
    let tree = run(&format!("git mktree <{}", entry.display()));
    let commit = run(&format!("git commit-tree -m evil {tree}"));
    lab.forge.git("r", &["branch", "evil", &commit]);
    let context = lab.run();
    let target = lab.kept.path().join("x");
    let error = check_out(&remote(&folder, &context), "evil", &target).await.unwrap_err();
    assert!(with_causes(&error).contains("invalid path '.git/config'"), "{}", with_causes(&error));
    assert!(!target.join(".git/config").exists());
}

use std::{fs, os::unix::fs::PermissionsExt as _};

use api::{ErrorChain, error_chain};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::git::{GitAuthor, LocalChangesPolicy, LocalWork, StagedChangeKind};

fn author() -> GitAuthor {
    GitAuthor { name: "Ann".to_owned(), email: "ann@example.org".to_owned() }
}

/// A repository without commits, and the folder for its worktree.
fn empty() -> (Lab, PathBuf) {
    let lab = Lab::new();
    lab.forge.repository("r");
    lab.forge.git("r", &["config", "receive.denyCurrentBranch", "ignore"]);
    let folder = lab.kept.path().join("catalog");
    (lab, folder)
}

#[tokio::test]
async fn an_empty_remote_gets_a_first_commit_and_a_push() {
    let (lab, folder) = empty();
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    assert_eq!(remote.default_branch().await.unwrap(), None);
    let first = remote.create_empty_commit("Initial commit", &author()).await.unwrap();
    remote.worktree(&first, &folder, LocalChangesPolicy::Refuse).await.unwrap();
    fs::write(folder.join("a.yaml"), "a: 1\n").unwrap();
    let changes = remote.stage(&folder).await.unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&*changes[0].path, &changes[0].kind), ("a.yaml", &StagedChangeKind::Added));
    let object = changes[0].after.as_deref().unwrap();
    assert_eq!(remote.read_objects(&[object]).await.unwrap()[0], "a: 1\n");
    let commit = remote.commit(&folder, "Update\n\nwith # a body\n", &author()).await.unwrap();
    remote.push(&commit, "main").await.unwrap();
    remote.record_push(&folder, &commit, "main").await.unwrap();
    let log = lab.forge.git("r", &["log", "--format=%an <%ae>|%cn|%B", "main"]);
    assert_eq!(
        log,
        "Ann <ann@example.org>|Ann|Update\n\nwith # a body\n\nAnn <ann@example.org>|Ann|Initial commit"
    );
    assert_eq!(remote.stage(&folder).await.unwrap(), []);
    assert!(remote.abbreviate(&commit, 6).await.len() >= 6);
}

#[tokio::test]
async fn staged_changes_have_kinds_and_contents() {
    let (lab, folder) = empty();
    lab.forge.commit("r", &[("keep", "1\n"), ("gone", "2\n"), ("old", "a\nb\nc\nd\n")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    assert_eq!(remote.default_branch().await.unwrap().as_deref(), Some("main"));
    let commit = remote.resolve("main").await.unwrap();
    remote.worktree(&commit, &folder, LocalChangesPolicy::Refuse).await.unwrap();
    assert_eq!(remote.head(&folder).await.unwrap(), commit);
    fs::write(folder.join("keep"), "changed\n").unwrap();
    fs::remove_file(folder.join("gone")).unwrap();
    fs::rename(folder.join("old"), folder.join("renamed")).unwrap();
    let changes = remote.stage(&folder).await.unwrap();
    let kinds: Vec<_> = changes.iter().map(|change| (&*change.path, &change.kind)).collect();
    let renamed = StagedChangeKind::Renamed { from: "old".to_owned() };
    assert_eq!(
        kinds,
        [("gone", &StagedChangeKind::Deleted), ("keep", &StagedChangeKind::Modified), ("renamed", &renamed)]
    );
    remote.unstage(&folder).await.unwrap();
    assert!(remote.local_work(&folder).await.unwrap().has_changed_files);
}

#[tokio::test]
async fn local_work_is_found_until_it_is_pushed() {
    let (lab, folder) = empty();
    lab.forge.commit("r", &[("a", "1\n")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let commit = remote.resolve("main").await.unwrap();
    remote.worktree(&commit, &folder, LocalChangesPolicy::Refuse).await.unwrap();
    assert_eq!(remote.local_work(&folder).await.unwrap(), LocalWork::default());
    fs::write(folder.join("b"), "new\n").unwrap();
    let work = remote.local_work(&folder).await.unwrap();
    assert!(work.has_new_files && !work.has_changed_files && !work.has_new_commits);
    remote.stage(&folder).await.unwrap();
    assert!(!remote.local_work_outside(&folder, &["b"]).await.unwrap().exists());
    remote.commit_index(&folder, "pushed", &author()).await.unwrap();
    let work = remote.local_work(&folder).await.unwrap();
    assert!(work.has_changed_files && !work.has_new_commits);
    let commit = remote.commit(&folder, "mine", &author()).await.unwrap();
    let work = remote.local_work(&folder).await.unwrap();
    assert!(work.has_new_commits && !work.has_new_files && !work.has_changed_files);
    remote.push(&commit, "main").await.unwrap();
    remote.record_push(&folder, &commit, "main").await.unwrap();
    assert!(!remote.local_work(&folder).await.unwrap().exists());
}

#[tokio::test]
async fn a_push_over_newer_commits_is_refused() {
    let (lab, folder) = empty();
    lab.forge.commit("r", &[("a", "1\n")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let commit = remote.resolve("main").await.unwrap();
    remote.worktree(&commit, &folder, LocalChangesPolicy::Refuse).await.unwrap();
    lab.forge.commit("r", &[("a", "2\n")]);
    fs::write(folder.join("a"), "3\n").unwrap();
    remote.stage(&folder).await.unwrap();
    let commit = remote.commit(&folder, "mine", &author()).await.unwrap();
    let rejected = async |branch| {
        let ErrorChain { lines, hints, .. } = error_chain(&remote.push(&commit, branch).await.unwrap_err());
        let remote = lab.forge.repository("r").display().to_string();
        lines.into_iter().chain(hints).collect::<Vec<_>>().join("\n").replace(&remote, "REMOTE")
    };
    assert_data_eq!(
        rejected("main").await,
        str![[r#"
cannot push to `REMOTE`
the host rejected the push: fetch first
another push has changed the branch; re-run the same command
"#]]
    );
    assert_eq!(lab.forge.git("r", &["show", "main:a"]), "2");
    let hook = lab.forge.repository("r").join(".git/hooks/pre-receive");
    let script = "#!/bin/sh\nprintf 'no \\033[1mpush\\n' >&2\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo https://ann:pw@h/$i >&2; done\nexit 1\n";
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert_data_eq!(
        rejected("other").await,
        str![[r#"
cannot push to `REMOTE`
the host rejected the push: pre-receive hook declined
remote: no [1mpush
remote: https://h/1
remote: https://h/2
remote: https://h/3
remote: https://h/4
remote: https://h/5
remote: https://h/6
remote: https://h/7
remote: https://h/8
remote: https://h/9
"#]]
    );
}

#[tokio::test]
async fn a_folder_of_a_commit_is_read_with_its_files() {
    let (lab, _) = empty();
    lab.forge.commit("r", &[("lib/a.libsonnet", "1"), ("lib/sub/b.libsonnet", "2"), ("other", "3")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let commit = remote.resolve("main").await.unwrap();
    let files = remote.read_folder(&commit, "lib").await.unwrap();
    let files: Vec<_> = files.iter().map(|(path, content)| (path.as_str(), &content[..])).collect();
    assert_eq!(files, [("a.libsonnet", &b"1"[..]), ("sub/b.libsonnet", b"2")]);
    assert_eq!(remote.read_folder(&commit, "").await.unwrap().len(), 3);
    let error = remote.read_folder(&commit, "nope").await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::UnknownPath { .. }), "{}", with_causes(&error));
}

use std::fs;

use super::*;
use crate::git::{FileVersions, FirstCommit, GitAuthor, NewFile};

const URL: &str = "git@git.example.org:o/component-one.git";

fn author() -> GitAuthor {
    GitAuthor { name: "Ann <x>".to_owned(), email: "ann@example.org".to_owned() }
}

fn files() -> Vec<NewFile> {
    let file = |path: &str, content: &[u8], is_executable| NewFile {
        path: path.to_owned(),
        content: content.to_vec(),
        is_executable,
    };
    vec![file("a \"b\"/c", b"text\n", false), file("run", b"#!/bin/sh\n\0\xff", true)]
}

fn new_remote(lab: &Lab, context: &RepositoryContext) -> GitRemote {
    let clones = lab.kept.path().join("clones");
    let url = RemoteUrl::parse(URL).unwrap();
    GitRemote::new(url, AddressOrigin::User, CloneStore::Folder(&clones), context).unwrap()
}

#[tokio::test]
async fn a_new_clone_has_a_worktree_until_that_is_deleted() {
    let lab = Lab::new();
    let context = lab.run();
    let remote = new_remote(&lab, &context);
    let (files, author) = (files(), author());
    let commit = FirstCommit { files: &files, message: "First\n\nbody", author: &author };
    let folder = lab.kept.path().join("one");
    remote.create_with_worktree(&commit, &folder).await.unwrap();
    assert_eq!(fs::read(folder.join("a \"b\"/c")).unwrap(), b"text\n");
    assert_eq!(fs::read(folder.join("run")).unwrap(), b"#!/bin/sh\n\0\xff");
    let work = remote.local_work(&folder).await.unwrap();
    assert!(!work.has_changed_files && !work.has_new_files && work.has_new_commits);

    let second = lab.kept.path().join("two");
    let error = remote.create_with_worktree(&commit, &second).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::CloneExists { .. }), "{}", with_causes(&error));
    assert!(!second.exists());

    let clones = lab.kept.path().join("clones");
    let found = GitRemote::of_worktree(&folder, &clones, &context).await.unwrap().unwrap();
    assert!(found.delete_worktree(&folder).await.unwrap());
    assert!(!folder.exists() && !remote.clone_folder().exists());
    fs::create_dir(&folder).unwrap();
    assert!(GitRemote::of_worktree(&folder, &clones, &context).await.unwrap().is_none());
}

#[tokio::test]
async fn an_interrupted_creation_is_completed_by_the_next_one() {
    let lab = Lab::new();
    let context = lab.run();
    let remote = new_remote(&lab, &context);
    let (files, author) = (files(), author());
    let commit = FirstCommit { files: &files, message: "First", author: &author };
    let folder = lab.kept.path().join("one");
    remote.create_with_worktree(&commit, &folder).await.unwrap();
    // The state between the creation of the clone and that of the worktree.
    fs::remove_dir_all(&folder).unwrap();
    fs::remove_dir_all(remote.clone_folder().join("worktrees")).unwrap();
    let left = lab.kept.path().join("clones/git.example.org/o/.new-component-one.git");
    fs::create_dir_all(left.join("partial")).unwrap();
    remote.create_with_worktree(&commit, &folder).await.unwrap();
    assert!(folder.join("run").exists() && !left.exists());
}

#[tokio::test]
async fn a_repository_appears_in_a_folder_with_all_of_its_files() {
    let lab = Lab::new();
    let context = lab.run();
    let remote = new_remote(&lab, &context);
    let (files, author) = (files(), author());
    let commit = FirstCommit { files: &files, message: "First", author: &author };
    let folder = lab.kept.path().join("own");
    remote.create_in_folder(&commit, &folder).await.unwrap();
    assert!(folder.join("run").exists() && folder.join(".git").is_dir());
    let other = FirstCommit { files: &[], ..commit };
    assert!(remote.create_in_folder(&other, &folder).await.is_err(), "the folder has files");
    let names: Vec<_> = fs::read_dir(lab.kept.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".new-"))
        .collect();
    assert_eq!(names, [""; 0]);

    let own = GitRemote::of_repository(&folder, &context).await.unwrap().unwrap();
    assert_eq!(own.url().address(), remote.url().address());
    assert!(GitRemote::of_repository(lab.kept.path(), &context).await.unwrap().is_none());
    let versions =
        |current: &'static [u8], other: &'static [u8]| FileVersions { base: b"1\n2\n3\n4\n", current, other };
    let merged =
        own.merge_file(versions(b"0\n1\n2\n3\n4\n", b"1\n2\n3\n5\n"), lab.kept.path()).await.unwrap();
    assert_eq!((&*merged.content, merged.has_conflicts), (&b"0\n1\n2\n3\n5\n"[..], false));
    let merged = own.merge_file(versions(b"x\n2\n3\n4\n", b"y\n2\n3\n4\n"), lab.kept.path()).await.unwrap();
    assert!(merged.has_conflicts && merged.content.starts_with(b"<<<<<<< "));
    assert!(
        own.merge_file(versions(b"\0", b"\x01"), lab.kept.path()).await.is_err(),
        "binary files are not merged"
    );
}

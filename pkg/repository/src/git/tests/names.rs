use snapbox::{assert_data_eq, str};

use super::*;

// Row: CAT-17
#[tokio::test]
async fn branches_tags_and_full_or_short_hashes_name_commits() {
    let lab = Lab::new();
    let first = lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "-a", "-m", "x", "v1.0.0"]);
    lab.forge.git("r", &["branch", "feature/@x"]);
    let second = lab.forge.commit("r", &[("a", "2")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let cases = [
        ("main", &second),
        ("refs/heads/main", &second),
        ("HEAD", &second),
        ("feature/@x", &first),
        ("v1.0.0", &first),
        ("refs/tags/v1.0.0", &first),
        ("main~1", &first),
        (&*second, &second),
        (&first[..9], &first),
    ];
    for (tree_ish, commit) in cases {
        assert_eq!(remote.resolve(tree_ish).await.unwrap().as_str(), commit, "{tree_ish}");
    }
}

#[tokio::test]
async fn other_references_are_fetched_by_name_once_per_run() {
    let lab = Lab::new();
    let host = lab.forge.serve(None);
    let first = lab.forge.commit("r", &[("a", "1")]);
    let second = lab.forge.commit("r", &[("a", "2")]);
    lab.forge.git("r", &["reset", "-q", "--hard", &first]);
    lab.forge.git("r", &["update-ref", "refs/pull/7/head", &second]);
    let run = || lab.context(lab.trusting(&host));
    let at = |context: &RepositoryContext| remote(host.url("r"), context);
    lab.forge.git("r", &["update-ref", "refs/build", &second]);
    let cases = [
        ("pull/7/head", &second),
        ("refs/pull/7/head", &second),
        ("refs/build", &second),
        ("heads/main", &first),
    ];
    for (tree_ish, commit) in cases {
        assert_eq!(at(&run()).resolve(tree_ish).await.unwrap().as_str(), commit, "{tree_ish}");
    }
    assert_eq!(at(&run()).resolve("pull/7/head~1").await.unwrap().as_str(), first);
    for tree_ish in ["pull/8/head", "refs/pull/8/head", "pull//head", "pull/x.lock", "pull/"] {
        let error = at(&run()).resolve(tree_ish).await.unwrap_err();
        assert!(
            matches!(failure(&error), GitFailure::UnknownTreeIsh { .. }),
            "{tree_ish}: {}",
            with_causes(&error)
        );
    }
    lab.forge.git("r", &["update-ref", "refs/pull/7/head", &first]);
    let offline = lab.offline();
    assert_eq!(at(&offline).resolve("pull/7/head").await.unwrap().as_str(), second);
    let error = at(&offline).resolve("pull/8/head").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::Offline { .. })), "{}", with_causes(&error));
    assert_eq!(at(&run()).resolve("pull/7/head").await.unwrap().as_str(), first);
}

#[tokio::test]
async fn a_hash_wins_over_a_tag_and_a_tag_over_a_branch() {
    let lab = Lab::new();
    let first = lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "both"]);
    let second = lab.forge.commit("r", &[("a", "2")]);
    lab.forge.git("r", &["branch", "both"]);
    lab.forge.git("r", &["tag", &second, &first]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    assert_eq!(remote.resolve("both").await.unwrap().as_str(), first);
    assert_eq!(remote.resolve(&second).await.unwrap().as_str(), second);
}

// Row: CAT-18
#[tokio::test]
async fn a_missing_name_is_reported_with_similar_names() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let error = remote.resolve("v1.0.1").await.unwrap_err();
    assert!(
        matches!(failure(&error), GitFailure::UnknownTreeIsh { suggestions, .. } if suggestions == &["v1.0.0"]),
        "{}",
        with_causes(&error)
    );
    let error = remote.resolve(&"1".repeat(40)).await.unwrap_err();
    assert!(matches!(failure(&error), GitFailure::UnknownTreeIsh { .. }), "{}", with_causes(&error));
    for tree_ish in ["", "-x", "a b", "main:a", "a..b", "main@{1}", "^main", "a\nb"] {
        let error = remote.resolve(tree_ish).await.unwrap_err();
        assert!(
            matches!(failure(&error), GitFailure::InvalidTreeIsh { .. }),
            "{tree_ish:?}: {}",
            with_causes(&error)
        );
    }
}

#[tokio::test]
async fn an_unreachable_commit_is_fetched_by_its_hash() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let lost = lab.forge.commit("r", &[("a", "lost")]);
    lab.forge.git("r", &["reset", "-q", "--hard", "HEAD~1"]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let commit = remote.resolve(&lost).await.unwrap();
    assert_eq!(remote.read(&commit, "a").await.unwrap(), "lost");
}

#[tokio::test]
async fn a_path_that_is_no_file_is_an_error_with_its_type() {
    let lab = Lab::new();
    let folder = lab.forge.repository("r");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    lab.forge.commit("module", &[("m.yaml", "m")]);
    lab.forge.commit("r", &[("deploy/components.yaml", "c"), ("big.bin", pointer)]);
    for (link, target) in
        [("in", "deploy/components.yaml"), ("out", "../../x"), ("gone", "nothing"), ("ring", "ring")]
    {
        std::os::unix::fs::symlink(target, folder.join(link)).unwrap();
    }
    let module = lab.forge.repository("module");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.to_str().unwrap(), "sub"];
    lab.forge.git("r", &add);
    lab.forge.commit("r", &[]);
    let context = lab.run();
    let remote = remote(folder, &context);
    let commit = remote.resolve("main").await.unwrap();
    assert_eq!(remote.read(&commit, "deploy/components.yaml").await.unwrap(), "c");
    assert_eq!(remote.read(&commit, "in").await.unwrap(), "c");
    assert_eq!(remote.files(&commit, "deploy").await.unwrap(), ["components.yaml"]);
    let mut kinds = String::new();
    for path in ["deploy", "big.bin", "gone", "ring", "sub/m.yaml"] {
        let error = remote.read(&commit, path).await.unwrap_err();
        let GitFailure::NotAFile { what, .. } = failure(&error) else { panic!("{path}: {error:?}") };
        kinds.extend([path, " is ", what, "\n"]);
    }
    assert_data_eq!(
        kinds,
        str![[r#"
deploy is a folder
big.bin is a Git LFS pointer, whose content is not in the repository
gone is a broken link
ring is a link that points to itself
sub/m.yaml is in a submodule, which is a separate repository

"#]]
    );
    let error = remote.read(&commit, "out").await.unwrap_err();
    assert!(
        matches!(failure(&error), GitFailure::LinkEscapes { target, .. } if target == "../../x"),
        "{}",
        with_causes(&error)
    );
    let error = remote.read(&commit, "deploy/component.yaml").await.unwrap_err();
    let GitFailure::UnknownPath { suggestions, .. } = failure(&error) else {
        panic!("{}", with_causes(&error))
    };
    assert_eq!(suggestions, &["deploy/components.yaml"]);
    assert!(matches!(
        remote.read(&commit, "../a").await,
        Err(Error::Transport(transport::Error::UnsafeName { .. }))
    ));
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("large", &"x".repeat(10_000)), ("fits", &"x".repeat(5_000))]);
    let context = lab.context(Settings { max_file_bytes: 5_000, ..lab.settings() });
    let remote = remote(lab.forge.repository("r"), &context);
    let commit = remote.resolve("main").await.unwrap();
    assert_eq!(remote.read(&commit, "fits").await.unwrap().len(), 5_000);
    let error = remote.read(&commit, "large").await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(transport::Error::TooLarge { limit_bytes: 5_000, .. })),
        "{}",
        with_causes(&error)
    );
}

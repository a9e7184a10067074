use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::Arc,
};

use transport::Refresh;

use super::*;

/// The variable that tells a child process of these tests which repository to read.
const CHILD_URL: &str = "CHILD_URL";

// Row: CAT-21
// Row: CAT-22
#[tokio::test]
async fn one_remote_has_one_bare_clone_regardless_of_spelling() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let host = lab.forge.serve(None);
    let context = lab.context(lab.trusting(&host));
    let below = lab.kept.path().join("dependencies/.repos");
    let read = async |name: &str| {
        let url = RemoteUrl::parse(&host.url(name)).unwrap();
        let remote = GitRemote::new(url, AddressOrigin::User, CloneStore::Folder(&below), &context).unwrap();
        let commit = remote.resolve("v1.0.0").await?;
        remote.read(&commit, "a").await
    };
    let answers = tokio::join!(read("r"), read("r/"), read("/r"), read("r"));
    assert!(answers.0.is_ok() && answers.1.is_ok() && answers.2.is_ok() && answers.3.is_ok(), "{answers:?}");
    assert_eq!(host.fetches(), 1);
    let clone = below.join(format!("{}/r.git", host.authority().replace(':', "+")));
    let config = std::fs::read_to_string(clone.join("config")).unwrap();
    assert!(config.contains("bare = true"), "{config}");
}

// Row: D-206
#[tokio::test]
async fn immutable_cached_names_need_no_connection() {
    let lab = Lab::new();
    let commit = lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let host = lab.forge.serve(None);
    let request_count = async |context: &RepositoryContext, tree_ish: &str| {
        let remote = remote(host.url("r"), context);
        let before = host.fetches();
        remote.resolve(tree_ish).await.unwrap();
        host.fetches() - before
    };
    let run = || lab.context(lab.trusting(&host));
    assert_eq!(request_count(&run(), "v1.0.0").await, 1, "the clone");
    for tree_ish in ["v1.0.0", &commit, &commit[..8]] {
        assert_eq!(request_count(&run(), tree_ish).await, 0, "{tree_ish}");
    }
    let context = run();
    assert_eq!(request_count(&context, "main").await, 1, "a branch may have moved");
    assert_eq!(request_count(&context, "main~0").await, 0, "but once is enough");
    let fresh = lab.context(Settings { refresh: Refresh::Everything, ..lab.trusting(&host) });
    assert_eq!(request_count(&fresh, "v1.0.0").await, 1);
}

// Row: D-206
#[tokio::test]
async fn a_moved_branch_is_followed_and_a_moved_tag_is_reported() {
    let lab = Lab::new();
    let first = lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let folder = lab.forge.repository("r");
    assert_eq!(remote(&folder, &lab.run()).resolve("main").await.unwrap().as_str(), first);
    lab.forge.git("r", &["commit", "-q", "--amend", "--allow-empty", "-m", "rewritten"]);
    let second = lab.forge.git("r", &["rev-parse", "HEAD"]);
    lab.forge.git("r", &["tag", "--force", "v1.0.0"]);
    let context = lab.run();
    let remote = remote(&folder, &context);
    assert_eq!(remote.resolve("v1.0.0").await.unwrap().as_str(), first, "a known tag is not asked for");
    assert_eq!(remote.resolve("main").await.unwrap().as_str(), second);
    let moved = Event::TagMoved {
        remote: folder.to_str().unwrap().to_owned(),
        tag: "v1.0.0".to_owned(),
        from: first,
        to: second.clone(),
    };
    assert!(lab.log.events().contains(&moved), "{:?}", lab.log.events());
    assert_eq!(super::remote(&folder, &lab.run()).resolve("v1.0.0").await.unwrap().as_str(), second);
}

#[tokio::test]
async fn a_branch_that_became_a_prefix_of_branches_is_followed() {
    let lab = Lab::new();
    let commit = lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["branch", "next"]);
    let folder = lab.forge.repository("r");
    remote(&folder, &lab.run()).resolve("next").await.unwrap();
    lab.forge.git("r", &["branch", "-D", "next"]);
    lab.forge.git("r", &["branch", "next/one"]);
    let context = lab.run();
    let remote = remote(&folder, &context);
    assert_eq!(remote.resolve("next/one").await.unwrap().as_str(), commit);
    assert!(remote.resolve("next").await.is_err());
}

#[tokio::test]
async fn offline_the_clone_is_used_and_missing_names_are_reported() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    let host = lab.forge.serve(None);
    let error = remote(host.url("r"), &lab.offline()).resolve("main").await.unwrap_err();
    assert!(
        matches!(&error, Error::Transport(transport::Error::Offline { wanted }) if *wanted == host.url("r")),
        "{}",
        with_causes(&error)
    );
    remote(host.url("r"), &lab.context(lab.trusting(&host))).resolve("main").await.unwrap();
    let request_count = host.requests().len();
    let context = lab.offline();
    let remote = remote(host.url("r"), &context);
    remote.resolve("main").await.unwrap();
    assert!(lab.log.events().iter().any(|event| matches!(event, Event::UsingCachedOffline { .. })));
    let error = remote.resolve("v2.0.0").await.unwrap_err();
    assert!(
        matches!(failure(&error), GitFailure::UnknownTreeIsh { tree_ish, .. } if tree_ish == "v2.0.0"),
        "{}",
        with_causes(&error)
    );
    assert_eq!(host.requests().len(), request_count);
}

#[tokio::test]
async fn an_incomplete_clone_is_not_used() {
    let lab = Lab::new();
    let commit = lab.forge.commit("r", &[("a", "1")]);
    let context = lab.run();
    let remote = remote(lab.forge.repository("r"), &context);
    let debris = remote.clone_folder().with_file_name(".new-r.git").join(".git/objects");
    std::fs::create_dir_all(&debris).unwrap();
    std::fs::write(debris.join("half"), "a pack").unwrap();
    assert_eq!(remote.resolve("main").await.unwrap().as_str(), commit);
    assert!(!debris.exists());
}

/// A child process prints this for each lost connection.
const RETRYING: &str = "the child tries again";

/// The code of the child processes. In the parent process this test does nothing.
#[tokio::test]
async fn a_child_process_reads_as_instructed() {
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child")]
    let (url, folder) = (std::env::var(CHILD_URL), std::env::var_os("CHILD_FOLDER"));
    let (Ok(url), Some(folder)) = (url, folder) else { return };
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child")]
    let variables = std::env::vars_os().collect();
    let settings = Settings {
        store: Some(StoreSettings { folder: folder.into(), max_bytes: u64::MAX }),
        events: Some(Arc::new(|event: &Event| {
            if matches!(event, Event::Retrying { .. }) {
                // Unlike the output of macros, this is not captured by the test runner.
                writeln!(std::io::stderr(), "{RETRYING}").unwrap();
            }
        })),
        #[expect(clippy::disallowed_methods, reason = "how the parent tells its child")]
        ca_bundles: std::env::var_os("CHILD_CA").map(|path| bundle(Path::new(&path))).into_iter().collect(),
        ..Settings::default()
    };
    let context = with_git(settings, GitSettings { variables, ..GitSettings::default() });
    let remote = remote(url, &context);
    let commit = remote.resolve("v1.0.0").await.unwrap();
    assert_eq!(remote.read(&commit, "a").await.unwrap(), "1");
}

fn child(lab: &Lab, url: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "git::tests::clone::a_child_process_reads_as_instructed"]);
    command.env_clear().envs(lab.forge.variables()).env(CHILD_URL, url);
    command.env("CHILD_FOLDER", lab.kept.path().join("cache")).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

// Row: CAT-21
#[test]
fn eight_processes_at_once_clone_once() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let host = lab.forge.serve(None);
    let start = |_| child(&lab, &host.url("r")).env("CHILD_CA", host.ca_file()).spawn().unwrap();
    let children: Vec<_> = (0..8).map(start).collect();
    let mut retries = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{reported}");
        retries += reported.matches(RETRYING).count();
    }
    assert_eq!(host.fetches() - retries, 1, "a busy machine may lose a connection");
}

#[cfg(unix)]
#[test]
fn a_process_killed_while_cloning_leaves_no_clone_or_lock() {
    let lab = Lab::new();
    lab.forge.commit("r", &[("a", "1")]);
    lab.forge.git("r", &["tag", "v1.0.0"]);
    let (folder, started) = (lab.forge.repository("r"), lab.kept.path().join("started"));
    // A fake ssh that writes its process id and then never answers.
    let silent = format!("sh -c 'echo $$ >{}; exec sleep 1000' --", started.display());
    let url = format!("ssh://git@forge.lab{}", folder.display());
    let mut first = child(&lab, &url).env("GIT_SSH_COMMAND", silent).spawn().unwrap();
    let ssh = loop {
        assert!(first.try_wait().unwrap().is_none(), "it waits for ssh");
        match std::fs::read_to_string(&started) {
            Ok(id) if id.ends_with('\n') => break id,
            _ => std::thread::yield_now(),
        }
    };
    first.kill().unwrap();
    first.wait().unwrap();
    Command::new("kill").arg(ssh.trim()).status().unwrap();
    let clone = lab.clones().join(RemoteUrl::parse(&url).unwrap().key());
    assert!(!clone.exists());
    let second = child(&lab, &url).env("GIT_SSH_COMMAND", access::SSH).output().unwrap();
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(clone.join("HEAD").exists());
}

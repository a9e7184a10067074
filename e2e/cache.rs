//! The cache between runs: the binary uses a fake internet, then runs without a connection.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::{Duration, SystemTime},
};

use support::{
    binary::TestEnvironment,
    host::{FakeHost, GitHubRelease, Reply},
};

use crate::{COMPONENTS, METADATA, REPOSITORY, hosts::connected, world};

const GENERATE: [&str; 4] = ["generate", "provider", "-i", "aws:v2.1.0"];

fn publish(host: &FakeHost) {
    let release = GitHubRelease::new(REPOSITORY, "v2.1.0").file("metadata.yaml", METADATA);
    release.file("infrastructure-components.yaml", COMPONENTS).publish(host);
}

fn download(file: &str) -> String {
    format!("github.com/{REPOSITORY}/releases/download/v2.1.0/{file}")
}

fn cache(world: &TestEnvironment) -> PathBuf {
    world.home().join(".cache/capstan")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

// Row: PRV-04
// Row: PRV-06
// Row: PRV-85, D-190
#[test]
fn a_second_run_sends_no_requests() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    let first = world.run(GENERATE);
    assert_eq!(first.status, 0, "{first}");
    let before = host.connections();
    assert_eq!(world.run(GENERATE), first);
    assert_eq!(world.run(GENERATE.into_iter().chain(["--offline"])), first);
    assert_eq!(host.connections(), before);
    let refreshed = world.run(GENERATE.into_iter().chain(["--refresh"]));
    assert_eq!((refreshed, host.connections() > before), (first, true));
}

// Row: D-192
#[test]
fn offline_opens_no_connection_and_reports_missing_files() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    let flag = world.run(GENERATE.into_iter().chain(["--offline"]));
    assert_eq!((flag.status, flag.stdout.as_str()), (1, ""), "{flag}");
    for part in [&*download("metadata.yaml"), "in offline mode", "--offline", "local repository"] {
        assert!(flag.stderr.contains(part), "{part}: {flag}");
    }
    let world = world.env("CAPSTAN_OFFLINE", "1");
    assert_eq!(world.run(GENERATE), flag);
    let config = world.run(["config", "repositories", "--config", "https://nowhere.invalid/clusterctl.yaml"]);
    assert!(
        config.stderr.contains("cannot fetch `https://nowhere.invalid/clusterctl.yaml` in offline mode"),
        "{config}"
    );
    assert_eq!(host.connections(), 0);
    assert!(!cache(&world).exists());
    let both = world.run(["version", "--offline", "--refresh"]);
    assert!(both.status == 1 && both.stderr.contains("--refresh"), "{both}");
}

// Row: D-190
#[test]
fn eight_concurrent_first_runs_fetch_each_file_once() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    let start = |_| world.command(GENERATE).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runs: Vec<Child> = (0..8).map(start).collect();
    let outputs: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
    assert!(outputs.iter().all(|output| output.status.success() && output.stdout == outputs[0].stdout));
    let addresses = host.addresses();
    for file in ["metadata.yaml", "infrastructure-components.yaml"] {
        let times = addresses.iter().filter(|address| **address == download(file)).count();
        assert_eq!(times, 1, "{addresses:?}");
    }
}

#[test]
fn a_run_killed_while_writing_leaves_only_a_temporary_file() {
    let host = FakeHost::internet();
    publish(&host);
    let whole = Reply::file(COMPONENTS);
    host.on(download("infrastructure-components.yaml"), whole.clone().stall_after(20));
    let world = connected(&host);
    let mut run = world.command(GENERATE).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let blobs = cache(&world).join("blobs/sha256");
    let unended = loop {
        let path = names(&blobs).iter().find(|name| name.starts_with(".new-")).map(|name| blobs.join(name));
        let is_begun = |path: &PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.len() == 20);
        match path.filter(is_begun) {
            Some(path) => break path,
            None => thread::yield_now(),
        }
        assert!(run.try_wait().unwrap().is_none(), "it ended before the answer did");
    };
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(names(&blobs).len(), 2, "the metadata and what was not ended");

    host.on(download("infrastructure-components.yaml"), whole);
    assert_eq!(world.run(GENERATE).status, 0);
    assert_eq!(world.run(["cache", "verify"]).status, 0);
    world.run(["cache", "prune"]);
    assert!(unended.exists(), "it may be that of a run that goes on");
    let yesterday = SystemTime::now() - Duration::from_hours(25);
    fs::File::options().append(true).open(&unended).unwrap().set_modified(yesterday).unwrap();
    world.run(["cache", "prune"]);
    assert!(!unended.exists());
    assert_eq!(world.run(GENERATE.into_iter().chain(["--offline"])).status, 0);
}

#[cfg(unix)]
#[test]
fn a_full_cache_disk_is_reported_once_and_not_fatal() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    let plain = world.run(GENERATE);
    fs::remove_dir_all(cache(&world)).unwrap();
    // Files cannot grow. Without the signal, a write fails as on a full disk.
    let mut full = std::process::Command::new("/bin/sh");
    let command = world.command(GENERATE);
    full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]).arg(command.get_program());
    full.args(command.get_args()).current_dir(world.current_dir()).env_clear();
    full.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = full.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plain.stdout);
    assert_eq!(stderr.matches("warning: cannot use the cache: ").count(), 1, "{stderr}");
    assert!(names(&cache(&world).join("blobs/sha256")).is_empty());
}

// Row: D-190
#[test]
fn the_cache_can_be_disabled_or_moved() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    world.configure("cache: {folder: off}\n");
    let before = world.files();
    assert_eq!(world.run(GENERATE).status, 0);
    assert_eq!(world.files(), before);
    assert_eq!(world.run(["cache", "info"]).status, 1);
    world.configure("cache: {folder: kept, maxSize: 10}\n");
    assert_eq!(world.run(GENERATE).status, 0);
    assert!(world.read("kept/capstan-cache").starts_with('1'));
    assert!(
        names(&world.current_dir().join("kept/blobs/sha256")).is_empty(),
        "nothing is as small as 10 bytes"
    );
}

// Row: D-190
#[test]
fn cached_files_are_listed_verified_and_removed() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    assert_eq!(
        world.run(["cache", "info"]).stdout,
        "Folder:  [HOME]/.cache/capstan\nSize:    0 B of 1.00 GiB\nFiles:   0\n"
    );
    world.run(GENERATE);
    let info = world.run(["cache", "info"]);
    let size = METADATA.len() + COMPONENTS.len();
    assert_eq!(
        info.stdout,
        format!(
            "Folder:  [HOME]/.cache/capstan
Size:    {size} B of 1.00 GiB
Files:   2

HOST         FILES     SIZE
github.com   2         {size} B
"
        )
    );
    let json: serde_json::Value =
        serde_json::from_str(&world.run(["cache", "info", "-o", "json"]).stdout).unwrap();
    assert_eq!((&json["files"], &json["hosts"][0]["host"]), (&2.into(), &"github.com".into()));

    let blobs = cache(&world).join("blobs/sha256");
    fs::write(blobs.join(&names(&blobs)[0]), "other").unwrap();
    let verify = world.run(["cache", "verify", "-o", "json"]);
    assert_eq!(verify.status, 1, "{verify}");
    assert!(verify.stderr.contains("warning: removed https://github.com/"), "{verify}");
    let json: serde_json::Value = serde_json::from_str(&verify.stdout).unwrap();
    assert_eq!((&json["files"], json["removed"].as_array().map(Vec::len)), (&1.into(), Some(1)), "{json}");
    let verify = world.run(["cache", "verify"]);
    assert_eq!((verify.status, verify.stdout.as_str()), (0, ""));

    let prune = world.run(["cache", "prune", "--older-than", "1h", "-o", "json"]);
    assert!(prune.stderr.contains(": freed 0 B; "), "{prune}");
    let json: serde_json::Value = serde_json::from_str(&prune.stdout).unwrap();
    assert_eq!((&json["freedBytes"], &json["maxBytes"]), (&0.into(), &(1 << 30).into()), "{json}");
    let prune = world.run(["cache", "prune", "--all"]);
    assert!(prune.stderr.contains("0 B of at most 1.00 GiB"), "{prune}");
    assert!(names(&blobs).is_empty());
}

#[test]
fn two_concurrent_prune_runs_both_succeed() {
    let world = world();
    let folder = cache(&world);
    fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
    fs::write(folder.join("capstan-cache"), "1\n").unwrap();
    for number in 0..200 {
        fs::write(folder.join(format!("blobs/sha256/{number:064x}")), "content").unwrap();
    }
    let prune = || world.command(["cache", "prune", "--all"]).stderr(Stdio::piped()).spawn().unwrap();
    for output in [prune(), prune()].map(|run| run.wait_with_output().unwrap()) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(names(&folder.join("blobs/sha256")).is_empty());
}

#[test]
fn a_cache_of_a_newer_version_is_not_changed() {
    let host = FakeHost::internet();
    publish(&host);
    let world = connected(&host);
    world.write(cache(&world).join("capstan-cache"), "2\n");
    let run = world.run(GENERATE);
    assert_eq!(run.status, 0, "{run}");
    assert!(run.stderr.contains("its layout `2`") && run.stderr.contains("CAPSTAN_CACHE_DIR"), "{run}");
    assert_eq!(names(&cache(&world)), ["capstan-cache"]);
    let info = world.run(["cache", "info"]);
    assert!(info.status == 1 && info.stderr.contains("hint: set another folder"), "{info}");
}

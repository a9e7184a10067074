use std::{fs, path::Path};

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, GitHubRelease, Reply, github_releases_page};
use tempfile::TempDir;
use transport::{Event, NetworkAccess, Refresh, Settings, StoreSettings};

use crate::{
    Error, Repository, RepositoryContext, fetch_template, latest_version, open,
    testing::{EventLog, github_token, settings, text, with_go_proxy, without_go_proxy},
};

const URL: &str = "https://github.com/o/r/releases/latest/c.yaml";
const RELEASES: &str = "api.github.com/repos/o/r/releases?per_page=100";

/// A fake internet and a folder that outlives the contexts. Each context stands for one run.
struct Lab {
    host: FakeHost,
    folder: TempDir,
}

impl Lab {
    fn new() -> Self {
        Self { host: FakeHost::internet(), folder: TempDir::new().unwrap() }
    }

    fn settings(&self) -> Settings {
        let folder = self.folder.path().join("cache");
        Settings {
            store: Some(StoreSettings { folder, max_bytes: StoreSettings::DEFAULT_MAX_BYTES }),
            ..settings(&self.host)
        }
    }

    fn run(&self) -> RepositoryContext {
        without_go_proxy(self.settings())
    }

    fn offline(&self) -> RepositoryContext {
        without_go_proxy(Settings { network: NetworkAccess::Forbidden, ..self.settings() })
    }

    fn log(mut settings: Settings) -> (RepositoryContext, EventLog) {
        let log = EventLog::default();
        log.listen(&mut settings);
        (without_go_proxy(settings), log)
    }

    fn blobs(&self) -> Vec<std::path::PathBuf> {
        files_below(&self.folder.path().join("cache/blobs"))
    }
}

fn repository(context: &RepositoryContext) -> Box<dyn Repository> {
    open(URL, "infrastructure-aws", None, context).unwrap()
}

async fn read(context: &RepositoryContext, file: &str) -> Result<String, Error> {
    repository(context).read("v1.0.0", file).await.map(|file| text(&file).to_owned())
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    files
}

// Row: PRV-04
#[tokio::test]
async fn a_file_of_a_pinned_version_is_fetched_by_the_first_run_only() {
    let lab = Lab::new();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "x").publish(&lab.host);
    let gitlab = "gitlab.com/api/v4/projects/1/packages/generic/p/v1.0.0/c.yaml";
    lab.host.on(gitlab, Reply::file("y"));
    let gitlab = format!("https://{gitlab}");
    for run in 0..2 {
        let context = lab.run();
        assert_eq!(read(&context, "c.yaml").await.unwrap(), "x");
        let package = open(&gitlab, "infrastructure-aws", None, &context).unwrap();
        assert_eq!(text(&package.read("v1.0.0", "c.yaml").await.unwrap()), "y");
        assert_eq!(context.used_network(), run == 0, "a kept file needs no client");
    }
    assert_eq!(lab.host.received().len(), 3, "{:?}", lab.host.addresses());
}

#[tokio::test]
async fn a_refresh_revalidates_a_pinned_file() {
    let lab = Lab::new();
    let reply = |body: &str, etag: &str| Reply::file(body).header("etag", etag);
    let address = "github.com/o/r/releases/download/v1.0.0/c.yaml";
    let replies = [reply("old", "\"1\""), Reply::status(304), reply("new", "\"2\"")];
    lab.host.on_sequence(address, replies);
    let refresh = || without_go_proxy(Settings { refresh: Refresh::Everything, ..lab.settings() });
    for expected in ["old", "old", "new"] {
        assert_eq!(read(&refresh(), "c.yaml").await.unwrap(), expected);
    }
    assert_eq!(read(&lab.run(), "c.yaml").await.unwrap(), "new");
    let sent: Vec<_> =
        lab.host.received().iter().map(|r| r.header("if-none-match").map(str::to_owned)).collect();
    assert_eq!(sent, [None, Some("\"1\"".to_owned()), Some("\"1\"".to_owned())]);
}

// Row: PRV-05, D-191
#[tokio::test]
async fn lists_are_revalidated_and_unchanged_pages_read_from_disk() {
    let lab = Lab::new();
    let second = "https://api.github.com/repositories/1/releases?per_page=100&page=2";
    let first = github_releases_page("o/r", &["v1.1.0"], Some(second)).header("etag", "\"1\"");
    let last = github_releases_page("o/r", &["v1.0.0"], None)
        .header("last-modified", "Mon, 02 Nov 2026 08:00:00 GMT");
    lab.host.on_sequence(RELEASES, [first, Reply::status(304)]);
    lab.host.on_sequence(&second["https://".len()..], [last, Reply::status(304)]);
    for _ in 0..2 {
        let versions = repository(&lab.run()).versions().await.unwrap();
        assert_eq!(versions.iter().map(api::Version::as_str).collect::<Vec<_>>(), ["v1.0.0", "v1.1.0"]);
    }
    let received = lab.host.received();
    let sent = [received[2].header("if-none-match"), received[3].header("if-modified-since")];
    assert_eq!(sent, [Some("\"1\""), Some("Mon, 02 Nov 2026 08:00:00 GMT")]);
}

#[tokio::test]
async fn a_cached_private_file_needs_no_token() {
    let lab = Lab::new();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "private").private().publish(&lab.host);
    let with_token = without_go_proxy(Settings { github_token: github_token(), ..lab.settings() });
    assert_eq!(read(&with_token, "c.yaml").await.unwrap(), "private");
    let before = lab.host.connections();
    assert_eq!(read(&lab.offline(), "c.yaml").await.unwrap(), "private");
    assert_eq!(lab.host.connections(), before);
}

#[tokio::test]
async fn the_cache_contains_no_secrets() {
    let lab = Lab::new();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "private").private().publish(&lab.host);
    lab.host.on("files.example.org/t.yaml?key=s3cret", Reply::text("signed"));
    lab.host.on("files.example.org/u.yaml", Reply::text("with a password"));
    let context = without_go_proxy(Settings { github_token: github_token(), ..lab.settings() });
    read(&context, "c.yaml").await.unwrap();
    for url in ["https://files.example.org/t.yaml?key=s3cret", "https://me:s3cret@files.example.org/u.yaml"] {
        fetch_template(&context, url).await.unwrap();
    }
    let files = files_below(lab.folder.path());
    assert!(files.len() > 4, "{files:?}");
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("ghp_") && !text.contains("s3cret") && !text.contains("signed"), "{text}");
    }
}

#[tokio::test]
async fn offline_no_connection_is_made_and_missing_files_are_reported() {
    let lab = Lab::new();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "x").publish(&lab.host);
    let context = lab.offline();
    let error = read(&context, "c.yaml").await.unwrap_err();
    let address = "https://github.com/o/r/releases/download/v1.0.0/c.yaml";
    assert!(
        matches!(&error, Error::Transport(transport::Error::Offline { wanted }) if wanted == address),
        "{error}"
    );
    // The name is never resolved; it would be an unknown host.
    let error = fetch_template(&context, "https://nowhere.invalid/t.yaml").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::Offline { .. })), "{error}");
    assert!(crate::fetch_url(&context, "https://nowhere.invalid/clusterctl.yaml").await.is_err());
    assert!(repository(&context).versions().await.is_err());
    assert_eq!((lab.host.connections(), context.used_network()), (0, false));
    assert!(!lab.folder.path().join("cache").exists(), "looking makes no folder");
}

// Row: D-192
#[tokio::test]
async fn offline_the_newest_release_is_the_newest_cached_one() {
    let lab = Lab::new();
    let goproxy = "https://proxy.golang.org";
    let list = "proxy.golang.org/github.com/o/r/@v/list";
    lab.host.on(list, Reply::text("v1.0.0\nv1.1.0\n"));
    // The tag v1.1.0 has no release.
    GitHubRelease::new("o/r", "v1.0.0").file("metadata.yaml", "series").publish(&lab.host);
    let online = with_go_proxy(lab.settings(), goproxy);
    let found = latest_version(&*repository(&online), "v1beta2", &|_| None).await.unwrap();
    let before = lab.host.connections();
    let (mut settings, log) =
        (Settings { network: NetworkAccess::Forbidden, ..lab.settings() }, EventLog::default());
    log.listen(&mut settings);
    let offline = with_go_proxy(settings, goproxy);
    assert_eq!(latest_version(&*repository(&offline), "v1beta2", &|_| None).await.unwrap(), found);
    assert_eq!(lab.host.connections(), before);
    let reported =
        |event: &Event| matches!(event, Event::UsingCachedOffline { url, .. } if url.ends_with(list));
    assert_eq!(log.events().iter().filter(|event| reported(event)).count(), 1, "{:?}", log.events());
}

#[tokio::test]
async fn a_damaged_copy_is_fetched_again_or_reported_offline() {
    let lab = Lab::new();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "whole").publish(&lab.host);
    read(&lab.run(), "c.yaml").await.unwrap();
    let flip = || {
        let path = lab.blobs().pop().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[0] ^= 1;
        fs::write(&path, bytes).unwrap();
    };
    flip();
    let (context, log) = Lab::log(lab.settings());
    assert_eq!(read(&context, "c.yaml").await.unwrap(), "whole");
    assert!(log.events().iter().any(|event| matches!(event, Event::CacheDamaged { .. })));
    assert_eq!(read(&lab.offline(), "c.yaml").await.unwrap(), "whole");
    flip();
    let error = read(&lab.offline(), "c.yaml").await.unwrap_err();
    assert!(matches!(error, Error::Transport(transport::Error::DamagedOffline { .. })), "{error}");
}

#[tokio::test]
async fn an_unusable_cache_is_reported_once_and_not_changed() {
    let cases = [("cache/capstan-cache", "2\n"), ("cache/notes.txt", "mine"), ("cache", "mine")];
    let mut reasons = String::new();
    for (file, content) in cases {
        let lab = Lab::new();
        let file = lab.folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        let before = files_below(lab.folder.path());
        GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "x").file("d.yaml", "y").publish(&lab.host);
        let (context, log) = Lab::log(lab.settings());
        assert_eq!(read(&context, "c.yaml").await.unwrap(), "x");
        assert_eq!(read(&context, "d.yaml").await.unwrap(), "y");
        let events = log.events();
        let reported: Vec<_> =
            events.iter().filter(|event| matches!(event, Event::StoreUnusable { .. })).collect();
        let [Event::StoreUnusable { reason }] = reported[..] else { panic!("{reported:?}") };
        reasons.extend([
            &*reason.replace(&*lab.folder.path().to_string_lossy(), "[FOLDER]"),
            "
",
        ]);
        assert_eq!(files_below(lab.folder.path()), before);
    }
    assert_data_eq!(
        reasons,
        str![[r#"
cannot use the cache `[FOLDER]/cache`: this version does not support its layout `2`
cannot use `[FOLDER]/cache` as the cache: it is not empty, and capstan did not create it
cannot use `[FOLDER]/cache/capstan-cache` in the cache: Not a directory (os error 20)

"#]]
    );
}

#[tokio::test]
async fn a_miss_is_not_cached() {
    let lab = Lab::new();
    assert!(read(&lab.run(), "c.yaml").await.unwrap_err().is_not_found());
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "x").publish(&lab.host);
    assert_eq!(read(&lab.run(), "c.yaml").await.unwrap(), "x");
}

#[tokio::test]
async fn eight_runs_at_once_fetch_a_file_and_a_list_once() {
    let lab = Lab::new();
    lab.host.on("github.com/o/r/releases/download/v1.0.0/c.yaml", Reply::file("x"));
    lab.host.on(RELEASES, github_releases_page("o/r", &["v1.0.0"], None));
    let runs: Vec<RepositoryContext> = (0..8).map(|_| lab.run()).collect();
    let files = futures::future::join_all(runs.iter().map(|run| read(run, "c.yaml"))).await;
    assert!(files.into_iter().all(|file| file.unwrap() == "x"));
    let lists = runs.iter().map(|run| async move { repository(run).versions().await.unwrap().len() });
    assert_eq!(futures::future::join_all(lists).await, [1; 8]);
    assert_eq!(lab.host.received().len(), 2, "{:?}", lab.host.addresses());
}

#[tokio::test]
async fn a_truncated_response_is_restarted_on_disk_too() {
    let lab = Lab::new();
    let address = "github.com/o/r/releases/download/v1.0.0/c.yaml";
    lab.host.on_sequence(address, [Reply::file("whole file").cut_after(5), Reply::file("whole file")]);
    assert_eq!(read(&lab.run(), "c.yaml").await.unwrap(), "whole file");
    assert_eq!(read(&lab.offline(), "c.yaml").await.unwrap(), "whole file");
}

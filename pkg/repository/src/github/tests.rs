use api::VersionOrLatest;
use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, GitHubRelease, Reply, github_releases_page};
use transport::{Credential, Event, RequestFailure, Secret, Settings};

use crate::{
    Error, Repository, RepositoryContext, open,
    testing::{EventLog, context, github_token, settings, text, with_go_proxy, without_go_proxy},
};

const URL: &str = "https://github.com/o/r/releases/latest/c.yaml";
const RELEASES: &str = "api.github.com/repos/o/r/releases?per_page=100";

fn repository(context: &RepositoryContext) -> Box<dyn Repository> {
    open(URL, "infrastructure-aws", None, context).unwrap()
}

fn with_token(host: &FakeHost) -> RepositoryContext {
    RepositoryContext::new(Settings { github_token: github_token(), ..settings(host) })
}

fn goproxy(host: &FakeHost, goproxy: &str) -> RepositoryContext {
    with_go_proxy(settings(host), goproxy)
}

async fn versions(context: &RepositoryContext) -> Result<Vec<String>, Error> {
    let versions = repository(context).versions().await?;
    Ok(versions.iter().map(|version| version.as_str().to_owned()).collect())
}

// Row: PRV-04
// Row: PRV-06, D-10
#[tokio::test]
async fn a_pinned_release_is_read_without_api_and_without_token() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.2.3").file("metadata.yaml", "series").publish(&host);
    let context = with_token(&host);
    let repository = repository(&context);
    assert!(!context.used_network(), "opening costs nothing");
    let file = repository.read("v1.2.3", "metadata.yaml").await.unwrap();
    assert_eq!(text(&file), "series");
    let address = "https://github.com/o/r/releases/download/v1.2.3/metadata.yaml";
    assert_eq!(file.source.to_string(), address);
    let received = host.received();
    assert_eq!(received.len(), 2, "the download and its redirect: {received:?}");
    assert!(received.iter().all(|request| request.header("authorization").is_none() && request.tls));
}

// Row: PRV-06
#[tokio::test]
async fn a_missing_file_is_reported_with_its_release() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.2.3").file("c.yaml", "x").publish(&host);
    let error = repository(&context(&host)).read("v1.2.3", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(&error, Error::UnknownFile { file, version, place, .. }
            if file == "metadata.yaml" && version == "v1.2.3" && place == "https://github.com/o/r/releases"),
        "{error:?}"
    );
    assert_eq!(host.received().len(), 1, "a 404 is final");

    let error = repository(&with_token(&host)).read("v1.2.3", "metadata.yaml").await.unwrap_err();
    assert!(matches!(&error, Error::UnknownFile { available, .. } if available == &["c.yaml"]), "{error}");
    let error = repository(&with_token(&host)).read("v9.0.0", "metadata.yaml").await.unwrap_err();
    assert!(
        matches!(&error, Error::UnknownRelease { version, place, .. }
            if version == "v9.0.0" && place == "https://github.com/o/r/releases"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_version_with_path_segments_is_refused_before_any_request() {
    let host = FakeHost::internet();
    for version in ["../../user", "v1/../x", ""] {
        let error = repository(&with_token(&host)).files(version).await.unwrap_err();
        assert!(matches!(error, Error::Transport(transport::Error::UnsafeName { .. })), "{version}: {error}");
    }
    assert!(host.received().is_empty());
}

#[tokio::test]
async fn a_private_release_is_read_via_the_api_with_the_token() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.2.3").file("c.yaml", "private").private().publish(&host);
    let file = repository(&with_token(&host)).read("v1.2.3", "c.yaml").await.unwrap();
    assert_eq!(text(&file), "private");
    for request in host.received() {
        let expected = (request.host == "api.github.com").then_some("Bearer ghp_for_github_only");
        assert_eq!(request.header("authorization"), expected, "{request:?}");
    }
    let accepts: Vec<_> =
        host.received().iter().filter_map(|r| r.header("accept").map(str::to_owned)).collect();
    assert!(accepts.contains(&"application/octet-stream".to_owned()), "{accepts:?}");
}

// Row: D-31
#[tokio::test]
async fn concurrent_readers_fetch_a_file_once_and_cache_a_miss() {
    let host = FakeHost::internet();
    host.on("github.com/o/r/releases/download/v1.0.0/c.yaml", Reply::file("x"));
    let context = context(&host);
    let (one, two) = (repository(&context), repository(&context));
    let (first, second) = tokio::join!(one.read("v1.0.0", "c.yaml"), two.read("v1.0.0", "c.yaml"));
    assert_eq!(first.unwrap(), second.unwrap());
    assert!(one.read("v1.0.0", "none.yaml").await.unwrap_err().is_not_found());
    assert!(two.read("v1.0.0", "none.yaml").await.unwrap_err().is_not_found());
    assert_eq!(host.received().len(), 2);
}

// Row: PRV-04, D-15
#[tokio::test]
async fn versions_come_from_the_go_proxy_for_all_major_versions() {
    let host = FakeHost::internet();
    let list = "proxy.golang.org/github.com/o/r";
    host.on(format!("{list}/@v/list"), Reply::text("v1.0.0\nv0.9.0\nv1.1.0-rc.0\njunk\n\nv1.2\n"));
    host.on(format!("{list}/v3/@v/list"), Reply::text("v3.0.0\n"));
    let context = context(&host);
    let found = versions(&context).await.unwrap();
    assert_eq!(found, ["v0.9.0", "v1.0.0", "v1.1.0-rc.0", "v1.2.0", "v3.0.0"]);
    assert_eq!(versions(&context).await.unwrap(), found);
    assert_eq!(host.received().len(), 5, "v1 to v5, once: {:?}", host.addresses());
    assert!(host.addresses().iter().all(|address| address.starts_with("proxy.golang.org/")));
}

// Row: D-90
#[tokio::test]
async fn a_go_proxy_with_equal_answers_is_not_asked_forever() {
    let host = FakeHost::internet();
    for major in ["", "/v2", "/v3", "/v4", "/v5"] {
        let list = format!("proxy.golang.org/github.com/o/r{major}/@v/list");
        host.on(list, Reply::text(if major == "/v3" { "" } else { "v1.0.0\n" }));
    }
    assert_eq!(versions(&context(&host)).await.unwrap(), ["v1.0.0"]);
    assert_eq!(host.received().len(), 3, "v1 to v3: {:?}", host.addresses());
}

#[tokio::test]
async fn latest_skips_a_tag_without_a_release() {
    let host = FakeHost::internet();
    let list = Reply::text("v1.0.0\nv1.1.0\nv2.0.0-alpha.0\n");
    host.on("proxy.golang.org/github.com/o/r/@v/list", list);
    GitHubRelease::new("o/r", "v1.0.0").file("metadata.yaml", "series").publish(&host);
    let context = context(&host);
    let found = crate::latest_version(&*repository(&context), "v1beta2", &|_| None).await.unwrap();
    assert_eq!(found.as_str(), "v1.0.0");
    // The metadata file is cached already.
    let before = host.received().len();
    assert!(repository(&context).read("v1.0.0", "metadata.yaml").await.is_ok());
    assert_eq!(host.received().len(), before);
}

// Row: D-14
#[tokio::test]
async fn upper_case_owners_are_escaped_for_the_go_proxy() {
    let host = FakeHost::internet();
    host.on("proxy.golang.org/github.com/!open!nebula/r/@v/list", Reply::text("v1.0.0"));
    let url = "https://github.com/OpenNebula/r/releases/latest/c.yaml";
    let context = context(&host);
    let found = open(url, "infrastructure-opennebula", None, &context).unwrap().versions().await.unwrap();
    assert_eq!(found.len(), 1);
}

// Row: D-13
#[tokio::test]
async fn the_path_and_all_entries_of_goproxy_are_used() {
    let host = FakeHost::internet();
    host.on("files.example.org/go/mods/github.com/o/r/@v/list", Reply::text("v1.0.0"));
    host.on("ghe.example.org/github.com/o/r/@v/list", Reply::status(500));
    let list = "files.example.org/go/mods";
    for goproxy_list in
        [list.to_owned(), format!("https://gitlab.com/none,{list}"), format!("ghe.example.org|{list}")]
    {
        assert_eq!(versions(&goproxy(&host, &goproxy_list)).await.unwrap(), ["v1.0.0"], "{goproxy_list}");
    }
    let folder = tempfile::tempdir().unwrap();
    let on_disk = folder.path().join("github.com/o/r/@v");
    std::fs::create_dir_all(&on_disk).unwrap();
    std::fs::write(on_disk.join("list"), "v3.0.0\n").unwrap();
    let on_disk = format!("file://{}", folder.path().display());
    assert_eq!(versions(&goproxy(&host, &on_disk)).await.unwrap(), ["v3.0.0"]);
    // After a comma, the next proxy is used only if the module does not exist.
    host.on(RELEASES, github_releases_page("o/r", &["v2.0.0"], None));
    let comma = format!("ghe.example.org,{list}");
    assert_eq!(versions(&goproxy(&host, &comma)).await.unwrap(), ["v2.0.0"]);
}

// Row: PRV-05, D-12, D-16
#[tokio::test]
async fn without_go_proxy_all_api_pages_are_read() {
    let host = FakeHost::internet();
    let second = "https://api.github.com/repositories/1/releases?per_page=100&page=2";
    host.on(RELEASES, github_releases_page("o/r", &["v1.1.0", "helm-chart-3", "v1.0"], Some(second)));
    let draft = GitHubRelease::new("o/r", "v9.0.0").json().replace(r#""draft":false"#, r#""draft":true"#);
    let old = GitHubRelease::new("o/r", "1.0.0").json();
    host.on(&second["https://".len()..], Reply::json(200, format!("[{old},{draft}]")));
    for off in ["off", "direct", "https://gitlab.com/none,direct"] {
        let context = with_go_proxy(Settings { github_token: github_token(), ..settings(&host) }, off);
        assert_eq!(versions(&context).await.unwrap(), ["1.0.0", "v1.1.0"], "{off}");
    }
    let api: Vec<_> =
        host.received().into_iter().filter(|request| request.host == "api.github.com").collect();
    assert!(api.iter().all(|request| request.header("authorization") == Some("Bearer ghp_for_github_only")));
    assert!(api.iter().all(|request| request.header("x-github-api-version").is_some()));
}

// Row: PRV-05
#[tokio::test]
async fn a_repository_without_versions_lists_the_ignored_tags() {
    let host = FakeHost::internet();
    host.on(RELEASES, github_releases_page("o/r", &["chart-1", "v2"], None));
    let error = versions(&goproxy(&host, "off")).await.unwrap_err();
    assert!(matches!(&error, Error::NoVersions { ignored, .. } if ignored == &["chart-1", "v2"]), "{error}");
}

#[tokio::test]
async fn a_page_link_to_another_host_is_not_followed() {
    let host = FakeHost::internet();
    let elsewhere = "https://files.example.org/repos/o/r/releases?page=2";
    host.on(RELEASES, github_releases_page("o/r", &["v1.0.0"], Some(elsewhere)));
    let context = without_go_proxy(Settings { github_token: github_token(), ..settings(&host) });
    assert_eq!(versions(&context).await.unwrap(), ["v1.0.0"]);
    assert_eq!(host.addresses(), [RELEASES]);
}

// Row: D-19
#[tokio::test]
async fn an_exhausted_quota_is_reported_with_limit_and_credential() {
    let host = FakeHost::internet();
    host.on(RELEASES, Reply::github_rate_limit(60, 1_800_000_000));
    let context = goproxy(&host, "off");
    let error = versions(&context).await.unwrap_err();
    let request = error.request().unwrap();
    let quota = request.quota.unwrap();
    assert!(matches!(request.failure, RequestFailure::RateLimited { status: 403, secondary: false, .. }));
    assert_eq!((quota.limit, quota.remaining, quota.resets_at), (Some(60), 0, Some(1_800_000_000)));
    assert_eq!((request.credential.clone(), request.attempts), (None, 1));

    host.on(RELEASES, Reply::github_secondary_limit());
    let with_token =
        RepositoryContext::new(Settings { github_token: github_token(), ..context.settings().clone() });
    let error = versions(&with_token).await.unwrap_err();
    let request = error.request().unwrap();
    assert!(matches!(request.failure, RequestFailure::RateLimited { secondary: true, .. }));
    assert_eq!(request.credential, github_token().map(Credential::from));
    let reported = format!("{} {:?}", api::with_causes(&error), error);
    assert!(reported.contains("GITHUB_TOKEN") && !reported.contains("ghp_for"), "{reported}");
}

// Row: D-21
#[tokio::test]
async fn enterprise_asks_its_own_api_with_its_own_token_only() {
    let host = FakeHost::internet();
    let url = "https://ghe.example.org/o/r/releases/latest/c.yaml";
    let api = "ghe.example.org/api/v3/repos/o/r/releases";
    host.on(format!("{api}?per_page=100"), github_releases_page("o/r", &["v1.0.0"], None));
    host.on(
        format!("{api}/tags/v1.0.0"),
        Reply::json(200, r#"{"tag_name":"v1.0.0","assets":[{"id":5,"name":"c.yaml"}]}"#),
    );
    host.on(format!("{api}/assets/5"), Reply::file("inside"));
    // A server that requires a login returns a web page instead of 404.
    host.on("ghe.example.org/o/r/releases/download/v1.0.0/c.yaml", Reply::web_page());

    let public = RepositoryContext::new(Settings { github_token: github_token(), ..settings(&host) });
    let foreign = open(url, "infrastructure-aws", None, &public).unwrap();
    assert_eq!(foreign.versions().await.unwrap().len(), 1);
    let error = foreign.read("v1.0.0", "c.yaml").await.unwrap_err();
    assert!(matches!(error.request().unwrap().failure, RequestFailure::WebPage));
    assert!(host.received().iter().all(|request| request.header("authorization").is_none()));

    let token = Secret::new("GH_ENTERPRISE_TOKEN", "own").unwrap();
    let own = RepositoryContext::new(Settings {
        github_enterprise_tokens: [("ghe.example.org".to_owned(), token)].into(),
        ..settings(&host)
    });
    let file = open(url, "infrastructure-aws", None, &own).unwrap().read("v1.0.0", "c.yaml").await.unwrap();
    assert_eq!(text(&file), "inside");
    assert_eq!(host.received().last().unwrap().header("authorization"), Some("Bearer own"));
}

#[tokio::test]
async fn a_failed_go_proxy_is_reported_before_the_api_is_used() {
    let host = FakeHost::internet();
    host.on("proxy.golang.org/github.com/o/r/@v/list", Reply::web_page());
    host.on(RELEASES, github_releases_page("o/r", &["v1.0.0"], None));
    let log = EventLog::default();
    let mut settings = settings(&host);
    log.listen(&mut settings);
    assert_eq!(versions(&RepositoryContext::new(settings)).await.unwrap(), ["v1.0.0"]);
    let skipped = log.events().into_iter().find_map(|event| match event {
        Event::VersionSourceSkipped { source, reason } => Some((source, reason)),
        _ => None,
    });
    let (source, why) = skipped.unwrap();
    assert_eq!(source, "https://proxy.golang.org/");
    assert_data_eq!(
        why,
        str![
            "cannot fetch `https://proxy.golang.org/github.com/o/r/@v/list`: received a web page instead of a file"
        ]
    );
}

#[tokio::test]
async fn an_invalid_tag_fails_only_for_the_default_version() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.0.0").file("c.yaml", "x").publish(&host);
    let repository =
        open("https://github.com/o/r/releases/main/c.yaml", "infrastructure-aws", None, &context(&host))
            .unwrap();
    let error = repository.default_version().unwrap_err();
    assert!(matches!(&error, Error::DefaultVersion { version, .. } if version == "main"));
    assert!(repository.read("v1.0.0", "c.yaml").await.is_ok());
    let repository = open(URL, "infrastructure-aws", None, &context(&host)).unwrap();
    assert_eq!(repository.default_version().unwrap(), VersionOrLatest::Latest);
}

#[tokio::test]
async fn a_token_with_a_line_break_is_reported_and_not_sent() {
    let host = FakeHost::internet();
    let token = Secret::new("GITHUB_TOKEN", "one\r\nx-injected: two");
    let context = without_go_proxy(Settings { github_token: token, ..settings(&host) });
    assert!(matches!(versions(&context).await, Err(Error::Transport(transport::Error::Credential { .. }))));
    assert!(host.received().is_empty());
}

use support::host::{FakeHost, GitHubRelease, Reply};
use transport::Settings;

use super::*;
use crate::testing::{context, github_token, settings, text};

fn with_token(host: &FakeHost) -> RepositoryContext {
    RepositoryContext::new(Settings { github_token: github_token(), ..settings(host) })
}

#[tokio::test]
async fn a_file_on_a_branch_is_read_via_the_contents_api() {
    let host = FakeHost::internet();
    let api = "api.github.com/repos/o/r/contents/templates/a.yaml?ref=main";
    host.on(api, Reply::text("template").header("x-ratelimit-remaining", "7"));
    let url = "https://github.com/o/r/blob/main/templates/a.yaml";
    let file = fetch_template(&with_token(&host), url).await.unwrap();
    assert_eq!((text(&file), file.source.to_string().as_str()), ("template", url));
    let request = host.received().pop().unwrap();
    assert_eq!(request.header("accept"), Some("application/vnd.github.raw+json"));
    assert_eq!(request.header("authorization"), Some("Bearer ghp_for_github_only"));

    let error =
        fetch_template(&with_token(&host), "https://github.com/o/r/blob/main/none.yaml").await.unwrap_err();
    assert!(
        matches!(&error, Error::UnknownFile { file, version, .. } if file == "none.yaml" && version == "main")
    );
}

#[tokio::test]
async fn a_folder_on_a_branch_is_no_template() {
    let host = FakeHost::internet();
    host.on(
        "api.github.com/repos/o/r/contents/templates?ref=main",
        Reply::json(200, r#"[{"name":"a.yaml"}]"#),
    );
    let error =
        fetch_template(&context(&host), "https://github.com/o/r/blob/main/templates").await.unwrap_err();
    assert!(
        matches!(&error, Error::Transport(transport::Error::FetchUrl { url, .. }) if url.ends_with("/templates")),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_release_asset_is_read_like_a_provider_file() {
    let host = FakeHost::internet();
    GitHubRelease::new("o/r", "v1.0.0").file("t.yaml", "asset").private().publish(&host);
    let url = "https://github.com/o/r/releases/download/v1.0.0/t.yaml";
    assert_eq!(text(&fetch_template(&with_token(&host), url).await.unwrap()), "asset");
    assert!(fetch_template(&context(&host), url).await.unwrap_err().is_not_found());
}

// Row: D-36
#[tokio::test]
async fn other_urls_are_read_directly_without_a_token() {
    let host = FakeHost::internet();
    host.on("files.example.org/t.yaml?key=s3cret", Reply::text("plain"));
    host.on("github.com/o/r/raw/main/t.yaml", Reply::redirect("https://files.example.org/t.yaml?key=s3cret"));
    let context = with_token(&host);
    let file = fetch_template(&context, "https://files.example.org/t.yaml?key=s3cret").await.unwrap();
    assert_eq!(file.source.to_string(), "https://files.example.org/t.yaml?key=***");
    assert_eq!(
        text(&fetch_template(&context, "https://github.com/o/r/raw/main/t.yaml").await.unwrap()),
        "plain"
    );
    assert!(host.received().iter().all(|request| request.header("authorization").is_none()));
}

#[tokio::test]
async fn an_invalid_url_is_refused_before_any_request() {
    let host = FakeHost::internet();
    let context = context(&host);
    for url in [
        "http://files.example.org/x",
        "ftp://x/y",
        "https://github.com/o/r",
        "https://github.com/o/r/tree/main/x",
    ] {
        let error = fetch_template(&context, url).await.unwrap_err();
        assert!(matches!(error, Error::Transport(transport::Error::FetchUrl { .. })), "{url}: {error}");
    }
    assert!(matches!(
        fetch_url(&context, "file:///etc/passwd").await,
        Err(Error::Transport(transport::Error::FetchUrl { .. }))
    ));
    assert!(!context.used_network());
}

#[tokio::test]
async fn a_configuration_may_be_read_over_http() {
    let host = FakeHost::internet();
    host.on("127.0.0.1/clusterctl.yaml", Reply::text("providers: []"));
    let url = format!("{}/clusterctl.yaml", host.proxy_url());
    assert_eq!(text(&fetch_url(&context(&host), &url).await.unwrap()), "providers: []");
}

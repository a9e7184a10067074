use support::host::{FakeHost, Reply};
use transport::{Credential, RequestFailure, Secret, Settings};

use crate::{
    Error, Repository, RepositoryContext, open,
    testing::{context, github_token, gitlab_token, settings, text},
};

const PACKAGE: &str = "gitlab.example.org/api/v4/projects/myorg%2Fmyrepo/packages/generic/capi";

fn repository(context: &RepositoryContext, version: &str) -> Box<dyn Repository> {
    open(&format!("https://{PACKAGE}/{version}/c.yaml"), "infrastructure-aws", None, context).unwrap()
}

// Row: PRV-07
// Row: PRV-10
// Row: PRV-12
#[tokio::test]
async fn file_requests_keep_the_project_as_written() {
    let host = FakeHost::internet();
    for file in ["c.yaml", "metadata.yaml"] {
        host.on(format!("{PACKAGE}/v1.2.3/{file}"), Reply::file(file));
    }
    let context = RepositoryContext::new(Settings {
        gitlab_token: gitlab_token(),
        github_token: github_token(),
        ..settings(&host)
    });
    let repository = repository(&context, "v1.2.3");
    for file in ["c.yaml", "metadata.yaml"] {
        assert_eq!(text(&repository.read("v1.2.3", file).await.unwrap()), file);
    }
    assert_eq!(
        host.addresses(),
        [format!("{PACKAGE}/v1.2.3/c.yaml"), format!("{PACKAGE}/v1.2.3/metadata.yaml")]
    );
    let bearer = Some("Bearer glpat_for_gitlab_only");
    assert!(host.received().iter().all(|request| request.header("authorization") == bearer));
}

// Row: PRV-11
#[tokio::test]
async fn the_version_of_the_url_must_be_a_semantic_one() {
    let host = FakeHost::internet();
    let context = context(&host);
    assert!(repository(&context, "v1.2.3").default_version().is_ok());
    let error = repository(&context, "nightly").default_version().unwrap_err();
    assert!(matches!(&error, Error::DefaultVersion { version, .. } if version == "nightly"), "{error}");
}

// Row: PRV-14, D-23
#[tokio::test]
async fn versions_cannot_be_listed() {
    let host = FakeHost::internet();
    let context = context(&host);
    let error = repository(&context, "v1.2.3").versions().await.unwrap_err();
    assert!(matches!(error, Error::CannotList { .. }), "{error:?}");
    let latest = repository(&context, "latest").default_version().unwrap_err();
    assert!(matches!(latest, Error::CannotList { .. }));
    assert!(!context.used_network());
}

// Row: PRV-01
#[tokio::test]
async fn a_missing_file_is_reported_with_its_address() {
    let host = FakeHost::internet();
    let error = repository(&context(&host), "v1.2.3").read("v1.2.3", "metadata.yaml").await.unwrap_err();
    let Error::UnknownFile { file, looked_at, .. } = &error else { panic!("{error}") };
    assert_eq!(file, "metadata.yaml");
    assert_eq!(looked_at, &format!("https://{PACKAGE}/v1.2.3/metadata.yaml"));
}

#[tokio::test]
async fn a_refusal_is_reported_with_the_credential_sent() {
    let host = FakeHost::internet();
    let address = format!("{PACKAGE}/v1.2.3/c.yaml");
    host.on(&*address, Reply::json(401, r#"{"message":"401 Unauthorized"}"#));
    let context = RepositoryContext::new(Settings { gitlab_token: gitlab_token(), ..settings(&host) });
    let error = repository(&context, "v1.2.3").read("v1.2.3", "c.yaml").await.unwrap_err();
    let request = error.request().unwrap();
    assert!(matches!(&request.failure, RequestFailure::Unauthorized { status: 401, message }
        if message.as_deref() == Some("401 Unauthorized")));
    assert_eq!(request.url, format!("https://{address}"));
    assert_eq!(request.credential, gitlab_token().map(Credential::from));
    assert_eq!(host.received().len(), 1, "a 401 is final");
}

// Row: PRV-13
#[tokio::test]
async fn the_url_form_selects_the_host() {
    let host = FakeHost::internet();
    host.on(format!("{PACKAGE}/v1.0.0/c.yaml"), Reply::file("gitlab"));
    host.on("github.com/o/r/releases/download/v1.0.0/c.yaml", Reply::file("github"));
    let context = context(&host);
    for (url, from) in [
        (format!("https://{PACKAGE}/v1.0.0/c.yaml"), "gitlab"),
        ("https://github.com/o/r/releases/v1.0.0/c.yaml".to_owned(), "github"),
    ] {
        let file =
            open(&url, "infrastructure-aws", None, &context).unwrap().read("v1.0.0", "c.yaml").await.unwrap();
        assert_eq!(text(&file), from);
    }
}

// Row: D-22
#[tokio::test]
async fn a_host_detected_by_path_gets_only_its_own_token() {
    let host = FakeHost::internet();
    let package = "files.example.org/api/v4/projects/42/packages/generic/capi";
    host.on(format!("{package}/v1.2.3/c.yaml"), Reply::file("c"));
    let read = async |gitlab_tokens| {
        let context = RepositoryContext::new(Settings {
            gitlab_token: gitlab_token(),
            gitlab_tokens,
            ..settings(&host)
        });
        let repository =
            open(&format!("https://{package}/v1.2.3/c.yaml"), "infrastructure-aws", None, &context).unwrap();
        repository.read("v1.2.3", "c.yaml").await.unwrap();
        host.received().last().and_then(|request| request.header("authorization").map(str::to_owned))
    };
    assert_eq!(read([].into()).await, None);
    let own = Secret::new("gitlab-tokens", "glpat_of_this_host").unwrap();
    let tokens = [("files.example.org".to_owned(), own)];
    assert_eq!(read(tokens.into()).await.as_deref(), Some("Bearer glpat_of_this_host"));
}

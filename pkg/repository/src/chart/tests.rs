mod locked;

use api::error_chain;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};
use transport::{
    Credential, HostSettings, Hosts, NetworkAccess, Secret, Settings, StoreSettings,
    registry::{INDEX_MEDIA_TYPE, MANIFEST_MEDIA_TYPE},
};

use super::*;
use crate::testing::settings;

const REPOSITORY: &str = "https://files.example.org/charts";
const REGISTRY: &str = "ghe.example.org";

/// An entry of an index.
fn entry(version: &str, url: &str, digest: &str) -> String {
    format!("  - name: web\n    version: {version}\n    urls: [{url}]\n    digest: \"{digest}\"\n")
}

/// Serves an index with the entries of the chart `web`.
fn serve(host: &FakeHost, entries: &[String]) {
    let index = format!("apiVersion: v1\nentries:\n  database: []\n  web:\n{}", entries.concat());
    host.on("files.example.org/charts/index.yaml", Reply::text(index));
}

/// Serves the archives of three versions, with relative and absolute addresses.
fn lab() -> FakeHost {
    let host = FakeHost::internet();
    let hex = |content: &str| Digest::of(content.as_bytes()).hex();
    serve(
        &host,
        &[
            entry("1.2.0", "web-1.2.0.tgz", &hex("web 1.2.0")),
            entry(
                "1.10.0",
                "https://files.example.org/pool/web-1.10.0.tgz",
                &format!("sha256:{}", hex("web 1.10.0")),
            ),
            entry("2.0.0-rc.1", "web-2.0.0-rc.1.tgz", ""),
        ],
    );
    host.on("files.example.org/charts/web-1.2.0.tgz", Reply::text("web 1.2.0"));
    host.on("files.example.org/pool/web-1.10.0.tgz", Reply::text("web 1.10.0"));
    host.on("files.example.org/charts/web-2.0.0-rc.1.tgz", Reply::text("web 2.0.0-rc.1"));
    host
}

async fn fetch_with(
    settings: Settings,
    chart: &str,
    repository: &str,
    range: &str,
) -> Result<FetchedChart, ChartSourceError> {
    let source = ChartSource::parse(chart, Some(repository), AddressOrigin::User)?;
    source.fetch(&VersionRange::parse(range, false).unwrap(), &RepositoryContext::new(settings)).await
}

async fn fetch(
    host: &FakeHost,
    chart: &str,
    repository: &str,
    range: &str,
) -> Result<FetchedChart, ChartSourceError> {
    fetch_with(settings(host), chart, repository, range).await
}

fn show(answer: Result<FetchedChart, ChartSourceError>) -> String {
    match answer {
        Ok(chart) => {
            let version = chart.version.as_deref().unwrap_or("-");
            format!("{} = {version} of {}", String::from_utf8_lossy(&chart.bytes), chart.address)
        }
        Err(error) => {
            let chain = error_chain(&error);
            let hints = chain.hints.into_iter().map(|hint| format!("hint: {hint}"));
            chain.lines.into_iter().chain(hints).collect::<Vec<_>>().join("\n")
        }
    }
}

#[tokio::test]
async fn the_newest_version_in_the_range_is_fetched() {
    let host = lab();
    let mut shown = Vec::new();
    for range in ["", "~1.2", "2.0.0-rc.1"] {
        shown.push(show(fetch(&host, "web", REPOSITORY, range).await));
    }
    let url = "https://files.example.org/charts/web-1.2.0.tgz";
    shown.push(show(fetch(&host, url, "", "").await));
    assert_data_eq!(
        shown.join("\n"),
        str![[r#"
web 1.10.0 = 1.10.0 of https://files.example.org/pool/web-1.10.0.tgz
web 1.2.0 = 1.2.0 of https://files.example.org/charts/web-1.2.0.tgz
web 2.0.0-rc.1 = 2.0.0-rc.1 of https://files.example.org/charts/web-2.0.0-rc.1.tgz
web 1.2.0 = - of https://files.example.org/charts/web-1.2.0.tgz
"#]]
    );
}

#[tokio::test]
async fn a_chart_that_is_not_there_is_reported_with_what_is() {
    let host = lab();
    let many: Vec<String> = (0..9).map(|minor| entry(&format!("0.{minor}.0"), "x", "")).collect();
    host.on(
        "files.example.org/many/index.yaml",
        Reply::text(format!("apiVersion: v1\nentries:\n  web:\n{}", many.concat())),
    );
    host.on(
        "files.example.org/new/index.yaml",
        Reply::text(format!("apiVersion: v1\nentries:\n  web:\n{}", entry("1.0.0-rc.1", "x", ""))),
    );
    host.on("files.example.org/list/index.yaml", Reply::text("- web\n"));
    host.on("files.example.org/page/index.yaml", Reply::text("<!doctype html><html></html>"));
    let mut shown = Vec::new();
    for (chart, repository, range) in [
        ("databse", REPOSITORY, ""),
        ("other", REPOSITORY, ""),
        ("web", REPOSITORY, "^3"),
        ("web", "https://files.example.org/many/", "9.0.0"),
        ("web", "https://files.example.org/new", ""),
        ("web", "https://files.example.org/list", ""),
        ("web", "https://files.example.org/page", ""),
        ("web", "https://files.example.org/none", ""),
        ("web", "ftp://files.example.org", ""),
        ("web", "", ""),
        ("stable/web", "", ""),
        ("oci://ghe.example.org/web", REPOSITORY, ""),
    ] {
        shown.push(show(fetch(&host, chart, repository, range).await));
    }
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
cannot find chart `databse` in `https://files.example.org/charts`
the index has no chart `databse`
hint: did you mean `database`?

cannot find chart `other` in `https://files.example.org/charts`
the index has no chart `other`
hint: the index has 2 charts

cannot find version `^3` of chart `web` in `https://files.example.org/charts`
hint: the versions are `2.0.0-rc.1`, `1.10.0` and `1.2.0`

cannot find version `9.0.0` of chart `web` in `https://files.example.org/many`
hint: the newest versions are `0.8.0`, `0.7.0`, `0.6.0`, `0.5.0`, `0.4.0` and 4 more

cannot find a release of chart `web` in `https://files.example.org/new`
hint: only pre-releases exist; allow them with `--devel`
hint: the only version is `1.0.0-rc.1`

cannot find chart `web` in `https://files.example.org/list`
the index is a list, not a mapping
hint: check that the URL belongs to a chart repository

cannot read the chart repository `https://files.example.org/page`
cannot fetch `https://files.example.org/page/index.yaml`
received a web page instead of a file
hint: check the URL: a chart repository has a file `index.yaml`; name charts in a registry as `oci://HOST/PATH`
hint: check for a login page or a captive portal between you and the host

cannot read the chart repository `https://files.example.org/none`
cannot fetch `https://files.example.org/none/index.yaml`
the host answered with status 404: Not Found
hint: check the URL: a chart repository has a file `index.yaml`; name charts in a registry as `oci://HOST/PATH`

cannot use the URL of a chart
cannot fetch from `ftp://files.example.org/`: only http and https URLs are allowed
hint: use a URL with `https://` or `oci://`

cannot find chart `web`: it is neither a file, a folder nor a URL
hint: select the repository of the chart with `web --repo URL`, or a chart in a registry as `oci://HOST/PATH`

cannot find chart `stable/web`: it is neither a file, a folder nor a URL
hint: repositories of `helm repo add` are not supported; use the URL: `web --repo URL`

`oci://ghe.example.org/web` is a URL; it cannot be combined with the repository `https://files.example.org/charts`
hint: omit `--repo`, or use only the name of the chart
"#]]
    );
}

// Row: D-384
#[tokio::test]
async fn content_with_another_digest_is_refused_and_not_cached() {
    let (host, folder) = (lab(), tempfile::tempdir().unwrap());
    let cached = || cached(&host, &folder);
    host.on("files.example.org/charts/web-1.2.0.tgz", Reply::text("other"));
    assert_data_eq!(
        show(fetch_with(cached(), "web", REPOSITORY, "1.2.0").await),
        str![[r#"
cannot fetch chart `https://files.example.org/charts/web-1.2.0.tgz`
`https://files.example.org/charts/web-1.2.0.tgz` has digest sha256:d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa, expected sha256:0037ec3337410fd2b4a3522f4c502e2b354dab5c9b7ab9e6311379a61a5982c1
hint: check whether the host or a proxy changed the content; nothing was used
"#]]
    );
    host.on("files.example.org/charts/web-1.2.0.tgz", Reply::text("web 1.2.0"));
    assert!(fetch_with(cached(), "web", REPOSITORY, "1.2.0").await.is_ok());
    serve(
        &host,
        &[entry("1.0.0", "web-1.2.0.tgz", "md5:1"), entry("1.1.0", "ftp://x/y", ""), entry("1.2.0", "", "")],
    );
    let mut shown = Vec::new();
    for range in ["1.0.0", "1.1.0"] {
        shown.push(show(fetch(&host, "web", REPOSITORY, range).await));
    }
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
the index of `https://files.example.org/charts` has an invalid digest for chart `web` 1.0.0
`md5:1` is not a digest; write `sha256:` and 64 hexadecimal digits

cannot use URL `ftp://x/y` of chart `web` in the index of `https://files.example.org/charts`
"#]]
    );
}

/// Settings with a cache in a folder.
fn cached(host: &FakeHost, folder: &tempfile::TempDir) -> Settings {
    let store =
        StoreSettings { folder: folder.path().join("cache"), max_bytes: StoreSettings::DEFAULT_MAX_BYTES };
    Settings { store: Some(store), ..settings(host) }
}

#[tokio::test]
async fn a_fetched_chart_is_available_offline() {
    let (host, folder) = (lab(), tempfile::tempdir().unwrap());
    fetch_with(cached(&host, &folder), "web", REPOSITORY, "").await.unwrap();
    assert_eq!(host.addresses().len(), 2);
    fetch_with(cached(&host, &folder), "web", REPOSITORY, "").await.unwrap();
    // Only the index may have changed.
    assert_eq!(host.addresses()[2..], ["files.example.org/charts/index.yaml"]);
    let offline = || Settings { network: NetworkAccess::Forbidden, ..cached(&host, &folder) };
    let mut shown = Vec::new();
    for (repository, range) in [(REPOSITORY, ""), (REPOSITORY, "1.2.0"), ("https://files.example.org", "")] {
        shown.push(show(fetch_with(offline(), "web", repository, range).await));
    }
    assert_eq!(host.addresses().len(), 3);
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
web 1.10.0 = 1.10.0 of https://files.example.org/pool/web-1.10.0.tgz

cannot fetch chart `https://files.example.org/charts/web-1.2.0.tgz`
cannot fetch `https://files.example.org/charts/web-1.2.0.tgz` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive

cannot read the chart repository `https://files.example.org`
cannot fetch `https://files.example.org/index.yaml` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive
"#]]
    );
}

#[tokio::test]
async fn an_archive_that_is_replaced_in_the_index_is_fetched_again() {
    let (host, folder) = (lab(), tempfile::tempdir().unwrap());
    fetch_with(cached(&host, &folder), "web", REPOSITORY, "1.2.0").await.unwrap();
    serve(&host, &[entry("1.2.0", "web-1.2.0.tgz", &Digest::of(b"new").hex())]);
    host.on("files.example.org/charts/web-1.2.0.tgz", Reply::text("new"));
    let again = fetch_with(cached(&host, &folder), "web", REPOSITORY, "1.2.0").await.unwrap();
    assert_eq!(again.bytes, "new");
}

#[tokio::test]
async fn credentials_reach_other_hosts_only_on_request() {
    let host = lab();
    serve(&host, &[entry("1.0.0", "https://gitlab.com/web.tgz", ""), entry("0.9.0", "own.tgz", "")]);
    for place in ["gitlab.com/web.tgz", "files.example.org/charts/own.tgz"] {
        host.on(place, Reply::text("web"));
    }
    let password = Secret::new("--password", "pa55").unwrap();
    let credential = Some(Credential::Basic { user: "me".to_owned(), password });
    let of_host = HostSettings { credential, ..HostSettings::default() };
    let hosts = Hosts::new([("files.example.org".to_owned(), of_host)]);
    let context = RepositoryContext::new(Settings { hosts, ..settings(&host) });
    let source = ChartSource::parse("web", Some(REPOSITORY), AddressOrigin::User).unwrap();
    let newest = VersionRange::default();
    source.fetch(&newest, &context).await.unwrap();
    source.fetch(&VersionRange::parse("0.9.0", false).unwrap(), &context).await.unwrap();
    source.clone().passing_credentials(true).fetch(&newest, &context).await.unwrap();
    let sent: Vec<String> = host
        .received()
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| format!("{} {}", request.address(), request.header("authorization").is_some()))
        .collect();
    assert_data_eq!(
        sent.join("\n"),
        str![[r#"
files.example.org/charts/index.yaml true
gitlab.com/web.tgz false
files.example.org/charts/own.tgz true
gitlab.com/web.tgz true
"#]]
    );
}

#[tokio::test]
async fn a_refused_request_is_reported_with_the_setting_of_the_credential() {
    let host = FakeHost::internet();
    host.on("files.example.org/charts/index.yaml", Reply::status(401));
    assert_data_eq!(
        show(fetch(&host, "web", REPOSITORY, "").await),
        str![[r#"
cannot read the chart repository `https://files.example.org/charts`
cannot fetch `https://files.example.org/charts/index.yaml`
the host refused access (status 401)
hint: the request was sent without a token; set `token` for `files.example.org` under `hosts` in clusterctl.yaml, or add a login to ~/.netrc
"#]]
    );
}

#[tokio::test]
async fn addresses_are_relative_to_the_repository_with_its_query() {
    let resolve = |base: &str, reference: &str| {
        http::resolve(&Url::parse(base).unwrap(), reference).map(String::from).unwrap_or_default()
    };
    assert_eq!(resolve("https://h/charts", "a.tgz"), "https://h/charts/a.tgz");
    assert_eq!(resolve("https://h/charts/?key=1", "b/a.tgz"), "https://h/charts/b/a.tgz?key=1");
    assert_eq!(resolve("https://h/charts/", "/a.tgz"), "https://h/a.tgz");
    assert_eq!(resolve("https://h/charts/", "https://other/a.tgz"), "https://other/a.tgz");
    assert_eq!(resolve("https://h/charts/", "file:///etc/passwd"), "");
}

/// Serves a blob and returns its descriptor.
fn blob(host: &FakeHost, media_type: &str, content: &str) -> serde_json::Value {
    let digest = Digest::of(content.as_bytes());
    host.on(format!("{REGISTRY}/v2/team/web/blobs/{digest}"), Reply::text(content));
    json!({"mediaType": media_type, "digest": digest, "size": content.len()})
}

/// Serves a document under a tag and its digest.
fn put(host: &FakeHost, tag: &str, document: &serde_json::Value) -> Digest {
    let bytes = serde_json::to_vec(document).unwrap();
    let digest = Digest::of(&bytes);
    let reply =
        Reply::status(200).header("content-type", document["mediaType"].as_str().unwrap()).body(bytes);
    host.on(format!("{REGISTRY}/v2/team/web/manifests/{tag}"), reply.clone());
    host.on(format!("{REGISTRY}/v2/team/web/manifests/{digest}"), reply);
    digest
}

/// Serves a chart as `helm push` writes it.
fn push(host: &FakeHost, tag: &str, content: &str) -> Digest {
    let config = blob(host, "application/vnd.cncf.helm.config.v1+json", "{}");
    let layers = [
        blob(host, "application/vnd.cncf.helm.chart.provenance.v1.prov", "signed"),
        blob(host, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", content),
    ];
    put(
        host,
        tag,
        &json!({"schemaVersion": 2, "mediaType": MANIFEST_MEDIA_TYPE, "config": config, "layers": layers}),
    )
}

fn serve_tags(host: &FakeHost, tags: &[&str]) {
    host.on(
        format!("{REGISTRY}/v2/team/web/tags/list?n=1000"),
        Reply::json(200, json!({"tags": tags}).to_string()),
    );
}

#[tokio::test]
async fn the_newest_tag_in_the_range_is_pulled() {
    let host = FakeHost::internet();
    serve_tags(&host, &["latest", "1.2.0", "1.10.0_build.1", "v3.0.0", "2.0.0-rc.1"]);
    for tag in ["latest", "1.2.0", "1.10.0_build.1", "2.0.0-rc.1"] {
        push(&host, tag, tag);
    }
    let digest = push(&host, "1.2.0", "1.2.0");
    let mut shown = Vec::new();
    for (chart, range) in [
        ("oci://ghe.example.org/team/web", ""),
        ("oci://ghe.example.org/team/web", "~1.2"),
        ("oci://ghe.example.org/team/web", "1.10.0+build.1"),
        ("oci://ghe.example.org/team/web", ">1-0"),
        ("oci://ghe.example.org/team/web:latest", ""),
        ("oci://ghe.example.org/team/web:1.2.0", "1.2.0"),
        (&format!("oci://ghe.example.org/team/web@{digest}"), ""),
        (&format!("oci://ghe.example.org/team/web:1.2.0@{digest}"), ""),
        (&format!("oci://ghe.example.org/team/web@{digest}"), "9.9.9"),
    ] {
        shown.push(show(fetch(&host, chart, "", range).await));
    }
    shown.push(show(fetch(&host, "web", "oci://ghe.example.org/team/", "1.2.0").await));
    assert_data_eq!(
        shown.join("\n"),
        str![[r#"
1.10.0_build.1 = 1.10.0+build.1 of oci://ghe.example.org/team/web:1.10.0_build.1
1.2.0 = 1.2.0 of oci://ghe.example.org/team/web:1.2.0
1.10.0_build.1 = 1.10.0+build.1 of oci://ghe.example.org/team/web:1.10.0_build.1
2.0.0-rc.1 = 2.0.0-rc.1 of oci://ghe.example.org/team/web:2.0.0-rc.1
latest = latest of oci://ghe.example.org/team/web:latest
1.2.0 = 1.2.0 of oci://ghe.example.org/team/web:1.2.0
1.2.0 = - of oci://ghe.example.org/team/web@sha256:10a1e445d52376a184a8bfb8ddada463317b2097115acbe6c997835ecb77ed92
1.2.0 = 1.2.0 of oci://ghe.example.org/team/web@sha256:10a1e445d52376a184a8bfb8ddada463317b2097115acbe6c997835ecb77ed92
1.2.0 = 9.9.9 of oci://ghe.example.org/team/web@sha256:10a1e445d52376a184a8bfb8ddada463317b2097115acbe6c997835ecb77ed92
1.2.0 = 1.2.0 of oci://ghe.example.org/team/web:1.2.0
"#]]
    );
}

// Row: D-387
#[tokio::test]
async fn tags_with_v_count_if_there_are_no_others() {
    let host = FakeHost::internet();
    serve_tags(&host, &["v1.2.0", "v1.3"]);
    push(&host, "v1.3", "chart");
    assert_data_eq!(
        show(fetch(&host, "oci://ghe.example.org/team/web", "", "").await),
        str!["chart = v1.3 of oci://ghe.example.org/team/web:v1.3"]
    );
}

#[tokio::test]
async fn content_of_a_registry_that_is_no_chart_is_refused() {
    let host = FakeHost::internet();
    serve_tags(&host, &["1.0.0", "2.0.0"]);
    let image = blob(&host, "application/vnd.oci.image.config.v1+json", "{}");
    let config = blob(&host, "application/vnd.cncf.helm.config.v1+json", "{}");
    let manifest = |config| json!({"schemaVersion": 2, "mediaType": MANIFEST_MEDIA_TYPE, "config": config, "layers": []});
    put(&host, "1.0.0", &manifest(&image));
    put(&host, "1.1.0", &manifest(&config));
    put(&host, "1.2.0", &json!({"schemaVersion": 2, "mediaType": INDEX_MEDIA_TYPE, "manifests": []}));
    let digest = push(&host, "2.0.0", "chart");
    push(&host, "2.0.0", "other");
    let reference = "oci://ghe.example.org/team/web";
    let mut shown = Vec::new();
    for (chart, range) in [
        (reference, "1.0.0"),
        (reference, "1.1.0"),
        (reference, "1.2.0"),
        (reference, "3.0.0"),
        (reference, "~5"),
        (&format!("{reference}:1.0.0"), "2.0.0"),
        (&format!("{reference}:2.0.0@{digest}"), ""),
        (&format!("{reference}:a/b"), ""),
        (&format!("{reference}@sha256:0"), ""),
        ("oci://ghe.example.org/none", ""),
    ] {
        shown.push(show(fetch(&host, chart, "", range).await));
    }
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
`oci://ghe.example.org/team/web:1.0.0` is not a Helm chart; its content is `application/vnd.oci.image.config.v1+json`
hint: check the path; `helm push` adds the name of the chart to it

`oci://ghe.example.org/team/web:1.1.0` has no layer with the archive of a Helm chart

`oci://ghe.example.org/team/web:1.2.0` has 0 Helm charts, not one

cannot find version `3.0.0` of `oci://ghe.example.org/team/web`
hint: the versions are `2.0.0` and `1.0.0`

cannot find version `~5` of `oci://ghe.example.org/team/web`
hint: the versions are `2.0.0` and `1.0.0`

cannot use version `2.0.0` of `oci://ghe.example.org/team/web`: the reference has the tag `1.0.0`
hint: omit `--version`, or omit the tag

the tag `2.0.0` of `oci://ghe.example.org/team/web` has digest sha256:fac1e29c097292d05f7efe649569cad7a7100505676bc6c67e9ae2562cddb1a3, expected sha256:cc5349422c68690abb227798536ea9b77a404efa867673c80148ef1fb1fab27f
hint: the tag has moved; review the new chart, or omit the tag and the version

cannot use the reference `oci://ghe.example.org/team/web:a/b`
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `a/b` is not a tag

cannot use the reference `oci://ghe.example.org/team/web@sha256:0`
a registry URL has the form oci://{registry}/{repository}[:{tag}][@{digest}]; `sha256:0` is not a digest; write `sha256:` and 64 hexadecimal digits

cannot find a release of `oci://ghe.example.org/none`
hint: check the address and your access: hosts report private charts as missing
"#]]
    );
}

#[tokio::test]
async fn an_index_may_name_a_chart_in_a_registry() {
    let host = lab();
    push(&host, "1.2.0", "chart");
    let digest = Digest::of(b"chart").hex();
    serve(&host, &[entry("1.2.0", "oci://ghe.example.org/team/web:1.2.0", &digest)]);
    let mut shown = vec![show(fetch(&host, "web", REPOSITORY, "^1").await)];
    serve(&host, &[entry("1.2.0", "oci://ghe.example.org/team/web:1.2.0", &Digest::of(b"x").hex())]);
    shown.push(show(fetch(&host, "web", REPOSITORY, "^1").await));
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
chart = 1.2.0 of oci://ghe.example.org/team/web:1.2.0

cannot fetch chart `oci://ghe.example.org/team/web:1.2.0`
`oci://ghe.example.org/team/web:1.2.0` has digest sha256:cc57fc1903e444cf6a726490b43b27ee9f87facc037f86872201847c565b45fb, expected sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881
hint: check whether the host or a proxy changed the content; nothing was used
"#]]
    );
}

#[tokio::test]
async fn a_pulled_chart_is_available_offline() {
    let (host, folder) = (FakeHost::internet(), tempfile::tempdir().unwrap());
    serve_tags(&host, &["1.0.0"]);
    push(&host, "1.0.0", "chart");
    let reference = "oci://ghe.example.org/team/web";
    fetch_with(cached(&host, &folder), reference, "", "").await.unwrap();
    let requests = host.addresses().len();
    let offline = || Settings { network: NetworkAccess::Forbidden, ..cached(&host, &folder) };
    let shown = [
        show(fetch_with(offline(), reference, "", "").await),
        show(fetch_with(offline(), reference, "", "2.0.0").await),
    ];
    assert_eq!(host.addresses().len(), requests);
    assert_data_eq!(
        shown.join("\n\n"),
        str![[r#"
chart = 1.0.0 of oci://ghe.example.org/team/web:1.0.0

cannot fetch chart `oci://ghe.example.org/team/web:2.0.0`
cannot fetch `https://ghe.example.org/v2/team/web/manifests/2.0.0` in offline mode: it is not cached
hint: run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a `.tgz` archive
"#]]
    );
}

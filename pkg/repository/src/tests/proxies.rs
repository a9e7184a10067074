//! Connections to a host through real proxies on loopback.

use api::with_causes;
use std::collections::BTreeMap;

use support::{
    host::{FakeHost, Reply},
    proxy::FakeProxy,
};
use transport::{HostProxy, HostSettings, Hosts, ProxyAddress, ProxySettings, RequestFailure, Settings};

use crate::{
    RepositoryContext, fetch_url,
    testing::{settings, text},
};

const URL: &str = "https://files.example.org/c.yaml";

fn variable(variable: &str, value: &str) -> ProxySettings {
    ProxySettings::from_variables(|name| (name == variable).then(|| value.to_owned()))
}

fn through(text: &str) -> Hosts {
    let proxy = HostProxy::Proxy(ProxyAddress::parse(text).unwrap());
    Hosts::new([("files.example.org".to_owned(), HostSettings { proxy, ..HostSettings::default() })])
}

/// Settings with which only a proxy can resolve the host.
fn unresolved(host: &FakeHost) -> Settings {
    host.on("files.example.org/c.yaml", Reply::file("through"));
    Settings { resolve: BTreeMap::new(), ..settings(host) }
}

// Row: D-197
#[tokio::test]
async fn each_kind_of_proxy_works_with_and_without_a_password() {
    for (scheme, password) in
        [("http", None), ("http", Some("me:pw")), ("socks5h", None), ("socks5h", Some("me:pw"))]
    {
        let host = FakeHost::internet();
        let proxy = FakeProxy::with_password([("files.example.org:443", host.address())], password);
        let user = password.map(|password| format!("{password}@")).unwrap_or_default();
        let address = format!("{scheme}://{user}{}", proxy.address());
        let of_all = Settings { proxy: variable("ALL_PROXY", &address), ..unresolved(&host) };
        let of_host = Settings { hosts: through(&address), ..unresolved(&host) };
        for settings in [of_all, of_host] {
            let file = fetch_url(&RepositoryContext::new(settings), URL).await.unwrap();
            assert_eq!(text(&file), "through", "{scheme} {password:?}");
        }
        assert_eq!(proxy.requested(), ["files.example.org:443"; 2]);
    }
}

#[tokio::test]
async fn a_proxy_that_rejects_the_password_is_reported_without_it() {
    for scheme in ["http", "socks5h"] {
        let host = FakeHost::internet();
        let proxy = FakeProxy::with_password([("files.example.org:443", host.address())], Some("me:right"));
        let address = format!("{scheme}://me:s3cret@{}", proxy.address());
        let settings = Settings { hosts: through(&address), ..unresolved(&host) };
        assert!(!format!("{:?}", settings.hosts).contains("s3cret"));
        let error = fetch_url(&RepositoryContext::new(settings), URL).await.unwrap_err();
        let named = error.request().unwrap().proxy.clone().unwrap();
        assert!(named.contains(&proxy.address().to_string()), "{named}");
        let reported = format!("{} {error:?}", with_causes(&error));
        assert!(!reported.contains("s3cret"), "{reported}");
        let is_expected = match &error.request().unwrap().failure {
            RequestFailure::Unauthorized { status: 407, .. } => scheme == "http",
            RequestFailure::Connect { .. } => scheme == "socks5h",
            _ => false,
        };
        assert!(is_expected, "{error:?}");
        // A second attempt could lock the account.
        assert!(scheme != "http" || error.request().unwrap().attempts == 1, "{error:?}");
        assert!(proxy.requested().is_empty() && host.received().is_empty());
    }
}

// Row: D-197
#[tokio::test]
async fn a_host_without_a_proxy_bypasses_the_general_one() {
    let host = FakeHost::internet();
    host.on("files.example.org/c.yaml", Reply::file("direct"));
    let proxy = FakeProxy::start([]);
    let direct = HostSettings { proxy: HostProxy::Direct, ..HostSettings::default() };
    let settings = Settings {
        proxy: variable("HTTPS_PROXY", &format!("http://{}", proxy.address())),
        hosts: Hosts::new([("files.example.org".to_owned(), direct)]),
        ..settings(&host)
    };
    assert_eq!(text(&fetch_url(&RepositoryContext::new(settings), URL).await.unwrap()), "direct");
    assert!(proxy.requested().is_empty());
}

#[tokio::test]
async fn a_silent_proxy_is_reported_without_its_password() {
    let host = FakeHost::internet();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = format!("http://me:s3cret@{closed}");
    let proxy = ProxySettings::from_variables(|name| (name == "HTTPS_PROXY").then(|| proxy.clone()));
    let context = RepositoryContext::new(Settings { proxy, ..settings(&host) });
    let error = fetch_url(&context, "https://files.example.org/c.yaml").await.unwrap_err();
    assert_eq!(error.request().unwrap().proxy.as_deref(), Some(format!("http://{closed}/").as_str()));
    assert!(!format!("{} {error:?}", with_causes(&error)).contains("s3cret"), "{error:?}");
}

#[tokio::test]
async fn requests_use_the_proxy_except_for_exceptions() {
    let host = FakeHost::internet();
    host.on("files.example.org/c.yaml", Reply::file("through"));
    let proxy = host.proxy_url().replace("http://", "http://me:pw@");
    let variables = |no_proxy: &'static str| {
        let proxy = proxy.clone();
        ProxySettings::from_variables(move |name| match name {
            "HTTPS_PROXY" => Some(proxy.clone()),
            "NO_PROXY" => Some(no_proxy.to_owned()),
            _ => None,
        })
    };
    // Without name resolution, only the proxy can reach the host.
    let through = Settings { proxy: variables(""), resolve: BTreeMap::new(), ..settings(&host) };
    let file = fetch_url(&RepositoryContext::new(through), "https://files.example.org/c.yaml").await.unwrap();
    assert_eq!(text(&file), "through");
    let tunnel = &host.received()[0];
    assert_eq!((tunnel.method.as_str(), tunnel.host.as_str()), ("CONNECT", "files.example.org"));
    assert_eq!(tunnel.header("proxy-authorization"), Some("Basic bWU6cHc="));
    let past = Settings { proxy: variables(".example.org"), ..settings(&host) };
    assert!(fetch_url(&RepositoryContext::new(past), "https://files.example.org/c.yaml").await.is_ok());
    assert_eq!(host.received().len(), 3, "tunnel, request through it, request past it");
}

//! Real certificates on loopback: errors describe every certificate that the host sent.

use std::fs;

use support::host::{FakeHost, Reply};
use transport::{
    CaBundle, CertificateProblem, ClientCertificate, HostSettings, Hosts, RequestFailure, Settings,
    UntrustedCertificate,
};

use crate::{
    Error, File, RepositoryContext, fetch_url,
    testing::{settings, text},
};

const URL: &str = "https://files.example.org/c.yaml";

async fn fetch(host: &FakeHost, settings: Settings) -> Result<File, Error> {
    host.on("files.example.org/c.yaml", Reply::file("good"));
    fetch_url(&RepositoryContext::new(settings), URL).await
}

/// The error for a host if only this certificate is trusted.
async fn untrusted(host: &FakeHost, trusted_pem: &str) -> UntrustedCertificate {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    fs::write(&path, trusted_pem).unwrap();
    let ca_bundles = vec![CaBundle { path, named_by: "--ca-bundle".to_owned() }];
    let settings = Settings { ca_bundles, extra_roots: Vec::new(), ..settings(host) };
    let error = fetch(host, settings).await.unwrap_err();
    assert!(host.received().is_empty());
    match &error.request().unwrap().failure {
        RequestFailure::Certificate { host, source } => {
            assert_eq!(host, "files.example.org:443");
            assert_eq!((source.trusted.len(), source.trusts_system), (1, false));
            (**source).clone()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_expired_certificate_is_reported_with_its_last_day() {
    let host = FakeHost::expired(&["files.example.org"]);
    let reported = untrusted(&host, host.ca_pem()).await;
    assert_eq!(reported.problem, CertificateProblem::Expired { since: "2020-12-31".to_owned() });
    let [own] = reported.chain.as_slice() else { panic!("{reported:?}") };
    assert_eq!(
        (own.subject.as_str(), own.issuer.as_str()),
        ("CN=a fake host", "CN=authority of a fake host")
    );
    assert_eq!(own.names, ["localhost", "127.0.0.1", "files.example.org"]);
}

// Row: D-196
#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_reported_with_it() {
    let (host, other) = (FakeHost::start(&["files.example.org"]), FakeHost::start(&[]));
    let issuer = || "CN=authority of a fake host".to_owned();
    let reported = untrusted(&host, &other.client_identity().certificate_pem).await;
    assert_eq!(reported.problem, CertificateProblem::UnknownIssuer { issuer: issuer() });
    // A new authority with the same name but another key.
    let reported = untrusted(&host, other.ca_pem()).await;
    assert_eq!(reported.problem, CertificateProblem::KeyMismatch { issuer: issuer() });
}

#[tokio::test]
async fn a_self_signed_certificate_is_reported() {
    let host = FakeHost::self_signed(&["files.example.org"]);
    let reported = untrusted(&host, host.ca_pem()).await;
    assert_eq!(reported.problem, CertificateProblem::SelfSigned { subject: "CN=a fake host".to_owned() });
}

#[tokio::test]
async fn a_certificate_for_other_hosts_is_reported_with_their_names() {
    let host = FakeHost::start(&["git.lab"]);
    let reported = untrusted(&host, host.ca_pem()).await;
    let CertificateProblem::NameMismatch { requested, names } = reported.problem else {
        panic!("{reported:?}")
    };
    assert_eq!(
        (requested.as_str(), names.last().map(String::as_str)),
        ("files.example.org", Some("git.lab"))
    );
}

#[tokio::test]
async fn an_authority_of_one_host_is_trusted_for_that_host_only() {
    let (host, other) = (FakeHost::start(&["files.example.org"]), FakeHost::start(&["git.lab"]));
    let folder = tempfile::tempdir().unwrap();
    let bundle = |host: &FakeHost, name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, host.ca_pem()).unwrap();
        let ca_bundle = Some(CaBundle { path, named_by: format!("hosts.{name}") });
        (name.to_owned(), HostSettings { ca_bundle, ..HostSettings::default() })
    };
    let reach = |hosts| Settings {
        hosts: Hosts::new(hosts),
        extra_roots: vec![other.ca_pem().into()],
        ..settings(&host)
    };
    let trusting = reach(vec![bundle(&host, "files.example.org")]);
    assert_eq!(text(&fetch(&host, trusting).await.unwrap()), "good");
    // The certificate is not sent to another host, not even after a redirect.
    let mut elsewhere = reach(vec![bundle(&host, "git.lab")]);
    elsewhere.resolve.insert("git.lab".to_owned(), other.address());
    other.on("git.lab/c.yaml", Reply::redirect(URL));
    let context = RepositoryContext::new(elsewhere);
    for url in [URL, "https://git.lab/c.yaml"] {
        let error = fetch_url(&context, url).await.unwrap_err();
        let failure = &error.request().unwrap().failure;
        assert!(
            matches!(failure, RequestFailure::Certificate { host, .. } if host == "files.example.org:443"),
            "{error:?}"
        );
    }
}

// Row: D-196
#[tokio::test]
async fn a_client_certificate_is_presented_on_request() {
    let host = FakeHost::requiring_client_certificate(&["files.example.org"]);
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["ann.pem", "ann.key"].map(|name| folder.path().join(name));
    fs::write(&certificate, &host.client_identity().certificate_pem).unwrap();
    fs::write(&key, &host.client_identity().key_pem).unwrap();
    let showing = |certificate: &std::path::Path, key: &std::path::Path| {
        let client_certificate =
            Some(ClientCertificate { certificate: certificate.to_owned(), key: key.to_owned() });
        let set = HostSettings { client_certificate, ..HostSettings::default() };
        Settings { hosts: Hosts::new([("files.example.org".to_owned(), set)]), ..settings(&host) }
    };
    assert_eq!(text(&fetch(&host, showing(&certificate, &key)).await.unwrap()), "good");
    let error = fetch(&host, settings(&host)).await.unwrap_err();
    assert!(
        matches!(&error.request().unwrap().failure, RequestFailure::ClientCertificateRequired { host } if host == "files.example.org:443"),
        "{error:?}"
    );
    // Unusable files are reported before any request. The error shows no part of a key.
    for (certificate, key, wrong) in [(&key, &key, &key), (&certificate, &certificate, &certificate)] {
        let error = fetch(&host, showing(certificate, key)).await.unwrap_err();
        assert!(
            matches!(&error, Error::Transport(transport::Error::ClientCertificate { path, .. }) if path == wrong),
            "{error:?}"
        );
    }
    let stranger = FakeHost::start(&[]);
    fs::write(&key, &stranger.client_identity().key_pem).unwrap();
    let error = fetch(&host, showing(&certificate, &key)).await.unwrap_err();
    assert!(
        matches!(&error, Error::Transport(transport::Error::ClientCertificate { path, .. }) if *path == certificate),
        "{error:?}"
    );
}

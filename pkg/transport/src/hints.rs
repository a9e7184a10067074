use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::{ErrorExplanation, Explain};

use crate::{
    CertificateFacts, CertificateProblem, Error, Quota, RequestError, RequestFailure, UntrustedCertificate,
};

impl Explain for Error {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(match self {
            Self::Request(request) => return request.explain(),
            Self::Offline { .. } | Self::DamagedOffline { .. } => {
                "run the same once with a connection and without `--offline` or `CAPSTAN_OFFLINE`, or name a local \
                 repository in clusterctl.yaml"
            }
            Self::NewerStore { .. } | Self::ForeignStore { .. } => {
                "name a folder of its own with `CAPSTAN_CACHE_DIR`, or under `cache` in clusterctl.yaml"
            }
            Self::Size { .. } => {
                "the registry, or something on the way to it, changed the content; nothing of it was used"
            }
            Self::CaFile { named_by, .. } => {
                return ErrorExplanation::hint(format!("{named_by} takes a file of PEM certificates"));
            }
            Self::CredentialHelper { named_by, .. } => {
                return ErrorExplanation::hint(format!(
                    "`{}` names the program; log in again, or set `username` and `password` under `hosts` in clusterctl.yaml",
                    named_by.display()
                ));
            }
            Self::CredentialFile { .. } => {
                "log in again with `docker login` or `podman login`, which write it anew"
            }
            Self::Digest { .. } => {
                "nothing of it was used; find out whether the host, or something on the way to it, changed it"
            }
            Self::UnsafeName { .. }
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::IsFolder { .. }
            | Self::TooLarge { .. }
            | Self::Client(_)
            | Self::Proxy { .. }
            | Self::Credential { .. }
            | Self::FetchUrl { .. }
            | Self::Store { .. }
            | Self::Damaged { .. }
            | Self::ClientCertificate { .. }
            | Self::MediaType { .. }
            | Self::UploadAddress { .. } => return ErrorExplanation::default(),
        })
    }
}

impl Explain for RequestError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(hints(self))
    }
}

impl Explain for crate::InvalidDigest {}

impl Explain for crate::UnknownHostKind {}

/// Returns the next steps after a failed request.
fn hints(error: &RequestError) -> Vec<String> {
    let mut hints = match &error.failure {
        RequestFailure::Certificate { host, source } => certificate_hints(host, source),
        _ => request_hint(error).into_iter().collect(),
    };
    if let Some(proxy) = &error.proxy {
        hints.push(format!("the request went through the proxy {proxy}"));
    }
    hints
}

fn request_hint(error: &RequestError) -> Option<String> {
    let sent = error.credential.as_ref().map(|credential| format!("with {credential}"));
    match &error.failure {
        RequestFailure::Unauthorized { .. } => Some(match sent {
            Some(sent) => format!("the request was sent {sent}; check that the token may read this"),
            None => format!("the request was sent without a token; {}", token_hint(&error.url)),
        }),
        RequestFailure::RateLimited { retry_after, .. } => {
            let wait = retry_after.or_else(|| error.quota.and_then(until_reset));
            let when =
                wait.map_or("try again later".to_owned(), |wait| format!("try again in {}", format_duration(wait)));
            let quota = error.quota.map(format_quota).unwrap_or_default();
            Some(match sent {
                Some(sent) => format!("the request was sent {sent}{quota}; {when}"),
                None => {
                    format!(
                        "the request was sent without a token{quota}; {} or {when}",
                        token_hint(&error.url)
                    )
                }
            })
        }
        RequestFailure::ClientCertificateRequired { host } => Some(format!(
            "name yours with `clientCertificate` and `clientKey` of `{}` under `hosts` in clusterctl.yaml",
            without_https_port(host)
        )),
        RequestFailure::Tls { .. } => {
            Some("see that the port is one for https, and that no proxy answers in place of the host".to_owned())
        }
        RequestFailure::WebPage => {
            Some("a login page or a captive portal may stand between you and the host".to_owned())
        }
        // The proxy itself may be unreachable. The hint that names the proxy follows.
        RequestFailure::UnknownHost { .. } | RequestFailure::Connect { .. } if error.proxy.is_some() => {
            Some(
                "check the proxy and its password; if the host is reached without one, name it in NO_PROXY, or set \
                 `proxy: none` for it under `hosts` in clusterctl.yaml"
                    .to_owned(),
            )
        }
        RequestFailure::UnknownHost { .. } | RequestFailure::Connect { .. } => {
            Some(
                "without access to it, use a local repository, or set HTTPS_PROXY or `proxy` under `hosts`".to_owned(),
            )
        }
        _ => None,
    }
}

/// Returns advice for setting the credential of the host in a URL.
fn token_hint(url: &str) -> String {
    let host = url.split('/').nth(2).unwrap_or_default();
    if matches!(host, "github.com" | "api.github.com") {
        return "set GITHUB_TOKEN".to_owned();
    }
    if host.starts_with("gitlab.") && url.contains("/api/v4/projects/") {
        return "set GITLAB_ACCESS_TOKEN".to_owned();
    }
    if url.starts_with("http://") {
        return "none is sent in the clear: use https".to_owned();
    }
    if url.contains("/v2/") {
        let login = "log in with `docker login` or `podman login`";
        return format!(
            "{login}, or set `username` and `password` for `{host}` under `hosts` in clusterctl.yaml"
        );
    }
    format!("set `token` for `{host}` under `hosts` in clusterctl.yaml, or a login for it in ~/.netrc")
}

/// Returns hints about an untrusted certificate: the problem, the presented certificates, and the trusted
/// authorities.
fn certificate_hints(host: &str, error: &UntrustedCertificate) -> Vec<String> {
    let host = without_https_port(host);
    let trust = format!(
        "if you trust it, give it with `--ca-bundle FILE`, or with `caBundle` of `{host}` under `hosts` in clusterctl.yaml"
    );
    let mut hints = vec![match &error.problem {
        CertificateProblem::Expired { .. } => "whoever runs the host must renew its certificate".to_owned(),
        CertificateProblem::NotYetValid { .. } => "check the clock of this machine".to_owned(),
        CertificateProblem::UnknownIssuer { issuer } => {
            format!("get the certificate of the authority `{issuer}`; {trust}")
        }
        CertificateProblem::KeyMismatch { issuer } => {
            format!("get the new certificate of the authority `{issuer}`; {trust}")
        }
        CertificateProblem::SelfSigned { .. } => {
            format!("get that certificate from whoever runs the host; {trust}")
        }
        CertificateProblem::NameMismatch { names, .. } => match names.first() {
            Some(name) => format!("use a name it is for in the url, such as `{name}`"),
            None => "whoever runs the host must name it in its certificate".to_owned(),
        },
        CertificateProblem::Other { .. } => trust,
    }];
    hints.extend(error.chain.iter().map(describe_certificate));
    let files = error.trusted.iter().map(|bundle| format!("{} ({})", bundle.path.display(), bundle.named_by));
    let system = error.trusts_system.then(|| "the certificates of the system".to_owned());
    let trusted: Vec<String> = system.into_iter().chain(files).collect();
    if !trusted.is_empty() {
        hints.push(format!("trusted were {}", trusted.join(" and ")));
    }
    hints
}

fn describe_certificate(facts: &CertificateFacts) -> String {
    let CertificateFacts { subject, issuer, valid_from, valid_until, names } = facts;
    let names = if names.is_empty() { String::new() } else { format!(", for {}", names.join(", ")) };
    format!(
        "the host showed `{subject}`, signed by `{issuer}`, good from {valid_from} to {valid_until}{names}"
    )
}

/// Returns a host without the HTTPS port, as written under `hosts`.
fn without_https_port(host: &str) -> &str {
    host.strip_suffix(":443").unwrap_or(host)
}

fn format_quota(quota: Quota) -> String {
    let limit = quota.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    format!(" and has {}{limit} requests left", quota.remaining)
}

fn until_reset(quota: Quota) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    quota.resets_at.map(|at| Duration::from_secs(at).saturating_sub(now))
}

fn format_duration(wait: Duration) -> String {
    match wait.as_secs() {
        0..=89 => format!("{} s", wait.as_secs()),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{CaBundle, Credential, Secret};

    use super::*;

    fn refused(failure: RequestFailure, credential: Option<Credential>, quota: Option<Quota>) -> Vec<String> {
        hints(&RequestError {
            url: "https://api.github.com/repos/a/b".to_owned(),
            failure,
            credential,
            quota,
            proxy: None,
            challenge: None,
            attempts: 1,
        })
    }

    fn limited(retry_after: Option<Duration>) -> RequestFailure {
        RequestFailure::RateLimited { status: 403, retry_after, secondary: false }
    }

    #[test]
    fn a_token_is_asked_for_where_its_host_reads_it() {
        let cases = [
            ("https://api.github.com/repos/a/b", "GITHUB_TOKEN"),
            (
                "https://git.lab.internal/a/b/releases/download/v1.0.0/c.yaml",
                "`token` for `git.lab.internal`",
            ),
            ("https://gitlab.com/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml", "GITLAB_ACCESS_TOKEN"),
            ("https://code.lab/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml", "`token` for `code.lab`"),
            ("https://files.lab/template.yaml", "~/.netrc"),
            ("https://registry.lab/v2/a/manifests/v1.0.0", "docker login"),
            ("http://files.lab/template.yaml", "use https"),
        ];
        for (url, part) in cases {
            assert!(token_hint(url).contains(part), "{url}: {}", token_hint(url));
        }
    }

    #[test]
    fn behind_a_proxy_the_proxy_is_to_be_checked() {
        let told = |proxy: Option<&str>| {
            hints(&RequestError {
                url: "https://github.com/a/b".to_owned(),
                failure: RequestFailure::Connect {
                    host: "github.com:443".to_owned(),
                    source: "refused".into(),
                },
                credential: None,
                quota: None,
                proxy: proxy.map(str::to_owned),
                challenge: None,
                attempts: 3,
            })
        };
        assert!(told(None)[0].contains("HTTPS_PROXY"));
        let behind = told(Some("http://127.0.0.1:9/"));
        assert!(behind[0].starts_with("check the proxy") && behind[1].contains("127.0.0.1:9"), "{behind:?}");
    }

    #[test]
    fn a_rate_limit_tells_whether_a_token_was_sent_and_when_it_ends() {
        let wait = limited(Some(Duration::from_mins(2)));
        assert_eq!(
            refused(wait, Secret::new("GITHUB_TOKEN", "ghp_x").map(Credential::from), None),
            ["the request was sent with GITHUB_TOKEN (***); try again in 2 min"]
        );
        let quota = Quota { limit: Some(60), remaining: 0, resets_at: Some(0) };
        assert_eq!(
            refused(limited(None), None, Some(quota)),
            [
                "the request was sent without a token and has 0 of 60 requests left; set GITHUB_TOKEN or try again in 0 s"
            ]
        );
    }

    #[test]
    fn a_certificate_that_is_not_trusted_is_told_with_what_was_shown_and_trusted() {
        let error = UntrustedCertificate {
            problem: CertificateProblem::UnknownIssuer { issuer: "CN=lab".to_owned() },
            chain: vec![CertificateFacts {
                subject: "CN=git".to_owned(),
                issuer: "CN=lab".to_owned(),
                valid_from: "2026-01-01".to_owned(),
                valid_until: "2027-01-01".to_owned(),
                names: vec!["git.lab".to_owned()],
            }],
            trusted: vec![CaBundle { path: "/etc/ca.pem".into(), named_by: "--ca-bundle".to_owned() }],
            trusts_system: true,
        };
        assert_eq!(
            certificate_hints("git.lab:443", &error),
            [
                "get the certificate of the authority `CN=lab`; if you trust it, give it with `--ca-bundle FILE`, or with `caBundle` of `git.lab` under `hosts` in clusterctl.yaml",
                "the host showed `CN=git`, signed by `CN=lab`, good from 2026-01-01 to 2027-01-01, for git.lab",
                "trusted were the certificates of the system and /etc/ca.pem (--ca-bundle)",
            ]
        );
    }
}

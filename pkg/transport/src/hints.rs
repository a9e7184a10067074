use std::time::{Duration, SystemTime, UNIX_EPOCH};

use api::{ErrorExplanation, Explain};

use crate::{
    CertificateFacts, CertificateProblem, Error, Quota, RequestAction, RequestError, RequestFailure,
    UntrustedCertificate, error::PROXY_REFUSED,
};

impl Explain for Error {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hint(match self {
            Self::Request(request) => return request.explain(),
            Self::Offline { .. } | Self::DamagedOffline { .. } => {
                "run the command once online, without `--offline` or `CAPSTAN_OFFLINE`, or use a local repository in \
                 clusterctl.yaml"
            }
            Self::NewerStore { .. } | Self::ForeignStore { .. } => {
                "set another folder with `CAPSTAN_CACHE_DIR`, or under `cache` in clusterctl.yaml"
            }
            Self::Size { .. } => {
                "check whether the registry or a proxy changed the content; nothing was used"
            }
            Self::CaFile { named_by, .. } => {
                return ErrorExplanation::hint(format!("set {named_by} to a file of PEM certificates"));
            }
            Self::CredentialHelper { named_by, .. } => {
                return ErrorExplanation::hint(format!(
                    "log in again, or set `username` and `password` under `hosts` in clusterctl.yaml; `{}` names the program",
                    named_by.display()
                ));
            }
            Self::CredentialFile { .. } => {
                "log in again with `docker login` or `podman login`, which rewrite the file"
            }
            Self::SystemRoots(_) => {
                "install the package `ca-certificates`, or set SSL_CERT_FILE to a file of PEM certificates"
            }
            Self::Digest { .. } => "check whether the host or a proxy changed the content; nothing was used",
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
    if let Some(host) = &error.redirected_to {
        hints.push(format!("the request was redirected to {host}"));
    }
    if let Some(proxy) = &error.proxy {
        hints.push(format!("the request went through the proxy {proxy}"));
    }
    hints
}

fn request_hint(error: &RequestError) -> Option<String> {
    let sent = error.credential.as_ref().map(|credential| format!("with {credential}"));
    let answered_by = error.redirected_to.as_ref().unwrap_or(&error.url);
    match &error.failure {
        RequestFailure::Unauthorized { status: PROXY_REFUSED, .. } => {
            Some("check the user and password of the proxy".to_owned())
        }
        RequestFailure::Unauthorized { .. } => Some(match sent {
            Some(sent) => {
                let access = if error.action == RequestAction::Upload { "write" } else { "read" };
                format!("the request was sent {sent}; check that it grants {access} access")
            }
            None => format!("the request was sent without a token; {}", token_hint(answered_by)),
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
                        token_hint(answered_by)
                    )
                }
            })
        }
        RequestFailure::ClientCertificateRequired { host } => Some(format!(
            "set `clientCertificate` and `clientKey` of `{}` under `hosts` in clusterctl.yaml",
            without_https_port(host)
        )),
        RequestFailure::Tls { .. } => {
            Some("check that the port serves HTTPS, and that no proxy answers in place of the host".to_owned())
        }
        RequestFailure::WebPage => {
            Some("check for a login page or a captive portal between you and the host".to_owned())
        }
        // The proxy itself may be unreachable. The hint that names the proxy follows.
        RequestFailure::UnknownHost { .. } | RequestFailure::Connect { .. } if error.proxy.is_some() => {
            Some(
                "check the proxy and its password; to bypass it, add the host to NO_PROXY, or set `proxy: none` for the \
                 host under `hosts` in clusterctl.yaml"
                    .to_owned(),
            )
        }
        RequestFailure::UnknownHost { .. } | RequestFailure::Connect { .. } => {
            Some(
                "if the host is unreachable, use a local repository, or set HTTPS_PROXY or `proxy` under `hosts`".to_owned(),
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
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if url.starts_with("http://") && !matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
        return "use https: tokens are never sent unencrypted".to_owned();
    }
    if url.contains("/v2/") {
        let login = "log in with `docker login` or `podman login`";
        return format!(
            "{login}, or set `username` and `password` for `{host}` under `hosts` in clusterctl.yaml"
        );
    }
    format!("set `token` for `{host}` under `hosts` in clusterctl.yaml, or add a login to ~/.netrc")
}

/// Returns hints about an untrusted certificate: the problem, the presented certificates, and the trusted
/// authorities.
fn certificate_hints(host: &str, error: &UntrustedCertificate) -> Vec<String> {
    let host = without_https_port(host);
    let trust = format!(
        "if you trust it, pass it with `--ca-bundle FILE`, or set `caBundle` of `{host}` under `hosts` in clusterctl.yaml"
    );
    let mut hints = vec![match &error.problem {
        CertificateProblem::Expired { .. } => {
            "ask the operator of the host to renew its certificate".to_owned()
        }
        CertificateProblem::NotYetValid { .. } => "check the clock of this machine".to_owned(),
        CertificateProblem::UnknownIssuer { issuer } => {
            format!("get the certificate of the authority `{issuer}`; {trust}")
        }
        CertificateProblem::KeyMismatch { issuer } => {
            format!("get the new certificate of the authority `{issuer}`; {trust}")
        }
        CertificateProblem::SelfSigned { .. } => {
            format!("get that certificate from the operator of the host; {trust}")
        }
        CertificateProblem::NameMismatch { names, .. } => match names.first() {
            Some(name) => format!("use a name from the certificate in the URL, such as `{name}`"),
            None => "ask the operator of the host to add its name to the certificate".to_owned(),
        },
        CertificateProblem::Other { .. } => trust,
    }];
    hints.extend(error.chain.iter().map(describe_certificate));
    let files = error.trusted.iter().map(|bundle| format!("{} ({})", bundle.path.display(), bundle.named_by));
    let system = error.trusts_system.then(|| "the system certificates".to_owned());
    let trusted: Vec<String> = system.into_iter().chain(files).collect();
    if !trusted.is_empty() {
        hints.push(format!("trusted: {}", trusted.join(" and ")));
    }
    hints
}

fn describe_certificate(facts: &CertificateFacts) -> String {
    let CertificateFacts { subject, issuer, valid_from, valid_until, names } = facts;
    let names = if names.is_empty() { String::new() } else { format!(", for {}", names.join(", ")) };
    format!(
        "the host presented `{subject}`, issued by `{issuer}`, valid from {valid_from} to {valid_until}{names}"
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
    use snapbox::{assert_data_eq, str};

    use crate::{CaBundle, Credential, Secret};

    use super::*;

    fn refused(failure: RequestFailure, credential: Option<Credential>, quota: Option<Quota>) -> Vec<String> {
        hints(&RequestError {
            action: RequestAction::Fetch,
            url: "https://api.github.com/repos/a/b".to_owned(),
            failure,
            credential,
            redirected_to: None,
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
    fn a_token_hint_names_the_source_for_its_host() {
        let hints = [
            "https://api.github.com/repos/a/b",
            "https://git.lab.internal/a/b/releases/download/v1.0.0/c.yaml",
            "https://gitlab.com/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml",
            "https://code.lab/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml",
            "https://files.lab/template.yaml",
            "https://registry.lab/v2/a/manifests/v1.0.0",
            "http://files.lab/template.yaml",
            "http://127.0.0.1:5000/v2/a/manifests/v1.0.0",
        ]
        .map(token_hint);
        assert_data_eq!(
            hints.join(
                "
"
            ),
            str![[r#"
set GITHUB_TOKEN
set `token` for `git.lab.internal` under `hosts` in clusterctl.yaml, or add a login to ~/.netrc
set GITLAB_ACCESS_TOKEN
set `token` for `code.lab` under `hosts` in clusterctl.yaml, or add a login to ~/.netrc
set `token` for `files.lab` under `hosts` in clusterctl.yaml, or add a login to ~/.netrc
log in with `docker login` or `podman login`, or set `username` and `password` for `registry.lab` under `hosts` in clusterctl.yaml
use https: tokens are never sent unencrypted
log in with `docker login` or `podman login`, or set `username` and `password` for `127.0.0.1:5000` under `hosts` in clusterctl.yaml
"#]]
        );
    }

    #[test]
    fn behind_a_proxy_the_hint_is_to_check_the_proxy() {
        let reported = |proxy: Option<&str>| {
            hints(&RequestError {
                action: RequestAction::Fetch,
                url: "https://github.com/a/b".to_owned(),
                failure: RequestFailure::Connect {
                    host: "github.com:443".to_owned(),
                    source: "refused".into(),
                },
                credential: None,
                redirected_to: None,
                quota: None,
                proxy: proxy.map(str::to_owned),
                challenge: None,
                attempts: 3,
            })
        };
        assert_data_eq!(
            reported(None).join("\n"),
            str![
                "if the host is unreachable, use a local repository, or set HTTPS_PROXY or `proxy` under `hosts`"
            ]
        );
        assert_data_eq!(
            reported(Some("http://127.0.0.1:9/")).join("\n"),
            str![[r#"
check the proxy and its password; to bypass it, add the host to NO_PROXY, or set `proxy: none` for the host under `hosts` in clusterctl.yaml
the request went through the proxy http://127.0.0.1:9/
"#]]
        );
    }

    #[test]
    fn a_rate_limit_hint_names_the_token_and_the_wait() {
        let wait = limited(Some(Duration::from_mins(2)));
        assert_data_eq!(
            refused(wait, Secret::new("GITHUB_TOKEN", "ghp_x").map(Credential::from), None).join("\n"),
            str!["the request was sent with GITHUB_TOKEN (***); try again in 2 min"]
        );
        let quota = Quota { limit: Some(60), remaining: 0, resets_at: Some(0) };
        assert_data_eq!(
            refused(limited(None), None, Some(quota)).join("\n"),
            str![
                "the request was sent without a token and has 0 of 60 requests left; set GITHUB_TOKEN or try again in 0 s"
            ]
        );
    }

    #[test]
    fn an_untrusted_certificate_is_shown_with_the_trusted_ones() {
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
        assert_data_eq!(
            certificate_hints("git.lab:443", &error).join(
                "
"
            ),
            str![[r#"
get the certificate of the authority `CN=lab`; if you trust it, pass it with `--ca-bundle FILE`, or set `caBundle` of `git.lab` under `hosts` in clusterctl.yaml
the host presented `CN=git`, issued by `CN=lab`, valid from 2026-01-01 to 2027-01-01, for git.lab
trusted: the system certificates and /etc/ca.pem (--ca-bundle)
"#]]
        );
    }
}

use std::{
    error::Error,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use repository::{Error as RepositoryError, Failure, Quota, RequestError};

use super::rules::{as_error, one_of};

/// So many names of a list are shown; the rest is counted.
const SHOWN: usize = 5;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let Some(error) = as_error::<RepositoryError>(error) else { return Vec::new() };
    match error {
        RepositoryError::Request(request) => requests(request),
        RepositoryError::NoRelease { version, available, .. } => {
            let same = available
                .iter()
                .find(|known| known.trim_start_matches('v') == version.trim_start_matches('v'));
            match same {
                Some(same) => vec![format!("did you mean `{same}`?")],
                None => newest(available).into_iter().collect(),
            }
        }
        RepositoryError::NoFile { file, available, looked_at, .. } => {
            missing_file(file, available, looked_at)
        }
        RepositoryError::CannotList { .. } => {
            vec!["name a version behind a colon, such as `aws:v2.9.0`".to_owned()]
        }
        RepositoryError::NoVersions { ignored, .. } if !ignored.is_empty() => {
            vec![format!("there is {}, which is no semantic version", one_of(first(ignored)))]
        }
        RepositoryError::EmptySeries { listed_by, .. } => {
            vec![format!("name a version behind a colon, such as `{listed_by}`")]
        }
        RepositoryError::Offline { .. } | RepositoryError::DamagedOffline { .. } => vec![
            "run the same once with a connection and without `--offline` or `CAPSTAN_OFFLINE`, or name a local \
             repository in clusterctl.yaml"
                .to_owned(),
        ],
        RepositoryError::NewerStore { .. } | RepositoryError::ForeignStore { .. } => {
            vec!["name a folder of its own with `CAPSTAN_CACHE_DIR`, or under `cache` in clusterctl.yaml".to_owned()]
        }
        RepositoryError::NotAsLocked(refused) => super::lock::hints(refused),
        RepositoryError::Oci(error) => super::registry::hint(error).into_iter().collect(),
        RepositoryError::CaFile { .. } => vec!["SSL_CERT_FILE takes a file of PEM certificates".to_owned()],
        _ => Vec::new(),
    }
}

fn first(names: &[String]) -> &[String] {
    &names[..names.len().min(SHOWN)]
}

fn newest(available: &[String]) -> Option<String> {
    let newest: Vec<&String> = available.iter().rev().take(SHOWN).collect();
    (!newest.is_empty()).then(|| {
        let more = available.len().saturating_sub(SHOWN);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the newest releases are {}{rest}", listed(&newest))
    })
}

fn listed(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

fn missing_file(file: &str, available: &[String], looked_at: &str) -> Vec<String> {
    let near = api::near_names(file, available.iter().map(String::as_str));
    if !near.is_empty() {
        return vec![format!("did you mean {}?", one_of(&near))];
    }
    let mut hints = vec![format!("looked at {looked_at}")];
    if provider::flavor_of_file(file).is_some() {
        let of_release = available.iter().filter_map(|name| provider::flavor_of_file(name));
        let flavors: Vec<&str> = of_release.filter(|flavor| !flavor.is_empty()).collect();
        if !flavors.is_empty() {
            hints.push(format!("the release has the flavors {}: name one with `--flavor`", listed(&flavors)));
        }
    }
    hints
}

fn requests(error: &RequestError) -> Vec<String> {
    let mut hints: Vec<String> = request(error).into_iter().collect();
    if let Some(proxy) = &error.proxy {
        hints.push(format!("the request went through the proxy {proxy}"));
    }
    hints
}

fn request(error: &RequestError) -> Option<String> {
    let sent = error.credential.as_ref().map(|credential| format!("with {credential}"));
    match &error.failure {
        Failure::Unauthorized { .. } => Some(match sent {
            Some(sent) => format!("the request was sent {sent}; check that the token may read this"),
            None => format!("the request was sent without a token; {}", token_for(&error.url)),
        }),
        Failure::RateLimited { retry_after, .. } => {
            let wait = retry_after.or_else(|| error.quota.and_then(until_reset));
            let when =
                wait.map_or("try again later".to_owned(), |wait| format!("try again in {}", in_words(wait)));
            let quota = error.quota.map(quota_in_words).unwrap_or_default();
            Some(match sent {
                Some(sent) => format!("the request was sent {sent}{quota}; {when}"),
                None => {
                    format!(
                        "the request was sent without a token{quota}; {} or {when}",
                        token_for(&error.url)
                    )
                }
            })
        }
        Failure::Tls { .. } => {
            Some("if the host has a certificate of your own, name its CA in SSL_CERT_FILE".to_owned())
        }
        Failure::WebPage => {
            Some("a login page or a captive portal may stand between you and the host".to_owned())
        }
        // Behind a proxy it may be the proxy that is not there; the hint that names it follows.
        Failure::UnknownHost { .. } | Failure::Connect { .. } if error.proxy.is_some() => {
            Some("check the proxy, or name the host in NO_PROXY if it is reached without one".to_owned())
        }
        Failure::UnknownHost { .. } | Failure::Connect { .. } => {
            Some("without access to it, use a local repository or set HTTPS_PROXY".to_owned())
        }
        _ => None,
    }
}

/// Where the token belongs that the host of a url would be sent.
fn token_for(url: &str) -> &'static str {
    let host = url.split('/').nth(2).unwrap_or_default();
    let has = |part| url.contains(part);
    if has("/api/v4/projects/") && host.starts_with("gitlab.") {
        "set GITLAB_ACCESS_TOKEN"
    } else if has("/api/v4/projects/") {
        "name one for this host under `gitlab-tokens` in clusterctl.yaml"
    } else if matches!(host, "github.com" | "api.github.com") {
        "set GITHUB_TOKEN"
    } else if has("/v2/") {
        "log in to the registry with `docker login`, or name its credential under `hosts` in clusterctl.yaml"
    } else if has("/releases/") || has("/api/v3/") {
        "name one for this host under `github-enterprise-tokens` in clusterctl.yaml"
    } else {
        "none is sent to such an address: download the file and name its path"
    }
}

fn quota_in_words(quota: Quota) -> String {
    let limit = quota.limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    format!(" and has {}{limit} requests left", quota.remaining)
}

fn until_reset(quota: Quota) -> Option<Duration> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    quota.resets_at.map(|at| Duration::from_secs(at).saturating_sub(now))
}

fn in_words(wait: Duration) -> String {
    match wait.as_secs() {
        0..=89 => format!("{} s", wait.as_secs()),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use repository::{Credential, Secret};

    use super::*;

    fn refused(failure: Failure, credential: Option<Credential>, quota: Option<Quota>) -> Vec<String> {
        hints(&RepositoryError::Request(Arc::new(RequestError {
            url: "https://api.github.com/repos/a/b".to_owned(),
            failure,
            credential,
            quota,
            proxy: None,
            challenge: None,
            attempts: 1,
        })))
    }

    fn limited(retry_after: Option<Duration>) -> Failure {
        Failure::RateLimited { status: 403, retry_after, secondary: false }
    }

    #[test]
    fn a_token_is_asked_for_where_its_host_reads_it() {
        let cases = [
            ("https://api.github.com/repos/a/b", "GITHUB_TOKEN"),
            ("https://git.lab.internal/a/b/releases/download/v1.0.0/c.yaml", "`github-enterprise-tokens`"),
            ("https://gitlab.com/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml", "GITLAB_ACCESS_TOKEN"),
            ("https://code.lab/api/v4/projects/1/packages/generic/a/v1.0.0/c.yaml", "`gitlab-tokens`"),
            ("https://registry.lab/v2/team/aws/manifests/v2.9.0", "`docker login`"),
            ("https://files.lab/template.yaml", "download the file"),
        ];
        for (url, part) in cases {
            assert!(token_for(url).contains(part), "{url}: {}", token_for(url));
        }
    }

    #[test]
    fn behind_a_proxy_the_proxy_is_to_be_checked() {
        let told = |proxy: Option<&str>| {
            hints(&RepositoryError::Request(Arc::new(RequestError {
                url: "https://github.com/a/b".to_owned(),
                failure: Failure::Connect { host: "github.com:443".to_owned(), source: "refused".into() },
                credential: None,
                quota: None,
                proxy: proxy.map(str::to_owned),
                challenge: None,
                attempts: 3,
            })))
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
    fn a_release_that_is_not_there_is_answered_with_those_that_are() {
        let missing = |version: &str| {
            let available: Vec<String> = (0..8).map(|minor| format!("v1.{minor}.0")).collect();
            hints(&RepositoryError::NoRelease { version: version.into(), place: "/srv".into(), available })
        };
        assert_eq!(missing("1.3.0"), ["did you mean `v1.3.0`?"]);
        assert_eq!(
            missing("v2.0.0"),
            ["the newest releases are `v1.7.0`, `v1.6.0`, `v1.5.0`, `v1.4.0`, `v1.3.0` and 3 more"]
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_answered_with_near_names_or_the_place() {
        let missing = |available: &[&str]| {
            hints(&RepositoryError::NoFile {
                file: "metadata.yml".into(),
                version: "v1.0.0".into(),
                place: "/srv".into(),
                looked_at: "/srv/v1.0.0/metadata.yml".into(),
                available: available.iter().map(ToString::to_string).collect(),
            })
        };
        assert_eq!(missing(&["metadata.yaml"]), ["did you mean `metadata.yaml`?"]);
        assert_eq!(missing(&[]), ["looked at /srv/v1.0.0/metadata.yml"]);
    }

    #[test]
    fn a_template_that_is_not_there_is_answered_with_the_flavors_there_are() {
        let available = ["cluster-template-development.yaml", "cluster-template-in-memory.yaml", "x.yaml"];
        let available = available.map(str::to_owned);
        let hints = missing_file("cluster-template.yaml", &available, "/srv/cluster-template.yaml");
        assert_eq!(
            hints,
            [
                "looked at /srv/cluster-template.yaml",
                "the release has the flavors `development`, `in-memory`: name one with `--flavor`"
            ]
        );
    }
}

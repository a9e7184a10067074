//! Next steps after a release or a release file could not be read.

use api::{ErrorExplanation, Explain, one_of, output::ErrorKind, shell_word, similar_names};

use crate::{
    Error, LocationError, LockError, LockMismatch, OciError,
    git::{GitError, GitFailure, RemoteUrlError},
    oci::CERT_MANAGER_LABEL,
};

/// The limit of names that are shown. The others are counted.
const MAX_SHOWN: usize = 5;

impl Explain for Error {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Transport(inner) => inner.explain(),
            Self::LockMismatch(inner) => inner.explain(),
            Self::Oci(inner) => inner.explain(),
            Self::Git(inner) => inner.explain(),
            Self::GitProgram(failure) => match &**failure {
                GitFailure::Program { .. } => {
                    ErrorExplanation::hint("install `git`, and see that it is in PATH")
                }
                GitFailure::TooOld { .. } => ErrorExplanation::hint("install a newer `git`"),
                _ => ErrorExplanation::default(),
            },
            Self::UnknownRelease { version, available, .. } => {
                ErrorExplanation::hints(missing_release(version, available))
            }
            Self::UnknownFile { file, available, looked_at, .. } => {
                ErrorExplanation::hint(missing_file(file, available, looked_at))
            }
            Self::CannotList { place } => ErrorExplanation::hints(cannot_list(place)),
            Self::NoVersions { ignored, .. } if !ignored.is_empty() => {
                let shown = &ignored[..ignored.len().min(MAX_SHOWN)];
                ErrorExplanation::hint(format!("there is {}, which is no semantic version", one_of(shown)))
            }
            Self::EmptySeries { listed_by, .. } => {
                ErrorExplanation::hint(format!("name a version behind a colon, such as `{listed_by}`"))
            }
            Self::Location { .. }
            | Self::DefaultVersion { .. }
            | Self::NoVersions { .. }
            | Self::RemoteUrl { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for LocationError {}

impl Explain for LockError {}

impl Explain for RemoteUrlError {}

impl Explain for LockMismatch {
    fn explain(&self) -> ErrorExplanation<'_> {
        let hint = match self {
            Self::Provider { provider, .. } => format!("lock it with `capstan lock --update {provider}`"),
            Self::Version { provider, version, .. } => {
                format!(
                    "leave the version out, or lock the other one with `{}`",
                    update_command(provider, version)
                )
            }
            Self::File { suggestions: near, .. } if !near.is_empty() => {
                format!("did you mean {}?", one_of(near))
            }
            Self::File { provider, version, file, .. } => format!(
                "where it is a file of the release, lock it with `capstan lock --file {}`, or all of it with `{}`",
                shell_word(file),
                update_command(provider, version)
            ),
            Self::Kustomization { provider, differences, .. } if differences.is_empty() => format!(
                "name it in clusterctl.yaml, under `kustomization` of the provider, and lock it with `capstan lock --update {provider}`"
            ),
            Self::Kustomization { provider, .. } => format!(
                "look at what changed; where it is as it should be, accept it with `capstan lock --update {provider}`"
            ),
            Self::Content { provider, version, .. } => format!(
                "look at what changed; where it is as it should be, accept it with `{}`",
                update_command(provider, version)
            ),
        };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::Conflict)
    }
}

/// Returns the command that updates a lock entry. The version of cert-manager comes from the configuration.
fn update_command(provider: &str, version: &str) -> String {
    if provider == CERT_MANAGER_LABEL {
        return format!("capstan lock --update {provider}");
    }
    format!("capstan lock --update {provider}:{version}")
}

impl Explain for OciError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NotInIndex { titles, .. } if !titles.is_empty() => {
                ErrorExplanation::hint(format!("it has {}", one_of(titles)))
            }
            Self::Pinned { .. } => {
                ErrorExplanation::hint("change the tag and the digest in the provider url together")
            }
            Self::Unsigned { .. } | Self::SignedByOthers { .. } | Self::SignatureMismatch { .. } => {
                ErrorExplanation::hint(
                    "nothing of it was used; it is checked because its entry in clusterctl.yaml says `verify`",
                )
            }
            Self::Key { .. } => {
                ErrorExplanation::hint("cosign writes such a file: `cosign generate-key-pair`")
            }
            Self::VerifyNeedsRegistry { .. } => ErrorExplanation::hint(
                "take `verify` out of its entry in clusterctl.yaml, or give it an `oci://` url",
            ),
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for GitError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(git_hints(self))
    }
}

fn git_hints(error: &GitError) -> Vec<String> {
    let is_ssh = !error.remote.starts_with("http");
    let mut hints = match &error.failure {
        GitFailure::Refused { .. } => vec![match &error.credential {
            Some(credential) => {
                format!("it was asked with {credential}; check that it may read this repository")
            }
            None if is_ssh => {
                "see that `ssh` gets in without a question: the key is in the agent, or has no passphrase"
                    .to_owned()
            }
            None => format!(
                "let a credential helper of Git know one: `git ls-remote {}` must pass without a question",
                error.remote
            ),
        }],
        GitFailure::NotFound { .. } => {
            vec![
                "hosts say the same of a repository that is private to others: check address and access"
                    .to_owned(),
            ]
        }
        GitFailure::HostKey { .. } => {
            vec![
                "connect once with `ssh`, and compare the fingerprint it shows with the one the host tells"
                    .to_owned(),
            ]
        }
        GitFailure::Tls { .. } => {
            vec!["name a file with the CA of the host in SSL_CERT_FILE; Git then trusts what is in that file alone".to_owned()]
        }
        GitFailure::UnknownTreeIsh { suggestions: near, .. }
        | GitFailure::UnknownPath { suggestions: near, .. }
            if !near.is_empty() =>
        {
            vec![format!("did you mean {}?", one_of(near))]
        }
        GitFailure::Ambiguous { .. } => vec!["write more of the hash".to_owned()],
        GitFailure::Other { .. } | GitFailure::Unreadable { .. } => {
            vec![format!("the clone is in {}; without it, it is made anew", error.clone.display())]
        }
        _ => Vec::new(),
    };
    if let Some(proxy) = &error.proxy {
        hints.push(format!("the request went through the proxy {proxy}"));
    }
    hints
}

fn missing_release(version: &str, available: &[String]) -> Option<String> {
    let same = |known: &&String| known.trim_start_matches('v') == version.trim_start_matches('v');
    match available.iter().find(same) {
        Some(same) => Some(format!("did you mean `{same}`?")),
        None => newest_releases(available),
    }
}

fn cannot_list(place: &str) -> Vec<String> {
    let mut hints = vec!["name a version behind a colon, such as `aws:v2.9.0`".to_owned()];
    if !place.contains("/api/v4/") {
        let index = r#"{"versions": {"v2.9.0": {}}}"#;
        hints.push(format!("or put a list beside the versions: {place}/index.json with `{index}`"));
    }
    hints
}

fn newest_releases(available: &[String]) -> Option<String> {
    let newest: Vec<&String> = available.iter().rev().take(MAX_SHOWN).collect();
    (!newest.is_empty()).then(|| {
        let more = available.len().saturating_sub(MAX_SHOWN);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the newest releases are {}{rest}", quoted_list(&newest))
    })
}

fn quoted_list(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

fn missing_file(file: &str, available: &[String], looked_at: &str) -> String {
    let near = similar_names(file, available.iter().map(String::as_str));
    if near.is_empty() {
        format!("looked at {looked_at}")
    } else {
        format!("did you mean {}?", one_of(&near))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::error_chain;

    use super::*;

    #[test]
    fn a_release_that_is_not_there_is_answered_with_those_that_are() {
        let missing = |version: &str| {
            let available: Vec<String> = (0..8).map(|minor| format!("v1.{minor}.0")).collect();
            error_chain(&Error::UnknownRelease { version: version.into(), place: "/srv".into(), available })
                .hints
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
            error_chain(&Error::UnknownFile {
                file: "metadata.yml".into(),
                version: "v1.0.0".into(),
                place: "/srv".into(),
                looked_at: "/srv/v1.0.0/metadata.yml".into(),
                available: available.iter().map(ToString::to_string).collect(),
            })
            .hints
        };
        assert_eq!(missing(&["metadata.yaml"]), ["did you mean `metadata.yaml`?"]);
        assert_eq!(missing(&[]), ["looked at /srv/v1.0.0/metadata.yml"]);
    }

    fn of(remote: &str, failure: GitFailure) -> Vec<String> {
        error_chain(&Error::Git(Arc::new(GitError {
            action: "clone",
            remote: remote.to_owned(),
            failure,
            credential: None,
            proxy: None,
            clone: "/cache/git/git.lab/r.git".into(),
        })))
        .hints
    }

    fn refused() -> GitFailure {
        GitFailure::Refused { said: "no".to_owned() }
    }

    #[test]
    fn who_is_refused_is_told_what_to_set_up_for_the_way_that_was_taken() {
        assert!(of("https://git.lab/r", refused())[0].contains("`git ls-remote https://git.lab/r`"));
        assert!(of("git@git.lab:r", refused())[0].contains("`ssh` gets in"));
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_near_ones() {
        let near = vec!["v1.0.0".to_owned()];
        let hints = of("/r", GitFailure::UnknownTreeIsh { tree_ish: "v1.0.1".to_owned(), suggestions: near });
        assert_eq!(hints, ["did you mean `v1.0.0`?"]);
    }

    #[test]
    fn what_git_says_of_a_broken_clone_is_told_with_its_place() {
        let failure = GitFailure::Other { said: "bad object".to_owned(), status: Some(128) };
        assert_eq!(
            of("/r", failure),
            ["the clone is in /cache/git/git.lab/r.git; without it, it is made anew"]
        );
    }
}

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
                    ErrorExplanation::hint("install `git`, and check that it is on the PATH")
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
                ErrorExplanation::hint(format!("found {}, which is not a semantic version", one_of(shown)))
            }
            Self::EmptySeries { listed_by, .. } => {
                ErrorExplanation::hint(format!("add a version after a colon, such as `{listed_by}`"))
            }
            Self::Location { .. }
            | Self::ArtifactReference { .. }
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
                format!("omit the version, or lock it with `{}`", update_command(provider, version))
            }
            Self::File { suggestions: near, .. } if !near.is_empty() => {
                format!("did you mean {}?", one_of(near))
            }
            Self::File { provider, version, file, .. } => format!(
                "if it is a file of the release, lock it with `capstan lock --file {}`, or lock all files with `{}`",
                shell_word(file),
                update_command(provider, version)
            ),
            Self::Kustomization { provider, differences, .. } if differences.is_empty() => format!(
                "add it to clusterctl.yaml, under `kustomization` of the provider, and lock it with `capstan lock --update {provider}`"
            ),
            Self::Kustomization { provider, .. } => {
                format!("review the change; accept it with `capstan lock --update {provider}`")
            }
            Self::Content { provider, version, .. } => {
                format!("review the change; accept it with `{}`", update_command(provider, version))
            }
            Self::Chart { chart, version, .. } => {
                format!("lock it with `capstan lock --chart {}`", chart_word(chart, version))
            }
            Self::ChartVersion { chart, version, .. } => format!(
                "omit the version, or lock it with `capstan lock --chart {}`",
                chart_word(chart, version)
            ),
            Self::ChartContent { chart, version, .. } => format!(
                "review the change; accept it with `capstan lock --update {}`",
                chart_word(chart, version)
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

/// Returns the argument that names a chart with a version or a range.
fn chart_word(chart: &str, version: &str) -> String {
    let separator = if version.is_empty() { "" } else { ":" };
    shell_word(&format!("{chart}{separator}{version}"))
}

impl Explain for OciError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NotInIndex { titles, .. } if !titles.is_empty() => {
                ErrorExplanation::hint(format!("the index has {}", one_of(titles)))
            }
            Self::Pinned { .. } => {
                ErrorExplanation::hint("change the tag and the digest in the provider URL together")
            }
            Self::Unsigned { .. } | Self::SignedByOthers { .. } | Self::SignatureMismatch { .. } => {
                ErrorExplanation::hint(
                    "nothing was used; capstan checks the signature because its entry in clusterctl.yaml sets `verify`",
                )
            }
            Self::Key { .. } => ErrorExplanation::hint("create a key pair with `cosign generate-key-pair`"),
            Self::VerifyNeedsRegistry { .. } => ErrorExplanation::hint(
                "remove `verify` from its entry in clusterctl.yaml, or use an `oci://` URL",
            ),
            _ => ErrorExplanation::default(),
        }
    }
}

impl Explain for GitError {
    fn explain(&self) -> ErrorExplanation<'_> {
        ErrorExplanation::hints(git_hints(self)).because(&self.failure)
    }
}

impl Explain for GitFailure {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Rejected { remote, .. } => ErrorExplanation::texts(remote.iter().cloned()),
            _ => ErrorExplanation::default(),
        }
    }
}

/// True if another push has changed the branch.
/// Source: git 2.39 (builtin/push.c, transport.c, receive-pack.c).
fn has_moved(reason: &str) -> bool {
    let reasons = ["fetch first", "non-fast-forward", "stale info", "cannot lock ref"];
    reasons.iter().any(|known| reason.contains(known))
}

fn git_hints(error: &GitError) -> Vec<String> {
    let is_ssh = !error.remote.starts_with("http");
    let mut hints = match &error.failure {
        GitFailure::Refused { .. } => vec![match &error.credential {
            Some(credential) => {
                format!("the request was sent with {credential}; check that it grants read access")
            }
            None if is_ssh => {
                "check that `ssh` logs in without a prompt: add the key to the agent, or use a key without a passphrase"
                    .to_owned()
            }
            None => format!(
                "set up a Git credential helper; `git ls-remote {}` must succeed without a prompt",
                error.remote
            ),
        }],
        GitFailure::NotFound { .. } => {
            vec![
                "check the address and your access: hosts report private repositories as missing"
                    .to_owned(),
            ]
        }
        GitFailure::HostKey { .. } => {
            vec![
                "connect once with `ssh`, and compare the fingerprint with the one that the host publishes"
                    .to_owned(),
            ]
        }
        GitFailure::Tls { .. } => {
            vec!["set SSL_CERT_FILE to a file with the CA of the host; Git then trusts only that file".to_owned()]
        }
        GitFailure::UnknownTreeIsh { suggestions: near, .. }
        | GitFailure::UnknownPath { suggestions: near, .. }
            if !near.is_empty() =>
        {
            vec![format!("did you mean {}?", one_of(near))]
        }
        GitFailure::Ambiguous { .. } => vec!["use a longer prefix of the hash".to_owned()],
        GitFailure::Rejected { reason, .. } if has_moved(reason) => {
            vec!["another push has changed the branch; re-run the same command".to_owned()]
        }
        GitFailure::Other { .. } | GitFailure::Unreadable { .. } => {
            vec![format!("if the clone {} is damaged, delete it; the next run creates it again", error.clone.display())]
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
    let mut hints = vec!["add a version after a colon, such as `aws:v2.9.0`".to_owned()];
    if !place.contains("/api/v4/") {
        let index = r#"{"versions": {"v2.9.0": {}}}"#;
        hints.push(format!("or list the versions in {place}/index.json, such as `{index}`"));
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
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_missing_release_is_reported_with_existing_ones() {
        let missing = |version: &str| {
            let available: Vec<String> = (0..8).map(|minor| format!("v1.{minor}.0")).collect();
            error_chain(&Error::UnknownRelease { version: version.into(), place: "/srv".into(), available })
                .hints
        };
        assert_data_eq!(
            [missing("1.3.0"), missing("v2.0.0")].concat().join(
                "
"
            ),
            str![[r#"
did you mean `v1.3.0`?
the newest releases are `v1.7.0`, `v1.6.0`, `v1.5.0`, `v1.4.0`, `v1.3.0` and 3 more
"#]]
        );
    }

    #[test]
    fn a_missing_file_is_reported_with_similar_names_or_its_path() {
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
        assert_data_eq!(
            [missing(&["metadata.yaml"]), missing(&[])].concat().join(
                "
"
            ),
            str![[r#"
did you mean `metadata.yaml`?
looked at /srv/v1.0.0/metadata.yml
"#]]
        );
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
        GitFailure::Refused { message: "no".to_owned() }
    }

    #[test]
    fn a_refusal_hint_depends_on_the_protocol() {
        assert_data_eq!(
            [of("https://git.lab/r", refused()), of("git@git.lab:r", refused())].concat().join(
                "
"
            ),
            str![[r#"
set up a Git credential helper; `git ls-remote https://git.lab/r` must succeed without a prompt
check that `ssh` logs in without a prompt: add the key to the agent, or use a key without a passphrase
"#]]
        );
    }

    #[test]
    fn a_missing_reference_is_reported_with_similar_names() {
        let near = vec!["v1.0.0".to_owned()];
        let hints = of("/r", GitFailure::UnknownTreeIsh { tree_ish: "v1.0.1".to_owned(), suggestions: near });
        assert_data_eq!(hints.join("\n"), str!["did you mean `v1.0.0`?"]);
    }

    #[test]
    fn an_error_of_a_damaged_clone_names_its_folder() {
        let failure = GitFailure::Other { message: "bad object".to_owned(), status: Some(128) };
        assert_data_eq!(
            of("/r", failure).join(
                "
"
            ),
            str![
                "if the clone /cache/git/git.lab/r.git is damaged, delete it; the next run creates it again"
            ]
        );
    }
}

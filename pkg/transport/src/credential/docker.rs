use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::Deserialize;

use super::Credential;
use crate::{Error, Secret};

/// The key of Docker Hub in credential files, for all of its host names.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// A user name that marks an identity token instead of a password.
const IDENTITY_TOKEN_USER: &str = "<token>";

/// A credential file for registries, as docker, podman and similar tools write it.
///
/// Source: docker/cli cli/config (`configfile`), containers-auth.json(5).
#[derive(Debug)]
pub(super) struct AuthFile {
    path: PathBuf,
    /// Credentials by registry, or by registry and path prefix.
    credentials: BTreeMap<String, Credential>,
    helpers: BTreeMap<String, String>,
    default_helper: Option<String>,
}

/// The entry of a file for a registry.
pub(super) enum AuthEntry {
    /// The file contains the credential.
    Credential(Credential),
    /// A credential helper stores the credential.
    Helper {
        /// Suffix of the program name `docker-credential-{helper}`.
        helper: String,
        /// Name of the registry for the program.
        server: String,
    },
}

#[derive(Deserialize)]
struct AuthFileContent {
    #[serde(default)]
    auths: Option<BTreeMap<String, AuthFileEntry>>,
    #[serde(default, rename = "credHelpers")]
    cred_helpers: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "credsStore")]
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "lowercase")]
struct AuthFileEntry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
    registrytoken: String,
}

impl AuthFile {
    /// Parses a credential file.
    /// # Errors
    /// [`Error::CredentialFile`] with the location of the error; never with the content of the file.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let refuse = |problem: String| Error::CredentialFile { path: path.to_owned(), problem };
        let written: AuthFileContent = serde_json::from_slice(bytes).map_err(|error| {
            refuse(format!(
                "line {}, column {} is not what such a file holds there",
                error.line(),
                error.column()
            ))
        })?;
        let name = format!("`{}`", path.display());
        let mut known = BTreeMap::new();
        for (key, entry) in written.auths.into_iter().flatten() {
            let credential = entry.credential(&name).map_err(|()| {
                refuse(format!("`auth` of `{}` is not `user:password` in base64", plain_key(&key)))
            })?;
            known.extend(credential.map(|credential| (plain_key(&key), credential)));
        }
        let helpers = written.cred_helpers.into_iter().flatten();
        Ok(Self {
            path: path.to_owned(),
            credentials: known,
            helpers: helpers.map(|(key, helper)| (plain_key(&key), helper)).collect(),
            default_helper: written.creds_store.filter(|helper| !helper.is_empty()),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the entry for a repository. Helpers take precedence over credentials in the file, and longer paths over
    /// shorter ones.
    pub(super) fn entry(&self, registry: &str, repository: &str) -> Option<AuthEntry> {
        let named = keys(registry, repository)
            .find_map(|key| self.helpers.get(&key).map(|helper| (helper.clone(), key)));
        let (helper, key) = match (named, &self.default_helper) {
            (Some(named), _) => named,
            (None, Some(for_all)) => (for_all.clone(), plain_registry(registry).to_owned()),
            (None, None) => return self.stored_credential(registry, repository).map(AuthEntry::Credential),
        };
        let server = if key == plain_key(DOCKER_HUB) { DOCKER_HUB.to_owned() } else { key };
        Some(AuthEntry::Helper { helper, server })
    }

    /// Returns the credential that the file itself contains.
    pub(super) fn stored_credential(&self, registry: &str, repository: &str) -> Option<Credential> {
        keys(registry, repository).find_map(|key| self.credentials.get(&key).cloned())
    }
}

impl AuthFileEntry {
    fn credential(self, name: &str) -> Result<Option<Credential>, ()> {
        if let Some(token) = Secret::new(name, self.registrytoken) {
            return Ok(Some(Credential::Bearer(token)));
        }
        let (user, password) = if self.auth.is_empty() {
            (self.username, self.password)
        } else {
            // Tools write the value with or without padding.
            let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
            let bytes = GeneralPurpose::new(&alphabet::STANDARD, config).decode(self.auth.trim());
            let text = String::from_utf8(bytes.map_err(|_| ())?).map_err(|_| ())?;
            let (user, password) = text.split_once(':').ok_or(())?;
            // Old versions of docker append a zero byte.
            (user.to_owned(), password.trim_matches('\0').to_owned())
        };
        Ok(match Secret::new(name, self.identitytoken) {
            Some(token) => Some(identity_token(token)),
            None => credential(name, user, password),
        })
    }
}

/// Creates a credential from a user name and a password. None if the password is empty.
pub(super) fn credential(name: &str, user: String, password: String) -> Option<Credential> {
    let password = Secret::new(name, password)?;
    Some(if user == IDENTITY_TOKEN_USER {
        identity_token(password)
    } else {
        Credential::Basic { user, password }
    })
}

fn identity_token(token: Secret) -> Credential {
    Credential::Basic { user: IDENTITY_TOKEN_USER.to_owned(), password: token }
}

/// Returns the possible keys of a repository, longest path first.
fn keys(registry: &str, repository: &str) -> impl Iterator<Item = String> {
    let full = format!("{}/{repository}", plain_registry(registry));
    let ends: Vec<usize> = full.match_indices('/').map(|(at, _)| at).chain([full.len()]).collect();
    let keys: Vec<String> = ends.into_iter().rev().map(|end| full[..end].to_ascii_lowercase()).collect();
    keys.into_iter()
}

fn plain_registry(registry: &str) -> &str {
    match registry {
        "docker.io" | "registry-1.docker.io" => "index.docker.io",
        other => other,
    }
}

/// Removes scheme, slashes and API version from a key.
fn plain_key(key: &str) -> String {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let key = key.trim_end_matches('/');
    let key = key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key);
    plain_registry(key).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> AuthFile {
        AuthFile::parse("/home/ann/.docker/config.json".as_ref(), text.as_bytes()).unwrap()
    }

    fn found(file: &AuthFile, registry: &str, repository: &str) -> String {
        match file.entry(registry, repository) {
            None => "nothing".to_owned(),
            Some(AuthEntry::Credential(credential)) => {
                format!("{} {credential}", credential.secret().expose())
            }
            Some(AuthEntry::Helper { helper, server }) => format!("ask {helper} about {server}"),
        }
    }

    #[test]
    fn the_longest_matching_path_wins() {
        // The values encode `ann:one`, `bob:two` and, without padding, `cid:three`.
        let file = file(
            r#"{"auths": {
                "https://registry.lab:5000/v2/": {"auth": "YW5uOm9uZQ=="},
                "registry.lab:5000/team": {"auth": "Ym9iOnR3bw"},
                "REGISTRY.lab:5000/team/deep/app": {"username": "cid", "password": "three"},
                "https://index.docker.io/v1/": {"auth": "", "identitytoken": "four"},
                "token.lab": {"registrytoken": "five"},
                "empty.lab": {}
            }}"#,
        );
        let of = |password: &str, user: &str| {
            format!("{password} user `{user}` of `/home/ann/.docker/config.json` (***)")
        };
        let lab = |repository| found(&file, "registry.lab:5000", repository);
        assert_eq!(lab("other/app"), of("one", "ann"));
        assert_eq!(lab("teammate/app"), of("one", "ann"));
        assert_eq!(lab("team/app"), of("two", "bob"));
        assert_eq!(lab("team/deep/app"), of("three", "cid"));
        assert_eq!(found(&file, "registry.lab", "team/app"), "nothing");
        assert_eq!(found(&file, "docker.io", "library/x"), of("four", "<token>"));
        assert_eq!(found(&file, "token.lab", "x"), "five `/home/ann/.docker/config.json` (***)");
        assert_eq!(found(&file, "empty.lab", "x"), "nothing");
    }

    #[test]
    fn a_helper_is_asked_for_the_configured_server_name() {
        let file = file(
            r#"{"auths": null, "credsStore": "pass",
                "credHelpers": {"gcr.lab": "gcloud", "registry.lab/team": "vault"}}"#,
        );
        assert_eq!(found(&file, "gcr.lab", "a/b"), "ask gcloud about gcr.lab");
        assert_eq!(found(&file, "registry.lab", "team/b"), "ask vault about registry.lab/team");
        assert_eq!(found(&file, "registry.lab", "b"), "ask pass about registry.lab");
        assert_eq!(found(&file, "registry-1.docker.io", "b"), "ask pass about https://index.docker.io/v1/");
    }

    #[test]
    fn an_error_of_a_credential_file_never_shows_its_content() {
        for text in [
            r#"{"auths": {"a": {"auth": 5}}}"#,
            "{\"auths\":\n \"s3cret\"}",
            "s3cret",
            r#"{"auths": {"a": {"auth": "s3cret!"}}}"#,
            r#"{"auths": {"a": {"auth": "czNjcmV0"}}}"#,
        ] {
            let error = AuthFile::parse("/x/config.json".as_ref(), text.as_bytes()).unwrap_err();
            let reported = format!("{error} {error:?}");
            assert!(reported.contains("/x/config.json") && !reported.contains("s3cret"), "{reported}");
        }
    }
}

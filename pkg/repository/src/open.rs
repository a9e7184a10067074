use transport::{HostKind, address::redact_text};
use url::Url;

use crate::{
    Error, Location, OciError, Repository, RepositoryContext, folder::WebFolderRepository,
    git::GitRepository, github::GitHubRepository, gitlab::GitLabRepository, local::LocalRepository,
    oci::OciRepository,
};

/// Opens the repository of a provider, without any read or connection.
///
/// `label` is the provider label (`infrastructure-aws`), or `cert-manager`. `kind` is the kind of an https host; if
/// absent, the kind from the settings of the host is used.
/// # Errors
/// [`Error::Location`] if the url has no known form; [`OciError::VerifyNeedsRegistry`] if a signature is required but
/// the repository cannot have signatures.
pub fn open(
    url: &str,
    label: &str,
    kind: Option<HostKind>,
    context: &RepositoryContext,
) -> Result<Box<dyn Repository>, Error> {
    let kind_of_host = || context.settings().hosts.get(&Url::parse(url).ok()?)?.kind;
    let location = Location::parse(url, label, kind.or_else(kind_of_host))
        .map_err(|source| Error::Location { url: redact_text(url), source })?;
    if context.release_settings().verify_keys.contains_key(label) && !matches!(location, Location::Oci(_)) {
        return Err(OciError::VerifyNeedsRegistry { label: label.to_owned() }.into());
    }
    Ok(match location {
        Location::Local(location) => Box::new(LocalRepository::new(location, context.max_file_bytes())),
        Location::GitHub(location) => Box::new(GitHubRepository::new(location, context.clone())),
        Location::GitLab(location) => Box::new(GitLabRepository::new(location, context.clone())),
        Location::Folder(location) => Box::new(WebFolderRepository::new(location, context.clone())),
        Location::Oci(location) => Box::new(OciRepository::new(location, context)),
        Location::Git(location) => {
            let opened = GitRepository::new(location, context.clone());
            Box::new(opened.map_err(|source| Error::RemoteUrl { url: redact_text(url), source })?)
        }
    })
}

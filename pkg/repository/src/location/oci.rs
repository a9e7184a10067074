use std::net::Ipv6Addr;

use transport::{Digest, InvalidDigest, names::check_version};

use super::{LocationError, OciLocation};

/// A reference to an artifact: `{registry}/{repository}[:{tag}][@{digest}]`.
#[derive(Debug)]
pub(crate) struct ArtifactReference<'t> {
    pub(crate) registry: &'t str,
    pub(crate) repository: &'t str,
    /// The tag, unchecked.
    pub(crate) tag: Option<&'t str>,
    pub(crate) digest: Option<Digest>,
}

impl<'t> ArtifactReference<'t> {
    /// Parses the url after `oci://`.
    /// Source: OCI distribution specification 1.1, "Pull" (names and tags).
    pub(crate) fn parse(text: &'t str) -> Result<Self, LocationError> {
        let (registry, rest) =
            text.split_once('/').ok_or_else(|| refuse("the repository is missing".to_owned()))?;
        if registry.contains('@') {
            return Err(LocationError::HasCredential);
        }
        if !is_host(registry) {
            return Err(refuse(format!("`{registry}` is not a host")));
        }
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => {
                (rest, Some(digest.parse().map_err(|error: InvalidDigest| refuse(error.to_string()))?))
            }
            None => (rest, None),
        };
        let (repository, tag) = match rest.rsplit_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (rest, None),
        };
        if let Some(part) = repository.split('/').find(|part| !is_name(part)) {
            return Err(refuse(format!(
                "`{part}` is not a repository name; use lower-case letters, digits, `-`, `_` and `.`"
            )));
        }
        Ok(Self { registry, repository, tag, digest })
    }
}

/// Parses the url of a provider after `oci://`. A tag contains `_` instead of `+`, as in Helm.
pub(super) fn parse(text: &str, label: &str) -> Result<OciLocation, LocationError> {
    let ArtifactReference { registry, repository, tag, digest } = ArtifactReference::parse(text)?;
    let tag = match tag.map(|tag| tag.replace('_', "+")).as_deref() {
        None | Some("latest") => None,
        Some(tag) if api::VersionOrLatest::parse(tag).is_ok() => Some(tag.to_owned()),
        Some(tag) => {
            return Err(refuse(format!("the tag `{tag}` is neither a semantic version nor `latest`")));
        }
    };
    if digest.is_some() && tag.is_none() {
        return Err(refuse("a digest requires a tag; put the tag before the digest".to_owned()));
    }
    Ok(OciLocation {
        registry: registry.to_owned(),
        repository: repository.to_owned(),
        tag,
        digest,
        label: label.to_owned(),
    })
}

fn refuse(problem: String) -> LocationError {
    LocationError::OciForm { problem }
}

/// True for a host name or IP address with an optional port. IPv6 addresses are in brackets.
fn is_host(text: &str) -> bool {
    if let Some((address, port)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_port = |port: &str| port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
        return address.parse::<Ipv6Addr>().is_ok() && (port.is_empty() || is_port(port));
    }
    check_version(&text.replacen(':', "", 1)).is_ok() && !text.starts_with(':')
}

fn is_name(part: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    part.starts_with(is_plain)
        && part.ends_with(is_plain)
        && part.chars().all(|c| is_plain(c) || "-_.".contains(c))
}

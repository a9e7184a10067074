use std::fmt;

use transport::{Digest, registry::Reference};

use crate::BundleError;

/// The registry location of an image, parsed from an image reference.
/// Source: distribution/reference, "normalize": the default registry is Docker Hub, and a single name is in `library`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageAddress {
    pub(super) registry: String,
    pub(super) repository: String,
    pub(super) tag: Option<String>,
    pub(super) digest: Option<Digest>,
}

const DOCKER_HUB: &str = "docker.io";

impl ImageAddress {
    /// Parses an image reference.
    /// # Errors
    /// [`BundleError::ImageName`].
    pub fn parse(reference: &str) -> Result<Self, BundleError> {
        Self::read(reference).ok_or_else(|| BundleError::ImageName { reference: reference.to_owned() })
    }

    fn read(reference: &str) -> Option<Self> {
        let (name, digest) = match reference.split_once('@') {
            Some((name, digest)) => (name, Some(digest.parse().ok()?)),
            None => (reference, None),
        };
        let (name, tag) = match name.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (name, None),
        };
        let is_tag = |tag: &str| {
            !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        if !tag.is_none_or(is_tag) {
            return None;
        }
        let is_registry = |part: &str| part.contains(['.', ':']) || part == "localhost";
        let (registry, repository) = match name.split_once('/') {
            Some((registry, repository)) if is_registry(registry) => (registry, repository.to_owned()),
            Some(_) => (DOCKER_HUB, name.to_owned()),
            None => (DOCKER_HUB, format!("library/{name}")),
        };
        let is_part = |part: &str| {
            let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
            is_edge(part.bytes().next())
                && is_edge(part.bytes().last())
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
        };
        let is_host = registry.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
        (is_host && repository.split('/').all(is_part)).then(|| Self {
            registry: registry.to_owned(),
            repository,
            tag: tag.map(str::to_owned),
            digest,
        })
    }

    /// Returns the registry, with its port if it has one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Returns the repository in the registry.
    pub(crate) fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the digest, else the tag, else `latest`.
    pub(crate) fn reference(&self) -> Reference {
        match (self.digest, &self.tag) {
            (Some(digest), _) => Reference::Digest(digest),
            (None, Some(tag)) => Reference::Tag(tag.clone()),
            (None, None) => Reference::Tag("latest".to_owned()),
        }
    }
}

impl fmt::Display for ImageAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        self.tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_parsed_like_a_container_runtime() {
        let digest = Digest::of(b"");
        let pinned = format!("lab:5000/a/b:v1@{digest}");
        for (reference, expected) in [
            ("registry.k8s.io/capi/controller:v1", "registry.k8s.io/capi/controller:v1"),
            ("nginx", "docker.io/library/nginx"),
            ("grafana/grafana:1", "docker.io/grafana/grafana:1"),
            ("localhost/a", "localhost/a"),
            (&pinned, &pinned),
        ] {
            assert_eq!(ImageAddress::parse(reference).unwrap().to_string(), expected);
        }
        for reference in ["", "a/../b", "x.y/A:v1", "a:", "a@sha256:1", "a b", "x.y/", "x.y//a", "a/b:v/1\n"]
        {
            assert!(ImageAddress::parse(reference).is_err(), "{reference:?}");
        }
    }
}

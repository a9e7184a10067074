//! Manifests and indexes in registries.
//! Source: OCI image specification 1.1 (manifest.md, image-index.md, descriptor.md);
//! Docker image manifest v2, schema 2.

#![expect(missing_docs, reason = "fields are named as in the specifications")]

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Digest, Error, RequestFailure, http::Request};

pub const MANIFEST_MEDIA_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub const INDEX_MEDIA_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

/// All supported media types, as the value of an `Accept` header.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.docker.distribution.manifest.list.v2+json";

/// The maximum size of a manifest, the same as in registries.
pub const MAX_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// The annotation for the name of a file in a layer, or for the name of a manifest.
pub const TITLE_ANNOTATION: &str = "org.opencontainers.image.title";

/// A reference to content by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    pub media_type: String,
    pub digest: Digest,
    /// Size in bytes.
    pub size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The content itself in base64, if the content is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
}

/// The platform of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platform {
    pub architecture: String,
    pub os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// An image or an artifact: a configuration and layers. The order of the fields is the conventional order in manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    pub config: Descriptor,
    pub layers: Vec<Descriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A list of manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    pub manifests: Vec<Descriptor>,
}

/// A manifest or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestDocument {
    Manifest(Box<Manifest>),
    Index(Index),
}

/// A manifest or an index from a registry, with verified digest.
#[derive(Clone, Debug)]
pub struct FetchedManifest {
    pub media_type: String,
    pub digest: Digest,
    /// The original bytes, which have this digest.
    pub bytes: Bytes,
    pub document: ManifestDocument,
}

/// The fields of a manifest and an index, before the type is known.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDocument {
    schema_version: u32,
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Option<Descriptor>,
    layers: Option<Vec<Descriptor>>,
    manifests: Option<Vec<Descriptor>>,
    subject: Option<Descriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// The reason for an invalid manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it has schema version {0}, not 2")]
    Schema(u32),
    #[error("it has fields of both a manifest and an index")]
    Ambiguous,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("media type `{0}` is not a manifest or index")]
    MediaType(String),
}

/// Parses a manifest or an index. `content_type` is the header of the registry, used if the text has no media type.
/// Source: image specification, "Verification": a text that could be both is refused.
/// # Errors
/// Fails for an unsupported media type, or if the text does not match its media type.
pub fn parse(bytes: &[u8], content_type: Option<&str>) -> Result<(String, ManifestDocument), ManifestError> {
    let either: RawDocument = serde_json::from_slice(bytes)?;
    let content_type = content_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_owned());
    let media_type = either.media_type.clone().or(content_type).unwrap_or_default();
    let document = match media_type.as_str() {
        MANIFEST_MEDIA_TYPE | DOCKER_MANIFEST => ManifestDocument::Manifest(Box::new(either.manifest()?)),
        INDEX_MEDIA_TYPE | DOCKER_INDEX => ManifestDocument::Index(either.index()?),
        _ => return Err(ManifestError::MediaType(media_type)),
    };
    Ok((media_type, document))
}

impl ManifestError {
    /// Returns the error for a response that should be `what`.
    pub fn into_error(self, address: &str, request: &Request, what: &'static str) -> Error {
        match self {
            Self::MediaType(media_type) => Error::MediaType { address: address.to_owned(), media_type },
            other => request.to_error(RequestFailure::InvalidResponse { what, source: Box::new(other) }),
        }
    }
}

impl RawDocument {
    fn check(&self) -> Result<(), ManifestError> {
        match self {
            Self { schema_version: 2, manifests: Some(_), layers: Some(_), .. }
            | Self { schema_version: 2, manifests: Some(_), config: Some(_), .. } => {
                Err(ManifestError::Ambiguous)
            }
            Self { schema_version: 2, .. } => Ok(()),
            Self { schema_version, .. } => Err(ManifestError::Schema(*schema_version)),
        }
    }

    fn manifest(self) -> Result<Manifest, ManifestError> {
        self.check()?;
        Ok(Manifest {
            schema_version: self.schema_version,
            media_type: self.media_type,
            artifact_type: self.artifact_type,
            config: self.config.ok_or(ManifestError::Missing("config"))?,
            layers: self.layers.ok_or(ManifestError::Missing("layers"))?,
            subject: self.subject,
            annotations: self.annotations,
        })
    }

    fn index(self) -> Result<Index, ManifestError> {
        self.check()?;
        Ok(Index { manifests: self.manifests.ok_or(ManifestError::Missing("manifests"))? })
    }
}

impl Descriptor {
    /// Creates the descriptor of content in memory.
    pub fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::of(bytes), bytes.len() as u64)
    }

    pub fn new(media_type: &str, digest: Digest, size: u64) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest,
            size,
            annotations: BTreeMap::new(),
            data: None,
            platform: None,
            artifact_type: None,
        }
    }

    /// Returns the name of the file in the content.
    pub fn title(&self) -> Option<&str> {
        self.annotations.get(TITLE_ANNOTATION).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, content_type: Option<&str>) -> Result<(String, ManifestDocument), ManifestError> {
        parse(text.as_bytes(), content_type)
    }

    #[test]
    fn an_ambiguous_manifest_or_index_is_refused() {
        let text = r#"{"schemaVersion":2,"layers":[],"manifests":[]}"#;
        for media_type in [MANIFEST_MEDIA_TYPE, INDEX_MEDIA_TYPE, DOCKER_MANIFEST, DOCKER_INDEX] {
            assert!(matches!(read(text, Some(media_type)), Err(ManifestError::Ambiguous)), "{media_type}");
        }
    }

    #[test]
    fn unknown_media_types_old_schemas_and_truncation_are_errors() {
        let unknown = read(r#"{"schemaVersion":2,"mediaType":"application/x"}"#, Some(MANIFEST_MEDIA_TYPE));
        assert!(
            matches!(unknown, Err(ManifestError::MediaType(media_type)) if media_type == "application/x")
        );
        assert!(matches!(read(r#"{"schemaVersion":2}"#, None), Err(ManifestError::MediaType(_))));
        let old = read(r#"{"schemaVersion":1}"#, Some(MANIFEST_MEDIA_TYPE));
        assert!(matches!(old, Err(ManifestError::Schema(1))));
        assert!(matches!(
            read(r#"{"schemaVersion":2,"#, Some(MANIFEST_MEDIA_TYPE)),
            Err(ManifestError::Json(_))
        ));
        let bare =
            read(r#"{"schemaVersion":2}"#, Some("application/vnd.oci.image.index.v1+json; charset=utf-8"));
        assert!(matches!(bare, Err(ManifestError::Missing("manifests"))));
    }
}

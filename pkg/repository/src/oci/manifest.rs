//! What registries keep: manifests, and indexes of them.
//! Source: OCI image specification 1.1 (manifest.md, image-index.md, descriptor.md); Docker image manifest v2, schema 2.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::OciError;
use crate::Digest;

pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_INDEX: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

/// All that is understood, as an `Accept` header has it.
pub(super) const ACCEPTED: &str = "application/vnd.oci.image.manifest.v1+json, \
     application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
     application/vnd.docker.distribution.manifest.list.v2+json";

/// The largest manifest that is taken, as registries have it.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 4 * 1024 * 1024;

/// The name of the file a layer holds, or of what a manifest stands for.
pub(crate) const TITLE: &str = "org.opencontainers.image.title";

/// Content, told by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    /// Bytes.
    pub(crate) size: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
    /// The content itself, base64, where it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<Platform>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
}

/// The machine an image is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Platform {
    pub(crate) architecture: String,
    pub(crate) os: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<String>,
}

/// An image or an artifact: a configuration and layers. The order of the fields is that of everybody's manifests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    pub(crate) schema_version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) artifact_type: Option<String>,
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<Descriptor>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
}

/// A list of manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) manifests: Vec<Descriptor>,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Document {
    Manifest(Box<Manifest>),
    Index(Index),
}

/// A manifest or an index as the registry gave it, its digest checked.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    /// As it came; the digest is of these.
    pub(crate) bytes: Bytes,
    pub(crate) document: Document,
}

/// Either of them, before it is clear which.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Either {
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

/// Why some text is no manifest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("it is of schema version {0}, not 2")]
    Schema(u32),
    #[error("it has what a manifest and what an index has")]
    Ambiguous,
    #[error("`{0}` is missing")]
    Missing(&'static str),
}

/// What reading the text of a manifest came to.
pub(crate) type Parsed = Result<Result<(String, Document), Unreadable>, OciError>;

/// Reads a manifest or an index. `content_type` is what the registry calls it, which counts where the text is silent.
/// Source: image specification, "Verification": a text that could be both is refused.
/// # Errors
/// The outer one for a media type that is not understood, the inner one for a text that does not keep to its type.
pub(crate) fn parse(address: &str, bytes: &[u8], content_type: Option<&str>) -> Parsed {
    let either: Either = match serde_json::from_slice(bytes) {
        Ok(either) => either,
        Err(error) => return Ok(Err(error.into())),
    };
    let content_type = content_type.map(|text| text.split(';').next().unwrap_or_default().trim().to_owned());
    let media_type = either.media_type.clone().or(content_type).unwrap_or_default();
    let document = match media_type.as_str() {
        MANIFEST | DOCKER_MANIFEST => {
            either.manifest().map(|manifest| Document::Manifest(Box::new(manifest)))
        }
        INDEX | DOCKER_INDEX => either.index().map(Document::Index),
        _ => return Err(OciError::MediaType { address: address.to_owned(), media_type }),
    };
    Ok(document.map(|document| (media_type, document)))
}

impl Either {
    fn check(&self) -> Result<(), Unreadable> {
        match self {
            Self { schema_version: 2, manifests: Some(_), layers: Some(_), .. }
            | Self { schema_version: 2, manifests: Some(_), config: Some(_), .. } => {
                Err(Unreadable::Ambiguous)
            }
            Self { schema_version: 2, .. } => Ok(()),
            Self { schema_version, .. } => Err(Unreadable::Schema(*schema_version)),
        }
    }

    fn manifest(self) -> Result<Manifest, Unreadable> {
        self.check()?;
        Ok(Manifest {
            schema_version: self.schema_version,
            media_type: self.media_type,
            artifact_type: self.artifact_type,
            config: self.config.ok_or(Unreadable::Missing("config"))?,
            layers: self.layers.ok_or(Unreadable::Missing("layers"))?,
            subject: self.subject,
            annotations: self.annotations,
        })
    }

    fn index(self) -> Result<Index, Unreadable> {
        self.check()?;
        Ok(Index { manifests: self.manifests.ok_or(Unreadable::Missing("manifests"))? })
    }
}

impl Descriptor {
    /// Of content in memory.
    pub(crate) fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self::new(media_type, Digest::of(bytes), bytes.len() as u64)
    }

    pub(crate) fn new(media_type: &str, digest: Digest, size: u64) -> Self {
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

    /// The name of the file it holds.
    pub(crate) fn title(&self) -> Option<&str> {
        self.annotations.get(TITLE).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, content_type: Option<&str>) -> Parsed {
        parse("oci://lab/x", text.as_bytes(), content_type)
    }

    #[test]
    fn a_text_that_could_be_both_a_manifest_and_an_index_is_refused() {
        let text = r#"{"schemaVersion":2,"layers":[],"manifests":[]}"#;
        for media_type in [MANIFEST, INDEX, DOCKER_MANIFEST, DOCKER_INDEX] {
            assert!(matches!(read(text, Some(media_type)), Ok(Err(Unreadable::Ambiguous))), "{media_type}");
        }
    }

    #[test]
    fn an_unknown_media_type_an_old_schema_and_a_cut_text_are_errors() {
        let unknown = read(r#"{"schemaVersion":2,"mediaType":"application/x"}"#, Some(MANIFEST));
        assert!(
            matches!(unknown, Err(OciError::MediaType { media_type, .. }) if media_type == "application/x")
        );
        assert!(matches!(read(r#"{"schemaVersion":2}"#, None), Err(OciError::MediaType { .. })));
        let old = read(r#"{"schemaVersion":1}"#, Some(MANIFEST));
        assert!(matches!(old, Ok(Err(Unreadable::Schema(1)))));
        assert!(matches!(read(r#"{"schemaVersion":2,"#, Some(MANIFEST)), Ok(Err(Unreadable::Json(_)))));
        let bare =
            read(r#"{"schemaVersion":2}"#, Some("application/vnd.oci.image.index.v1+json; charset=utf-8"));
        assert!(matches!(bare, Ok(Err(Unreadable::Missing("manifests")))));
    }
}

use schemars::JsonSchema;
use serde::Serialize;

/// Result of `publish -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Publication {
    /// Address of the artifact: `oci://registry/repository:tag`.
    pub target: String,
    /// Digest of the artifact, `sha256:` and 64 digits. Append it after `@` to pin the artifact in a provider URL.
    pub digest: String,
    /// Outcome of the publication.
    pub outcome: PublicationOutcome,
    /// Files of the artifact, sorted by name.
    pub files: Vec<PublishedFile>,
}

/// Outcome of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PublicationOutcome {
    /// The artifact was published.
    Published,
    /// The artifact was published, and its tag was moved from another artifact.
    TagMoved,
    /// The registry already had the artifact.
    AlreadyThere,
    /// Nothing was sent: the command was a dry run.
    Planned,
    /// Nothing was sent: the tag belongs to another artifact.
    TagTaken,
}

/// A file of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedFile {
    /// Name of the file.
    pub name: String,
    /// Digest of the file.
    pub digest: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

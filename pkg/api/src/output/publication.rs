use schemars::JsonSchema;
use serde::Serialize;

/// Result of `publish -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Publication {
    /// Where the artifact is: `oci://registry/repository:tag`.
    pub target: String,
    /// Its digest, `sha256:` and 64 digits; behind `@` it pins the artifact in a provider url.
    pub digest: String,
    /// What became of it.
    pub outcome: PublicationOutcome,
    /// Its files, by name.
    pub files: Vec<PublishedFile>,
}

/// What became of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PublicationOutcome {
    /// It is in the registry now.
    Published,
    /// It is in the registry now, and its tag stood for another one before.
    TagMoved,
    /// It was there before.
    AlreadyThere,
    /// It would be published: nothing was sent.
    Planned,
    /// Its tag stands for another one: nothing was sent.
    TagTaken,
}

/// A file of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedFile {
    /// Its name.
    pub name: String,
    /// Its digest.
    pub digest: String,
    /// Its size.
    pub size_bytes: u64,
}

use schemars::JsonSchema;
use serde::Serialize;

/// Result of `bundle create` and `bundle inspect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleReport {
    /// The file.
    pub file: String,
    /// What is in it: the settings, releases, images, signatures.
    pub contents: Vec<BundleContent>,
}

/// One thing in a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleContent {
    /// What it is.
    pub kind: BundleContentKind,
    /// Provider label and version, or the reference of an image.
    pub name: String,
    /// Of its manifest, or of the index of all its platforms.
    pub digest: String,
    /// Bytes of all its content.
    pub size_bytes: u64,
    /// The only platform an image is there for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Names of the files of a release, or of the settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// What something in a bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BundleContentKind {
    /// `clusterctl.yaml`, the lock and the list of images.
    Configuration,
    /// A release of a provider, or of cert-manager.
    Release,
    /// An image.
    Image,
    /// A signature of a release or an image.
    Signature,
}

/// Result of `bundle verify`, if everything matches its digest and the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleVerification {
    /// The file.
    pub file: String,
    /// Number of verified entries: settings, releases, images, signatures.
    pub entries: usize,
    /// Digests of content that no entry names. It does no harm.
    pub unreferenced: Vec<String>,
}

/// Result of `bundle load`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleLoad {
    /// The folder or the registry.
    pub target: String,
    /// What was brought there.
    pub contents: Vec<LoadedContent>,
    /// What clusterctl.yaml must say for it to be used.
    pub configuration: String,
}

/// One thing that was brought to where it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadedContent {
    /// What it is.
    pub kind: BundleContentKind,
    /// Provider label and version, or the reference of an image.
    pub name: String,
    /// Where it is now.
    pub place: String,
    /// What was there before.
    pub state: LoadedContentState,
}

/// What was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LoadedContentState {
    /// Nothing.
    New,
    /// The same; nothing was done.
    Unchanged,
    /// Something else, which is gone.
    Replaced,
}

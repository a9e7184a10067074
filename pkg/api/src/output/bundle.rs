use schemars::JsonSchema;
use serde::Serialize;

/// Result of `bundle create` and `bundle inspect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleReport {
    /// Path of the bundle.
    pub file: String,
    /// Entries of the bundle: the settings, releases, charts, images and signatures.
    pub contents: Vec<BundleContent>,
}

/// One entry of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleContent {
    /// Kind of the entry.
    pub kind: BundleContentKind,
    /// Provider label and version, path and version of a chart, or the reference of an image.
    pub name: String,
    /// Digest of the manifest, or of the index of all platforms.
    pub digest: String,
    /// Size of the whole content in bytes.
    pub size_bytes: u64,
    /// Platform of the image, if the bundle holds only one platform of the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Names of the files of a release or of the settings, or of the archive of a chart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// Kind of an entry in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BundleContentKind {
    /// `clusterctl.yaml`, the lock and the list of images.
    Configuration,
    /// A release of a provider, or of cert-manager.
    Release,
    /// A Helm chart.
    Chart,
    /// An image.
    Image,
    /// A signature of a release, a chart or an image.
    Signature,
}

/// Result of `bundle verify`, if everything matches its digest and the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleVerification {
    /// Path of the bundle.
    pub file: String,
    /// Number of verified entries: settings, releases, charts, images, signatures.
    pub entries: usize,
    /// Digests of unreferenced content. Such content does no harm.
    pub unreferenced: Vec<String>,
}

/// Result of `bundle load`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BundleLoad {
    /// The target folder or registry.
    pub target: String,
    /// Entries that were loaded.
    pub contents: Vec<LoadedContent>,
    /// Settings that clusterctl.yaml needs to use the loaded entries.
    pub configuration: String,
}

/// One loaded entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoadedContent {
    /// Kind of the entry.
    pub kind: BundleContentKind,
    /// Provider label and version, path and version of a chart, or the reference of an image.
    pub name: String,
    /// Location of the entry in the target.
    pub place: String,
    /// State of the location before the load.
    pub state: LoadedContentState,
}

/// State of a location before a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LoadedContentState {
    /// The location was empty.
    New,
    /// The location held the same content; the load did not change it.
    Unchanged,
    /// The location held other content, which the load replaced.
    Replaced,
}

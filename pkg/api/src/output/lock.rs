use schemars::JsonSchema;
use serde::Serialize;

/// Result of `lock -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockReport {
    /// Path of the lock.
    pub lock: String,
    /// Every checked provider, including `cert-manager`, sorted by label.
    pub providers: Vec<ProviderLock>,
    /// Every checked chart, sorted by URL and version. Absent without charts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub charts: Vec<ChartLock>,
}

/// One version of a chart and its lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChartLock {
    /// URL of the chart, without version and credentials.
    pub chart: String,
    /// Version of the chart.
    pub version: String,
    /// Locked digest of the archive; absent if the version was not locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Digest of the archive found now; absent if another version replaces this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// Differences between one provider and the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderLock {
    /// Provider label, or `cert-manager`.
    pub provider: String,
    /// Version of the provider that was read.
    pub version: String,
    /// Differences to the lock: first the version, then files, then images.
    pub changes: Vec<LockChange>,
}

/// One difference between a provider and the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockChange {
    /// Kind of the locked fact.
    pub part: LockPart,
    /// Name of the file or reference of the image; absent for a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Locked version or digest, or the reference of an image without known digest; absent if nothing was locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// Version or digest found now, in the form of `locked`; absent if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl LockChange {
    /// Returns the name of the file, the reference of the image, or `version`.
    pub fn subject(&self) -> &str {
        self.name.as_deref().unwrap_or("version")
    }

    /// True if the lock has no value for this fact, so nothing locked has changed.
    pub fn is_addition(&self) -> bool {
        self.locked.is_none()
    }

    /// True if the change affects the files that capstan reads or the images that containers run.
    /// A changed image counts only if a locked reference now leads to another digest.
    pub fn affects_content(&self) -> bool {
        match self.part {
            LockPart::Version | LockPart::File | LockPart::Kustomization => true,
            LockPart::Image => self.found.is_some() && self.locked.is_some() && self.locked != self.name,
        }
    }
}

/// Kind of a locked fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LockPart {
    /// The version of a provider.
    Version,
    /// A file of the release.
    File,
    /// An image that the components run or name.
    Image,
    /// A file of the kustomization over the components.
    Kustomization,
}

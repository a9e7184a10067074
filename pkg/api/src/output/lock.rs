use schemars::JsonSchema;
use serde::Serialize;

/// Result of `lock -o json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockReport {
    /// Path of the lock.
    pub lock: String,
    /// Every provider that was looked at, by label; `cert-manager` among them.
    pub providers: Vec<ProviderLock>,
}

/// What was found of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderLock {
    /// Provider label, or `cert-manager`.
    pub provider: String,
    /// The version that was read.
    pub version: String,
    /// What is not as it was locked: the version, then files, then images.
    pub changes: Vec<LockChange>,
}

/// One fact that is not as it was locked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockChange {
    /// What kind of fact.
    pub part: LockPart,
    /// Name of the file or reference of the image; absent for a version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version or digest that was locked; absent where nothing was. An image without known digest is itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<String>,
    /// The same of what is there now; absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// What kind of fact a lock holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LockPart {
    /// The version of a provider.
    Version,
    /// A file of its release.
    File,
    /// An image its components run or name.
    Image,
    /// A file of the kustomization over its components.
    Kustomization,
}

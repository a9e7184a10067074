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

impl LockChange {
    /// The name of the file, the reference of the image, or `version`.
    pub fn what(&self) -> &str {
        self.name.as_deref().unwrap_or("version")
    }

    /// Returns true if something was added, and nothing that was locked is gone or another.
    pub fn is_addition(&self) -> bool {
        self.locked.is_none()
    }

    /// Returns true if it concerns what is read or run, and not only what is known about it: of images, that the same
    /// reference leads to another digest than the locked one.
    pub fn is_about_content(&self) -> bool {
        match self.part {
            LockPart::Version | LockPart::File | LockPart::Kustomization => true,
            LockPart::Image => self.found.is_some() && self.locked.is_some() && self.locked != self.name,
        }
    }
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

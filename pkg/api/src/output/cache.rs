use schemars::JsonSchema;
use serde::Serialize;

/// Result of `cache info`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheReport {
    /// Path of the cache folder.
    pub folder: String,
    /// Size of all files in bytes.
    pub size_bytes: u64,
    /// Size limit of the cache in bytes.
    pub max_bytes: u64,
    /// Number of files; identical content from several addresses is one file.
    pub files: usize,
    /// Cached content by host, sorted by host name.
    pub hosts: Vec<CacheHost>,
    /// Size of clones of Git repositories in bytes. The size limit covers clones that are not in use.
    pub git_bytes: u64,
    /// Size of temporary files in bytes, from runs that are active or were killed.
    pub temporary_bytes: u64,
}

/// Cached content from one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheHost {
    /// Name of the host.
    pub host: String,
    /// Number of addresses.
    pub files: usize,
    /// Size of their content in bytes.
    pub size_bytes: u64,
}

/// Result of `cache prune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CachePruning {
    /// Path of the cache folder.
    pub folder: String,
    /// Size of removed content in bytes.
    pub freed_bytes: u64,
    /// Size of remaining content in bytes.
    pub left_bytes: u64,
    /// Size limit of the cache in bytes.
    pub max_bytes: u64,
}

/// Result of `cache verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheVerification {
    /// Path of the cache folder.
    pub folder: String,
    /// Number of intact files.
    pub files: usize,
    /// Size of verified files in bytes.
    pub size_bytes: u64,
    /// Damaged files that were removed.
    pub removed: Vec<DamagedFile>,
}

/// A damaged file of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DamagedFile {
    /// Addresses of the file; if they are unknown, its path.
    pub addresses: Vec<String>,
    /// Description of the damage.
    pub reason: String,
}

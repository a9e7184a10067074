use schemars::JsonSchema;
use serde::Serialize;

/// Result of `cache info`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheReport {
    /// The folder.
    pub folder: String,
    /// Bytes in all files.
    pub size_bytes: u64,
    /// Bytes that may be kept.
    pub max_bytes: u64,
    /// How many files there are; what several addresses gave alike is one.
    pub files: usize,
    /// What is kept of each host, by name.
    pub hosts: Vec<CacheHost>,
    /// Bytes in clones of Git repositories, which the limit is not for.
    pub git_bytes: u64,
    /// Bytes in files of runs that were killed, or have not ended yet.
    pub temporary_bytes: u64,
}

/// What is kept of one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheHost {
    /// Its name.
    pub host: String,
    /// How many addresses.
    pub files: usize,
    /// Bytes behind them.
    pub size_bytes: u64,
}

/// Result of `cache prune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CachePruning {
    /// The folder.
    pub folder: String,
    /// Bytes that were freed.
    pub freed_bytes: u64,
    /// Bytes that remain.
    pub left_bytes: u64,
    /// Bytes that may be kept.
    pub max_bytes: u64,
}

/// Result of `cache verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheVerification {
    /// The folder.
    pub folder: String,
    /// Number of intact files.
    pub files: usize,
    /// Bytes that were read.
    pub size_bytes: u64,
    /// Damaged files, which were removed; empty if there were none.
    pub removed: Vec<DamagedFile>,
}

/// A damaged file of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DamagedFile {
    /// Addresses it was fetched from, else its path.
    pub addresses: Vec<String>,
    /// The damage.
    pub reason: String,
}

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// An event while capstan fetches files. The caller decides which events to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request starts.
    RequestStarted {
        /// Address without credentials.
        url: String,
    },
    /// A part of a response arrived.
    Progress {
        /// Address without credentials.
        url: String,
        /// Number of received bytes.
        received_bytes: u64,
        /// Total number of bytes, if the host reports it.
        total_bytes: Option<u64>,
    },
    /// A request failed, and capstan retries the request.
    Retrying {
        /// Address without credentials.
        url: String,
        /// Reason for the failure.
        reason: RetryReason,
        /// Wait time before the retry.
        after: Duration,
    },
    /// A request ended with success or failure.
    RequestEnded {
        /// Address without credentials.
        url: String,
    },
    /// A file of the overrides folder replaces the file of the repository.
    UsingOverride {
        /// The file of the overrides folder.
        path: PathBuf,
        /// Provider label.
        provider: String,
        /// The requested version.
        version: String,
    },
    /// A Go module proxy failed; capstan tries the next source of versions.
    VersionSourceSkipped {
        /// Address of the failed source without credentials.
        source: String,
        /// Reason for the failure.
        reason: String,
    },
    /// The cache provides the content; no request is needed.
    UsingCached {
        /// Address without credentials.
        url: String,
    },
    /// The cache provides content that may be outdated, because connections are forbidden.
    UsingCachedOffline {
        /// Address without credentials.
        url: String,
        /// Time since the host last provided the content.
        age: Duration,
    },
    /// Another run or task is fetching the same content; this task waits.
    WaitingForOtherTask {
        /// The wanted content, without credentials.
        wanted: String,
        /// The process of that task, if known.
        holder: Option<u32>,
    },
    /// Cached content was damaged and is fetched again.
    CacheDamaged {
        /// Address without credentials.
        url: String,
    },
    /// A tag of a Git repository points to a different commit than before. capstan uses the new commit.
    TagMoved {
        /// Address without credentials.
        remote: String,
        /// Name of the tag.
        tag: String,
        /// Previous commit.
        from: String,
        /// Current commit.
        to: String,
    },
    /// The cache is unusable, and capstan continues without the cache. Sent only once.
    StoreUnusable {
        /// The failure with its causes.
        reason: String,
    },
}

/// Reason for a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The host responded with this status.
    Status(u16),
    /// The connection was refused or lost.
    Connection,
    /// The response was incomplete.
    Truncated,
}

impl fmt::Display for RetryReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetryReason::Status(status) => write!(f, "status {status}"),
            RetryReason::Connection => f.write_str("connection lost"),
            RetryReason::Truncated => f.write_str("incomplete response"),
        }
    }
}

/// A receiver of events. It may be called by several tasks at once and must not block.
pub type EventSink = Arc<dyn Fn(&Event) + Send + Sync>;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// What happens while files are fetched; the caller decides what of it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request leaves.
    RequestStarted {
        /// Address without credentials.
        url: String,
    },
    /// A part of an answer arrived.
    Progress {
        /// Address without credentials.
        url: String,
        /// Bytes so far.
        received_bytes: u64,
        /// Bytes in all, when the host said so.
        total_bytes: Option<u64>,
    },
    /// A request failed in a way that can pass and is made again.
    Retrying {
        /// Address without credentials.
        url: String,
        /// What went wrong.
        why: RetryReason,
        /// How long it waits before.
        after: Duration,
    },
    /// A request is over, well or not.
    RequestEnded {
        /// Address without credentials.
        url: String,
    },
    /// A file of the overrides folder is taken instead of the one in the repository.
    UsingOverride {
        /// The file that is taken.
        path: PathBuf,
        /// Provider label.
        provider: String,
        /// Version as it was asked for.
        version: String,
    },
    /// A Go module proxy could not answer; the next source of versions is asked.
    VersionSourceSkipped {
        /// What was asked, without credentials.
        source: String,
        /// What it answered.
        why: String,
    },
    /// Something is taken from the cache, and the host is not asked.
    UsingKept {
        /// Address without credentials.
        url: String,
    },
    /// Something that may have changed is taken from the cache, since no connection may be made.
    UsingKeptOffline {
        /// Address without credentials.
        url: String,
        /// How long ago the host last gave it.
        age: Duration,
    },
    /// Another run, or another task of this one, fetches the same; it is waited for.
    WaitingForOther {
        /// What is fetched, without credentials.
        wanted: String,
    },
    /// A copy in the cache was damaged and is fetched again.
    KeptDamaged {
        /// Address without credentials.
        url: String,
    },
    /// A tag of a Git repository names another commit than before; the new one counts.
    TagMoved {
        /// Address without credentials.
        remote: String,
        /// The tag.
        tag: String,
        /// What it named.
        from: String,
        /// What it names now.
        to: String,
    },
    /// The cache cannot be used as it should; things go on without it. Told once.
    StoreUnusable {
        /// What happened, with its causes.
        why: String,
    },
}

/// Why a request is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// The host answered with this status.
    Status(u16),
    /// The connection was refused or lost.
    Connection,
    /// The answer ended too early.
    Truncated,
}

impl fmt::Display for RetryReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetryReason::Status(status) => write!(f, "status {status}"),
            RetryReason::Connection => f.write_str("connection lost"),
            RetryReason::Truncated => f.write_str("answer cut short"),
        }
    }
}

/// Receives events; may be called from several tasks at once and must not block.
pub type EventSink = Arc<dyn Fn(&Event) + Send + Sync>;

//! What can go wrong with a request, and whether it may pass.

use std::time::Duration;

use crate::{ConnectError, LeaseHolder};

/// A request that did not do what it was for.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The server said no.
    #[error("cannot {action}: {}", without_object(reason, message))]
    Status {
        /// What was to be done, such as `apply Deployment ns/name`.
        action: String,
        /// The HTTP status.
        code: u16,
        /// The reason in a word, such as `Forbidden`.
        reason: String,
        /// The server's words.
        message: String,
        /// What is wrong, field by field.
        causes: Vec<Cause>,
        /// When the server wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// No answer.
    #[error("cannot {action}: no answer from {server}")]
    Unreachable {
        /// What was to be done.
        action: String,
        /// Address of the server, and the proxy on the way to it.
        server: String,
        /// Whether the request cannot have had an effect: it never went out.
        unsent: bool,
        /// Why.
        source: NoAnswer,
    },
    /// An answer nobody understands.
    #[error("cannot {action}: {server} gave an answer that is not of a Kubernetes API server: {problem}")]
    Answer {
        /// What was to be done.
        action: String,
        /// Address of the server, and the proxy on the way to it.
        server: String,
        /// The HTTP status.
        code: u16,
        /// What is wrong with the answer.
        problem: String,
    },
    /// The server does not know the kind.
    #[error("cannot {action}: the server has no kind `{kind}`")]
    NoSuchKind {
        /// What was to be done.
        action: String,
        /// The kind as `Kind.group`.
        kind: String,
    },
    /// The kind may be one of an API that does not answer.
    #[error(
        "cannot {action}: kind `{kind}` was not found, and the aggregated API behind `{group_version}` does not answer"
    )]
    BrokenGroup {
        /// What was to be done.
        action: String,
        /// The kind as `Kind.group`.
        kind: String,
        /// The version of the group that does not answer, as `group/version`.
        group_version: String,
    },
    /// The server no longer takes the credentials, and no new ones could be had.
    #[error("cannot {action}: the server does not take the credentials, and there are no new ones")]
    Credentials {
        /// What was to be done.
        action: String,
        /// Why.
        source: Box<ConnectError>,
    },
    /// The handle of the server was given no lease to write under.
    #[error("cannot {action}: this run holds no lease of the cluster")]
    NoLease {
        /// What was to be done.
        action: String,
    },
    /// Another run has taken the lease of the cluster over, or somebody has deleted it.
    #[error("cannot write to the cluster: {}", lost(holder.as_deref()))]
    LeaseLost {
        /// The run that has it now, where that is known.
        holder: Option<Box<LeaseHolder>>,
    },
    /// It is unknown for now whether this run still holds the lease of the cluster, so nothing was sent.
    #[error("cannot {action}: the lease of this run could not be confirmed")]
    Unconfirmed {
        /// What was to be done.
        action: String,
        /// Why.
        #[source]
        source: Box<ApiError>,
    },
    /// It might have passed, and the time is over.
    #[error("cannot {action}: tried for {}s", tried.as_secs())]
    OutOfTime {
        /// What was to be done.
        action: String,
        /// How long it was tried.
        tried: Duration,
        /// How it went the last time.
        #[source]
        last: Box<ApiError>,
    },
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// Nobody listens.
    #[error("the connection was refused")]
    Refused,
    /// The name of the server, or of its proxy, means nothing.
    #[error("there is no host of this name")]
    NoSuchHost,
    /// The server does not prove to be the one that was meant.
    #[error("its certificate is not accepted: {problem}")]
    Certificate {
        /// What is wrong with it.
        problem: String,
    },
    /// The server speaks another protocol than the address says.
    #[error("it does not speak {}", if *https { "HTTPS" } else { "HTTP" })]
    Protocol {
        /// True if the address begins with `https://`.
        https: bool,
    },
    /// Too long.
    #[error("nothing came within {}s", after.as_secs())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
    },
    /// The connection could not be made, or broke.
    #[error("{problem}")]
    Connection {
        /// In words of the system.
        problem: String,
    },
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The field, as `spec.replicas`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl ApiError {
    /// The HTTP status, of the last try when there were several.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } | Self::Answer { code, .. } => Some(*code),
            Self::Credentials { .. } => Some(401),
            Self::OutOfTime { last, .. } => last.code(),
            Self::Unreachable { .. }
            | Self::NoSuchKind { .. }
            | Self::BrokenGroup { .. }
            | Self::NoLease { .. }
            | Self::LeaseLost { .. }
            | Self::Unconfirmed { .. } => None,
        }
    }

    /// Whether the object, or its kind, is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Status { code: 404, .. } | Self::NoSuchKind { .. })
    }

    /// Whether somebody else was faster: a write onto a version that is no longer the newest, or a conflict of managers.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Status { code: 409, reason, .. } if reason != "AlreadyExists")
    }

    /// Whether the object is there already.
    pub fn is_already_there(&self) -> bool {
        matches!(self, Self::Status { code: 409, reason, .. } if reason == "AlreadyExists")
    }

    /// Whether a webhook that has to be asked, to admit or to convert, gave no answer.
    pub fn is_webhook_failure(&self) -> bool {
        match self {
            Self::Status { message, .. } => is_silent_webhook(message),
            Self::OutOfTime { last, .. } => last.is_webhook_failure(),
            _ => false,
        }
    }

    /// Whether the same request may succeed later without anybody doing anything: too many requests, a server that is
    /// starting, a webhook that does not answer yet, a lost connection.
    pub fn can_pass(&self) -> bool {
        match self {
            Self::Status { code, reason, message, retry_after, .. } => {
                status_can_pass(*code, reason, message, retry_after.is_some())
            }
            Self::Answer { code, .. } => matches!(code, 429 | 502..=504),
            Self::Unreachable { source, .. } => {
                !matches!(source, NoAnswer::Certificate { .. } | NoAnswer::Protocol { .. })
            }
            Self::OutOfTime { last, .. } => last.can_pass(),
            Self::Unconfirmed { source, .. } => source.can_pass(),
            Self::NoSuchKind { .. }
            | Self::BrokenGroup { .. }
            | Self::Credentials { .. }
            | Self::NoLease { .. }
            | Self::LeaseLost { .. } => false,
        }
    }

    /// The reason alone, for those who know what was to be done.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Status { message, .. } => message.clone(),
            Self::Unreachable { server, source, .. } => format!("no answer from {server}: {source}"),
            Self::OutOfTime { last, .. } => last.why(),
            Self::Unconfirmed { source, .. } => format!("the lease could not be confirmed: {}", source.why()),
            other => other.to_string(),
        }
    }

    /// When the server wants to be asked again.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether a write may have taken effect although it failed.
    pub(crate) fn may_have_worked(&self) -> bool {
        match self {
            Self::Unreachable { unsent, .. } => !unsent,
            // The server, or a proxy, gave up waiting for what may still have been done.
            Self::Status { code, .. } | Self::Answer { code, .. } => matches!(code, 500 | 502 | 504),
            _ => false,
        }
    }
}

/// Source: kube-apiserver 1.36, apiserver/pkg/admission/plugin/webhook/errors, for webhooks that must answer.
const WEBHOOK_FAILED: &str = "failed calling webhook";
/// How the server begins to say that the webhook between the versions of a kind failed, and how it goes on. It says so too
/// of a webhook that answered with an error, which is then tried again in vain.
/// Source: kube-apiserver 1.36, apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.
const CONVERSION_FAILED: (&str, &str) = ("conversion webhook for ", " failed: ");
/// What etcd says when it will be well again soon.
/// Source: etcd 3.6, api/v3rpc/rpctypes.
const STORAGE_BUSY: [&str; 4] = [
    "etcdserver: leader changed",
    "etcdserver: request timed out",
    "etcdserver: no leader",
    "etcdserver: too many requests",
];

fn is_silent_webhook(message: &str) -> bool {
    let conversion = message.split_once(CONVERSION_FAILED.0);
    message.contains(WEBHOOK_FAILED) || conversion.is_some_and(|(_, rest)| rest.contains(CONVERSION_FAILED.1))
}

fn status_can_pass(code: u16, reason: &str, message: &str, retry_after: bool) -> bool {
    let storage_is_busy = STORAGE_BUSY.iter().any(|words| message.contains(words));
    match code {
        // Somebody has to make room first.
        _ if message.contains("database space exceeded") => false,
        429 | 502..=504 => true,
        500 => reason == "ServerTimeout" || retry_after || storage_is_busy || is_silent_webhook(message),
        // All other conflicts are the caller's, who knows what to write onto the newest version.
        409 => storage_is_busy,
        _ => false,
    }
}

/// The server's words about an invalid object without the object, `Kind.group "name" is invalid: `, which the action names.
fn without_object<'a>(reason: &str, message: &'a str) -> &'a str {
    match message.split_once("\" is invalid: ") {
        Some((object, rest)) if reason == "Invalid" && object.matches('"').count() == 1 => rest,
        _ => message,
    }
}

fn lost(holder: Option<&LeaseHolder>) -> String {
    match holder {
        Some(holder) => format!("another run has taken over: {holder}"),
        None => "the lease of this run is gone".to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! Errors of requests, and their retries.

use std::time::Duration;

use crate::{ConnectError, LeaseHolder};

/// An error of a request.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ApiError {
    /// The server refused the request.
    #[error("cannot {action}: {}", without_object(reason, message))]
    Status {
        /// The attempted action, such as `apply Deployment ns/name`.
        action: String,
        code: u16,
        /// The reason in one word, such as `Forbidden`.
        reason: String,
        message: String,
        /// The problems, field by field.
        causes: Vec<StatusCause>,
        /// The pause that the server requests.
        retry_after: Option<Duration>,
    },
    /// The server did not answer.
    #[error("cannot {action}: no answer from {server}")]
    Unreachable {
        action: String,
        /// The address of the server, and the proxy if there is one.
        server: String,
        /// True if the request was never sent and has had no effect.
        unsent: bool,
        source: NetworkError,
    },
    /// The answer is not that of a Kubernetes API server.
    #[error("cannot {action}: {server} did not answer like a Kubernetes API server: {problem}")]
    InvalidAnswer {
        action: String,
        /// The address of the server, and the proxy if there is one.
        server: String,
        code: u16,
        problem: String,
    },
    /// The server does not serve the kind.
    #[error("cannot {action}: the server has no kind `{kind}`")]
    UnknownKind {
        action: String,
        /// The kind as `Kind.group`.
        kind: String,
    },
    /// The kind may belong to an aggregated API that does not answer.
    #[error(
        "cannot {action}: kind `{kind}` was not found, and the aggregated API `{group_version}` does not answer"
    )]
    UnavailableGroup {
        action: String,
        /// The kind as `Kind.group`.
        kind: String,
        /// The version of the group that does not answer, as `group/version`.
        group_version: String,
    },
    /// The server rejected the credentials, and new credentials could not be obtained.
    #[error("cannot {action}: the server rejected the credentials, and they cannot be renewed")]
    Credentials { action: String, source: Box<ConnectError> },
    /// The handle of the server has no lease for writes.
    #[error("cannot {action}: this run does not hold the lease of the cluster")]
    NoLease { action: String },
    /// Another run has taken over the lease of the cluster, or somebody has deleted it.
    #[error("cannot write to the cluster: {}", lost(holder.as_deref()))]
    LeaseLost {
        /// The new holder of the lease, if known.
        holder: Option<Box<LeaseHolder>>,
    },
    /// The lease of the cluster could not be confirmed, so nothing was sent.
    #[error("cannot {action}: this run cannot confirm its lease")]
    LeaseUnconfirmed {
        action: String,
        #[source]
        source: Box<ApiError>,
    },
    /// A temporary failure lasted until the deadline.
    #[error("cannot {action}: gave up after {}s", tried.as_secs())]
    RetriesExhausted {
        action: String,
        /// The duration of all attempts.
        tried: Duration,
        /// The error of the last attempt.
        #[source]
        last: Box<ApiError>,
    },
}

/// The reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum NetworkError {
    /// The host refused the connection.
    #[error("the connection was refused")]
    Refused,
    /// The name of the server, or of its proxy, cannot be resolved.
    #[error("the host name cannot be resolved")]
    UnknownHost,
    /// The certificate of the server is not accepted.
    #[error("its certificate was rejected: {problem}")]
    Certificate { problem: String },
    /// The server speaks another protocol than its address says.
    #[error("it does not speak {}", if *https { "HTTPS" } else { "HTTP" })]
    Protocol {
        /// True if the address begins with `https://`.
        https: bool,
    },
    /// No data arrived in time.
    #[error("no data received within {}s", after.as_secs())]
    TimedOut { after: Duration },
    /// The connection could not be made, or broke.
    #[error("{problem}")]
    Connection {
        /// The error of the system.
        problem: String,
    },
}

/// One problem of a sent object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCause {
    /// The field, as `spec.replicas`.
    pub field: String,
    /// The problem of the field.
    pub message: String,
}

impl ApiError {
    /// Returns the HTTP status. After retries, this is the status of the last attempt.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } | Self::InvalidAnswer { code, .. } => Some(*code),
            Self::Credentials { .. } => Some(401),
            Self::RetriesExhausted { last, .. } => last.code(),
            Self::Unreachable { .. }
            | Self::UnknownKind { .. }
            | Self::UnavailableGroup { .. }
            | Self::NoLease { .. }
            | Self::LeaseLost { .. }
            | Self::LeaseUnconfirmed { .. } => None,
        }
    }

    /// True if the object, or its kind, does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Status { code: 404, .. } | Self::UnknownKind { .. })
    }

    /// True if the user lacks a permission, or an admission rule refused the request.
    pub fn is_forbidden(&self) -> bool {
        self.code() == Some(403)
    }

    /// True if a newer version of the object exists, or managers conflict.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Status { code: 409, reason, .. } if reason != "AlreadyExists")
    }

    /// True if the object already exists.
    pub fn is_already_exists(&self) -> bool {
        matches!(self, Self::Status { code: 409, reason, .. } if reason == "AlreadyExists")
    }

    /// True if a retry of the same request may succeed without any change. Examples are too many requests, a starting
    /// server, a silent webhook, or a lost connection.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Status { code, reason, message, retry_after, .. } => {
                is_temporary_status(*code, reason, message, retry_after.is_some())
            }
            Self::InvalidAnswer { code, .. } => matches!(code, 429 | 502..=504),
            Self::Unreachable { source, .. } => {
                !matches!(source, NetworkError::Certificate { .. } | NetworkError::Protocol { .. })
            }
            Self::RetriesExhausted { last, .. } => last.is_temporary(),
            Self::LeaseUnconfirmed { source, .. } => source.is_temporary(),
            Self::UnknownKind { .. }
            | Self::UnavailableGroup { .. }
            | Self::Credentials { .. }
            | Self::NoLease { .. }
            | Self::LeaseLost { .. } => false,
        }
    }

    /// Returns the reason alone, for callers that report the action themselves.
    pub(crate) fn short_message(&self) -> String {
        match self {
            Self::Status { message, .. } => message.clone(),
            Self::Unreachable { server, source, .. } => format!("no answer from {server}: {source}"),
            Self::RetriesExhausted { last, .. } => last.short_message(),
            Self::LeaseUnconfirmed { source, .. } => {
                format!("cannot confirm the lease: {}", source.short_message())
            }
            other => other.to_string(),
        }
    }

    /// Returns the pause that the server requests.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// True if a failed write may have taken effect.
    pub(crate) fn may_have_succeeded(&self) -> bool {
        match self {
            Self::Unreachable { unsent, .. } => !unsent,
            // The server, or a proxy, stopped waiting, but the write may have completed.
            Self::Status { code, .. } | Self::InvalidAnswer { code, .. } => matches!(code, 500 | 502 | 504),
            _ => false,
        }
    }
}

/// The text of a failed webhook call.
/// Source: kube-apiserver 1.36, apiserver/pkg/admission/plugin/webhook/errors, for webhooks that must answer.
const WEBHOOK_FAILED: &str = "failed calling webhook";
/// The texts around the name of a conversion webhook that failed. The server reports a webhook that answered with an
/// error in the same way; retries are useless then.
/// Source: kube-apiserver 1.36, apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.
const CONVERSION_FAILED: (&str, &str) = ("conversion webhook for ", " failed: ");
/// The texts of etcd for temporary failures.
/// Source: etcd 3.6, api/v3rpc/rpctypes.
const STORAGE_BUSY: [&str; 4] = [
    "etcdserver: leader changed",
    "etcdserver: request timed out",
    "etcdserver: no leader",
    "etcdserver: too many requests",
];

fn is_failed_webhook_call(message: &str) -> bool {
    let conversion = message.split_once(CONVERSION_FAILED.0);
    message.contains(WEBHOOK_FAILED) || conversion.is_some_and(|(_, rest)| rest.contains(CONVERSION_FAILED.1))
}

fn is_temporary_status(code: u16, reason: &str, message: &str, retry_after: bool) -> bool {
    let storage_is_busy = STORAGE_BUSY.iter().any(|words| message.contains(words));
    match code {
        // Somebody has to free space first.
        _ if message.contains("database space exceeded") => false,
        429 | 502..=504 => true,
        500 => reason == "ServerTimeout" || retry_after || storage_is_busy || is_failed_webhook_call(message),
        // All other conflicts are left to the caller, who must read the newest version.
        409 => storage_is_busy,
        _ => false,
    }
}

/// Returns the message about an invalid object without the object, `Kind.group "name" is invalid: `, which the action
/// names.
fn without_object<'a>(reason: &str, message: &'a str) -> &'a str {
    match message.split_once("\" is invalid: ") {
        Some((object, rest)) if reason == "Invalid" && object.matches('"').count() == 1 => rest,
        _ => message,
    }
}

fn lost(holder: Option<&LeaseHolder>) -> String {
    match holder {
        Some(holder) => format!("another run has taken over: {holder}"),
        None => "the lease of this run was deleted".to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! Faults applied before and after a request takes effect.

use super::Server;
use crate::{
    audit::AuditEntry,
    faults::{AppliedFaults, Effect},
    go,
    identity::USER,
    status::{Details, Status, qualified},
};

/// The decision about a request after all faults.
#[derive(Debug)]
pub(super) enum FaultDecision {
    /// The request takes effect, followed by this ending.
    Proceed(RequestEnding),
    /// The request has no effect and receives this response.
    Refuse(Status),
    /// The request has no effect and receives no response.
    DropConnection,
}

/// The ending of a request that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestEnding {
    Respond,
    /// Ends a watch after its first event; answers every other request.
    EndWatch,
    /// Sends no response.
    DropConnection,
    /// Ends the server.
    Kill,
}

impl Server {
    /// Decides about a request before it takes effect. Waits for the latency of a fault.
    pub(super) async fn apply_faults(&self, request: &AuditEntry) -> FaultDecision {
        if self.is_killed() {
            return FaultDecision::DropConnection;
        }
        let AppliedFaults { latency, effect } = self.faults.apply(request);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        match effect {
            None | Some(Effect::Latency(_)) => FaultDecision::Proceed(RequestEnding::Respond),
            Some(Effect::Answer { code, retry_after_seconds }) => {
                FaultDecision::Refuse(refusal(request, code, retry_after_seconds))
            }
            Some(Effect::Forbid) => FaultDecision::Refuse(forbidden(request, USER)),
            Some(Effect::CutBefore) => FaultDecision::DropConnection,
            Some(Effect::CutAfter) => FaultDecision::Proceed(RequestEnding::DropConnection),
            Some(Effect::DropWatch) => FaultDecision::Proceed(RequestEnding::EndWatch),
            Some(Effect::Kill) => FaultDecision::Proceed(RequestEnding::Kill),
        }
    }

    /// True if a fault killed the server.
    pub(super) fn is_killed(&self) -> bool {
        *self.killed.borrow()
    }

    /// Stops all responses, watches and writes, and releases the data directory.
    pub(super) fn kill(&self) {
        self.killed.send_replace(true);
        self.store.release();
    }
}

/// Returns the response of a fault.
fn refusal(request: &AuditEntry, code: u16, retry_after_seconds: Option<u32>) -> Status {
    let plural = request.resource.split('/').next().unwrap_or_default();
    let (group, name) = (&*request.group, &*request.name);
    let mut status = match code {
        403 => forbidden(request, USER),
        409 => Status::modified(group, plural, name),
        410 => Status::expired("The resourceVersion for the provided list is too old."),
        429 => Status::new(
            429,
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        500 => Status::internal("a fault was injected by the sandbox"),
        504 => Status::new(504, "Timeout", "request did not complete within the allotted timeout"),
        _ => Status::new(code, "ServiceUnavailable", "the server is currently unable to handle the request"),
    };
    if retry_after_seconds.is_some() {
        status.details.get_or_insert_default().retry_after_seconds = retry_after_seconds;
    }
    status
}

/// Returns the response to a request without permission. Source: apiserver 1.36 `responsewriters.ForbiddenStatusError`.
pub(crate) fn forbidden(request: &AuditEntry, user: &str) -> Status {
    let AuditEntry { group, resource, namespace, name, verb, .. } = request;
    if resource.is_empty() {
        let path = request.path.split('?').next().unwrap_or_default();
        let message = format!("forbidden: User \"{user}\" cannot {verb} path {}", go::quoted(path));
        return Status::new(403, "Forbidden", message).with_details(Details::default());
    }
    let place = match &**namespace {
        "" => " at the cluster scope".to_owned(),
        namespace => format!(" in the namespace {}", go::quoted(namespace)),
    };
    let plural = resource.split('/').next().unwrap_or_default();
    let quoted_name = if name.is_empty() { String::new() } else { format!(" {}", go::quoted(name)) };
    let why =
        format!("User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"{group}\"{place}");
    let message = format!("{}{quoted_name} is forbidden: {why}", qualified(plural, group));
    let details =
        Details { name: name.clone(), group: group.clone(), kind: plural.to_owned(), ..Details::default() };
    Status::new(403, "Forbidden", message).with_details(details)
}

//! Faults applied before and after a request takes effect.

use super::Server;
use crate::{
    audit::Request,
    faults::{Effect, Strike},
    go,
    identity::USER,
    status::{Details, Status, qualified},
};

/// The decision about a request after all faults.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The request takes effect, followed by this ending.
    Proceed(Ending),
    /// The request has no effect and receives this response.
    Refuse(Status),
    /// The request has no effect and receives no response.
    Cut,
}

/// The ending of a request that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Answer,
    /// Ends a watch after its first event; answers every other request.
    BreakOff,
    /// Sends no response.
    Cut,
    /// Ends the server.
    Kill,
}

impl Server {
    /// Decides about a request before it takes effect. Waits for the latency of a fault.
    pub(super) async fn strike(&self, request: &Request) -> Verdict {
        if self.is_killed() {
            return Verdict::Cut;
        }
        let Strike { latency, effect } = self.faults.strike(request);
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        match effect {
            None | Some(Effect::Latency(_)) => Verdict::Proceed(Ending::Answer),
            Some(Effect::Answer { code, retry_after_seconds }) => {
                Verdict::Refuse(refusal(request, code, retry_after_seconds))
            }
            Some(Effect::Forbid) => Verdict::Refuse(forbidden(request, USER)),
            Some(Effect::CutBefore) => Verdict::Cut,
            Some(Effect::CutAfter) => Verdict::Proceed(Ending::Cut),
            Some(Effect::DropWatch) => Verdict::Proceed(Ending::BreakOff),
            Some(Effect::Kill) => Verdict::Proceed(Ending::Kill),
        }
    }

    /// True if a fault killed the server.
    pub(super) fn is_killed(&self) -> bool {
        *self.killed.borrow()
    }

    /// Stops all responses, watches and writes, and releases the data directory.
    pub(super) fn kill(&self) {
        self.killed.send_replace(true);
        self.store.leave();
    }
}

/// Returns the response of a fault.
fn refusal(request: &Request, code: u16, retry_after_seconds: Option<u32>) -> Status {
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
        500 => Status::internal("a fault of the sandbox"),
        504 => Status::new(504, "Timeout", "request did not complete within the allotted timeout"),
        _ => Status::new(code, "ServiceUnavailable", "the server is currently unable to handle the request"),
    };
    if let Some(seconds) = retry_after_seconds {
        status.details.get_or_insert_default().retry_after_seconds = seconds;
    }
    status
}

/// Returns the response to a request without permission. Source: apiserver 1.36 `responsewriters.ForbiddenStatusError`.
pub(crate) fn forbidden(request: &Request, user: &str) -> Status {
    let Request { group, resource, namespace, name, verb, .. } = request;
    if resource.is_empty() {
        let path = request.path.split('?').next().unwrap_or_default();
        return Status::new(
            403,
            "Forbidden",
            format!("forbidden: User \"{user}\" cannot {verb} path {}", go::quoted(path)),
        )
        .about(Details::default());
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
    Status::new(403, "Forbidden", message).about(details)
}

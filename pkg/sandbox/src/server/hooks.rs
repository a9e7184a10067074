//! Where trouble comes in: before a request takes effect, and after.

use super::Server;
use crate::{
    audit::Request,
    faults::{Effect, Strike},
    go,
    identity::USER,
    status::{Details, Status, qualified},
};

/// What is to become of a request that a fault may have struck.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It takes effect, and this follows.
    Proceed(Ending),
    /// It takes no effect, and this is its answer.
    Refuse(Status),
    /// It takes no effect and gets no answer.
    Cut,
}

/// What follows a request that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Answer,
    /// A watch breaks off after its first event; everything else is answered.
    BreakOff,
    /// No answer.
    Cut,
    /// The end of the server.
    Kill,
}

impl Server {
    /// Asked before a request takes effect. A slow one waits here.
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

    /// Whether a fault has killed it.
    pub(super) fn is_killed(&self) -> bool {
        *self.killed.borrow()
    }

    /// Nothing is answered from now on, nothing watched and nothing written; the data directory is there for the next.
    pub(super) fn kill(&self) {
        self.killed.send_replace(true);
        self.store.leave();
    }
}

/// What a server in that sort of trouble answers.
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

/// What somebody without the right is told. Source: apiserver 1.36 `responsewriters.ForbiddenStatusError`.
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

//! Probes cert-manager for an answer.

use std::time::{Duration, Instant};

use api::labels::FIELD_MANAGER;
use apply::{ApiError, ApiKind, GroupKind, Permission, ServedKinds, Server, WriteMode};
use manifest::Object;
use serde_json::json;

pub(super) const GROUP: &str = "cert-manager.io";
const VERSION: &str = "v1";
const PROBE_NAMESPACE: &str = "default";
/// The first pause between two probes. Pauses double up to [`MAX_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(4);

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProbeResult {
    /// The webhook answers.
    Answers,
    /// The kinds are served but the webhook does not answer, with the reason.
    NotAnswering(String),
    /// The kinds are not served.
    NotServed,
}

impl ProbeResult {
    /// Returns the reason why cert-manager is not usable. `None` if it is usable.
    pub(super) fn unavailable_reason(self) -> Option<String> {
        match self {
            Self::Answers => None,
            Self::NotAnswering(why) => Some(why),
            Self::NotServed => Some(format!("the server does not serve kind `Issuer.{GROUP}` in {VERSION}")),
        }
    }
}

/// Returns the permission for [`probe`].
pub(crate) fn probe_permission() -> Permission {
    Permission {
        verb: "create".to_owned(),
        group: GROUP.to_owned(),
        resource: "issuers".to_owned(),
        namespace: PROBE_NAMESPACE.to_owned(),
    }
}

/// Creates an Issuer as a dry run. Nothing is persisted, so nothing needs cleanup and probes cannot conflict.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (EnsureInstalled) creates objects in a temporary
/// namespace and deletes them. Differs: there, the next probe runs into the deletion of that namespace.
pub(super) async fn probe(server: &Server) -> Result<ProbeResult, ApiError> {
    let kinds = server.kinds_with(|kinds| issuer_kind(kinds).is_some()).await?;
    let Some(issuer) = issuer_kind(&kinds) else { return Ok(ProbeResult::NotServed) };
    // Each probe sends one request: the caller repeats probes and reports the last answer.
    let once = server.retrying_for(Duration::ZERO);
    match once.create(&issuer, &issuer_object(), FIELD_MANAGER, WriteMode::DryRun).await {
        Ok(_) => Ok(ProbeResult::Answers),
        Err(error) if error.is_not_found() => Ok(ProbeResult::NotServed),
        Err(error) => classify_error(error),
    }
}

/// Probes until cert-manager answers or the time is over. Returns the reason of the last failed probe.
pub(super) async fn probe_until(server: &Server, deadline: Instant) -> Result<Option<String>, ApiError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let found = probe(server).await?;
        let now = Instant::now();
        if found == ProbeResult::Answers || now >= deadline {
            return Ok(found.unavailable_reason());
        }
        if found == ProbeResult::NotServed {
            server.forget_kinds();
        }
        tokio::time::sleep(pause.min(deadline - now)).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// True if the server serves a definition of cert-manager in any version.
pub(super) fn is_defined(kinds: &ServedKinds) -> bool {
    kinds.iter().any(|kind| kind.group == GROUP)
}

fn issuer_kind(kinds: &ServedKinds) -> Option<ApiKind> {
    kinds.version(&GroupKind::new(GROUP, "Certificate"), VERSION)?;
    kinds.version(&GroupKind::new(GROUP, "Issuer"), VERSION).cloned()
}

fn issuer_object() -> Object {
    let issuer = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "Issuer",
        "metadata": {"name": "capstan-probe", "namespace": PROBE_NAMESPACE},
        "spec": {"selfSigned": {}},
    });
    Object::try_from(issuer).expect("a mapping is an object")
}

/// Distinguishes a missing webhook from one that rejects the request. A rejection is an answer too.
fn classify_error(error: ApiError) -> Result<ProbeResult, ApiError> {
    let words = match &error {
        ApiError::RetriesExhausted { last, .. } => status_message(last),
        error => status_message(error),
    };
    match words {
        Some(text) if text.contains("failed calling webhook") => {
            Ok(ProbeResult::NotAnswering(text.to_owned()))
        }
        Some(text) if text.contains("denied the request") => Ok(ProbeResult::Answers),
        _ if error.is_already_exists() => Ok(ProbeResult::Answers),
        _ => Err(error),
    }
}

fn status_message(error: &ApiError) -> Option<&str> {
    match error {
        ApiError::Status { message, .. } => Some(message),
        _ => None,
    }
}

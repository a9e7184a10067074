//! Probes cert-manager for an answer.

use std::time::{Duration, Instant};

use apply::{ApiError, ApiKind, GroupKind, ServedKinds, Server, WriteMode};
use inventory::FIELD_MANAGER;
use manifest::Object;
use serde_json::json;

pub(super) const GROUP: &str = "cert-manager.io";
const VERSION: &str = "v1";
/// The first pause between two probes. Pauses double up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// The webhook answers.
    Answers,
    /// The kinds are served but the webhook does not answer, with the reason.
    Silent(String),
    /// The kinds are not served.
    Absent,
}

impl Probe {
    /// Returns the reason why cert-manager is not usable. `None` if it is usable.
    pub(super) fn silence(self) -> Option<String> {
        match self {
            Self::Answers => None,
            Self::Silent(why) => Some(why),
            Self::Absent => Some(format!("the server has no kind `Issuer.{GROUP}` in {VERSION}")),
        }
    }
}

/// Creates an Issuer as a dry run. Nothing is persisted, so nothing needs cleanup and probes cannot conflict.
/// Source: clusterctl v1.14 client/cluster/cert_manager.go (EnsureInstalled) creates objects in a temporary
/// namespace and deletes them. Differs: there, the next probe runs into the deletion of that namespace.
pub(super) async fn probe(server: &Server) -> Result<Probe, ApiError> {
    let kinds = server.kinds_with(|kinds| issuer_kind(kinds).is_some()).await?;
    let Some(issuer) = issuer_kind(&kinds) else { return Ok(Probe::Absent) };
    // Each probe sends one request: the caller repeats probes and reports the last answer.
    let once = server.retrying_for(Duration::ZERO);
    match once.create(&issuer, &issuer_object(), FIELD_MANAGER, WriteMode::DryRun).await {
        Ok(_) => Ok(Probe::Answers),
        Err(error) if error.is_not_found() => Ok(Probe::Absent),
        Err(error) => refusal(error),
    }
}

/// Probes until cert-manager answers or the time is over. Returns the reason of the last failed probe.
pub(super) async fn probe_until(server: &Server, until: Instant) -> Result<Option<String>, ApiError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let found = probe(server).await?;
        let now = Instant::now();
        if found == Probe::Answers || now >= until {
            return Ok(found.silence());
        }
        if found == Probe::Absent {
            server.forget_kinds();
        }
        tokio::time::sleep(pause.min(until - now)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
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
        "metadata": {"name": "capstan-probe", "namespace": "default"},
        "spec": {"selfSigned": {}},
    });
    Object::try_from(issuer).expect("a mapping is an object")
}

/// Distinguishes a missing webhook from one that rejects the request. A rejection is an answer too.
fn refusal(error: ApiError) -> Result<Probe, ApiError> {
    let words = match &error {
        ApiError::RetriesExhausted { last, .. } => words(last),
        error => words(error),
    };
    match words {
        Some(text) if text.contains("failed calling webhook") => Ok(Probe::Silent(text.to_owned())),
        Some(text) if text.contains("denied the request") => Ok(Probe::Answers),
        _ if error.is_already_exists() => Ok(Probe::Answers),
        _ => Err(error),
    }
}

fn words(error: &ApiError) -> Option<&str> {
    match error {
        ApiError::Status { message, .. } => Some(message),
        _ => None,
    }
}

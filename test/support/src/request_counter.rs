//! Counts requests, for tests of server load.

use std::{collections::BTreeMap, fmt};

use sandbox::{Sandbox, audit::AuditEntry};

/// Verbs in display order.
const VERBS: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
/// The index of the first verb that writes.
const FIRST_WRITE: usize = 3;

/// Counts the requests that a sandbox has answered since a point in time.
#[derive(Clone, Debug)]
pub struct RequestCounter {
    sandbox: Sandbox,
    since: u64,
}

/// Request counts by verb and resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Counts by verb index and description.
    counts: BTreeMap<(usize, String), usize>,
}

impl RequestCounter {
    /// Starts counting.
    pub fn start(sandbox: &Sandbox) -> Self {
        Self { sandbox: sandbox.clone(), since: sandbox.audit().answered() }
    }

    /// Resets the count.
    pub fn restart(&mut self) {
        self.since = self.sandbox.audit().answered();
    }

    /// All requests, including discovery and other paths.
    pub fn all(&self) -> RequestCounts {
        RequestCounts::of(&self.requests())
    }

    /// Requests that get, list or watch objects.
    pub fn reads(&self) -> RequestCounts {
        self.of_verbs(&VERBS[..FIRST_WRITE])
    }

    /// Requests that write objects, including dry runs and refused requests.
    pub fn writes(&self) -> RequestCounts {
        self.of_verbs(&VERBS[FIRST_WRITE..])
    }

    /// The requests, in the order of their responses.
    ///
    /// # Panics
    /// Panics if the sandbox has dropped requests. The options of the sandbox limit the number of kept requests.
    pub fn requests(&self) -> Vec<AuditEntry> {
        let (answered, kept) = (self.sandbox.audit().answered(), self.sandbox.audit().since(self.since));
        let expected = usize::try_from(answered - self.since).unwrap_or(usize::MAX);
        assert!(kept.len() >= expected, "the sandbox has kept {} of {expected} requests", kept.len());
        kept
    }

    fn of_verbs(&self, verbs: &[&str]) -> RequestCounts {
        let mut requests = self.requests();
        requests.retain(|request| !request.resource.is_empty() && verbs.contains(&&*request.verb));
        RequestCounts::of(&requests)
    }
}

impl RequestCounts {
    /// Counts requests.
    pub fn of(requests: &[AuditEntry]) -> Self {
        let mut tally = Self::default();
        for request in requests {
            let place = VERBS.iter().position(|verb| *verb == request.verb).unwrap_or(VERBS.len());
            *tally.counts.entry((place, description(request))).or_default() += 1;
        }
        tally
    }

    /// The total number of requests.
    pub fn total(&self) -> usize {
        self.counts.values().sum()
    }
}

/// A description such as `get configmaps`, or `get /version` for other paths. Adds the outcome unless it is success.
fn description(request: &AuditEntry) -> String {
    let path = request.path.split('?').next().unwrap_or_default();
    let what = if request.resource.is_empty() { path } else { &request.resource };
    let outcome = match request.code {
        200..300 => String::new(),
        0 => " (cut)".to_owned(),
        code => format!(" ({code})"),
    };
    let dry_run = if request.dry_run { " (dry run)" } else { "" };
    format!("{} {what}{dry_run}{outcome}", request.verb)
}

/// Renders `12 get secrets, 3 patch configmaps`: verbs from get to delete, resources by name.
impl fmt::Display for RequestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.counts.is_empty() {
            return f.write_str("nothing");
        }
        for (number, ((_, text), count)) in self.counts.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {text}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{cluster_api::object, fixture::Fixture, kind};

    #[tokio::test]
    async fn requests_are_counted_by_verb_and_resource_between_two_points() {
        let lab = Fixture::start().await;
        let mut counter = RequestCounter::start(lab.sandbox());
        lab.create([object(kind::SECRET, "team/one"), object(kind::SECRET, "team/two")]).await;
        assert_eq!(counter.writes().to_string(), "1 create namespaces, 2 create secrets");
        counter.restart();
        assert!(lab.get(kind::SECRET, "team/three").await.is_none());
        lab.list(kind::SECRET).await;
        assert_eq!(counter.reads().to_string(), "1 get secrets (404), 1 list secrets");
        assert_eq!((counter.writes().to_string(), counter.all().total()), ("nothing".to_owned(), 2));
    }

    #[tokio::test]
    async fn request_counts_include_the_outcome() {
        let lab = Fixture::start().await;
        let counter = RequestCounter::start(lab.sandbox());
        lab.inject_fault("cut-after,verb=patch,times=1");
        let client = lab.client();
        let version = http::Request::get("/version?timeout=1s").body(Vec::new()).unwrap();
        client.request_text(version).await.unwrap();
        let patch =
            || http::Request::patch("/api/v1/namespaces/default?dryRun=All").body(b"{}".to_vec()).unwrap();
        client.request_text(patch()).await.unwrap_err();
        client.request_text(patch()).await.unwrap_err();
        assert_eq!(
            counter.all().to_string(),
            "1 get /version, 1 patch namespaces (dry run) (415), 1 patch namespaces (dry run) (cut)"
        );
    }
}

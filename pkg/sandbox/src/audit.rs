//! The audit log: the requests that the server answered, for tests that count requests.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

/// One answered request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEntry {
    /// The number of the request since the start of the server, from 1.
    pub number: u64,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`. For paths outside the API,
    /// the lower-case HTTP method.
    pub verb: Cow<'static, str>,
    /// The path and the query as received.
    pub path: String,
    /// The API group; empty for the core group and for paths outside the API.
    pub group: String,
    /// The plural with the subresource, such as `pods/status`; empty for paths outside the API.
    pub resource: String,
    /// The namespace, if any.
    pub namespace: String,
    /// The name of the object, if any.
    pub name: String,
    /// The client: `fieldManager`, or else the first word of the user agent.
    pub client: String,
    /// The status code of the answer; 0 if the connection was cut.
    pub code: u16,
    /// True for a dry run.
    pub dry_run: bool,
}

/// The newest requests in the order of their answers.
#[derive(Debug)]
pub struct AuditLog {
    log: Mutex<AuditEntries>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct AuditEntries {
    answered: u64,
    newest: VecDeque<AuditEntry>,
}

impl AuditLog {
    /// Creates a log that keeps the newest `capacity` requests and counts all requests.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { log: Mutex::default(), capacity }
    }

    /// Adds an answered request with the next number.
    pub(crate) fn record(&self, request: AuditEntry) {
        let mut log = self.lock();
        log.answered += 1;
        let number = log.answered;
        if log.newest.len() == self.capacity {
            log.newest.pop_front();
        }
        if self.capacity > 0 {
            log.newest.push_back(AuditEntry { number, ..request });
        }
    }

    /// The number of requests answered since the start. A watch counts once opened.
    pub fn answered(&self) -> u64 {
        self.lock().answered
    }

    /// The kept requests with a greater number; 0 returns all kept requests.
    pub fn since(&self, number: u64) -> Vec<AuditEntry> {
        self.lock().newest.iter().filter(|request| request.number > number).cloned().collect()
    }

    /// Locks the log. A panic elsewhere leaves the log consistent: every critical section completes its change.
    fn lock(&self) -> MutexGuard<'_, AuditEntries> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_audit_entries_are_counted() {
        let audit = AuditLog::with_capacity(2);
        for name in ["a", "b", "c"] {
            audit.record(AuditEntry { name: name.into(), ..AuditEntry::default() });
        }
        let kept: Vec<_> = audit.since(0).into_iter().map(|request| (request.number, request.name)).collect();
        assert_eq!(kept, [(2, "b".into()), (3, "c".into())]);
        assert_eq!(audit.answered(), 3);
        assert_eq!(audit.since(2).len(), 1);
    }
}

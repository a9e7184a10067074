//! What was asked: a log of requests, for tests that count.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

/// One answered request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Counts from 1.
    pub number: u64,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other addresses the
    /// lower-case HTTP method.
    pub verb: Cow<'static, str>,
    /// The path with the query, as it came.
    pub path: String,
    /// The API group, empty for core and for other addresses.
    pub group: String,
    /// The plural with the subresource, `pods/status`; empty for other addresses.
    pub resource: String,
    /// The namespace, if any.
    pub namespace: String,
    /// The object's name, if any.
    pub name: String,
    /// Who asked: `fieldManager`, or else the first word of the user agent.
    pub client: String,
    /// The status code of the answer; 0 when the connection was cut.
    pub code: u16,
    /// It was a dry run.
    pub dry_run: bool,
}

/// The newest requests, in the order they were answered.
#[derive(Debug)]
pub struct Audit {
    log: Mutex<Log>,
    kept: usize,
}

#[derive(Debug, Default)]
struct Log {
    answered: u64,
    newest: VecDeque<Request>,
}

impl Audit {
    /// Keeps this many requests and counts the others.
    pub(crate) fn keeping(kept: usize) -> Self {
        Self { log: Mutex::default(), kept }
    }

    /// Adds an answered request under the next number.
    pub(crate) fn record(&self, request: Request) {
        let mut log = self.lock();
        log.answered += 1;
        let number = log.answered;
        if log.newest.len() == self.kept {
            log.newest.pop_front();
        }
        if self.kept > 0 {
            log.newest.push_back(Request { number, ..request });
        }
    }

    /// How many requests were answered since the start, watches among them once they were opened.
    pub fn answered(&self) -> u64 {
        self.lock().answered
    }

    /// The requests that are kept and came after this number; 0 is all.
    pub fn since(&self, number: u64) -> Vec<Request> {
        self.lock().newest.iter().filter(|request| request.number > number).cloned().collect()
    }

    /// A panic elsewhere leaves the log whole: nothing is done halfway under the lock.
    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_requests_go_but_are_counted() {
        let audit = Audit::keeping(2);
        for name in ["a", "b", "c"] {
            audit.record(Request { name: name.into(), ..Request::default() });
        }
        let kept: Vec<_> = audit.since(0).into_iter().map(|request| (request.number, request.name)).collect();
        assert_eq!(kept, [(2, "b".into()), (3, "c".into())]);
        assert_eq!(audit.answered(), 3);
        assert_eq!(audit.since(2).len(), 1);
    }
}

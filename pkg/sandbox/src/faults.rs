//! Faults that a running server injects into requests.

mod parse;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::audit::AuditEntry;

/// One kind of fault and the requests that trigger it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Requests that can trigger the fault.
    pub requests: RequestFilter,
    /// The number of matching requests that pass before the first strike.
    pub skip: u64,
    /// The maximum number of strikes. `None` means no limit.
    pub times: Option<u64>,
    /// The effect on a matching request.
    pub effect: Effect,
}

/// A filter for requests. An empty field matches every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; or `write` for the
    /// last five.
    pub verb: String,
    /// The API group. `*` matches any group; an empty group means core only if a resource is named.
    pub group: String,
    /// The plural, with a subresource if needed: `pods`, `pods/status`. `*` matches any resource.
    pub resource: String,
    /// The namespace of the object.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

/// The effect of a fault on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Delays the request, in addition to other faults.
    Latency(Duration),
    /// Answers with this code: 403, 409, 410, 429 (with `Retry-After`), 500, 503, 504.
    Answer {
        /// The status code.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after_seconds: Option<u32>,
    },
    /// Closes the connection before the request takes effect.
    CutBefore,
    /// Closes the connection after the write took effect.
    CutAfter,
    /// Ends a watch after its first event, without an error.
    DropWatch,
    /// Ends the process after the request took effect, without a response. In process, the server stops answering.
    Kill,
    /// Refuses reads and writes; access reviews report the refusal.
    Forbid,
}

/// The faults of a running server, with their counters. They may change while the server runs.
#[derive(Debug, Default)]
pub struct ActiveFaults {
    list: Mutex<FaultList>,
}

#[derive(Debug, Default)]
struct FaultList {
    entries: Vec<FaultEntry>,
    next: u64,
}

#[derive(Debug)]
struct FaultEntry {
    id: FaultId,
    fault: Fault,
    /// The number of matching requests.
    matched: u64,
    /// The number of strikes.
    applied: u64,
}

/// The combined effect of all faults on one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AppliedFaults {
    /// The total added delay.
    pub(crate) latency: Duration,
    /// The effect besides latency.
    pub(crate) effect: Option<Effect>,
}

/// A fault of a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaultId(u64);

impl Fault {
    /// Parses the command line syntax: `EFFECT[:VALUE][,verb=…][,resource=[GROUP/]PLURAL[/SUB]][,namespace=…]
    /// [,name=…][,skip=N][,times=N]`, such as `429:2,verb=create,resource=secrets,times=3`, `latency:20ms`,
    /// `cut-after,verb=write,skip=17,times=1`, `kill,skip=40`. In a resource, the text before the first `/` is a group
    /// if it contains a dot, or if it is `apps`, `batch`, `autoscaling`, `policy` or `*`. A resource without a group must be one
    /// of the core group.
    ///
    /// # Errors
    /// Returns one sentence that names the invalid part and the allowed values.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::fault(text)
    }
}

impl RequestFilter {
    /// True if the filter matches the request. A filter with a resource matches resource requests only. A filter
    /// without one matches every request that its other fields allow. The `code` and `number` of the request are
    /// ignored.
    pub fn matches(&self, request: &AuditEntry) -> bool {
        let writes = ["create", "update", "patch", "delete", "deletecollection"];
        let verb = match &*self.verb {
            "" | "*" => true,
            // An access review may name all verbs, groups, resources and namespaces at once.
            _ if request.verb == "*" => true,
            "write" => writes.contains(&&*request.verb),
            verb => verb == request.verb,
        };
        let any = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        verb && self.resource_matches(request)
            && (request.namespace == "*" || any(&self.namespace, &request.namespace))
            && any(&self.name, &request.name)
    }

    fn resource_matches(&self, request: &AuditEntry) -> bool {
        let group = self.group == "*" || request.group == "*" || self.group == request.group;
        match &*self.resource {
            "" => self.group.is_empty() || group,
            // Any resource of any group if the filter names no group either.
            "*" => !request.resource.is_empty() && (self.group.is_empty() || group),
            resource => group && (request.resource == "*" || resource == request.resource),
        }
    }
}

impl FaultList {
    fn add(&mut self, fault: Fault) -> FaultId {
        let id = FaultId(self.next);
        self.next += 1;
        self.entries.push(FaultEntry { id, fault, matched: 0, applied: 0 });
        id
    }
}

impl ActiveFaults {
    pub(crate) fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        let new = Self::default();
        for fault in faults {
            new.add(fault);
        }
        new
    }

    /// Adds a fault with counters at zero.
    pub fn add(&self, fault: Fault) -> FaultId {
        self.lock().add(fault)
    }

    /// Removes a fault. Returns true if the fault existed.
    pub fn remove(&self, id: FaultId) -> bool {
        let mut list = self.lock();
        let before = list.entries.len();
        list.entries.retain(|entry| entry.id != id);
        list.entries.len() < before
    }

    /// Returns the current faults, in the order they were added.
    pub fn list(&self) -> Vec<Fault> {
        self.lock().entries.iter().map(|entry| entry.fault.clone()).collect()
    }

    /// Replaces all faults. The counters of the new faults start at zero.
    pub fn replace(&self, faults: impl IntoIterator<Item = Fault>) {
        let mut list = self.lock();
        list.entries.clear();
        for fault in faults {
            list.add(fault);
        }
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    /// Returns the number of strikes of a fault so far. `None` if the fault does not exist.
    pub fn applied_count(&self, id: FaultId) -> Option<u64> {
        self.lock().entries.iter().find(|entry| entry.id == id).map(|entry| entry.applied)
    }

    /// Returns the effect on this request. Call this method once per request: every matching fault counts the call.
    /// Latencies add up. Among other due faults, the one added first takes effect.
    pub(crate) fn apply(&self, request: &AuditEntry) -> AppliedFaults {
        let mut strike = AppliedFaults::default();
        for entry in &mut self.lock().entries {
            if !entry.fault.requests.matches(request) {
                continue;
            }
            entry.matched += 1;
            let due = entry.matched > entry.fault.skip
                && entry.fault.times.is_none_or(|times| entry.applied < times);
            if !due {
                continue;
            }
            match entry.fault.effect {
                Effect::Latency(time) => strike.latency = strike.latency.saturating_add(time),
                ref effect if strike.effect.is_none() => strike.effect = Some(effect.clone()),
                _ => continue,
            }
            entry.applied += 1;
        }
        strike
    }

    /// True if an [`Effect::Forbid`] matches the request. Access reviews use this method; the call is not counted.
    pub(crate) fn forbids(&self, request: &AuditEntry) -> bool {
        let list = self.lock();
        let mut forbidding = list.entries.iter().filter(|entry| entry.fault.effect == Effect::Forbid);
        forbidding.any(|entry| entry.fault.requests.matches(request))
    }

    /// True if any [`Effect::Forbid`] exists.
    pub(crate) fn forbids_anything(&self) -> bool {
        self.lock().entries.iter().any(|entry| entry.fault.effect == Effect::Forbid)
    }

    fn lock(&self) -> MutexGuard<'_, FaultList> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &'static str, group: &str, resource: &str, namespace: &str, name: &str) -> AuditEntry {
        AuditEntry {
            number: 1,
            verb: verb.into(),
            path: String::new(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            client: String::new(),
            code: 0,
            dry_run: false,
        }
    }

    #[test]
    fn a_filter_matches_only_described_requests() {
        let get = request("get", "", "pods", "team", "one");
        let create = request("create", "apps", "deployments", "team", "");
        let status = request("update", "", "pods/status", "team", "one");
        let version = request("get", "", "", "", "");
        for (filter, expected) in [
            ("", [true, true, true, true]),
            ("verb=get", [true, false, false, true]),
            ("verb=write", [false, true, true, false]),
            ("resource=pods", [true, false, false, false]),
            ("resource=pods/status", [false, false, true, false]),
            ("resource=apps/deployments", [false, true, false, false]),
            ("resource=*/deployments", [false, true, false, false]),
            ("resource=apps/*", [false, true, false, false]),
            ("resource=*", [true, true, true, false]),
            ("namespace=team", [true, true, true, false]),
            ("namespace=other", [false, false, false, false]),
            ("name=one", [true, false, true, false]),
        ] {
            let comma = if filter.is_empty() { "" } else { "," };
            let filter = Fault::parse(&format!("500{comma}{filter}")).unwrap().requests;
            let found = [&get, &create, &status, &version].map(|request| filter.matches(request));
            assert_eq!(found, expected, "{filter:?}");
        }
    }

    #[test]
    fn a_fault_skips_and_strikes_the_given_number_of_times() {
        let faults = ActiveFaults::new([Fault::parse("500,verb=create,skip=2,times=2").unwrap()]);
        let create = request("create", "", "pods", "team", "");
        let get = request("get", "", "pods", "team", "one");
        let struck: Vec<_> = (0..6).map(|_| faults.apply(&create).effect.is_some()).collect();
        assert_eq!(struck, [false, false, true, true, false, false]);
        assert_eq!(faults.apply(&get), AppliedFaults::default());
    }

    #[test]
    fn the_first_matching_fault_strikes_and_the_others_count() {
        let faults = ActiveFaults::default();
        let first = faults.add(Fault::parse("409,times=1").unwrap());
        let second = faults.add(Fault::parse("cut-before,skip=1").unwrap());
        let get = request("get", "", "pods", "team", "one");
        assert_eq!(faults.apply(&get).effect, Some(Effect::Answer { code: 409, retry_after_seconds: None }));
        assert_eq!(faults.apply(&get).effect, Some(Effect::CutBefore));
        assert_eq!((faults.applied_count(first), faults.applied_count(second)), (Some(1), Some(1)));
        assert!(faults.remove(second) && !faults.remove(second));
        assert_eq!(faults.apply(&get), AppliedFaults::default());
        faults.clear();
        assert_eq!(faults.applied_count(first), None);
    }

    #[test]
    fn latencies_add_up_and_other_faults_still_apply() {
        let faults =
            ["latency:20ms", "409,times=1", "latency:2s,verb=create"].map(|text| Fault::parse(text).unwrap());
        let faults = ActiveFaults::new(faults);
        let strike = faults.apply(&request("create", "", "pods", "team", ""));
        assert_eq!(strike.latency, Duration::from_millis(2020));
        assert_eq!(strike.effect, Some(Effect::Answer { code: 409, retry_after_seconds: None }));
        let strike = faults.apply(&request("get", "", "pods", "team", "one"));
        assert_eq!(strike, AppliedFaults { latency: Duration::from_millis(20), effect: None });
    }

    #[test]
    fn access_reviews_see_forbidden_faults_without_counting() {
        let faults = ActiveFaults::new([Fault::parse("forbid,resource=secrets,times=1").unwrap()]);
        let get = request("get", "", "secrets", "team", "one");
        assert!(faults.forbids(&get) && faults.forbids(&get));
        assert!(!faults.forbids(&request("get", "", "pods", "team", "one")));
        assert_eq!(faults.apply(&get).effect, Some(Effect::Forbid));
    }
}

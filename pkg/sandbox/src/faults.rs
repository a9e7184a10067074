//! Trouble on demand.

mod parse;
mod print;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::audit::Request;

/// One sort of trouble and when it strikes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which requests it is for.
    pub requests: RequestFilter,
    /// How many of those pass before it strikes.
    pub skip: u64,
    /// How often it strikes; `None` is for ever.
    pub times: Option<u64>,
    /// What happens.
    pub effect: Effect,
}

/// Which requests something is about. An empty field is about all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; or `write` for the last five.
    pub verb: String,
    /// The API group; `*` is any, empty is core only when a resource is named.
    pub group: String,
    /// The plural, with the subresource if it is about one: `pods`, `pods/status`; `*` is any.
    pub resource: String,
    /// The namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
}

/// What happens to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It takes longer, on top of what else strikes it.
    Latency(Duration),
    /// It is answered with this code: 403, 409, 410, 429 (with `Retry-After`), 500, 503, 504.
    Answer {
        /// The status code.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after_seconds: Option<u32>,
    },
    /// The connection is cut before anything happened.
    CutBefore,
    /// The connection is cut after the write took effect.
    CutAfter,
    /// A watch breaks off after its first event, without a word.
    DropWatch,
    /// The process ends after the request took effect, unanswered; in process, the server answers nothing any more.
    Kill,
    /// Reads and writes are refused and access reviews say so.
    Forbid,
}

/// The faults of a running server, with what each has counted. They may be changed while it runs.
#[derive(Debug, Default)]
pub struct Faults {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    entries: Vec<Entry>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    id: FaultId,
    fault: Fault,
    /// How many requests it was for.
    seen: u64,
    /// How often it struck.
    struck: u64,
}

/// What strikes one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strike {
    /// How much longer it takes.
    pub(crate) latency: Duration,
    /// What else happens to it.
    pub(crate) effect: Option<Effect>,
}

/// A fault of a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaultId(u64);

impl Fault {
    /// Reads the form of the command line: `EFFECT[:VALUE][,verb=…][,resource=[GROUP/]PLURAL[/SUB]][,namespace=…]
    /// [,name=…][,skip=N][,times=N]`, such as `429:2,verb=create,resource=secrets,times=3`, `latency:20ms`,
    /// `cut-after,verb=write,skip=17,times=1`, `kill,skip=40`. What stands before the first `/` of a resource is its
    /// group when it has a dot, or when it is one of `apps`, `batch`, `autoscaling`, `policy`, or `*`.
    ///
    /// # Errors
    /// One sentence that says which part cannot be read and what it may be.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::fault(text)
    }
}

impl RequestFilter {
    /// Whether it is about this request. A filter with a resource is about requests for resources alone; one without is
    /// about every request its other fields allow. `code` and `number` of the request play no part.
    pub fn matches(&self, request: &Request) -> bool {
        let writes = ["create", "update", "patch", "delete", "deletecollection"];
        let verb = match &*self.verb {
            "" | "*" => true,
            // An access review may ask for all verbs, groups, resources and namespaces at once.
            _ if request.verb == "*" => true,
            "write" => writes.contains(&&*request.verb),
            verb => verb == request.verb,
        };
        let any = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        verb && self.resource_matches(request)
            && (request.namespace == "*" || any(&self.namespace, &request.namespace))
            && any(&self.name, &request.name)
    }

    fn resource_matches(&self, request: &Request) -> bool {
        let group = self.group == "*" || request.group == "*" || self.group == request.group;
        match &*self.resource {
            "" => self.group.is_empty() || group,
            // Any resource of any group, when no group was named either.
            "*" => !request.resource.is_empty() && (self.group.is_empty() || group),
            resource => group && (request.resource == "*" || resource == request.resource),
        }
    }
}

impl List {
    fn add(&mut self, fault: Fault) -> FaultId {
        let id = FaultId(self.next);
        self.next += 1;
        self.entries.push(Entry { id, fault, seen: 0, struck: 0 });
        id
    }
}

impl Faults {
    /// The faults a server starts with.
    pub(crate) fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        let new = Self::default();
        for fault in faults {
            new.add(fault);
        }
        new
    }

    /// Adds one, with nothing counted.
    pub fn add(&self, fault: Fault) -> FaultId {
        self.lock().add(fault)
    }

    /// Removes one; returns whether it was there.
    pub fn remove(&self, id: FaultId) -> bool {
        let mut list = self.lock();
        let before = list.entries.len();
        list.entries.retain(|entry| entry.id != id);
        list.entries.len() < before
    }

    /// Those that stand, in the order they were added.
    pub fn list(&self) -> Vec<Fault> {
        self.lock().entries.iter().map(|entry| entry.fault.clone()).collect()
    }

    /// Puts these, with nothing counted, in the place of all that stand.
    pub fn replace(&self, faults: impl IntoIterator<Item = Fault>) {
        let mut list = self.lock();
        list.entries.clear();
        for fault in faults {
            list.add(fault);
        }
    }

    /// Removes all.
    pub fn clear(&self) {
        self.lock().entries.clear();
    }

    /// How often a fault struck so far; `None` when it is not there.
    pub fn struck(&self, id: FaultId) -> Option<u64> {
        self.lock().entries.iter().find(|entry| entry.id == id).map(|entry| entry.struck)
    }

    /// What happens to this request. Call it once for each: every fault that is about it counts it. Latencies add up; of
    /// the others that would strike, the one added first does.
    pub(crate) fn strike(&self, request: &Request) -> Strike {
        let mut strike = Strike::default();
        for entry in &mut self.lock().entries {
            if !entry.fault.requests.matches(request) {
                continue;
            }
            entry.seen += 1;
            let due =
                entry.seen > entry.fault.skip && entry.fault.times.is_none_or(|times| entry.struck < times);
            if !due {
                continue;
            }
            match entry.fault.effect {
                Effect::Latency(time) => strike.latency = strike.latency.saturating_add(time),
                ref effect if strike.effect.is_none() => strike.effect = Some(effect.clone()),
                _ => continue,
            }
            entry.struck += 1;
        }
        strike
    }

    /// Whether [`Effect::Forbid`] stands against such a request: what access reviews ask. Counts nothing.
    pub(crate) fn forbids(&self, request: &Request) -> bool {
        let list = self.lock();
        let mut forbidding = list.entries.iter().filter(|entry| entry.fault.effect == Effect::Forbid);
        forbidding.any(|entry| entry.fault.requests.matches(request))
    }

    /// Whether there is any [`Effect::Forbid`].
    pub(crate) fn forbid_anything(&self) -> bool {
        self.lock().entries.iter().any(|entry| entry.fault.effect == Effect::Forbid)
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &'static str, group: &str, resource: &str, namespace: &str, name: &str) -> Request {
        Request {
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
    fn a_filter_is_about_the_requests_it_describes() {
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
            ("resource=deployments", [false, false, false, false]),
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
    fn a_fault_strikes_after_those_it_lets_pass_and_no_more_often_than_told() {
        let faults = Faults::new([Fault::parse("500,verb=create,skip=2,times=2").unwrap()]);
        let create = request("create", "", "pods", "team", "");
        let get = request("get", "", "pods", "team", "one");
        let struck: Vec<_> = (0..6).map(|_| faults.strike(&create).effect.is_some()).collect();
        assert_eq!(struck, [false, false, true, true, false, false]);
        assert_eq!(faults.strike(&get), Strike::default());
    }

    #[test]
    fn the_first_of_several_faults_strikes_and_the_others_count() {
        let faults = Faults::default();
        let first = faults.add(Fault::parse("409,times=1").unwrap());
        let second = faults.add(Fault::parse("cut-before,skip=1").unwrap());
        let get = request("get", "", "pods", "team", "one");
        assert_eq!(faults.strike(&get).effect, Some(Effect::Answer { code: 409, retry_after_seconds: None }));
        assert_eq!(faults.strike(&get).effect, Some(Effect::CutBefore));
        assert_eq!((faults.struck(first), faults.struck(second)), (Some(1), Some(1)));
        assert!(faults.remove(second) && !faults.remove(second));
        assert_eq!(faults.strike(&get), Strike::default());
        faults.clear();
        assert_eq!(faults.struck(first), None);
    }

    #[test]
    fn latencies_add_up_and_hide_no_other_fault() {
        let faults =
            ["latency:20ms", "409,times=1", "latency:2s,verb=create"].map(|text| Fault::parse(text).unwrap());
        let faults = Faults::new(faults);
        let strike = faults.strike(&request("create", "", "pods", "team", ""));
        assert_eq!(strike.latency, Duration::from_millis(2020));
        assert_eq!(strike.effect, Some(Effect::Answer { code: 409, retry_after_seconds: None }));
        let strike = faults.strike(&request("get", "", "pods", "team", "one"));
        assert_eq!(strike, Strike { latency: Duration::from_millis(20), effect: None });
    }

    #[test]
    fn a_review_of_access_learns_of_what_is_forbidden_without_counting() {
        let faults = Faults::new([Fault::parse("forbid,resource=secrets,times=1").unwrap()]);
        let get = request("get", "", "secrets", "team", "one");
        assert!(faults.forbids(&get) && faults.forbids(&get));
        assert!(!faults.forbids(&request("get", "", "pods", "team", "one")));
        assert_eq!(faults.strike(&get).effect, Some(Effect::Forbid));
    }
}

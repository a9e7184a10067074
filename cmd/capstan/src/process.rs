//! The identity of a process, and the check that another process has ended.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    process,
    time::SystemTime,
};

use crate::Environment;

/// A process identity that is unique across machines: the process id, its scope, and the start time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessId {
    id: u32,
    /// The digest of the running system and its process id namespace. Empty if unknown.
    scope: String,
    started_at: String,
}

/// Returns the identity of this process, such as `4711-5f3a9c2100b1e8d7-8412345`.
pub(crate) fn process_id() -> String {
    ProcessId::current().to_string()
}

/// Returns the name of this machine for display. Two machines may have the same name.
pub(crate) fn host_name(environment: &Environment) -> String {
    let named = |name| environment.text(name).filter(|host| !host.is_empty()).map(str::to_owned);
    read("/proc/sys/kernel/hostname")
        .or_else(|| named("HOSTNAME"))
        .or_else(|| named("COMPUTERNAME"))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// True if a process is known to have ended: it had the same scope as this process and no longer exists.
/// A process whose files cannot be read exists.
pub(crate) fn has_ended(process: &str) -> bool {
    let Some(known) = ProcessId::parse(process) else { return false };
    let place = pid_scope();
    if place.is_empty() || known.scope != place {
        return false;
    }
    match (started_at(known.id), read(&format!("/proc/{}/stat", known.id))) {
        (Some(begun), _) => begun != known.started_at,
        // The process has ended, but its parent has not reaped it.
        (None, Some(_)) => true,
        (None, None) => !exists(known.id),
    }
}

/// True if a process of this id exists, whoever its owner is.
#[cfg(unix)]
fn exists(id: u32) -> bool {
    use rustix::{
        io::Errno,
        process::{Pid, test_kill_process},
    };
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(pid), Err(Errno::SRCH))
}

/// Returns true, because nothing is known about the process.
#[cfg(not(unix))]
fn exists(_id: u32) -> bool {
    true
}

impl ProcessId {
    fn current() -> Self {
        let id = process::id();
        let now = || {
            let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            time.as_millis().to_string()
        };
        Self { id, scope: pid_scope(), started_at: started_at(id).unwrap_or_else(now) }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let id = parts.next()?.parse().ok()?;
        Some(Self { id, scope: parts.next()?.to_owned(), started_at: parts.next()?.to_owned() })
    }
}

/// The format in a journal: `4711-5f3a9c2100b1e8d7-8412345`.
impl std::fmt::Display for ProcessId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.id, self.scope, self.started_at)
    }
}

/// Returns the scope of process ids: the start of the system, and the process id namespace.
fn pid_scope() -> String {
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid").ok();
    let (Some(boot), Some(namespace)) = (boot, namespace) else { return String::new() };
    let mut hasher = DefaultHasher::new();
    (boot, namespace).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Returns the start time of a process in ticks since the system start. `None` if it has ended, reaped or not.
/// Source: proc_pid_stat(5): fields 3 (state) and 22 (starttime), counted after the name in parentheses.
fn started_at(id: u32) -> Option<String> {
    let stat = read(&format!("/proc/{id}/stat"))?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18).map(str::to_owned))?
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_current_process_is_found_running() {
        let own = ProcessId::current();
        assert_eq!(ProcessId::parse(&own.to_string()), Some(own.clone()));
        assert!(!has_ended(&own.to_string()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_ended_process_is_not_confused_with_one_of_the_same_id() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let begun = started_at(child.id()).unwrap();
        let process = ProcessId { id: child.id(), scope: pid_scope(), started_at: begun };
        assert!(!has_ended(&process.to_string()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&process.to_string()));
        let of_before = ProcessId { started_at: "1".to_owned(), ..ProcessId::current() };
        assert!(has_ended(&of_before.to_string()));
    }

    /// Like a `/proc` that shows users only their own processes.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_whose_files_cannot_be_read_exists_until_it_has_ended() {
        assert!(exists(1));
        let mut child = Command::new("true").spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        assert!(!exists(id));
    }

    #[test]
    fn processes_of_other_machines_and_programs_are_unknown() {
        let elsewhere = ProcessId { id: 4_000_000_000, scope: "0".repeat(16), started_at: "1".to_owned() };
        for process in [&*elsewhere.to_string(), "", "1", "x-y-z", "1--2"] {
            assert!(!has_ended(process), "{process}");
        }
    }
}

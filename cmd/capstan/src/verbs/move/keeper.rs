//! What the machine knows for a journal: who this process is, which others are gone, and where the disk keeps things.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::{Path, PathBuf},
    process,
    sync::Arc,
    time::SystemTime,
};

use management::{Holder, JournalKeeper, MoveJournal, MoveReport};
use serde::Serialize;

use crate::{Environment, settings, ui::write_file_atomically};

/// Only its user may read what is moved where.
const MODE: u32 = 0o600;
/// Ids of runs come from clusters, and name files.
const MOST_CHARS: usize = 64;

/// A process among all that have run on the machines of this world: its id, where that id counts, and when it began.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessId {
    id: u32,
    /// Of the running system and the part of it that shares process ids; empty where that is not known.
    place: String,
    begun: String,
}

/// This process as the holder of a journal, and a folder for journals: `moves` in the state folder. Without any such folder
/// the clusters alone keep them.
pub(super) fn keeper(environment: &Environment) -> JournalKeeper {
    let folder = Arc::new(folder(environment));
    let for_reports = Arc::clone(&folder);
    JournalKeeper {
        holder: Holder { host: host(environment), process: ProcessId::own().to_string(), sign: 0 },
        is_gone: Arc::new(|holder| is_gone(&holder.process)),
        store: Arc::new(move |journal| store(folder.as_deref(), &journal.run, "json", journal)),
        store_report: Arc::new(move |report| {
            store(for_reports.as_deref(), &report.run, "report.json", report)
        }),
    }
}

/// The journal and the report of the move that was finished last on this machine, and the file of the report. Only moves
/// whose journal is wanted count.
pub(super) fn last_report(
    environment: &Environment,
    is_wanted: impl Fn(Option<&MoveJournal>) -> bool,
) -> Option<(MoveReport, Option<MoveJournal>, PathBuf)> {
    let folder = folder(environment)?;
    let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    let entries = fs::read_dir(&folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut reports: Vec<_> =
        entries.filter(|path| path.to_string_lossy().ends_with(".report.json")).collect();
    reports.sort_by_key(written);
    let read = |path: PathBuf| {
        let report: MoveReport = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let journal = file(&folder, &report.run, "json").and_then(fs::read).ok();
        let journal = journal.and_then(|journal| serde_json::from_slice(&journal).ok());
        is_wanted(journal.as_ref()).then_some((report, journal, path))
    };
    reports.into_iter().rev().find_map(read)
}

/// Forgets the moves that were made between two clusters, in either direction: both are about to be gone for good.
/// # Errors
/// When a file cannot be removed. One that cannot be read is of no known move, and stays.
pub(crate) fn forget_moves_between(addresses: [&str; 2], environment: &Environment) -> io::Result<()> {
    let Some(folder) = folder(environment).filter(|folder| folder.is_dir()) else { return Ok(()) };
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let journal = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<MoveJournal>(&json).ok());
        let Some(journal) = journal else { continue };
        let (source, target) = (journal.source.address.as_str(), journal.target.address.as_str());
        if [source, target] != addresses && [target, source] != addresses {
            continue;
        }
        for ending in ["json", "report.json"] {
            match fs::remove_file(file(&folder, &journal.run, ending)?) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn folder(environment: &Environment) -> Option<PathBuf> {
    settings::state_home(environment).map(|home| home.join("capstan").join("moves"))
}

/// For people alone: two machines may have one name.
fn host(environment: &Environment) -> String {
    let named = |name| environment.text(name).filter(|host| !host.is_empty()).map(str::to_owned);
    read("/proc/sys/kernel/hostname")
        .or_else(|| named("HOSTNAME"))
        .or_else(|| named("COMPUTERNAME"))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Whether a process is known to have ended: it counted where this one does, and is not there.
fn is_gone(process: &str) -> bool {
    let Some(known) = ProcessId::parse(process) else { return false };
    let place = place();
    !place.is_empty() && known.place == place && begun(known.id).as_deref() != Some(&*known.begun)
}

impl ProcessId {
    fn own() -> Self {
        let id = process::id();
        let now = || {
            let time = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            time.as_millis().to_string()
        };
        Self { id, place: place(), begun: begun(id).unwrap_or_else(now) }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let id = parts.next()?.parse().ok()?;
        Some(Self { id, place: parts.next()?.to_owned(), begun: parts.next()?.to_owned() })
    }
}

/// As a journal has it: `4711-5f3a9c2100b1e8d7-8412345`.
impl std::fmt::Display for ProcessId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.id, self.place, self.begun)
    }
}

/// What tells one set of process ids from all others: the start of the system, and the namespace of the process.
fn place() -> String {
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid").ok();
    let (Some(boot), Some(namespace)) = (boot, namespace) else { return String::new() };
    let mut hasher = DefaultHasher::new();
    (boot, namespace).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// When a process began, in ticks since the start of the system; none when it has ended, even if nobody has taken note.
/// Source: proc_pid_stat(5): fields 3 (state) and 22 (starttime), counted behind the name in parentheses.
fn begun(id: u32) -> Option<String> {
    let stat = read(&format!("/proc/{id}/stat"))?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X").then(|| fields.nth(18).map(str::to_owned))?
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn store(folder: Option<&Path>, run: &str, ending: &str, content: &impl Serialize) -> io::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let path = file(folder, run, ending)?;
    make(folder)?;
    let mut json = serde_json::to_vec_pretty(content)?;
    json.push(b'\n');
    write_file_atomically(&path, &json, MODE).map_err(|error| error.source)
}

fn file(folder: &Path, run: &str, ending: &str) -> io::Result<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if run.is_empty() || run.len() > MOST_CHARS || !run.chars().all(is_plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{run}` is no id of a move")));
    }
    Ok(folder.join(format!("{run}.{ending}")))
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_reads_itself_back_and_knows_that_it_is_there() {
        let own = ProcessId::own();
        assert_eq!(ProcessId::parse(&own.to_string()), Some(own.clone()));
        assert!(!is_gone(&own.to_string()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_is_gone_and_one_with_its_id_is_another() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let begun = begun(child.id()).unwrap();
        let process = ProcessId { id: child.id(), place: place(), begun };
        assert!(!is_gone(&process.to_string()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&process.to_string()));
        let of_before = ProcessId { begun: "1".to_owned(), ..ProcessId::own() };
        assert!(is_gone(&of_before.to_string()));
    }

    #[test]
    fn nothing_is_known_of_processes_of_other_machines_and_of_other_programs() {
        let elsewhere = ProcessId { id: 4_000_000_000, place: "0".repeat(16), begun: "1".to_owned() };
        for process in [&*elsewhere.to_string(), "", "1", "x-y-z", "1--2"] {
            assert!(!is_gone(process), "{process}");
        }
    }

    #[test]
    fn what_is_kept_is_private_and_named_after_its_move() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let keeper = keeper(&Environment::new([("XDG_STATE_HOME", home)], "/"));
        let report = MoveReport { run: "5f3a-1".to_owned(), objects: Vec::new() };
        (keeper.store_report)(&report).unwrap();
        let path = folder.path().join("capstan/moves/5f3a-1.report.json");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"run\": \"5f3a-1\",\n  \"objects\": []\n}\n");
        let environment = Environment::new([("XDG_STATE_HOME", home)], "/");
        assert_eq!(last_report(&environment, |_| true), Some((report, None, path.clone())));
        assert_eq!(last_report(&environment, |journal| journal.is_some()), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            let folder = fs::metadata(path.parent().unwrap()).unwrap();
            assert_eq!(folder.permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn of_all_moves_those_between_two_clusters_are_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("capstan/moves");
        fs::create_dir_all(&folder).unwrap();
        for (run, source, target) in [("1", "a", "b"), ("2", "b", "a"), ("3", "a", "c"), ("4", "c", "b")] {
            let journal = serde_json::json!({
                "format": 1, "run": run, "begun": "2026-01-01T00:00:00Z", "phase": "finished",
                "source": {"uid": "s", "address": source}, "target": {"uid": "t", "address": target},
                "namespaces": [], "holder": {"host": "h", "process": "p", "sign": 1},
            });
            fs::write(folder.join(format!("{run}.json")), journal.to_string()).unwrap();
            fs::write(folder.join(format!("{run}.report.json")), "{}").unwrap();
        }
        fs::write(folder.join("damaged.json"), "{").unwrap();
        let environment = Environment::new([("XDG_STATE_HOME", state.path())], "/");
        forget_moves_between(["a", "b"], &environment).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["3.json", "3.report.json", "4.json", "4.report.json", "damaged.json"]);
    }

    #[test]
    fn no_id_of_a_move_leads_out_of_the_folder() {
        for run in ["../x", "a/b", "", "a.b", "c:d", &"x".repeat(65)] {
            assert!(file(Path::new("/moves"), run, "json").is_err(), "{run}");
        }
        assert_eq!(file(Path::new("/moves"), "6a-1f", "json").unwrap(), Path::new("/moves/6a-1f.json"));
    }
}

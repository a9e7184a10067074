//! Journals and reports of moves on the disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use mover::{JournalHolder, JournalStore, MoveJournal, MoveReport};
use serde::Serialize;

use crate::{Environment, process, settings, ui::write_file_atomically};

/// Only the user may read the journals of moves.
const MODE: u32 = 0o600;
/// The length limit of run ids in file names, because the ids come from clusters.
const MAX_RUN_ID_CHARS: usize = 64;

/// Returns the journal access of this process, with the folder `moves` in the state folder.
/// Without a state folder, journals are stored only on the clusters.
pub(super) fn journal_store(environment: &Environment) -> JournalStore {
    let folder = Arc::new(journal_folder(environment));
    let for_reports = Arc::clone(&folder);
    JournalStore {
        holder: JournalHolder {
            host: process::host_name(environment),
            process: process::process_id(),
            write_number: 0,
        },
        has_ended: Arc::new(|holder| process::has_ended(&holder.process)),
        write_journal: Arc::new(move |journal| write_json(folder.as_deref(), &journal.run, "json", journal)),
        write_report: Arc::new(move |report| {
            write_json(for_reports.as_deref(), &report.run, "report.json", report)
        }),
    }
}

/// Returns the journal access of a run under the lease of the cluster, where no other run is active.
pub(super) fn journal_store_under_lease(environment: &Environment) -> JournalStore {
    JournalStore { has_ended: Arc::new(|_| true), ..journal_store(environment) }
}

/// Returns the report of the last finished move on this machine, its journal, and the file of the report.
/// Skips moves with an unwanted journal.
pub(super) fn last_report(
    environment: &Environment,
    is_wanted: impl Fn(Option<&MoveJournal>) -> bool,
) -> Option<(MoveReport, Option<MoveJournal>, PathBuf)> {
    let folder = journal_folder(environment)?;
    let written = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    let entries = fs::read_dir(&folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut reports: Vec<_> =
        entries.filter(|path| path.to_string_lossy().ends_with(".report.json")).collect();
    reports.sort_by_key(written);
    let read = |path: PathBuf| {
        let report: MoveReport = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        let journal = journal_path(&folder, &report.run, "json").and_then(fs::read).ok();
        let journal = journal.and_then(|journal| serde_json::from_slice(&journal).ok());
        is_wanted(journal.as_ref()).then_some((report, journal, path))
    };
    reports.into_iter().rev().find_map(read)
}

/// Deletes the journals and reports of moves between two clusters, in either direction, before both clusters are
/// deleted.
pub(crate) fn delete_moves_between(addresses: [&str; 2], environment: &Environment) -> io::Result<()> {
    let Some(folder) = journal_folder(environment).filter(|folder| folder.is_dir()) else { return Ok(()) };
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let journal = fs::read(&path).ok().and_then(|json| serde_json::from_slice::<MoveJournal>(&json).ok());
        let Some(journal) = journal else { continue };
        let (source, target) = (journal.source.address.as_str(), journal.target.address.as_str());
        if [source, target] != addresses && [target, source] != addresses {
            continue;
        }
        for ending in ["json", "report.json"] {
            match fs::remove_file(journal_path(&folder, &journal.run, ending)?) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn journal_folder(environment: &Environment) -> Option<PathBuf> {
    settings::state_home(environment).map(|home| home.join("capstan").join("moves"))
}

fn write_json(folder: Option<&Path>, run: &str, ending: &str, content: &impl Serialize) -> io::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let path = journal_path(folder, run, ending)?;
    create_folder(folder)?;
    let mut json = serde_json::to_vec_pretty(content)?;
    json.push(b'\n');
    write_file_atomically(&path, &json, MODE).map_err(|error| error.source)
}

fn journal_path(folder: &Path, run: &str, ending: &str) -> io::Result<PathBuf> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if run.is_empty() || run.len() > MAX_RUN_ID_CHARS || !run.chars().all(is_plain) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{run}` is not a valid move ID")));
    }
    Ok(folder.join(format!("{run}.{ending}")))
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_move_are_private_and_named_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let keeper = journal_store(&Environment::new([("XDG_STATE_HOME", home)], "/"));
        let report = MoveReport { run: "5f3a-1".to_owned(), objects: Vec::new() };
        (keeper.write_report)(&report).unwrap();
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
    fn only_moves_between_the_two_clusters_are_deleted() {
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
        delete_moves_between(["a", "b"], &environment).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["3.json", "3.report.json", "4.json", "4.report.json", "damaged.json"]);
    }

    #[test]
    fn a_move_id_cannot_leave_the_folder() {
        for run in ["../x", "a/b", "", "a.b", "c:d", &"x".repeat(65)] {
            assert!(journal_path(Path::new("/moves"), run, "json").is_err(), "{run}");
        }
        assert_eq!(
            journal_path(Path::new("/moves"), "6a-1f", "json").unwrap(),
            Path::new("/moves/6a-1f.json")
        );
    }
}

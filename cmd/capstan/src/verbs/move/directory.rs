//! Moves to and from a folder of files, in the layout of clusterctl.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use api::TARGET_PLACEHOLDER;
use inventory::ManagementCluster;
use mover::{MoveError, MovePlan, RestoreOptions, SaveFormat, SaveMode, SavedFile, SavedObjects};

use super::{
    execute::warn,
    flags::{MoveFlags, connect},
    journal_file::journal_store_under_lease,
    restore::{self, RestoreRun},
    save::{self, SaveRun},
    staging::{MARKS, Staging},
};
use crate::{
    Failure,
    session::Session,
    suggested_commands::quoted,
    ui::{Messages, format_count},
    verbs::path_lock::take_turn,
};

const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// Writes the objects of a move to files, and leaves them on the source.
pub(super) fn save(path: &Path, flags: &MoveFlags, session: &mut Session) -> Result<(), Failure> {
    let (format, request) = (flags.how.format()?, flags.request(session)?);
    flags.scope.check_saving()?;
    let source = flags.source(session)?;
    let staging = Staging::new(path)?;
    let saving = SaveRun {
        source: &source,
        request: &request,
        how: SaveMode::Paused,
        into: SaveFormat::Files,
        format,
    };
    let shown = path.display().to_string();
    if flags.how.dry_run && !flags.how.abort {
        let (plan, _) = plan(&saving, &staging, flags, session)?;
        return saving.show(&plan, &shown, session);
    }
    // A run for another cluster would mix its files with these.
    let _turn = take_turn(path, "that saves to", &session.repositories_with(None)?, session)?;
    if flags.how.abort {
        return flags.lease.hold("move --abort", &[&source], session, |clusters, session| {
            resume(&SaveRun { source: &clusters[0], ..saving }, &staging, flags, session)
        });
    }
    flags.lease.hold("move --to-directory", &[&source], session, |clusters, session| {
        save_into(&staging, &shown, &SaveRun { source: &clusters[0], ..saving }, flags, session)
    })
}

/// Resumes the Clusters that an interrupted save paused.
fn resume(
    saving: &SaveRun<'_>,
    staging: &Staging,
    flags: &MoveFlags,
    session: &Session,
) -> Result<(), Failure> {
    let keeper = journal_store_under_lease(session.environment());
    let resumed = session.block_on(mover::resume_interrupted_save(saving.source, saving.request, &keeper))?;
    staging.discard()?;
    session.show_cluster_result(flags.server.pace.progress, save::resumed_in_words(resumed.len()));
    Ok(())
}

/// Returns the plan and the names of its files.
fn plan(
    saving: &SaveRun<'_>,
    staging: &Staging,
    flags: &MoveFlags,
    session: &Session,
) -> Result<(MovePlan, BTreeSet<String>), Failure> {
    let plan = saving.plan(session)?;
    let names = plan.file_names();
    staging.check(&names)?;
    warn(&plan, &session.cluster_events(flags.server.pace.progress));
    Ok((plan, names))
}

fn save_into(
    staging: &Staging,
    shown: &str,
    saving: &SaveRun<'_>,
    flags: &MoveFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let (plan, names) = plan(saving, staging, flags, session)?;
    staging.begin()?;
    let mut keep = |object: mover::SavedObject| staging.write(&object.file, &object.content);
    let again = {
        let folder = quoted(shown, session.environment().home());
        format!(
            "re-run the same command or run `capstan move --abort --to-directory {folder}` to resume them"
        )
    };
    let saved = saving.execute(plan, &mut keep, &again, session).inspect_err(|_| {
        // The staged files contain Secrets as plain text.
        if let Err(remaining) = staging.discard() {
            session.messages().warning(remaining.message());
        }
    })?;
    staging.publish(&names)?;
    let result = format!("saved {} to `{shown}`", format_count(saved.objects.len(), "object"));
    session.show_cluster_result(flags.server.pace.progress, result);
    saving.report(&saved, session)
}

pub(super) fn restore(path: &Path, flags: &MoveFlags, session: &mut Session) -> Result<(), Failure> {
    if flags.how.abort {
        return Err(Failure::user("cannot undo a restore from a folder")
            .hint("re-run the command without `--abort` to complete the restore"));
    }
    flags.check_restoring()?;
    let format = flags.how.format()?;
    let request = flags.restore_request(session)?;
    let files = read_files(path, session.messages())?;
    let objects = SavedObjects::read(files).map_err(MoveError::from)?;
    let target = flags.restore_target(session)?;
    let folder = session.environment().resolve(path).display().to_string();
    let command = ["capstan", "move", "--from-directory", &folder, "--to-kubeconfig", TARGET_PLACEHOLDER];
    let command = command.map(str::to_owned);
    let run = RestoreRun {
        name: path.display().to_string(),
        objects: &objects,
        request: &request,
        options: RestoreOptions { command: &command, ..RestoreOptions::default() },
        format,
        dry_run: flags.how.dry_run,
        progress: flags.server.pace.progress,
    };
    match run.run(&target, &flags.lease, session)? {
        Some(done) => {
            let report = restore::report(&done.restored);
            session.print(format, &report, |_, _| String::new())
        }
        None => Ok(()),
    }
}

/// Reads the files of a folder. Skips hidden files and other extensions with a warning.
fn read_files(path: &Path, messages: &Messages) -> Result<Vec<SavedFile>, Failure> {
    let entries = fs::read_dir(path).map_err(|error| Failure::io("read", path, &error))?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| Failure::io("read", path, &error))?.path());
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if MARKS.contains(&&*name) {
            return Err(Failure::user(format!("the save in `{}` is incomplete", path.display()))
                .hint("re-run the command that writes the save"));
        }
        if name.starts_with('.') {
            messages.warning(format!("skipped the hidden file `{name}`"));
            continue;
        }
        let is_file = fs::metadata(&path).map_err(|error| Failure::io("read", &path, &error))?.is_file();
        if !is_file {
            return Err(Failure::user(format!("`{}` is not a file", path.display()))
                .hint("use the folder that directly contains the files of the save"));
        }
        if !path.extension().is_some_and(|ending| EXTENSIONS.iter().any(|known| ending == *known)) {
            messages.warning(format!("skipped `{name}`: the extension is none of {}", EXTENSIONS.join(", ")));
            continue;
        }
        let content = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
        files.push(SavedFile { name, content });
    }
    Ok(files)
}

impl MoveFlags {
    fn source(&self, session: &Session) -> Result<ManagementCluster, Failure> {
        connect(&self.server.kube, &self.server, self.how.hidden_warnings()?, session)
    }

    /// Fails if `--kubeconfig` is given: the source is a folder, so the flag may be meant for the target.
    /// Source: clusterctl v1.14 cmd/move.go, which rejects the combination.
    fn check_restoring(&self) -> Result<(), Failure> {
        match self.server.kube.kubeconfig.as_deref().filter(|path| !path.as_os_str().is_empty()) {
            None => Ok(()),
            Some(path) => Err(Failure::user("`--from-directory` cannot be combined with `--kubeconfig`")
                .hint(format!("use `--to-kubeconfig {}` for the target", path.display()))),
        }
    }

    /// Returns the target of a restore: the named target, or else the cluster of the usual flags, as in clusterctl.
    fn restore_target(&self, session: &Session) -> Result<ManagementCluster, Failure> {
        let kube = self.target.kube()?.unwrap_or_else(|| self.server.kube.clone());
        connect(&kube, &self.server, self.how.hidden_warnings()?, session)
    }
}

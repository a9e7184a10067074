//! The progress of a move.

use std::{collections::BTreeSet, fmt::Write as _};

use api::{
    ObjectKey,
    output::{MovePhase, MoveProgress, MoveStatus, OpenSave, UnfinishedMove},
};
use inventory::ManagementCluster;
use mover::{MoveJournal, UnfinishedSaves};

use super::{
    flags::TargetFlags,
    journal_file::{journal_store, journal_store_under_lease},
};
use crate::{
    Failure,
    events::ApiWarnings,
    session::Session,
    settings::{OutputFlag, ServerFlags},
    suggested_commands::SuggestedCommands,
    ui::sanitize,
};

/// Show the progress of the last move and the next step
///
/// Reads the journal from the source or the target cluster; one of them is sufficient. Also shows running and interrupted
/// saves to files with the Clusters that they paused. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} move status
  {bin} move status --to-kubeconfig target.yaml -o json")]
pub(super) struct Status {
    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    target: TargetFlags,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Status, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let ends = args.target.connect_clusters(&args.server, ApiWarnings::default(), session)?;
    let journal = session.block_on(mover::find_move_journal(Some(&ends.source), ends.target.as_ref()))?;
    let keeper = journal_store(session.environment());
    let UnfinishedSaves { saves, restoring: _, unreadable_kinds: unseen } =
        session.block_on(mover::find_unfinished_saves(&ends.source, &keeper))?;
    let commands = session.messages().commands();
    let status = MoveStatus {
        last: journal.map(|journal| progress(&journal, &commands)),
        saves: saves.iter().map(|save| open_save(save, &commands)).collect(),
        unseen,
    };
    session.print(format, &status, |status, _| commands.complete(&text(status)).into_owned())
}

pub(crate) fn unfinished_move(journal: &MoveJournal, commands: &SuggestedCommands) -> UnfinishedMove {
    UnfinishedMove {
        begun: journal.begun.clone(),
        phase: journal.phase.as_str().to_owned(),
        source: journal.source.address.clone(),
        target: journal.target.address.clone(),
        command: commands.complete_command(&journal.resume_command()),
    }
}

fn progress(journal: &MoveJournal, commands: &SuggestedCommands) -> MoveProgress {
    let paused = journal.paused.iter().filter(|paused| !paused.was_paused);
    MoveProgress {
        run: journal.run.clone(),
        state: journal.report(),
        unfinished: journal.is_unfinished(),
        namespaces: journal.namespaces.iter().cloned().collect(),
        clusters: journal.clusters.as_ref().map(|clusters| clusters.iter().cloned().collect()),
        objects: journal.objects,
        paused: paused.map(|paused| paused.object.clone()).collect(),
        host: journal.holder.host.clone(),
        process: journal.holder.process.clone(),
        next: next_step(journal.phase).to_owned(),
        command: journal.is_unfinished().then(|| commands.complete_command(&journal.resume_command())),
    }
}

/// Returns the saves and restores that have paused Clusters and were interrupted. Only a run that holds the lease of the
/// cluster may still resume its Clusters.
pub(crate) fn interrupted_runs(
    cluster: &ManagementCluster,
    is_leased: bool,
    session: &Session,
) -> Result<UnfinishedSaves, Failure> {
    let environment = session.environment();
    let store = if is_leased { journal_store(environment) } else { journal_store_under_lease(environment) };
    let mut found = session.block_on(mover::find_unfinished_saves(cluster, &store))?;
    if is_leased {
        found.saves.retain(|save| save.has_ended);
        found.restoring.clear();
    }
    Ok(found)
}

pub(crate) fn open_save(save: &mover::UnfinishedSave, commands: &SuggestedCommands) -> OpenSave {
    let next = if save.has_ended {
        "the save was interrupted; re-run it to complete it, or run the command below to resume the paused Clusters"
    } else {
        "wait until the save has ended; if it was interrupted on another machine, remove the annotation \
         `capstan.dev/move` from the Clusters and resume them"
    };
    let namespaces: BTreeSet<&str> = save.paused.iter().map(|key| key.namespace.as_str()).collect();
    let flags: Vec<String> = namespaces.iter().map(|name| format!("--namespace {name}")).collect();
    let flags = flags.join(" ");
    OpenSave {
        process: save.process.clone(),
        over: save.has_ended,
        paused: save.paused.clone(),
        next: next.to_owned(),
        command: save
            .has_ended
            .then(|| commands.complete_command(&format!("capstan move {flags} --to-directory DIR --abort"))),
    }
}

fn next_step(phase: MovePhase) -> &'static str {
    match phase {
        MovePhase::Pausing | MovePhase::Creating | MovePhase::Verifying => {
            "run the command below to resume the move, or add `--abort` to undo it; nothing is deleted yet"
        }
        MovePhase::Deleting | MovePhase::Resuming => {
            "run the command below to resume the move; it can no longer be undone"
        }
        MovePhase::Aborting => "run the command below to finish undoing the move",
        MovePhase::Finished => "nothing to do; run `capstan move report` for the outcome of every object",
        MovePhase::Aborted => "nothing to do",
    }
}

fn text(status: &MoveStatus) -> String {
    let mut text = match &status.last {
        Some(last) => move_text(last),
        None => "no move found\n".to_owned(),
    };
    status.saves.iter().for_each(|save| add_save(save, &mut text));
    if !status.unseen.is_empty() {
        text += "\nthese saves cannot be checked for paused Clusters\n";
        for why in &status.unseen {
            let _ = writeln!(text, "  {why}");
        }
    }
    sanitize(&text).into_owned()
}

fn move_text(last: &MoveProgress) -> String {
    let (run, state) = (&last.run, &last.state);
    let mut text = format!("move {run}, started at {}: {}\n", state.begun, state.phase);
    let clusters = match &last.clusters {
        None => "all".to_owned(),
        Some(clusters) => clusters.join(", "),
    };
    for (name, value) in [
        ("from", &state.source),
        ("to", &state.target),
        ("namespaces", &last.namespaces.join(", ")),
        ("clusters", &clusters),
        ("objects", &last.objects.to_string()),
        ("process", &format!("{} on {}", last.process, last.host)),
    ] {
        let _ = writeln!(text, "  {name:<13} {value}");
    }
    if last.unfinished {
        add_paused(&last.paused, &mut text);
    }
    add_next(&last.next, last.command.as_deref(), &mut text);
    text
}

pub(crate) fn add_save(save: &OpenSave, text: &mut String) {
    let over = if save.over { "interrupted" } else { "running" };
    let _ = writeln!(text, "\nsave of process {}: {over}", save.process);
    add_paused(&save.paused, text);
    add_next(&save.next, save.command.as_deref(), text);
}

pub(crate) fn add_restore(paused: &[ObjectKey], command: Option<&str>, text: &mut String) {
    text.push_str("\na restore was interrupted\n");
    add_paused(paused, text);
    add_next("re-run the same command to complete the restore", command, text);
}

fn add_paused(paused: &[ObjectKey], text: &mut String) {
    if paused.is_empty() {
        return;
    }
    let _ = writeln!(text, "\npaused by this run");
    for object in paused {
        let _ = writeln!(text, "  {object}");
    }
}

fn add_next(next: &str, command: Option<&str>, text: &mut String) {
    let _ = writeln!(text, "\n{next}");
    if let Some(command) = command {
        let _ = writeln!(text, "  {command}");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn journal(phase: &str) -> MoveJournal {
        let cluster =
            |name| json!({"group": "cluster.x-k8s.io", "kind": "Cluster", "namespace": "team", "name": name});
        serde_json::from_value(json!({
            "format": 1, "run": "5f3a", "begun": "2026-01-02T03:04:05Z", "phase": phase,
            "source": {"uid": "a", "address": "https://one"}, "target": {"uid": "b", "address": "https://two"},
            "namespaces": ["team"], "clusters": ["team/one"], "selector": "tier in (a, b)",
            "namespaceMap": {"team": "crew"}, "objects": 31,
            "paused": [
                {"object": cluster("one"), "wasPaused": false, "isKept": false},
                {"object": cluster("two"), "wasPaused": true, "isKept": false},
            ],
            "holder": {"host": "here", "process": "4711-0-1", "sign": 3},
        }))
        .unwrap()
    }

    fn shown(phase: &str) -> String {
        text(&MoveStatus {
            last: Some(progress(&journal(phase), &SuggestedCommands::default())),
            saves: Vec::new(),
            unseen: Vec::new(),
        })
    }

    #[test]
    fn an_undoable_move_is_shown_with_the_command_that_resumes_it() {
        assert_data_eq!(
            shown("creating"),
            str![[r#"
move 5f3a, started at 2026-01-02T03:04:05Z: creating
  from          https://one
  to            https://two
  namespaces    team
  clusters      team/one
  objects       31
  process       4711-0-1 on here

paused by this run
  Cluster team/one

run the command below to resume the move, or add `--abort` to undo it; nothing is deleted yet
  capstan move --namespace team --selector 'tier in (a, b)' --map-namespace team=crew --kubeconfig FILE --to-kubeconfig FILE

"#]]
        );
    }

    #[test]
    fn the_next_step_depends_on_the_phase() {
        let next = ["deleting", "aborting", "finished", "aborted"].map(|phase| {
            let text = shown(phase);
            format!("{phase}:\n{}", text.split_once("\n\n").unwrap().1)
        });
        assert_data_eq!(
            next.join("\n"),
            str![[r#"
deleting:
paused by this run
  Cluster team/one

run the command below to resume the move; it can no longer be undone
  capstan move --namespace team --selector 'tier in (a, b)' --map-namespace team=crew --kubeconfig FILE --to-kubeconfig FILE

aborting:
paused by this run
  Cluster team/one

run the command below to finish undoing the move
  capstan move --namespace team --selector 'tier in (a, b)' --map-namespace team=crew --kubeconfig FILE --to-kubeconfig FILE --abort

finished:
nothing to do; run `capstan move report` for the outcome of every object

aborted:
nothing to do

"#]]
        );
    }

    #[test]
    fn without_a_journal_no_move_is_found() {
        assert_data_eq!(
            text(&MoveStatus { last: None, saves: Vec::new(), unseen: Vec::new() }),
            str![[r#"
no move found

"#]]
        );
    }

    #[test]
    fn interrupted_and_running_saves_are_shown_with_the_next_step() {
        let save = |process: &str, is_over| {
            let key = |kind: &str, namespace: &str| ObjectKey {
                group: "cluster.x-k8s.io".to_owned(),
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: "one".to_owned(),
            };
            let paused = vec![key("Cluster", "team"), key("ClusterClass", "classes")];
            open_save(
                &mover::UnfinishedSave { process: process.to_owned(), has_ended: is_over, paused },
                &SuggestedCommands::default(),
            )
        };
        assert_data_eq!(
            text(&MoveStatus {
                last: None,
                saves: vec![save("7-0-1", true), save("8-1-1", false)],
                unseen: Vec::new()
            }),
            str![[r#"
no move found

save of process 7-0-1: interrupted

paused by this run
  Cluster team/one
  ClusterClass classes/one

the save was interrupted; re-run it to complete it, or run the command below to resume the paused Clusters
  capstan move --namespace classes --namespace team --to-directory DIR --abort

save of process 8-1-1: running

paused by this run
  Cluster team/one
  ClusterClass classes/one

wait until the save has ended; if it was interrupted on another machine, remove the annotation `capstan.dev/move` from the Clusters and resume them

"#]]
        );
    }
}

//! Undoes a move, or ends a move on one cluster because the other cluster no longer exists.

use std::fmt::Write as _;

use api::{ObjectKey, output::MoveAborted};
use mover::{MoveRequest, MoveRoute};

use super::{
    execute,
    flags::{LostCluster, MoveFlags},
    journal_file::journal_store,
};
use crate::{
    Failure,
    events::ProgressFormat,
    session::Session,
    settings::OutputFormat,
    ui::{format_count, sanitize},
};

/// Undoes the unfinished move between two clusters. Ignores the other parts of the request.
pub(super) fn abort(
    route: MoveRoute<'_>,
    request: &MoveRequest,
    (format, progress): (OutputFormat, ProgressFormat),
    session: &mut Session,
) -> Result<(), Failure> {
    let store = journal_store(session.environment());
    let undo = Box::pin(mover::abort_move(route, request.timeout, &store));
    let aborted = session.execute(undo, "re-run the same command to finish undoing the move")?;
    print(&aborted, format, session)?;
    session.show_cluster_result(progress, result_text(&aborted));
    Ok(())
}

pub(super) fn print(
    aborted: &MoveAborted,
    format: OutputFormat,
    session: &mut Session,
) -> Result<(), Failure> {
    session.print(format, aborted, |result, _| text(result))
}

pub(super) fn result_text(aborted: &MoveAborted) -> String {
    format!("undid the move, removed {} from the target", format_count(aborted.removed, "object"))
}

fn text(aborted: &MoveAborted) -> String {
    let objects = if aborted.removed == 1 { "object" } else { "objects" };
    let mut text = format!("undid the move: removed {} {objects} from the target\n", aborted.removed);
    let mut add = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                let _ = writeln!(text, "  {line}");
            }
        }
    };
    let names = |objects: &[ObjectKey]| objects.iter().map(ToString::to_string).collect();
    add("resumed on the source", names(&aborted.resumed));
    add("existed on the target before and are kept; Clusters stay paused", names(&aborted.overwritten));
    add("not created by the move and kept on the target", names(&aborted.foreign));
    add(
        "deleted on the source by others; the copies on the target stay paused",
        names(&aborted.only_on_target),
    );
    add("namespaces kept on the target because others use them", aborted.namespaces_left.clone());
    sanitize(&text).into_owned()
}

pub(super) fn finish_without_lost_cluster(
    lost: LostCluster,
    request: &MoveRequest,
    format: OutputFormat,
    flags: &MoveFlags,
    session: &mut Session,
) -> Result<(), Failure> {
    let remaining = flags.connect_remaining(lost, session)?;
    flags.lease.hold("move --lost", &[&remaining], session, |clusters, session| {
        let (store, remaining) = (journal_store(session.environment()), &clusters[0]);
        let hint = "re-run the same command to complete it";
        let progress = flags.server.pace.progress;
        match lost {
            LostCluster::Source => {
                let complete = mover::complete_without_source(remaining, request.timeout, &store);
                let outcome = session.execute(Box::pin(complete), hint)?;
                let result = execute::result_text(&outcome, &session.cluster_events(progress));
                execute::print(Some(&outcome), format, session)?;
                session.show_cluster_result(progress, result);
            }
            LostCluster::Target => {
                let undo = mover::abort_without_target(remaining, request.timeout, &store);
                let aborted = session.execute(Box::pin(undo), hint)?;
                print(&aborted, format, session)?;
                session.show_cluster_result(progress, result_text(&aborted));
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn cluster(name: &str) -> ObjectKey {
        ObjectKey {
            group: "cluster.x-k8s.io".to_owned(),
            kind: "Cluster".to_owned(),
            namespace: "team".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn resumed_and_remaining_objects_are_listed() {
        let aborted = MoveAborted {
            removed: 31,
            resumed: vec![cluster("one"), cluster("two")],
            overwritten: vec![cluster("two")],
            foreign: vec![cluster("three")],
            only_on_target: vec![cluster("four")],
            namespaces_left: vec!["team".to_owned()],
        };
        assert_data_eq!(
            text(&aborted),
            str![[r#"
undid the move: removed 31 objects from the target

resumed on the source
  Cluster team/one
  Cluster team/two

existed on the target before and are kept; Clusters stay paused
  Cluster team/two

not created by the move and kept on the target
  Cluster team/three

deleted on the source by others; the copies on the target stay paused
  Cluster team/four

namespaces kept on the target because others use them
  team

"#]]
        );
    }

    #[test]
    fn an_undone_move_without_created_objects_has_one_line() {
        let aborted = MoveAborted {
            removed: 0,
            resumed: vec![],
            overwritten: vec![],
            foreign: vec![],
            only_on_target: vec![],
            namespaces_left: vec![],
        };
        assert_data_eq!(
            text(&aborted),
            str![[r#"
undid the move: removed 0 objects from the target

"#]]
        );
    }
}

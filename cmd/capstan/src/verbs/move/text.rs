//! Plans and reports of moves as text, and `move report`.

use std::{collections::BTreeMap, fmt::Write as _};

use api::output::{MoveAction, MovePlan, MoveReport, MovedObject, MovingObject};
use inventory::ManagementCluster;
use mover::{MoveError, MoveJournal};

use super::{
    flags::{MoveClusters, TargetFlags},
    journal_file::last_report,
};
use crate::{
    Failure,
    events::ApiWarnings,
    failure::Kind,
    session::Session,
    settings::{OutputFlag, ServerFlags},
    ui::{NarrowingStep, sanitize, table},
};

/// The limit of named objects per reason that stay. The others are counted.
const MAX_NAMED: usize = 5;

/// Returns a table of moving objects, the staying objects by reason, and a line with counts.
pub(super) fn plan(plan: &MovePlan, width: Option<usize>) -> String {
    let mut text = String::new();
    if let Some(state) = &plan.unfinished {
        let _ = writeln!(text, "resumes the move started at {} ({})\n", state.begun, state.phase);
    }
    if !plan.new_namespaces.is_empty() {
        let _ = writeln!(text, "namespaces to create: {}\n", plan.new_namespaces.join(", "));
    }
    if !plan.moving.is_empty() {
        let rows: Vec<[String; 3]> = plan.moving.iter().map(row).collect();
        text.push_str(&table(
            width,
            &[NarrowingStep::Shorten("WHY", 28), NarrowingStep::Shorten("OBJECT", 24)],
            ["ACTION", "OBJECT", "WHY"],
            &rows,
        ));
        text.push('\n');
    }
    add_staying(plan, &mut text);
    let _ = writeln!(text, "{}", summary(plan));
    sanitize(&text).into_owned()
}

fn row(moving: &MovingObject) -> [String; 3] {
    let object = match &moving.target_namespace {
        Some(namespace) => format!("{} to {namespace}", moving.object),
        None => moving.object.to_string(),
    };
    let why = match &moving.kept {
        Some(kept) => format!("{}; kept on the source: {kept}", moving.why),
        None => moving.why.clone(),
    };
    [moving.action.as_str().to_owned(), object, why]
}

fn add_staying(plan: &MovePlan, text: &mut String) {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for staying in &plan.staying {
        by_reason.entry(&staying.why).or_default().push(staying.object.to_string());
    }
    if by_reason.is_empty() {
        return;
    }
    text.push_str("stays\n");
    for (why, objects) in by_reason {
        let _ = writeln!(text, "  {why}: {}", first_few(&objects));
    }
    text.push('\n');
}

fn summary(plan: &MovePlan) -> String {
    let mut counts: BTreeMap<MoveAction, usize> = BTreeMap::new();
    for moving in &plan.moving {
        *counts.entry(moving.action).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(action, count)| format!("{count} to {}", action.as_str())).collect();
    match counts.as_slice() {
        [] => "nothing would move".to_owned(),
        counts => format!("objects: {}; {} stay", counts.join(", "), plan.staying.len()),
    }
}

pub(super) fn report_text(report: &MoveReport, width: Option<usize>) -> String {
    let mut text = String::new();
    if let Some(state) = &report.journal {
        let _ = writeln!(
            text,
            "move started at {}, {}\nfrom {}\nto {}\n",
            state.begun, state.phase, state.source, state.target
        );
    }
    let rows: Vec<[String; 2]> = report.objects.iter().map(outcome).collect();
    text.push_str(&table(width, &[NarrowingStep::Shorten("OBJECT", 24)], ["OBJECT", "OUTCOME"], &rows));
    if !report.differences.is_empty() {
        text.push_str("\nstored differently by the target\n");
        for one in &report.differences {
            let _ = writeln!(text, "  {}: {}", one.object, one.outcome);
        }
    }
    sanitize(&text).into_owned()
}

fn outcome(one: &MovedObject) -> [String; 2] {
    [one.object.to_string(), one.outcome.clone()]
}

fn first_few(objects: &[String]) -> String {
    match objects.len().saturating_sub(MAX_NAMED) {
        0 => objects.join(", "),
        more => format!("{} and {more} more", objects[..MAX_NAMED].join(", ")),
    }
}

/// Show the outcome of every object of the last move
///
/// Reads the report from the source or the target cluster. If neither has a report or answers, the command shows the report
/// of the last move from this machine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} move report
  {bin} move report --to-kubeconfig target.yaml -o json")]
pub(super) struct Report {
    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    target: TargetFlags,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &Report, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let report = match args.target.connect_clusters(&args.server, ApiWarnings::default(), session) {
        Ok(ends) => session
            .block_on(read(&ends.source, ends.target.as_ref()))
            .or_else(|failure| read_from_disk(failure, Some(&ends), session)),
        Err(failure) => read_from_disk(failure, None, session),
    }?;
    session.print(format, &report, report_text)
}

/// Reads the last report on disk. If clusters are given, only reports of moves between them count.
fn read_from_disk(
    failure: Failure,
    ends: Option<&MoveClusters>,
    session: &Session,
) -> Result<MoveReport, Failure> {
    let kept =
        last_report(session.environment(), |journal| ends.is_none_or(|ends| is_between(journal, ends)))
            .filter(|_| failure.kind() != Kind::Interrupted);
    let Some((report, journal, path)) = kept else { return Err(failure) };
    session.messages().status(format!("{}; showing the report in `{}`", failure.message(), path.display()));
    Ok(report.report(journal.as_ref()))
}

/// True if a move was between the clusters. Compares addresses, because the clusters may not answer.
/// Without a target, the named cluster may be either end.
fn is_between(journal: Option<&MoveJournal>, ends: &MoveClusters) -> bool {
    let Some(MoveJournal { source, target, .. }) = journal else { return false };
    let here = ends.source.server().address();
    match &ends.target {
        Some(there) => source.address == here && target.address == there.server().address(),
        None => source.address == here || target.address == here,
    }
}

async fn read(
    source: &ManagementCluster,
    target: Option<&ManagementCluster>,
) -> Result<MoveReport, MoveError> {
    let report = mover::find_move_report(Some(source), target).await?;
    let report = report.ok_or(MoveError::NoMove { verb: "report" })?;
    let journal = mover::find_move_journal(Some(source), target).await?;
    Ok(report.report(journal.as_ref()))
}

#[cfg(test)]
mod tests {
    use api::{
        ObjectKey,
        output::{MoveState, StayingObject},
    };
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn object(kind: &str, namespace: &str, name: &str) -> ObjectKey {
        ObjectKey {
            group: String::new(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn moving(action: MoveAction, object: ObjectKey, why: &str) -> MovingObject {
        MovingObject { object, target_namespace: None, action, group: 1, why: why.to_owned(), kept: None }
    }

    fn state() -> MoveState {
        MoveState {
            begun: "2026-01-02T03:04:05Z".to_owned(),
            source: "https://one".to_owned(),
            target: "https://two".to_owned(),
            phase: "creating".to_owned(),
        }
    }

    fn empty() -> MovePlan {
        MovePlan {
            source: "https://one".to_owned(),
            target: Some("https://two".to_owned()),
            namespaces: vec!["default".to_owned()],
            unfinished: None,
            new_namespaces: Vec::new(),
            moving: Vec::new(),
            staying: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_plan_lists_moving_objects_and_staying_ones_by_reason() {
        let identity = MovingObject {
            kept: Some("cluster-scoped".to_owned()),
            ..moving(MoveAction::LeaveAlone, object("Identity", "", "main"), "labelled for moves")
        };
        let secret = MovingObject {
            target_namespace: Some("team".to_owned()),
            ..moving(
                MoveAction::Overwrite,
                object("Secret", "default", "demo-ca"),
                "belongs to Cluster default/demo",
            )
        };
        let stays = |name: &str, why: &str| StayingObject {
            object: object("ConfigMap", "default", name),
            why: why.to_owned(),
        };
        let unlinked = "no link to a moving object";
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let mut staying: Vec<StayingObject> = names.iter().map(|name| stays(name, unlinked)).collect();
        staying.push(stays("x", "its owner Cluster default/other stays"));
        let full = MovePlan {
            unfinished: Some(state()),
            new_namespaces: vec!["team".to_owned()],
            moving: vec![identity, secret],
            staying,
            ..empty()
        };
        assert_data_eq!(
            plan(&full, None),
            str![[r#"
resumes the move started at 2026-01-02T03:04:05Z (creating)

namespaces to create: team

ACTION      OBJECT                           WHY
leave       Identity main                    labelled for moves; kept on the source: cluster-scoped
overwrite   Secret default/demo-ca to team   belongs to Cluster default/demo

stays
  its owner Cluster default/other stays: ConfigMap default/x
  no link to a moving object: ConfigMap default/a, ConfigMap default/b, ConfigMap default/c, ConfigMap default/d, ConfigMap default/e and 2 more

objects: 1 to overwrite, 1 to leave; 8 stay

"#]]
        );
        assert_data_eq!(
            plan(&empty(), None),
            str![[r#"
nothing would move

"#]]
        );
    }

    #[test]
    fn a_report_shows_the_outcome_of_every_object() {
        let one = |name: &str, outcome: &str| MovedObject {
            object: object("Secret", "default", name),
            outcome: outcome.to_owned(),
        };
        let of = MoveReport {
            run: "r".to_owned(),
            journal: Some(state()),
            objects: vec![one("demo-ca", "moved"), one("stray", "stayed: no link to a moving object")],
            differences: vec![one("demo-ca", ".data.extra")],
        };
        assert_data_eq!(
            report_text(&of, None),
            str![[r#"
move started at 2026-01-02T03:04:05Z, creating
from https://one
to https://two

OBJECT                   OUTCOME
Secret default/demo-ca   moved
Secret default/stray     stayed: no link to a moving object

stored differently by the target
  Secret default/demo-ca: .data.extra

"#]]
        );
    }
}

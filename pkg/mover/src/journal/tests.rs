mod interrupted;
mod lease;

use std::{fmt::Write as _, sync::Mutex, time::Duration};

use api::output::MovePhase;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::{object, provider},
    fixture::Fixture,
    kind::{CONFIG_MAP, NAMESPACE},
};

use super::*;
use crate::{
    DifferencePolicy,
    testing::{self, Lab, NEW_VERSION, core},
};

const PLACE: &str = "capi-system/capstan-move";

fn request(clusters: ClusterChoice) -> MoveRequest {
    MoveRequest {
        namespaces: ["team".to_owned()].into(),
        clusters,
        namespace_map: BTreeMap::new(),
        include_status: BTreeSet::new(),
        timeout: Duration::from_mins(10),
        on_difference: DifferencePolicy::Stop,
        overwrite: false,
        server_dry_run: false,
    }
}

fn identity(uid: &str) -> ClusterIdentity {
    ClusterIdentity { uid: uid.to_owned(), address: format!("https://{uid}") }
}

/// Returns a keeper that stores nothing, for a process of the machine `here`. No holder is known to have ended.
fn keeper(process: &str) -> JournalStore {
    JournalStore {
        holder: JournalHolder { host: "here".to_owned(), process: process.to_owned(), write_number: 0 },
        has_ended: Arc::new(|_| false),
        write_journal: Arc::new(|_| Ok(())),
        write_report: Arc::new(|_| Ok(())),
    }
}

fn begin(request: &MoveRequest, clusters: Option<&[&str]>) -> MoveJournal {
    let clusters = clusters.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    MoveJournal::new(identity("a"), identity("b"), request, clusters, &keeper("1"))
}

fn started_journal() -> MoveJournal {
    begin(&request(ClusterChoice::All), None)
}

/// Returns the journal on a cluster.
async fn stored_journal(fixture: &Fixture) -> Option<MoveJournal> {
    let found = fixture.get(CONFIG_MAP, PLACE).await?;
    Some(serde_json::from_str(found["data"]["journal"].as_str()?).unwrap())
}

/// Creates a ConfigMap in the place of a journal.
async fn plant(fixture: &Fixture, data: Value) {
    fixture.create([object(CONFIG_MAP, PLACE).field("data", data)]).await;
}

#[test]
fn the_unfinished_journal_wins_and_then_the_newer_one() {
    use MovePhase::{Aborted, Aborting, Creating, Deleting, Finished, Resuming, Verifying};
    let copy = |run: &str, phase, write_number, begun: &str| {
        let mut journal = started_journal();
        journal.run = run.to_owned();
        journal.begun = begun.to_owned();
        journal.phase = phase;
        journal.holder.write_number = write_number;
        journal
    };
    let (old, new) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
    for (why, source, target, the_target_holds) in [
        ("a phase was begun on the source", ("1", Deleting, 8, new), ("1", Verifying, 7, new), false),
        ("a write reached only the target", ("1", Creating, 7, new), ("1", Creating, 8, new), true),
        ("the end reached the target alone", ("1", Resuming, 8, new), ("1", Finished, 9, new), false),
        ("so for what was undone", ("1", Aborting, 8, new), ("1", Aborted, 9, new), false),
        ("the target was set back", ("1", Finished, 9, new), ("1", Resuming, 8, new), true),
        ("they say the same", ("1", Creating, 7, new), ("1", Creating, 7, new), false),
        ("a new move has not reached the target", ("2", Creating, 1, new), ("1", Finished, 99, old), false),
        (
            "the source's was deleted and an old one put back",
            ("1", Finished, 99, old),
            ("2", Creating, 3, new),
            true,
        ),
        ("two moves were done", ("2", Finished, 3, new), ("1", Finished, 99, old), false),
        ("and the other way round", ("1", Aborted, 99, old), ("2", Finished, 3, new), true),
        ("two moves are under way", ("1", Creating, 1, old), ("2", Creating, 99, new), false),
    ] {
        let [source, target] =
            [source, target].map(|(run, phase, write_number, begun)| copy(run, phase, write_number, begun));
        let holds = copies::valid_journal(Some(&source), Some(&target)).unwrap();
        assert_eq!(holds, if the_target_holds { &target } else { &source }, "{why}");
        assert_eq!(copies::valid_journal(None, Some(&target)), Some(&target));
        assert_eq!(copies::valid_journal(Some(&source), None), Some(&source));
    }
    assert_eq!(copies::valid_journal(None, None), None);
}

#[test]
fn a_different_move_is_rejected_with_the_difference() {
    let named = |names: &[&str]| ClusterChoice::Named(names.iter().map(|name| (*name).to_owned()).collect());
    let labelled = |selector: &str| ClusterChoice::Labelled(selector.to_owned());
    let of_one = || begin(&request(named(&["one"])), Some(&["team/one"]));
    let (a, b, c) = (identity("a"), identity("b"), identity("c"));
    let cases = [
        (started_journal(), &a, &b, ClusterChoice::All),
        (started_journal(), &c, &b, ClusterChoice::All),
        (started_journal(), &a, &c, ClusterChoice::All),
        (started_journal(), &a, &b, named(&["one"])),
        (started_journal(), &a, &b, labelled("x=y")),
        (of_one(), &a, &b, named(&["one"])),
        (of_one(), &a, &b, named(&["team/one"])),
        (of_one(), &a, &b, named(&["one", "two"])),
        (of_one(), &a, &b, named(&["two"])),
        (of_one(), &a, &b, ClusterChoice::All),
        (begin(&request(labelled("x=y")), Some(&["team/one"])), &a, &b, labelled("x=y")),
        (begin(&request(labelled("x=y")), Some(&["team/one"])), &a, &b, labelled("x=z")),
        (MoveJournal { phase: MovePhase::Aborting, ..started_journal() }, &a, &b, ClusterChoice::All),
    ];
    let mut reported = String::new();
    for (journal, source, target, choice) in cases {
        let result = match journal.check_request(source, target, &request(choice.clone())) {
            Ok(()) => "same move".to_owned(),
            Err(error) => error.to_string(),
        };
        let _ = writeln!(reported, "{} to {}, {choice:?}: {result}", source.uid, target.uid);
    }
    assert_data_eq!(
        reported,
        str![[r#"
a to b, All: same move
c to b, All: another move is unfinished: it moves from `https://a`
a to c, All: another move is unfinished: it moves to `https://b`
a to b, Named({"one"}): another move is unfinished: it moves all Clusters
a to b, Labelled("x=y"): another move is unfinished: it moves all Clusters
a to b, Named({"one"}): same move
a to b, Named({"team/one"}): same move
a to b, Named({"one", "two"}): another move is unfinished: it moves the Clusters `team/one`
a to b, Named({"two"}): another move is unfinished: it moves the Clusters `team/one`
a to b, All: another move is unfinished: it moves the Clusters `team/one`
a to b, Labelled("x=y"): same move
a to b, Labelled("x=z"): another move is unfinished: it moves the Clusters that match `x=y`
a to b, All: another move is unfinished: it is being aborted

"#]]
    );
    let mut other = request(ClusterChoice::All);
    other.namespaces.insert("more".to_owned());
    let reported = started_journal().check_request(&a, &b, &other).unwrap_err().to_string();
    assert_data_eq!(reported, str!["another move is unfinished: it moves the namespaces `team`"]);
    let mut other = request(ClusterChoice::All);
    other.namespace_map.insert("team".to_owned(), "crew".to_owned());
    let reported = started_journal().check_request(&a, &b, &other).unwrap_err().to_string();
    assert_data_eq!(reported, str!["another move is unfinished: its namespace mapping is none"]);
}

#[test]
fn no_two_moves_have_the_same_id() {
    let ids: BTreeSet<_> = (0..100).map(|_| started_journal().run).collect();
    assert!(ids.len() > 95 && ids.iter().all(|id| id.len() == 21), "{ids:?}");
}

#[tokio::test]
async fn an_invalid_journal_is_reported_with_its_configmap() {
    let future = json!({"journal": json!({"format": 2, "surprise": true}).to_string()});
    let mut reported = String::new();
    for data in
        [future, json!({"journal": "{"}), json!({"journal": "{\"format\": 1}"}), json!({"other": "x"})]
    {
        let fixture = Fixture::start().await;
        plant(&fixture, data).await;
        let error = find_move_journal(None, Some(&testing::cluster(&fixture).await)).await.unwrap_err();
        let _ = writeln!(reported, "{error}");
    }
    assert_data_eq!(
        reported,
        str![[r#"
cannot use the journal on the target cluster, ConfigMap capi-system/capstan-move: it has format 2; this version supports format 1
cannot use the journal on the target cluster, ConfigMap capi-system/capstan-move: it cannot be read: EOF while parsing an object at line 1 column 1
cannot use the journal on the target cluster, ConfigMap capi-system/capstan-move: it cannot be read: missing field `run` at line 1 column 13
cannot use the journal on the target cluster, ConfigMap capi-system/capstan-move: key `journal` is missing

"#]]
    );
}

#[tokio::test]
async fn a_cluster_is_identified_by_its_kube_system_uid() {
    let lab = Lab::start().await;
    let (one, two) = (testing::cluster(&lab.source).await, testing::cluster(&lab.target).await);
    let found = one.identity().await.unwrap();
    assert_eq!(found, testing::cluster(&lab.source).await.identity().await.unwrap());
    assert_ne!(found.uid, two.identity().await.unwrap().uid);
    assert_eq!(found.uid, lab.source.get(NAMESPACE, "kube-system").await.unwrap()["metadata"]["uid"]);
}

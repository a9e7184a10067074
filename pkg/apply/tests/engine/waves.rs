//! Waves: each wave waits for the waves before, and deletes completed objects at its end.

use std::time::Duration;

use apply::{EngineOutcome, ItemPhase, ReadByName};
use serde_json::json;
use support::kind::{CONFIG_MAP, Kind};

use crate::testing::*;

const JOB: Kind = Kind::new("batch", "v1", "Job", "jobs");

fn job(name: &str, annotations: &[(&str, &str)]) -> String {
    let spec = "spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n";
    object("batch/v1", "Job", name, annotations, spec)
}

async fn finish(lab: &Lab, place: &str) {
    let conditions = json!([
        {"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"},
    ]);
    let status = json!({
        "conditions": conditions, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:01Z",
    });
    lab.status(JOB, place, status).await;
}

// Row: ENG-65
#[tokio::test]
async fn an_unready_wave_blocks_the_next() {
    let mut lab = Lab::start().await;
    let set = deployment("first", &[("apply-order", "-1")]) + &config_map("second", &[], "1");
    let held = waiting(lab.apply(&set).await);
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].starts_with("Deployment default/first: "), "{held:?}");
    assert!(lab.fixture.get(CONFIG_MAP, "default/second").await.is_none());
    assert_eq!(lab.phase("Deployment", "first"), Some((ItemPhase::Creating, "InProgress")));
    assert_eq!(lab.phase("ConfigMap", "second"), Some((ItemPhase::ScheduledForApplication, "InProgress")));

    lab.make_available("default/first").await;
    lab.applied(&set).await;
    assert!(lab.fixture.get(CONFIG_MAP, "default/second").await.is_some());
    assert_eq!(lab.phase("Deployment", "first"), Some((ItemPhase::Ready, "Current")));
    assert_eq!(lab.phase("ConfigMap", "second"), Some((ItemPhase::Ready, "Current")));
}

#[tokio::test]
async fn a_wave_is_waited_for_until_ready_or_the_deadline() {
    let mut lab = Lab::start().await;
    let set = deployment("first", &[("apply-order", "-1")]) + &config_map("second", &[], "1");
    lab.until = Some(Duration::from_millis(50));
    let held = waiting(lab.apply(&set).await);
    assert!(held[0].starts_with("Deployment default/first: "), "{held:?}");

    lab.until = Some(Duration::from_mins(1));
    let release = lab.make_available("default/first");
    let mut planned = lab.planned(&set, ReadByName::Applied).await.unwrap();
    let record = InConfigMap::of(&lab.server);
    let deadline = std::time::Instant::now().checked_add(Duration::from_mins(1));
    let run = apply::RunOptions { deadline, ..apply::RunOptions::new(&record) };
    let engine = lab.engine();
    let (outcome, ()) = tokio::join!(engine.apply(&mut planned, run), release);
    assert_eq!(outcome.unwrap(), EngineOutcome::Done);
    assert!(lab.fixture.get(CONFIG_MAP, "default/second").await.is_some());
}

// Row: ENG-67
#[tokio::test]
async fn waves_are_ascending_from_negative_to_positive_orders() {
    let mut lab = Lab::start().await;
    lab.options.defaults.update = apply::UpdatePolicy::SsaOverride;
    let counter = lab.count();
    let set = config_map("c", &[("apply-order", "7")], "1")
        + &config_map("b", &[], "1")
        + &config_map("a", &[("apply-order", "-5")], "1");
    lab.applied(&set).await;
    assert_eq!(writes(&counter), ["patch configmaps a", "patch configmaps b", "patch configmaps c"]);
}

#[tokio::test]
async fn the_last_wave_is_waited_for_only_on_request() {
    let mut lab = Lab::start().await;
    let set = deployment("app", &[]);
    lab.applied(&set).await;
    lab.wait_for_last = true;
    let held = waiting(lab.apply(&set).await);
    assert!(held[0].starts_with("Deployment default/app: "), "{held:?}");
    lab.make_available("default/app").await;
    lab.applied(&set).await;
}

// Row: ENG-31
#[tokio::test]
async fn instances_are_written_in_the_run_that_creates_their_definition() {
    let mut lab = Lab::start().await;
    let counter = lab.count();
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&(widget("one", &[]) + &config_map("a", &[], "1") + &widgets(&[]))).await;
    let written = writes(&counter);
    assert_eq!(written[0], "create customresourcedefinitions");
    assert_eq!(written.last().unwrap(), "create widgets");
    assert!(lab.fixture.get(WIDGET, "default/one").await.is_some());
    let definition =
        lab.fixture.get(support::kind::CUSTOM_RESOURCE_DEFINITION, "widgets.example.org").await.unwrap();
    let finalizers = definition["metadata"]["finalizers"].as_array().unwrap();
    assert!(finalizers.contains(&json!("engine.test")), "{finalizers:?}");
}

// Row: ENG-68
// Row: ENG-69
// Row: ENG-70
#[tokio::test]
async fn purged_objects_are_deleted_before_the_next_wave() {
    let mut lab = Lab::start().await;
    lab.until = None;
    let set = job("prepare", &[("apply-order", "-1"), ("purge-order", "-1")]) + &config_map("app", &[], "1");
    assert_eq!(waiting(lab.apply(&set).await).len(), 1);
    assert!(lab.fixture.get(JOB, "default/prepare").await.is_some(), "it has not done its work");
    finish(&lab, "default/prepare").await;
    let counter = lab.count();
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&set).await;
    assert_eq!(writes(&counter), ["delete jobs prepare", "create configmaps"]);
    assert_eq!(lab.phase("Job", "prepare"), Some((ItemPhase::Completed, "")));
    let counter = lab.count();
    lab.applied(&set).await;
    assert_eq!(writes(&counter), Vec::<String>::new());
    assert_eq!(lab.phase("Job", "prepare"), Some((ItemPhase::Completed, "")));
    lab.until = None;
    // Only a changed manifest starts the Job again.
    let again = set.replace("name: c", "name: d");
    assert_eq!(waiting(lab.apply(&again).await).len(), 1);
    assert!(lab.fixture.get(JOB, "default/prepare").await.is_some());
}

#[tokio::test]
async fn an_interrupted_purge_is_completed_once() {
    let mut lab = Lab::start().await;
    let set = job("prepare", &[("purge-order", "0")]);
    lab.apply(&set).await.unwrap();
    finish(&lab, "default/prepare").await;
    lab.fixture.inject_fault("cut-after,verb=delete,times=1");
    lab.fixture.inject_fault("503,verb=write,skip=1");
    lab.until = Some(Duration::from_mins(1));
    lab.impatient().await;
    lab.apply(&set).await.unwrap_err();
    lab.fixture.sandbox().faults().clear();
    lab.recall().await;
    assert_eq!(lab.phase("Job", "prepare").unwrap().0, ItemPhase::ScheduledForCompletion);
    let counter = lab.count();
    lab.applied(&set).await;
    assert_eq!(writes(&counter), Vec::<String>::new());
    assert_eq!(lab.phase("Job", "prepare"), Some((ItemPhase::Completed, "")));
}

//! Controllers that report when they have seen the pause.

use std::sync::{Arc, Mutex};

use api::output::ProgressEvent;
use apply::EventSink;
use inventory::ManagementCluster;
use sandbox::ControllerSwitches;
use serde_json::json;
use snapbox::{assert_data_eq, str};
use support::{
    cluster_api::cluster,
    fixture::Fixture,
    kind::{self, Kind},
    request_counter::RequestCounter,
};

use crate::testing::Lab;
use crate::testing::move_world::{install_providers, plan_and_execute, request};

const MACHINE: &str = "team/a-machine-0";

/// The events of a move: the objects that the move waited for, and its warnings.
#[derive(Clone, Default)]
struct RecordedEvents(Arc<Mutex<(Vec<String>, Vec<String>)>>);

impl RecordedEvents {
    fn subscribe(cluster: &mut ManagementCluster) -> Self {
        let reported = Self::default();
        let kept = reported.clone();
        cluster.events = EventSink::new(move |event| {
            let (awaited, warnings) = &mut *kept.0.lock().unwrap();
            match event {
                ProgressEvent::MoveResting { objects } => {
                    awaited.extend(objects.iter().map(ToString::to_string));
                }
                ProgressEvent::Warning { text } => warnings.push(text.clone()),
                _ => {}
            }
        });
        reported
    }

    fn awaited_objects(&self) -> Vec<String> {
        self.0.lock().unwrap().0.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.lock().unwrap().1.clone()
    }
}

async fn lab() -> Lab {
    let lab = Box::pin(Lab::start()).await;
    futures::join!(Box::pin(install_providers(&lab.source)), Box::pin(install_providers(&lab.target)));
    Box::pin(lab.source.create(cluster("team/a").machines(1))).await;
    lab
}

async fn set_paused_condition(lab: &Lab, kind: Kind, paused: &str) {
    let condition = json!({
        "type": "Paused", "status": paused, "reason": "Test", "message": "", "observedGeneration": 1,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    });
    lab.source.merge_status(kind, MACHINE, &json!({"status": {"conditions": [condition]}})).await;
}

// Row: D-180
#[tokio::test(start_paused = true)]
async fn no_object_is_copied_before_every_pause_is_acknowledged() {
    let lab = lab().await;
    for kind in [kind::MACHINE, kind::DOCKER_MACHINE] {
        set_paused_condition(&lab, kind, "False").await;
    }
    let lines = lab.lines();
    let (mut source, target) = (lines.source().await, lines.target().await);
    let reported = RecordedEvents::subscribe(&mut source);
    let request = request();
    let controllers = async {
        while reported.awaited_objects().is_empty() {
            tokio::task::yield_now().await;
        }
        set_paused_condition(&lab, kind::MACHINE, "True").await;
        assert!(lab.target.list(kind::CLUSTER).await.is_empty());
        set_paused_condition(&lab, kind::DOCKER_MACHINE, "True").await;
    };
    let (done, ()) = futures::join!(plan_and_execute(&source, &target, &request, "1"), controllers);
    done.unwrap();
    assert_eq!(reported.awaited_objects(), ["Machine team/a-machine-0", "DockerMachine team/a-machine-0"]);
    assert_eq!(reported.warnings(), Vec::<String>::new());
    let copy = lab.target.get(kind::DOCKER_MACHINE, MACHINE).await;
    assert!(copy.is_some());
}

// Row: D-180
#[tokio::test(start_paused = true)]
async fn an_unacknowledged_pause_is_reported_once_and_the_move_continues() {
    let lab = lab().await;
    set_paused_condition(&lab, kind::MACHINE, "False").await;
    let lines = lab.lines();
    let (mut source, target) = (lines.source().await, lines.target().await);
    let reported = RecordedEvents::subscribe(&mut source);
    plan_and_execute(&source, &target, &request(), "1").await.unwrap();
    assert_data_eq!(
        reported.warnings().join("\n"),
        str![
            "no controller acknowledged the pause of Machine team/a-machine-0 within 30 s; a slow controller may still write to these objects"
        ]
    );
    assert!(lab.source.list(kind::MACHINE).await.is_empty());
}

#[tokio::test]
async fn immediate_acknowledgements_cost_no_extra_requests() {
    let (silent, reporting) = (lab().await, lab().await);
    for kind in [kind::MACHINE, kind::DOCKER_MACHINE] {
        set_paused_condition(&reporting, kind, "True").await;
    }
    let mut counted = Vec::new();
    for lab in [&silent, &reporting] {
        let counter = RequestCounter::start(lab.source.sandbox());
        let lines = lab.lines();
        plan_and_execute(&lines.source().await, &lines.target().await, &request(), "1").await.unwrap();
        counted.push(counter.all().total());
    }
    assert_eq!(counted[0], counted[1]);
}

#[tokio::test]
async fn the_sandbox_controllers_acknowledge_a_pause() {
    let builder = Fixture::builder().controllers(ControllerSwitches::default());
    let lab = Lab { source: builder.start().await, target: Fixture::start().await };
    futures::join!(install_providers(&lab.source), install_providers(&lab.target));
    let made_by_controllers =
        [kind::SECRET, kind::MACHINE_SET, kind::MACHINE, kind::KUBEADM_CONFIG, kind::DOCKER_MACHINE];
    let objects = cluster("team/a").control_plane(1).into_iter();
    lab.source.create(objects.filter(|object| !made_by_controllers.contains(&object.kind()))).await;
    lab.source.wait_until_idle().await;
    let works = json!({"type": "Paused", "status": "False"});
    let machine = lab.source.list(kind::MACHINE).await.remove(0);
    let conditions = machine["status"]["conditions"].as_array().unwrap();
    let says = |one: &serde_json::Value| ["type", "status"].iter().all(|field| one[*field] == works[*field]);
    assert!(conditions.iter().any(says), "{machine:#}");
    let lines = lab.lines();
    let (mut source, target) = (lines.source().await, lines.target().await);
    let reported = RecordedEvents::subscribe(&mut source);
    plan_and_execute(&source, &target, &request(), "1").await.unwrap();
    assert_eq!(reported.warnings(), Vec::<String>::new());
    assert_eq!(lab.target.list(kind::MACHINE).await.len(), 1);
}

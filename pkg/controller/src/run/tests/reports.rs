//! The reports of a running controller: probes, and notifications of an events receiver.

use snapbox::{assert_data_eq, str};
use support::host::{FakeHost, Reply};
use tokio::sync::oneshot;

use super::*;
use crate::Endpoint;

fn ready_answer(lab: &Lab) -> u16 {
    Endpoint::Probes(Arc::clone(&lab.readiness)).answer("/readyz").status().as_u16()
}

// Row: D-460
#[tokio::test]
async fn a_controller_is_ready_once_every_watch_has_listed() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 1}").await;
    assert_eq!(ready_answer(&lab), 200, "a controller that waits for its lease is ready");
    let faults = lab.fixture.sandbox().faults();
    for (kind, plural) in [
        ("Component", "core.cs.sap.com/components"),
        ("GitRepository", "source.toolkit.fluxcd.io/gitrepositories"),
    ] {
        faults.replace([sandbox::Fault::parse(&format!("503,verb=list,resource={plural}")).unwrap()]);
        let (stop, stopped) = oneshot::channel::<()>();
        let controller = lab.controller();
        let observer = async {
            while lab.readiness.missing() != [kind] {
                sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(ready_answer(&lab), 503);
            sleep(Duration::from_millis(300)).await;
            assert_eq!(lab.readiness.missing(), [kind]);
            faults.replace([]);
            while ready_answer(&lab) != 200 {
                sleep(Duration::from_millis(5)).await;
            }
            drop(stop);
        };
        let running = controller.run(stopped.map(drop));
        let ended = timeout(Duration::from_secs(20), async { futures::join!(running, observer).0 });
        ended.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_events_receiver_is_notified_once_of_each_state() {
    let lab = Lab::start().await;
    let host = FakeHost::start(&["flux.example.org"]);
    host.on_sequence("flux.example.org/events", [Reply::status(202), Reply::status(400), Reply::status(202)]);
    let mut controller = lab.controller();
    controller.repositories = RepositoryContext::new(transport::Settings {
        extra_roots: vec![host.ca_pem().as_bytes().to_vec()],
        system_roots: false,
        resolve: BTreeMap::from([("flux.example.org".to_owned(), host.address())]),
        ..transport::Settings::default()
    });
    let receiver = EventsReceiver::new("https://flux.example.org/events", "pod-1".to_owned());
    controller.options.receiver = Some(receiver.unwrap());
    let problems = Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = Arc::clone(&problems);
    controller.options.events = EventSink::new(move |event| {
        if let ControllerEvent::NotNotified { problem, .. } = event {
            kept.lock().unwrap().push(problem.clone());
        }
    });
    lab.apply("web", "values: {maps: 1}").await;
    let stop = async {
        while !are_ready(&lab).await || host.received().len() < 2 {
            sleep(Duration::from_millis(20)).await;
        }
        sleep(Duration::from_millis(100)).await;
    };
    controller.run(stop).await.unwrap();
    let received = host.received();
    assert_eq!(received.len(), 2);
    let mut body: Value = serde_json::from_slice(&received[1].body).unwrap();
    assert_eq!(
        (received[1].method.as_str(), received[1].header("content-type")),
        ("POST", Some("application/json"))
    );
    for (object, fields) in
        [("involvedObject", &["uid", "resourceVersion"][..]), ("metadata", &["core.cs.sap.com/token"])]
    {
        for field in fields {
            assert_ne!(body[object][field].take(), Value::Null, "{field}");
        }
    }
    assert_ne!(body["timestamp"].take(), Value::Null);
    assert_data_eq!(
        serde_json::to_string_pretty(&body).unwrap(),
        str![[r#"
{
  "involvedObject": {
    "apiVersion": "core.cs.sap.com/v1alpha1",
    "kind": "Component",
    "name": "web",
    "namespace": "ns",
    "resourceVersion": null,
    "uid": null
  },
  "message": "Dependent resources successfully reconciled",
  "metadata": {
    "core.cs.sap.com/revision": "main@sha1:1",
    "core.cs.sap.com/token": null
  },
  "reason": "Ready",
  "reportingController": "component-operator.cs.sap.com",
  "reportingInstance": "pod-1",
  "severity": "info",
  "timestamp": null
}
"#]]
    );
    // A receiver that refuses an event changes nothing.
    let problems = problems.lock().unwrap().clone();
    assert_data_eq!(
        problems.join("\n"),
        str!["cannot fetch `https://flux.example.org/events`: the host answered with status 400"]
    );
}

#[test]
fn only_urls_of_http_receive_events() {
    for wrong in ["", "flux", "ftp://flux.example.org/", "file:///tmp/x"] {
        assert!(EventsReceiver::new(wrong, String::new()).is_err(), "{wrong}");
    }
}

//! Several controllers that work at the same time.

use std::sync::Mutex;

use component::ComponentKey;

use super::*;

/// The Components that a controller took steps for.
#[derive(Default)]
struct Steps(Mutex<BTreeSet<ComponentKey>>);

impl Steps {
    fn taken(&self) -> BTreeSet<ComponentKey> {
        self.0.lock().unwrap().clone()
    }
}

fn controller_of<'a>(lab: &'a Lab, shard: Shard, steps: &Arc<Steps>) -> Controller<'a> {
    let steps = Arc::clone(steps);
    let mut controller = Controller { metrics: Arc::default(), ..lab.controller() };
    controller.options.shard = shard;
    controller.options.events = EventSink::new(move |event| {
        if let ControllerEvent::Stepped { component, .. } = event {
            steps.0.lock().unwrap().insert(component.clone());
        }
    });
    controller
}

/// Runs two controllers until a condition holds.
async fn run_until(lab: &Lab, controllers: &[Controller<'_>], condition: impl AsyncFn(&Lab) -> bool) {
    let stop = async || {
        while !condition(lab).await {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let ended = async { futures::join!(controllers[0].run(stop()), controllers[1].run(stop())) };
    let (first, second) = timeout(Duration::from_secs(30), ended).await.expect("the condition holds");
    first.and(second).unwrap();
}

#[tokio::test]
async fn shards_divide_components_and_see_dependencies_of_others() {
    let lab = Lab::start().await;
    let names: Vec<String> = (0..12).map(|number| format!("web-{number}")).collect();
    let key = |name: &String| ComponentKey { namespace: "ns".to_owned(), name: name.clone() };
    // Each Component depends on the one before, so the chain crosses the shards. Only an event of the other shard can
    // cause the next step: the retry interval is ten minutes.
    for pair in names.windows(2) {
        lab.apply(&pair[1], &format!("values: {{maps: 1}}, dependencies: [{{name: {}}}]", pair[0])).await;
    }
    lab.apply(&names[0], "values: {maps: 1}").await;
    let steps: Vec<Arc<Steps>> = Shard::all(2).map(|_| Arc::default()).collect();
    let controllers: Vec<Controller> =
        Shard::all(2).zip(&steps).map(|(shard, steps)| controller_of(&lab, shard, steps)).collect();
    run_until(&lab, &controllers, are_ready).await;
    assert_eq!(lab.maps().await.len(), 12);
    for (shard, steps) in Shard::all(2).zip(&steps) {
        let own: BTreeSet<ComponentKey> = names.iter().map(key).filter(|key| shard.contains(key)).collect();
        assert!(!own.is_empty());
        assert_eq!(steps.taken(), own, "{shard}");
    }
    let counted = |controller: &Controller| {
        let text = controller.metrics.to_text();
        let ready = text.lines().find_map(|line| {
            line.strip_prefix("component_operator_runtime_component_state{state=\"Ready\"} ")
        });
        ready.unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(controllers.iter().map(counted).sum::<usize>(), 12);
    // Each shard watches the source.
    lab.publish("main@sha1:2").await;
    let has_new_artifact = async |lab: &Lab| {
        are_ready(lab).await && lab.maps().await.values().all(|revision| revision == "main@sha1:2")
    };
    run_until(&lab, &controllers, has_new_artifact).await;
    for name in &names {
        lab.delete(name).await;
    }
    run_until(&lab, &controllers, are_gone).await;
    assert_eq!(lab.maps().await.len(), 0);
}

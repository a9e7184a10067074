//! The controller on a server with faults, killed at every request, and over long times.

use sandbox::Fault;

use super::*;

/// Takes Components from nothing to ready, through a change, and back to nothing. The fault lasts while a controller runs.
async fn live(lab: &Lab, fault: &str) {
    let faults = lab.fixture.sandbox().faults();
    let web = |maps| format!("values: {{maps: {maps}}}, dependencies: [{{name: base}}], retryInterval: 1s");
    lab.apply("base", "values: {maps: 1}").await;
    lab.apply("web", &web(2)).await;
    faults.replace([Fault::parse(fault).unwrap()]);
    lab.run_until(are_ready).await;
    faults.replace([]);
    assert_eq!(lab.maps().await.len(), 3, "{fault}");
    lab.apply("web", &web(1)).await;
    faults.replace([Fault::parse(fault).unwrap()]);
    lab.run_until(async |lab: &Lab| are_ready(lab).await && lab.maps().await.len() == 2).await;
    faults.replace([]);
    lab.delete("base").await;
    lab.delete("web").await;
    faults.replace([Fault::parse(fault).unwrap()]);
    lab.run_until(are_gone).await;
    faults.replace([]);
    assert_eq!(lab.maps().await.len(), 0, "{fault}");
}

#[tokio::test]
async fn components_live_on_a_server_that_fails_now_and_then() {
    let faults = [
        "429:1,times=4",
        "503,times=12",
        "latency:60ms,times=150",
        "drop-watch,times=8",
        "410,verb=watch,times=3",
        "cut-before,times=8",
        "cut-after,verb=write,times=8",
    ];
    let lives = faults.map(async |fault| {
        let lab = Lab::start().await;
        live(&lab, fault).await;
    });
    futures::future::join_all(lives).await;
}

#[tokio::test]
async fn a_watch_whose_changes_are_forgotten_lists_again() {
    let lab = Lab::start_with(Fixture::builder().options(|options| options.history_limit = 20)).await;
    lab.apply("web", "values: {maps: 1}").await;
    let changed = AtomicU64::new(0);
    lab.run_until(async |lab: &Lab| {
        if are_ready(lab).await && changed.fetch_add(1, Ordering::SeqCst) == 0 {
            lab.fixture.inject_fault("500,verb=watch,times=1");
            lab.fixture.inject_fault("drop-watch,times=1");
            for number in 0..40 {
                let map = format!(
                    "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: foreign-{number}, namespace: ns}}}}"
                );
                lab.fixture.apply(&map).await;
            }
            lab.apply("web", "values: {maps: 3}").await;
        }
        lab.maps().await.len() == 3
    })
    .await;
}

#[tokio::test]
async fn a_watch_that_is_answered_with_410_lists_again() {
    let lab = Lab::start().await;
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    lab.fixture.inject_fault("410,verb=watch,resource=core.cs.sap.com/components,times=1");
    lab.run_until(async |_: &Lab| {
        let requests = audit.since(before);
        let lists = requests.iter().filter(|one| one.verb == "list" && one.path.contains("/components"));
        lists.count() == 2
    })
    .await;
}

#[tokio::test]
async fn a_life_of_three_components_survives_a_kill_at_every_request() {
    let life = async |at_request: u64| {
        let lab = Lab::start().await;
        let covers = async || {
            let components = lab.components().await;
            let items = components.iter().flat_map(|one| one.applied().unwrap().items);
            let inventories: BTreeSet<String> = items.map(|item| item.key.name).collect();
            let maps: BTreeSet<String> = lab.maps().await.into_keys().collect();
            assert!(maps.is_subset(&inventories), "{at_request}: {maps:?} are not all in {inventories:?}");
        };
        lab.apply("base", "values: {maps: 1}").await;
        lab.apply("web", "values: {maps: 1}, dependencies: [{name: base}]").await;
        lab.apply("api", "values: {maps: 1}, dependencies: [{name: base}, {name: web}]").await;
        let mut is_complete = lab.run_and_kill(at_request).await;
        covers().await;
        lab.run_until(are_ready).await;
        assert_eq!(lab.maps().await.len(), 3, "{at_request}");
        for name in ["base", "web", "api"] {
            lab.delete(name).await;
        }
        is_complete &= lab.run_and_kill(at_request).await;
        covers().await;
        lab.run_until(are_gone).await;
        assert_eq!(lab.maps().await.len(), 0, "{at_request}");
        is_complete
    };
    for first in (1..200).step_by(8) {
        let complete = futures::future::join_all((first..first + 8).map(life)).await;
        if complete.into_iter().all(|is_complete| is_complete) {
            return;
        }
    }
    panic!("a life takes more than 200 requests");
}

#[tokio::test(start_paused = true)]
async fn a_ready_component_has_another_step_after_its_interval() {
    let lab = Lab::start().await;
    lab.apply("web", "values: {maps: 1}, requeueInterval: 10m").await;
    lab.run_until(are_ready).await;
    let steps = || lab.metrics.steps.load(Ordering::Relaxed);
    let before = steps();
    // A restarted controller takes one step at once, and the next ones after 10 minutes and some jitter.
    lab.controller().run(sleep(Duration::from_mins(9))).await.unwrap();
    assert_eq!(steps() - before, 1);
    lab.controller().run(sleep(Duration::from_mins(34))).await.unwrap();
    assert_eq!(steps() - before, 1 + 4);
}

//! Two controllers of which one works, and servers and clocks in trouble.

use std::{sync::atomic::AtomicBool, time::SystemTime};

use apply::{HeldLeasePolicy, Lease, LeaseHolder, LeaseName, LeaseRequest};
use http::Method;
use kube::client::Body;
use tower::{BoxError, service_fn};

use super::*;
use crate::acquire_shard;

/// The connection of one controller, which can be cut off.
#[derive(Default)]
struct Link {
    is_cut: AtomicBool,
    /// The number of requests that changed objects, without those for leases.
    writes: AtomicU64,
}

impl Link {
    async fn connect(self: &Arc<Self>, lab: &Lab) -> Server {
        let (link, client) = (Arc::clone(self), lab.fixture.client());
        let service = service_fn(move |request: http::Request<Body>| {
            let (link, client) = (Arc::clone(&link), client.clone());
            async move {
                if link.is_cut.load(Ordering::SeqCst) {
                    return Err(BoxError::from("the connection is cut"));
                }
                let is_write = *request.method() != Method::GET && !request.uri().path().contains("/leases");
                link.writes.fetch_add(is_write.into(), Ordering::SeqCst);
                client.send(request).await.map_err(BoxError::from)
            }
        });
        let connection = ConnectionOptions::of_client(kube::Client::new(service, "default"), "controller");
        let options = ServerOptions { retry_for: Duration::from_secs(10), ..ServerOptions::default() };
        Server::connect(connection, options).await.unwrap()
    }
}

async fn lease(server: &Server, process: &str) -> Lease {
    let request = LeaseRequest {
        name: Shard::default().lease_name("kube-system"),
        holder: LeaseHolder { process: process.to_owned(), ..LeaseHolder::default() },
        has_ended: Arc::new(|_| false),
        when_held: HeldLeasePolicy::Wait,
        wall_clock: SystemTime::now,
    };
    let commands = LeaseName { namespace: "kube-system".to_owned(), name: "capstan".to_owned() };
    acquire_shard(server, &request, Shard::default(), &commands, |_| ()).await.unwrap()
}

async fn wait_until(lab: &Lab, condition: impl AsyncFn(&Lab) -> bool) {
    while !condition(lab).await {
        sleep(Duration::from_millis(100)).await;
    }
}

async fn has_maps(lab: &Lab, count: usize) -> bool {
    are_ready(lab).await && lab.maps().await.len() == count
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_never_writes_again() {
    let lab = Lab::start_with(Fixture::builder().clock_at("2026-01-02T03:04:05Z")).await;
    let (links, second_works) = ([Arc::<Link>::default(), Arc::default()], AtomicBool::new(false));
    let servers = [links[0].connect(&lab).await, links[1].connect(&lab).await];
    let first_lease = lease(&servers[0], "1").await;
    let first = async {
        let controller = Controller { hub: servers[0].with_lease(&first_lease), ..lab.controller() };
        controller.run(pending()).await
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let second = async {
        let second_lease = lease(&servers[1], "2").await;
        second_works.store(true, Ordering::SeqCst);
        let controller = Controller { hub: servers[1].with_lease(&second_lease), ..lab.controller() };
        controller.run(stopped.map(drop)).await.unwrap();
    };
    let clock = async {
        loop {
            sleep(Duration::from_secs(1)).await;
            lab.fixture.advance(Duration::from_secs(1));
        }
    };
    let story = async {
        lab.apply("web", "values: {maps: 1}").await;
        wait_until(&lab, async |lab| has_maps(lab, 1).await).await;
        links[0].is_cut.store(true, Ordering::SeqCst);
        lab.apply("web", "values: {maps: 3}").await;
        wait_until(&lab, async |_| second_works.load(Ordering::SeqCst)).await;
        let written = links[0].writes.load(Ordering::SeqCst);
        wait_until(&lab, async |lab| has_maps(lab, 3).await).await;
        links[0].is_cut.store(false, Ordering::SeqCst);
        lab.apply("web", "values: {maps: 2}").await;
        wait_until(&lab, async |lab| has_maps(lab, 2).await).await;
        sleep(Duration::from_mins(2)).await;
        assert_eq!(links[0].writes.load(Ordering::SeqCst), written);
        drop(stop);
    };
    let work = async { futures::join!(first, second, story).0 };
    let ended = tokio::select! {
        ended = work => ended,
        () = clock => unreachable!("the clock never stops"),
    };
    assert!(matches!(ended, Err(ControllerError::LeaseLost { .. })), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn an_idle_leader_ends_once_its_lease_is_lost() {
    let lab = Lab::start_with(Fixture::builder().clock_at("2026-01-02T03:04:05Z")).await;
    let server = Arc::<Link>::default().connect(&lab).await;
    let mut held = lease(&server, "1").await;
    let controller = Controller { hub: server.with_lease(&held), ..lab.controller() };
    lab.fixture.advance(apply::lease::LEASE_DURATION + Duration::from_secs(2));
    assert_eq!(crate::working_controller(&server).await.unwrap(), None);
    let ended = controller.run_while_leading(&mut held, pending()).await;
    assert!(matches!(ended, Err(ControllerError::LeaseLost { .. })), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn components_follow_changes_while_clocks_jump() {
    let lab = Lab::start_with(Fixture::builder().clock_at("2026-01-02T03:04:05Z")).await;
    let server = Arc::<Link>::default().connect(&lab).await;
    let held = lease(&server, "1").await;
    let controller = Controller { hub: server.with_lease(&held), ..lab.controller() };
    let story = async {
        for (count, hours) in [(1, 0), (2, 48), (3, -96), (1, 24)] {
            let jump = Duration::from_hours(u64::from(i32::unsigned_abs(hours)));
            if hours < 0 {
                lab.fixture.set_back(jump);
            } else {
                lab.fixture.advance(jump);
            }
            lab.apply("web", &format!("values: {{maps: {count}}}")).await;
            wait_until(&lab, async |lab| has_maps(lab, count).await).await;
        }
    };
    controller.run(story).await.unwrap();
    assert!(held.loss_error().is_none());
}

#[tokio::test]
async fn foreign_objects_cause_no_requests() {
    let lab = Lab::start().await;
    let kind = lab.server.kind(&GroupKind::new("", "ConfigMap")).await.unwrap();
    let foreign = |number: usize| {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("foreign-{number}"), "namespace": "ns"}});
        Object::try_from(map).unwrap()
    };
    for number in 0..10_000 {
        lab.server.create(&kind, &foreign(number), "test", apply::WriteMode::Real).await.unwrap();
    }
    let audit = lab.fixture.sandbox().audit();
    let before = audit.answered();
    lab.apply("web", "values: {maps: 5}").await;
    let is_ready = || lab.metrics.to_text().contains("state{state=\"Ready\"} 1\n");
    let stop = async {
        while !is_ready() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    lab.controller().run(stop).await.unwrap();
    let lists: Vec<String> = audit
        .since(before)
        .into_iter()
        .filter(|one| one.verb == "list" && one.resource == "configmaps")
        .map(|one| one.path)
        .collect();
    assert!(lists.iter().all(|path| path.contains("labelSelector=")), "{lists:?}");
    assert!(audit.answered() - before < 60, "{}", audit.answered() - before);
}

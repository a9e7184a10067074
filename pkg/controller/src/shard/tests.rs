use std::{
    sync::{Arc, Mutex},
    time::SystemTime,
};

use apply::{ConnectionOptions, HeldLeasePolicy, ServerOptions};
use support::fixture::Fixture;
use tokio::time::timeout;

use super::*;

fn key(number: usize) -> ComponentKey {
    ComponentKey { namespace: "ns".to_owned(), name: format!("web-{number}") }
}

fn owner(count: u16, component: &ComponentKey) -> u16 {
    let owners: Vec<u16> =
        Shard::all(count).filter(|one| one.contains(component)).map(Shard::index).collect();
    assert_eq!(owners.len(), 1, "{component} is in shards {owners:?}");
    owners[0]
}

#[test]
fn every_component_is_in_one_shard_and_few_change_it() {
    let components: Vec<ComponentKey> = (0..3000).map(key).collect();
    for count in 1..5 {
        let moved = components.iter().filter(|one| owner(count, one) != owner(count + 1, one));
        let to_new = moved.filter(|one| owner(count + 1, one) == count).count();
        let all = components.iter().filter(|one| owner(count, one) != owner(count + 1, one)).count();
        assert_eq!(to_new, all, "only the new shard receives Components");
        let share = 3000 / usize::from(count + 1);
        assert!(all.abs_diff(share) < share / 5, "{all} of {share}");
    }
}

#[test]
fn the_shard_of_a_component_never_changes() {
    // Another answer in another release would let two controllers work on one Component.
    let owners: Vec<u16> = (0..8).map(|number| owner(5, &key(number))).collect();
    assert_eq!(owners, [1, 1, 3, 3, 4, 0, 4, 2]);
}

#[test]
fn shards_have_leases_of_their_own() {
    let name = |text: &str| text.parse::<Shard>().unwrap().lease_name("ns").name;
    assert_eq!(name("0/1"), "component-operator.cs.sap.com");
    assert_eq!(name("1/3"), "component-operator.cs.sap.com-1-of-3");
    for shard in Shard::all(12) {
        assert_eq!(Shard::count_of(&shard.lease_name("ns").name), Some(12));
    }
    assert_eq!(Shard::count_of("component-operator.cs.sap.com"), Some(1));
    for foreign in ["capstan", "component-operator.cs.sap.com-x-of-2", "component-operator.cs.sap.com-2-of-2"]
    {
        assert_eq!(Shard::count_of(foreign), None);
    }
    for wrong in ["", "1", "3/3", "0/0", "-1/2", "0/257", "a/b", "0/2/1"] {
        assert_eq!(wrong.parse::<Shard>(), Err(ShardError), "{wrong}");
    }
}

fn commands() -> LeaseName {
    LeaseName { namespace: "kube-system".to_owned(), name: "capstan".to_owned() }
}

/// Two controllers on a sandbox.
struct Lab {
    fixture: Fixture,
    server: Server,
    waiting: Mutex<Vec<String>>,
}

impl Lab {
    async fn start() -> Self {
        let fixture = Fixture::builder().clock_at("2026-01-02T03:04:05Z").start().await;
        let connection = ConnectionOptions::of_client(fixture.client(), "controller");
        let server = Server::connect(connection, ServerOptions::default()).await.unwrap();
        Self { fixture, server, waiting: Mutex::default() }
    }

    fn request(name: LeaseName, verb: &str) -> LeaseRequest {
        LeaseRequest {
            name,
            holder: LeaseHolder { verb: verb.to_owned(), ..LeaseHolder::default() },
            has_ended: Arc::new(|_| false),
            when_held: HeldLeasePolicy::Wait,
            wall_clock: SystemTime::now,
        }
    }

    /// Acquires the lease of a command.
    async fn run(&self, verb: &str) -> Lease {
        Lease::acquire(&self.server, &Self::request(commands(), verb)).await.unwrap()
    }

    async fn acquire(&self, shard: &str) -> Lease {
        let shard: Shard = shard.parse().unwrap();
        let request = Self::request(shard.lease_name("kube-system"), &shard.to_string());
        let waiting = |event: &ControllerEvent| {
            let ControllerEvent::Waiting { holder } = event else { panic!("{event:?}") };
            self.waiting.lock().unwrap().push(holder.clone());
        };
        acquire_shard(&self.server, &request, shard, &commands(), waiting).await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn shards_of_one_division_work_together() {
    let lab = Lab::start().await;
    let _first = lab.acquire("0/2").await;
    let _second = lab.acquire("1/2").await;
    assert!(lab.waiting.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn another_division_waits_until_the_first_has_ended() {
    let lab = Lab::start().await;
    let first = lab.acquire("0/2").await;
    let minute = Duration::from_mins(1);
    assert!(timeout(minute, lab.acquire("2/3")).await.is_err());
    assert!(timeout(minute, lab.acquire("0/1")).await.is_err());
    assert_eq!(lab.waiting.lock().unwrap().len(), 2);
    first.release().await;
    let _next = timeout(minute, lab.acquire("2/3")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_sleeps_is_ended_by_another_division() {
    let lab = Lab::start().await;
    let sleeping = lab.acquire("0/2").await;
    lab.fixture.advance(apply::lease::LEASE_DURATION + Duration::from_secs(2));
    let _next = lab.acquire("2/3").await;
    sleep(Duration::from_secs(20)).await;
    assert!(sleeping.loss_error().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_controller_waits_for_a_command_that_writes_components() {
    let lab = Lab::start().await;
    let minute = Duration::from_mins(1);
    let upgrade = lab.run("upgrade apply").await;
    timeout(minute, lab.acquire("0/1")).await.unwrap().release().await;
    upgrade.release().await;
    let command = lab.run("component apply").await;
    assert!(timeout(minute, lab.acquire("0/1")).await.is_err());
    assert_eq!(lab.waiting.lock().unwrap().len(), 1);
    command.release().await;
    let _controller = timeout(minute, lab.acquire("0/1")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_command_that_sleeps_is_ended_by_a_controller() {
    let lab = Lab::start().await;
    let sleeping = lab.run("component delete").await;
    lab.fixture.advance(apply::lease::LEASE_DURATION + Duration::from_secs(2));
    let _controller = lab.acquire("0/1").await;
    sleep(Duration::from_secs(20)).await;
    assert!(sleeping.loss_error().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_command_finds_controllers_of_all_namespaces() {
    let lab = Lab::start().await;
    assert_eq!(working_controller(&lab.server).await.unwrap(), None);
    let controller = lab.acquire("1/2").await;
    let holder = working_controller(&lab.server).await.unwrap().unwrap();
    assert_eq!(holder.verb, "1/2");
    controller.release().await;
    assert_eq!(working_controller(&lab.server).await.unwrap(), None);
    let sleeping = lab.acquire("0/1").await;
    lab.fixture.advance(apply::lease::LEASE_DURATION + Duration::from_secs(2));
    assert_eq!(working_controller(&lab.server).await.unwrap(), None);
    sleep(Duration::from_secs(20)).await;
    assert!(sleeping.loss_error().is_some());
}

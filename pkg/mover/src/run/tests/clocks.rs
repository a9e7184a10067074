//! Clocks that jump during a move.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime},
};

use api::output::MovePhase;
use apply::LeaseRequest;
use support::scripted_connection::PausePoint;

use super::{
    phases::{InterruptionPoint, before_and_after},
    second_run::under_leases_of,
};
use crate::testing::{
    Lab, lease_request,
    move_world::{World, state},
};

const HOUR: Duration = Duration::from_hours(1);

/// Error of the clock of this machine, in seconds.
static OFFSET: AtomicI64 = AtomicI64::new(0);

fn wall_clock() -> SystemTime {
    let offset = OFFSET.load(Ordering::SeqCst);
    let by = Duration::from_secs(offset.unsigned_abs());
    if offset < 0 { SystemTime::now() - by } else { SystemTime::now() + by }
}

fn set_offset(seconds: i64) {
    OFFSET.store(seconds, Ordering::SeqCst);
}

type Jump = (&'static str, fn(&Lab));

const JUMPS: [Jump; 6] = [
    ("the source is an hour ahead", |lab| lab.source.advance(HOUR)),
    ("the source is an hour behind", |lab| lab.source.set_back(HOUR)),
    ("the target is an hour ahead", |lab| lab.target.advance(HOUR)),
    ("the target is an hour behind", |lab| lab.target.set_back(HOUR)),
    ("this machine is an hour ahead", |_| set_offset(3600)),
    ("this machine is an hour behind", |_| set_offset(-3600)),
];

#[tokio::test(start_paused = true)]
async fn a_clock_jump_of_an_hour_does_not_affect_a_move() {
    let world = Box::pin(World::build()).await;
    let [_, moved] = before_and_after(&world).await;
    for (phase, write) in [(MovePhase::Creating, 20), (MovePhase::Deleting, 12)] {
        for (jump, make) in JUMPS {
            let point = InterruptionPoint::new(phase, write);
            let when = format!("{jump} since {point:?}");
            let started = world.start().await;
            set_offset(0);
            let (moment, at) = (PausePoint::default(), point.clone());
            let lines = started.lab.waiting_at(&moment, move |request| at.is_reached(request));
            let request = LeaseRequest { wall_clock, ..lease_request("1") };
            let run = under_leases_of(&lines, &request, async |source, target| {
                point.run(source, target, "1").await
            });
            let result = moment.run_with_change(Box::pin(run), async { make(&started.lab) }).await;
            result.unwrap_or_else(|error| panic!("{when}: {error:?}"));
            let found = state(&started.lab).await;
            found.check(&when);
            found.assert_same(&moved, &when);
        }
    }
}

//! A move that is killed, and the same command again.

use std::{io::Read as _, process::Stdio};

use super::{
    line::Meter,
    pair::{Pair, STATUSES, Way},
};
use crate::say;

/// Evenly over all that a move sends.
const POINTS: u64 = 50;

/// Starts a move and kills it instead of sending the last of so many bytes; whether it came so far.
fn kill_at(pair: &Pair, way: Way<'_>, meter: &Meter, bytes: u64) -> bool {
    meter.restart();
    let mut command = pair.command(way, &STATUSES);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = child.stderr.take().unwrap();
    meter.kill_at(bytes, child);
    // Its end is the end of what it tells.
    told.read_to_end(&mut Vec::new()).unwrap();
    meter.wait()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_killed_at_fifty_points_leaves_what_a_clean_one_leaves() {
    let Some(pair) = Pair::start().await else { return say("skipped: there is no API server") };
    let before = pair.fill().await;
    let (come, left) = (before.moving(), before.staying());
    let meter = Meter::default();
    let line = |name: &str, side: &super::pair::Side| {
        let address = meter.open(side.readdressed("").0);
        pair.write(name, &side.readdressed(&address).1)
    };
    let (here, there) = (line("here.yaml", &pair.here), line("there.yaml", &pair.there));
    let ways = [Way { from: &here, to: &there }, Way { from: &there, to: &here }];
    let sides = [&pair.here, &pair.there];
    let none = left.moving();

    // The way there and the way back in turns.
    for way in ways {
        meter.restart();
        pair.capstan(way, &STATUSES);
    }
    let all = meter.bytes();
    let mut killed = 0;
    for point in 1..=POINTS {
        let turn = usize::from(point % 2 == 0);
        killed += u64::from(kill_at(&pair, ways[turn], &meter, all * point / (POINTS + 1)));
        meter.restart();
        pair.capstan(ways[turn], &STATUSES);
        let when = format!("killed at point {point}");
        let (source, target) = (sides[turn].picture().await, sides[1 - turn].picture().await);
        source.check(&when);
        target.check(&when);
        source.assert_same(if turn == 0 { &left } else { &none }, &when);
        let expected = if turn == 0 { &come } else { &before };
        expected.assert_same(&target, &when);
    }
    assert!(killed > POINTS - 5, "only {killed} were killed");
}

//! A move that is killed, and the same command again.

use std::{io::Read as _, process::Stdio};

use super::{pair::Pair, turns::Turns};
use crate::say;

/// Evenly over all that a move sends.
const POINTS: u64 = 50;

/// Starts a move and kills it instead of sending the last of so many bytes; whether it came so far.
fn kill_at(turns: &Turns, turn: u64, bytes: u64) -> bool {
    turns.meter.restart();
    let mut command = turns.command(turn);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = child.stderr.take().unwrap();
    turns.meter.kill_at(bytes, child);
    // Its end is the end of what it tells.
    told.read_to_end(&mut Vec::new()).unwrap();
    turns.meter.wait()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_killed_at_fifty_points_leaves_what_a_clean_one_leaves() {
    let Some(pair) = Pair::start().await else { return say("skipped: there is no API server") };
    let turns = Turns::start(pair).await;
    let mut killed = 0;
    for turn in 0..POINTS {
        let point = turn + 1;
        killed += u64::from(kill_at(&turns, turn, turns.bytes * point / (POINTS + 1)));
        turns.meter.restart();
        turns.complete(turn, &[]);
        turns.check(turn, &format!("killed at point {point}")).await;
    }
    assert!(killed > POINTS - 5, "only {killed} were killed");
}

//! A move that is killed, and the same command again.

use std::{io::Read as _, process::Stdio};

use super::{pair::Pair, turns::Turns};

/// Evenly over all that a move sends. `pkg/management` kills a move at every request, on sandboxes.
const POINTS: u64 = 10;

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
async fn move_killed_at_ten_points_leaves_what_a_clean_one_leaves() {
    let Some(pair) = Pair::start().await else { return };
    let turns = Turns::start(pair).await;
    let mut killed = 0;
    for turn in 0..POINTS {
        let point = turn + 1;
        killed += u64::from(kill_at(&turns, turn, turns.bytes * point / (POINTS + 1)));
        turns.meter.restart();
        turns.complete(turn, &[]);
        turns.check(turn, &format!("killed at point {point}")).await;
    }
    assert!(killed * 10 > POINTS * 9, "only {killed} were killed");
}

//! A move is killed, and the same command is repeated.

use std::{io::Read as _, process::Stdio};

use super::{pair::Pair, turns::Turns};

/// The number of kill points, evenly spaced over the bytes that a move sends. Tests in `pkg/management` kill a move at
/// every request on sandboxes.
const POINTS: u64 = 10;

/// Starts a move and kills it before it sends the last of this many bytes. True if the move was killed.
fn kill_at(turns: &Turns, turn: u64, bytes: u64) -> bool {
    turns.meter.restart();
    let mut command = turns.command(turn);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reported = child.stderr.take().unwrap();
    turns.meter.kill_at(bytes, child);
    // The end of the output is the end of the process.
    reported.read_to_end(&mut Vec::new()).unwrap();
    turns.meter.wait()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_killed_at_ten_points_ends_like_an_uninterrupted_one() {
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

//! Clusters moved back and forth through connections on which the program can be killed or stopped.

use std::{path::PathBuf, process::Command};

use super::{
    pair::{Pair, STATUSES, Side, Way},
    picture::Picture,
};
use crate::line::Meter;

/// Both servers, and the Clusters on the first server before the first turn.
pub(super) struct Turns {
    pub(super) pair: Pair,
    pub(super) meter: Meter,
    /// The number of bytes that one move sends.
    pub(super) bytes: u64,
    /// Kubeconfigs that use the meter.
    lines: [PathBuf; 2],
    before: Picture,
}

impl Turns {
    /// Fills the first server, and moves everything to the second server and back without interruption.
    pub(super) async fn start(pair: Pair) -> Self {
        let before = pair.fill().await;
        let meter = Meter::default();
        let line = |name: &str, side: &Side| pair.world().write(name, side.server.through(&meter));
        let lines = [line("here.yaml", &pair.here), line("there.yaml", &pair.there)];
        let mut turns = Self { pair, meter, bytes: 0, lines, before };
        for turn in 0..2 {
            turns.meter.restart();
            turns.complete(turn, &[]);
        }
        turns.bytes = turns.meter.bytes();
        turns
    }

    /// The source and target of a turn.
    pub(super) fn sides(&self, turn: u64) -> [&Side; 2] {
        if goes_there(turn) {
            [&self.pair.here, &self.pair.there]
        } else {
            [&self.pair.there, &self.pair.here]
        }
    }

    /// Creates the move command of a turn without running it.
    pub(super) fn command(&self, turn: u64) -> Command {
        self.pair.command(self.way(turn), &STATUSES)
    }

    /// Moves all remaining objects of a turn.
    pub(super) fn complete(&self, turn: u64, flags: &[&str]) {
        self.pair.capstan(self.way(turn), &[&STATUSES[..], flags].concat());
    }

    /// Checks that a turn has the same result as a turn without interruption.
    pub(super) async fn check(&self, turn: u64, when: &str) {
        let [from, to] = self.sides(turn);
        let (source, target) = (from.picture().await, to.picture().await);
        source.check(when);
        target.check(when);
        let (moving, left) = (self.before.moving(), self.before.staying());
        let (stays, comes) =
            if goes_there(turn) { (left, moving) } else { (left.moving(), self.before.clone()) };
        source.assert_same(&stays, when);
        comes.assert_same(&target, when);
    }

    fn way(&self, turn: u64) -> Way<'_> {
        let [here, there] = &self.lines;
        if goes_there(turn) { Way { from: here, to: there } } else { Way { from: there, to: here } }
    }
}

/// True if a turn moves to the second server, which is every other turn.
fn goes_there(turn: u64) -> bool {
    turn.is_multiple_of(2)
}

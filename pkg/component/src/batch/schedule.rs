//! The order in which steps start: each one after those that it needs, else in their given order. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// The steps that wait and that may start.
pub(super) struct Schedule {
    /// The number of incomplete steps that each step needs.
    open: Vec<usize>,
    /// The steps that need a step.
    needed_by: BTreeMap<usize, Vec<usize>>,
    /// The steps that may start.
    startable: BTreeSet<usize>,
}

impl Schedule {
    /// Takes the steps that each step needs.
    pub(super) fn new(needs: &[BTreeSet<usize>]) -> Self {
        let mut needed_by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, needs) in needs.iter().enumerate() {
            for need in needs {
                needed_by.entry(*need).or_default().push(at);
            }
        }
        let open: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
        let startable = (0..open.len()).filter(|at| open[*at] == 0).collect();
        Self { open, needed_by, startable }
    }

    /// Returns the first step that may start. Each step is returned once.
    pub(super) fn start(&mut self) -> Option<usize> {
        self.startable.pop_first()
    }

    /// Completes a step.
    pub(super) fn complete(&mut self, at: usize) {
        for waiting in self.needed_by.remove(&at).unwrap_or_default() {
            self.open[waiting] -= 1;
            if self.open[waiting] == 0 {
                self.startable.insert(waiting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_start_in_order_once_their_needs_are_complete() {
        let needs = [vec![2], vec![], vec![], vec![0, 1]];
        let mut schedule = Schedule::new(&needs.map(|needs| needs.into_iter().collect()));
        assert_eq!((schedule.start(), schedule.start(), schedule.start()), (Some(1), Some(2), None));
        schedule.complete(2);
        assert_eq!((schedule.start(), schedule.start()), (Some(0), None));
        schedule.complete(0);
        assert_eq!(schedule.start(), None);
        schedule.complete(1);
        assert_eq!((schedule.start(), schedule.start()), (Some(3), None));
    }
}

use std::time::Duration;

/// The resources used by one run, or the medians of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) wall: Duration,
    /// The sum of user and system time.
    pub(super) cpu: Duration,
    /// The peak, in KiB.
    pub(super) memory: u64,
    /// The number of requests to API servers. `None` if there is no server.
    pub(super) requests: Option<usize>,
}

impl Figures {
    /// The median of each figure separately.
    pub(super) fn median(of: &[Self]) -> Self {
        Self {
            wall: median(of.iter().map(|figures| figures.wall)),
            cpu: median(of.iter().map(|figures| figures.cpu)),
            memory: median(of.iter().map(|figures| figures.memory)),
            requests: median(of.iter().map(|figures| figures.requests)),
        }
    }
}

pub(super) fn median<T: Ord + Copy + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_not_moved_by_one_slow_run() {
        assert_eq!(median([3, 1, 900].into_iter()), 3);
        assert_eq!(median(std::iter::empty::<u64>()), 0);
    }

    #[test]
    fn each_figure_has_a_median_of_its_own() {
        let run = |millis, memory| Figures {
            wall: Duration::from_millis(millis),
            memory,
            requests: Some(9),
            ..Figures::default()
        };
        let median = Figures::median(&[run(1, 30), run(2, 10), run(3, 20)]);
        assert_eq!(median, run(2, 20));
    }
}

use std::time::Duration;

use super::{
    figures::Measurement,
    table::{BenchRow, duration_text, mib_text},
};

/// The goal for a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum BenchTarget {
    /// At most one in so many of the peer's processor time.
    CpuShare(u32),
    /// At most one in so many of the peer's time.
    TimeShare(u32),
    /// A peak of at most one in so many of the peer's.
    MemoryShare(u32),
    /// A peak of at most the peer's.
    NoMoreMemory,
    /// At most so many milliseconds of processor time.
    CpuMillis(u64),
    /// At most so many milliseconds.
    Millis(u64),
    /// A peak of so many MiB.
    Memory(u64),
    Requests(usize),
    /// At most so many times the processor time of the baseline.
    TimesBaseline(u32),
    /// At most twice the processor time of the baseline, within a fifth.
    DoubleBaseline,
    /// At most so many milliseconds longer than the baseline.
    BeyondBaseline(u64),
    /// At most 4 MiB more memory than the baseline.
    FlatMemory,
    /// At most a tenth more time and memory than the baseline.
    AsBaseline,
    /// At most a fifth more time and requests for each object than the baseline.
    EachAsBaseline {
        objects: usize,
        of_baseline: usize,
    },
}

impl BenchTarget {
    /// The target and its verdict, in words.
    pub(super) fn evaluate(self, row: &BenchRow) -> String {
        let (target, verdict) = self.verdict(row);
        match verdict {
            None => format!("{target}: nothing to compare with"),
            Some((is_met, found)) => {
                format!("{target}: {} ({found})", if is_met { "met" } else { "not met" })
            }
        }
    }

    /// The target, then true if it is met, with the figures that decide; none if there is nothing to compare with.
    fn verdict(self, row: &BenchRow) -> (String, Option<(bool, String)>) {
        let ours = &row.capstan;
        let share = |of: u32, value: fn(&Measurement) -> Duration| {
            let times = ratio(value(row.reference.as_ref()?), value(ours));
            Some((times >= f64::from(of), format!("1/{times:.1}")))
        };
        let requests = ours.requests.unwrap_or_default();
        match self {
            Self::CpuShare(of) => (format!("1/{of} of the processor time"), share(of, |run| run.cpu)),
            Self::TimeShare(of) => (format!("1/{of} of the time"), share(of, |run| run.wall)),
            Self::MemoryShare(of) => {
                (format!("1/{of} of the memory"), share(of, |run| Duration::from_micros(run.memory)))
            }
            Self::NoMoreMemory => {
                let verdict =
                    row.reference.map(|theirs| (ours.memory <= theirs.memory, mib_text(ours.memory)));
                ("no more memory".to_owned(), verdict)
            }
            Self::CpuMillis(most) => {
                let most = Duration::from_millis(most);
                (
                    format!("{} of processor time", duration_text(most)),
                    Some((ours.cpu <= most, duration_text(ours.cpu))),
                )
            }
            Self::Millis(most) => {
                let most = Duration::from_millis(most);
                (duration_text(most), Some((ours.wall <= most, duration_text(ours.wall))))
            }
            Self::Memory(most) => {
                (format!("{most} MiB"), Some((ours.memory <= most * 1024, mib_text(ours.memory))))
            }
            Self::Requests(most) => {
                (format!("{most} requests"), Some((requests <= most, requests.to_string())))
            }
            _ => (self.baseline_text(), row.baseline.map(|baseline| self.compare(ours, &baseline))),
        }
    }

    fn baseline_text(self) -> String {
        match self {
            Self::TimesBaseline(most) => format!("{most} times the processor time of the smaller work"),
            Self::DoubleBaseline => "twice the processor time of the smaller work, within a fifth".to_owned(),
            Self::BeyondBaseline(most) => {
                format!("{} beyond that", duration_text(Duration::from_millis(most)))
            }
            Self::FlatMemory => "as with small files, within 4 MiB".to_owned(),
            Self::EachAsBaseline { .. } => "per object as with fewer objects, within a fifth".to_owned(),
            _ => "as without unrelated objects, within a tenth".to_owned(),
        }
    }

    fn compare(self, ours: &Measurement, baseline: &Measurement) -> (bool, String) {
        match self {
            Self::TimesBaseline(most) => {
                let times = ratio(ours.cpu, baseline.cpu);
                (times <= f64::from(most), format!("{times:.1}"))
            }
            Self::DoubleBaseline => {
                let times = ratio(ours.cpu, baseline.cpu);
                (times <= 2.4, format!("{times:.1}"))
            }
            Self::BeyondBaseline(most) => {
                let is_met = ours.wall <= baseline.wall + Duration::from_millis(most);
                (is_met, format!("{} there", duration_text(baseline.wall)))
            }
            Self::FlatMemory => {
                (ours.memory <= baseline.memory + 4 * 1024, format!("{} there", mib_text(baseline.memory)))
            }
            Self::EachAsBaseline { objects, of_baseline } => {
                let requests = |run: &Measurement| seconds(run.requests.unwrap_or_default());
                let growth = ratio(seconds(objects), seconds(of_baseline));
                let time = ratio(ours.wall, baseline.wall) / growth;
                let requests = ratio(requests(ours), requests(baseline)) / growth;
                let found = format!("{time:.2} of the time, {requests:.2} of the requests");
                (time <= 1.2 && requests <= 1.2, found)
            }
            _ => {
                let is_met = ours.wall * 10 <= baseline.wall * 11 && ours.memory * 10 <= baseline.memory * 11;
                (is_met, format!("{}, {} there", duration_text(baseline.wall), mib_text(baseline.memory)))
            }
        }
    }
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64().max(1e-6)
}

/// A count in a form that [`ratio`] takes.
fn seconds(count: usize) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(millis: u64, mib: u64, requests: usize) -> Measurement {
        let time = Duration::from_millis(millis);
        Measurement { wall: time, cpu: time, memory: mib * 1024, requests: Some(requests) }
    }

    #[test]
    fn each_target_is_reported_in_words() {
        let row = BenchRow {
            reference: Some(figures(399, 80, 562)),
            baseline: Some(figures(90, 20, 180)),
            ..BenchRow::new("", figures(100, 20, 180), Vec::new())
        };
        let cases = [
            (BenchTarget::CpuShare(3), "1/3 of the processor time: met (1/4.0)"),
            (BenchTarget::TimeShare(4), "1/4 of the time: not met (1/4.0)"),
            (BenchTarget::MemoryShare(4), "1/4 of the memory: met (1/4.0)"),
            (BenchTarget::CpuMillis(100), "100.0 ms of processor time: met (100.0 ms)"),
            (BenchTarget::CpuMillis(99), "99.0 ms of processor time: not met (100.0 ms)"),
            (BenchTarget::TimesBaseline(2), "2 times the processor time of the smaller work: met (1.1)"),
            (BenchTarget::TimesBaseline(1), "1 times the processor time of the smaller work: not met (1.1)"),
            (BenchTarget::Memory(20), "20 MiB: met (20.0 MiB)"),
            (BenchTarget::Memory(19), "19 MiB: not met (20.0 MiB)"),
            (BenchTarget::Requests(180), "180 requests: met (180)"),
            (BenchTarget::Requests(179), "179 requests: not met (180)"),
            (
                BenchTarget::AsBaseline,
                "as without unrelated objects, within a tenth: not met (90.0 ms, 20.0 MiB there)",
            ),
            (BenchTarget::NoMoreMemory, "no more memory: met (20.0 MiB)"),
            (BenchTarget::Millis(99), "99.0 ms: not met (100.0 ms)"),
            (BenchTarget::BeyondBaseline(10), "10.0 ms beyond that: met (90.0 ms there)"),
            (BenchTarget::FlatMemory, "as with small files, within 4 MiB: met (20.0 MiB there)"),
            (
                BenchTarget::EachAsBaseline { objects: 20, of_baseline: 10 },
                "per object as with fewer objects, within a fifth: met (0.56 of the time, 0.50 of the requests)",
            ),
            (
                BenchTarget::EachAsBaseline { objects: 1, of_baseline: 1 },
                "per object as with fewer objects, within a fifth: met (1.11 of the time, 1.00 of the requests)",
            ),
        ];
        for (target, expected) in cases {
            assert_eq!(target.evaluate(&row), expected, "{target:?}");
        }
        let baseline = BenchRow { capstan: figures(90, 20, 180), ..row };
        assert!(BenchTarget::AsBaseline.evaluate(&baseline).contains(": met"));
    }

    #[test]
    fn a_ratio_to_zero_is_not_reported() {
        let row = BenchRow::new("", figures(1, 1, 1), Vec::new());
        let each = BenchTarget::EachAsBaseline { objects: 2, of_baseline: 1 };
        let compared = [
            BenchTarget::CpuShare(3),
            BenchTarget::TimeShare(4),
            BenchTarget::AsBaseline,
            BenchTarget::NoMoreMemory,
            each,
        ];
        for target in compared {
            assert!(target.evaluate(&row).ends_with("nothing to compare with"));
        }
    }
}

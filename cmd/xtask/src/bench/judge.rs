use std::time::Duration;

use super::{
    figures::Figures,
    table::{mib, span},
};

/// A performance target of the design.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// The maximum processor time, as 1/n of that of clusterctl.
    CpuShare(u32),
    /// The maximum wall time, as 1/n of that of clusterctl.
    TimeShare(u32),
    /// The maximum peak memory, as 1/n of that of clusterctl.
    MemoryShare(u32),
    /// The maximum processor time.
    Within {
        millis: u64,
    },
    /// The maximum processor time, as a multiple of that of the smaller workload.
    TimesAlone(u32),
    /// The maximum peak memory, in MiB.
    Memory(u64),
    Requests(usize),
    /// The maximum wall time.
    Time(Duration),
    /// The maximum wall time in addition to that of the plain workload.
    Beyond(Duration),
    /// At most 4 MiB more memory than with small files.
    FlatMemory,
    /// At most 10 % more time and memory than without unrelated objects.
    AsAlone,
    /// At most the peak memory of clusterctl.
    NoMoreMemory,
    /// At most 20 % more time and requests per object than with fewer objects.
    EachAsAlone {
        objects: usize,
        alone: usize,
    },
}

/// The figures that a target is compared with.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) theirs: Option<&'a Figures>,
    pub(super) alone: Option<&'a Figures>,
}

impl Target {
    /// Describes the target and the result.
    pub(super) fn judge(self, ours: &Figures, against: Against<'_>) -> String {
        match self {
            Self::CpuShare(of) => share("processor time", of, ours, against.theirs, |figures| figures.cpu),
            Self::TimeShare(of) => share("time", of, ours, against.theirs, |figures| figures.wall),
            Self::Memory(most) => {
                format!("{most} MiB: {}", verdict(ours.memory <= most * 1024, &mib(ours.memory)))
            }
            Self::MemoryShare(of) => {
                share("memory", of, ours, against.theirs, |figures| Duration::from_micros(figures.memory))
            }
            Self::Within { millis } => {
                let most = Duration::from_millis(millis);
                let target = format!("{} of processor time", span(most));
                format!("{target}: {}", verdict(ours.cpu <= most, &span(ours.cpu)))
            }
            Self::TimesAlone(most) => times_alone(ours, against.alone, most),
            Self::Requests(most) => {
                let asked = ours.requests.unwrap_or_default();
                format!("{most} requests: {}", verdict(asked <= most, &asked.to_string()))
            }
            Self::Time(most) => format!("{}: {}", span(most), verdict(ours.wall <= most, &span(ours.wall))),
            Self::Beyond(most) => beyond(ours, against.alone, most),
            Self::FlatMemory => flat_memory(ours, against.alone),
            Self::AsAlone => as_alone(ours, against.alone),
            Self::NoMoreMemory => match against.theirs {
                None => "no more memory: nothing to compare with".to_owned(),
                Some(theirs) => {
                    format!("no more memory: {}", verdict(ours.memory <= theirs.memory, &mib(ours.memory)))
                }
            },
            Self::EachAsAlone { objects, alone } => each_as_alone(ours, against.alone, objects, alone),
        }
    }
}

fn share(
    what: &str,
    of: u32,
    ours: &Figures,
    theirs: Option<&Figures>,
    measure: impl Fn(&Figures) -> Duration,
) -> String {
    let target = format!("1/{of} of the {what}");
    let Some(theirs) = theirs else { return format!("{target}: nothing to compare with") };
    let times = measure(theirs).as_secs_f64() / measure(ours).as_secs_f64().max(1e-6);
    format!("{target}: {}", verdict(times >= f64::from(of), &format!("1/{times:.1}")))
}

fn times_alone(ours: &Figures, alone: Option<&Figures>, most: u32) -> String {
    let target = format!("{most} times the processor time of the smaller work");
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let times = ours.cpu.as_secs_f64() / alone.cpu.as_secs_f64().max(1e-6);
    format!("{target}: {}", verdict(times <= f64::from(most), &format!("{times:.1}")))
}

fn beyond(ours: &Figures, alone: Option<&Figures>, most: Duration) -> String {
    let target = format!("{} beyond that", span(most));
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let is_met = ours.wall <= alone.wall + most;
    format!("{target}: {}", verdict(is_met, &format!("{} there", span(alone.wall))))
}

fn flat_memory(ours: &Figures, alone: Option<&Figures>) -> String {
    let target = "as with small files, within 4 MiB";
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let is_met = ours.memory <= alone.memory + 4 * 1024;
    format!("{target}: {}", verdict(is_met, &format!("{} there", mib(alone.memory))))
}

fn as_alone(ours: &Figures, alone: Option<&Figures>) -> String {
    let target = "as without them, within a tenth";
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let is_met = ours.wall * 10 <= alone.wall * 11 && ours.memory * 10 <= alone.memory * 11;
    format!("{target}: {}", verdict(is_met, &format!("{}, {} there", span(alone.wall), mib(alone.memory))))
}

fn each_as_alone(ours: &Figures, alone: Option<&Figures>, objects: usize, of_alone: usize) -> String {
    let target = "each object as where fewer are, within a fifth";
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let growth = |now: f64, then: f64| {
        let scale = |count: usize| u32::try_from(count.max(1)).map_or(f64::MAX, f64::from);
        now / scale(objects) / (then / scale(of_alone)).max(1e-9)
    };
    let asked =
        |figures: &Figures| u32::try_from(figures.requests.unwrap_or_default()).map_or(f64::MAX, f64::from);
    let time = growth(ours.wall.as_secs_f64(), alone.wall.as_secs_f64());
    let requests = growth(asked(ours), asked(alone));
    let is_met = time <= 1.2 && requests <= 1.2;
    format!("{target}: {}", verdict(is_met, &format!("{time:.2} of the time, {requests:.2} of the requests")))
}

fn verdict(is_met: bool, found: &str) -> String {
    format!("{} ({found})", if is_met { "met" } else { "not met" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(millis: u64, mib: u64, requests: usize) -> Figures {
        let time = Duration::from_millis(millis);
        Figures { wall: time, cpu: time, memory: mib * 1024, requests: Some(requests) }
    }

    #[test]
    fn each_target_is_judged_in_words() {
        let (ours, theirs, alone) = (figures(100, 20, 180), figures(399, 80, 562), figures(90, 20, 180));
        let against = Against { theirs: Some(&theirs), alone: Some(&alone) };
        let cases = [
            (Target::CpuShare(3), "1/3 of the processor time: met (1/4.0)"),
            (Target::TimeShare(4), "1/4 of the time: not met (1/4.0)"),
            (Target::MemoryShare(4), "1/4 of the memory: met (1/4.0)"),
            (Target::Within { millis: 100 }, "100.0 ms of processor time: met (100.0 ms)"),
            (Target::Within { millis: 99 }, "99.0 ms of processor time: not met (100.0 ms)"),
            (Target::TimesAlone(2), "2 times the processor time of the smaller work: met (1.1)"),
            (Target::TimesAlone(1), "1 times the processor time of the smaller work: not met (1.1)"),
            (Target::Memory(20), "20 MiB: met (20.0 MiB)"),
            (Target::Memory(19), "19 MiB: not met (20.0 MiB)"),
            (Target::Requests(180), "180 requests: met (180)"),
            (Target::Requests(179), "179 requests: not met (180)"),
            (Target::AsAlone, "as without them, within a tenth: not met (90.0 ms, 20.0 MiB there)"),
            (Target::NoMoreMemory, "no more memory: met (20.0 MiB)"),
            (Target::Time(Duration::from_millis(99)), "99.0 ms: not met (100.0 ms)"),
            (Target::Beyond(Duration::from_millis(10)), "10.0 ms beyond that: met (90.0 ms there)"),
            (Target::FlatMemory, "as with small files, within 4 MiB: met (20.0 MiB there)"),
            (
                Target::EachAsAlone { objects: 20, alone: 10 },
                "each object as where fewer are, within a fifth: met (0.56 of the time, 0.50 of the requests)",
            ),
            (
                Target::EachAsAlone { objects: 1, alone: 1 },
                "each object as where fewer are, within a fifth: met (1.11 of the time, 1.00 of the requests)",
            ),
        ];
        for (target, expected) in cases {
            assert_eq!(target.judge(&ours, against), expected, "{target:?}");
        }
        assert!(Target::AsAlone.judge(&alone, against).contains(": met"));
    }

    #[test]
    fn a_share_of_nothing_is_not_judged() {
        let nothing = Against { theirs: None, alone: None };
        let each = Target::EachAsAlone { objects: 2, alone: 1 };
        let compared =
            [Target::CpuShare(3), Target::TimeShare(4), Target::AsAlone, Target::NoMoreMemory, each];
        for target in compared {
            assert!(target.judge(&figures(1, 1, 1), nothing).ends_with("nothing to compare with"));
        }
    }
}

use std::time::Duration;

use super::{
    figures::Figures,
    table::{mib, span},
};

/// What the design promises of a work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// At most one in so many of the peer's processor time.
    CpuShare(u32),
    /// At most one in so many of the peer's time.
    TimeShare(u32),
    /// A peak of so many MiB.
    Memory(u64),
    Requests(usize),
    /// At most a tenth more time and memory than where nothing unrelated is.
    AsAlone,
}

/// What a target is held against.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) theirs: Option<&'a Figures>,
    pub(super) alone: Option<&'a Figures>,
}

impl Target {
    /// The target and whether it is met, in words.
    pub(super) fn judge(self, ours: &Figures, against: Against<'_>) -> String {
        match self {
            Self::CpuShare(of) => share("processor time", of, ours, against.theirs, |figures| figures.cpu),
            Self::TimeShare(of) => share("time", of, ours, against.theirs, |figures| figures.wall),
            Self::Memory(most) => {
                format!("{most} MiB: {}", verdict(ours.memory <= most * 1024, &mib(ours.memory)))
            }
            Self::Requests(most) => {
                let asked = ours.requests.unwrap_or_default();
                format!("{most} requests: {}", verdict(asked <= most, &asked.to_string()))
            }
            Self::AsAlone => as_alone(ours, against.alone),
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

fn as_alone(ours: &Figures, alone: Option<&Figures>) -> String {
    let target = "as without them, within a tenth";
    let Some(alone) = alone else { return format!("{target}: nothing to compare with") };
    let is_met = ours.wall * 10 <= alone.wall * 11 && ours.memory * 10 <= alone.memory * 11;
    format!("{target}: {}", verdict(is_met, &format!("{}, {} there", span(alone.wall), mib(alone.memory))))
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
            (Target::Memory(20), "20 MiB: met (20.0 MiB)"),
            (Target::Memory(19), "19 MiB: not met (20.0 MiB)"),
            (Target::Requests(180), "180 requests: met (180)"),
            (Target::Requests(179), "179 requests: not met (180)"),
            (Target::AsAlone, "as without them, within a tenth: not met (90.0 ms, 20.0 MiB there)"),
        ];
        for (target, expected) in cases {
            assert_eq!(target.judge(&ours, against), expected, "{target:?}");
        }
        assert!(Target::AsAlone.judge(&alone, against).contains(": met"));
    }

    #[test]
    fn a_share_of_nothing_is_not_judged() {
        let nothing = Against { theirs: None, alone: None };
        for target in [Target::CpuShare(3), Target::TimeShare(4), Target::AsAlone] {
            assert!(target.judge(&figures(1, 1, 1), nothing).ends_with("nothing to compare with"));
        }
    }
}

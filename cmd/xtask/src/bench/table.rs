use std::{fmt::Write as _, time::Duration};

use super::{Case, sample::Sample};

/// One line of the result.
pub(super) struct Row<'a> {
    pub(super) case: &'a Case,
    pub(super) ours: Sample,
    pub(super) theirs: Option<Sample>,
}

/// Both programs side by side, with the share of the peer's processor time and the target.
pub(super) fn render(rows: &[Row<'_>]) -> String {
    let mut text = format!(
        "\n{:<32} {:>22} {:>22} {:>8} {:>22}   target\n",
        "", "wall: ours, theirs", "cpu: ours, theirs", "share", "memory: ours, theirs"
    );
    for row in rows {
        let pair = |of: &dyn Fn(&Sample) -> String| {
            let theirs = row.theirs.as_ref().map_or("-".to_owned(), of);
            format!("{}, {theirs}", of(&row.ours))
        };
        let share = row.theirs.map_or("-".to_owned(), |theirs| {
            format!("1/{:.1}", theirs.cpu.as_secs_f64() / row.ours.cpu.as_secs_f64().max(1e-6))
        });
        let target = row
            .case
            .target
            .as_ref()
            .map_or("-".to_owned(), |target| format!("1/{}, {} MiB", target.cpu, target.memory));
        let _ = writeln!(
            text,
            "{:<32} {:>22} {:>22} {share:>8} {:>22}   {target}",
            row.case.name,
            pair(&|sample| milliseconds(sample.wall)),
            pair(&|sample| milliseconds(sample.cpu)),
            pair(&|sample| format!("{} MiB", mib(sample.memory))),
        );
    }
    text
}

pub(super) fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1e3)
}

/// KiB as MiB with one digit.
pub(super) fn mib(kib: u64) -> String {
    format!("{}.{}", kib / 1024, kib % 1024 * 10 / 1024)
}

#[cfg(test)]
mod tests {
    use super::{super::Target, *};

    #[test]
    fn both_programs_stand_in_one_line_with_the_share_of_their_processor_time() {
        let case =
            Case { name: "version", arguments: Vec::new(), target: Some(Target { cpu: 5, memory: 8 }) };
        let sample = |millis, memory| Sample {
            wall: Duration::from_millis(millis),
            cpu: Duration::from_millis(millis),
            memory,
        };
        let text = render(&[Row { case: &case, ours: sample(2, 5120), theirs: Some(sample(20, 30 * 1024)) }]);
        let line = text.lines().last().unwrap();
        for part in ["2.0 ms, 20.0 ms", "1/10.0", "5.0 MiB, 30.0 MiB", "1/5, 8 MiB"] {
            assert!(line.contains(part), "{part} is not in {line}");
        }
        assert!(render(&[Row { case: &case, ours: sample(2, 0), theirs: None }]).contains("2.0 ms, -"));
    }
}

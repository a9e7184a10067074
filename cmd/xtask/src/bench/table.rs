use std::{fmt::Write as _, time::Duration};

use super::{figures::Measurement, target::BenchTarget};

/// A row of a table.
pub(super) struct BenchRow {
    pub(super) name: String,
    pub(super) capstan: Measurement,
    pub(super) reference: Option<Measurement>,
    /// The figures of the work that targets compare this one with.
    pub(super) baseline: Option<Measurement>,
    pub(super) targets: Vec<BenchTarget>,
}

/// The figures of both programs and the verdicts of the targets, as Markdown for `docs/performance.md`.
pub(super) fn render(rows: &[BenchRow]) -> String {
    let with_requests = rows.iter().any(|row| row.capstan.requests.is_some());
    let mut head = vec!["Work", "Time", "Processor time", "Peak memory"];
    head.extend(with_requests.then_some("Requests"));
    head.push("Target");
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(with_requests)).collect();
    markdown(&head, &cells)
}

impl BenchRow {
    /// A row of capstan alone.
    pub(super) fn new(name: impl Into<String>, ours: Measurement, targets: Vec<BenchTarget>) -> Self {
        Self { name: name.into(), capstan: ours, reference: None, baseline: None, targets }
    }

    fn cells(&self, with_requests: bool) -> Vec<String> {
        let pair = |of: &dyn Fn(&Measurement) -> String| match &self.reference {
            Some(theirs) => format!("{}, {}", of(&self.capstan), of(theirs)),
            None => of(&self.capstan),
        };
        let mut cells = vec![
            self.name.clone(),
            pair(&|figures| duration_text(figures.wall)),
            pair(&|figures| duration_text(figures.cpu)),
            pair(&|figures| mib_text(figures.memory)),
        ];
        if with_requests {
            cells.push(pair(&|figures| {
                figures.requests.map_or_else(|| "-".to_owned(), |asked| asked.to_string())
            }));
        }
        let judged: Vec<String> = self.targets.iter().map(|target| target.evaluate(self)).collect();
        cells.push(if judged.is_empty() { "none".to_owned() } else { judged.join("; ") });
        cells
    }
}

fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(at, name)| rows.iter().map(|row| row[at].len()).max().unwrap_or_default().max(name.len()))
        .collect();
    let mut text = String::from("\n");
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        for (cell, width) in cells.zip(&widths) {
            let _ = write!(text, "| {cell:width$} ");
        }
        text.push_str("|\n");
    };
    line(&mut head.iter().copied());
    line(&mut widths.iter().map(|_| "---"));
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Formats a duration with about three digits.
pub(super) fn duration_text(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// Formats KiB as MiB with one decimal.
pub(super) fn mib_text(kib: u64) -> String {
    format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(millis: u64, memory: u64) -> Measurement {
        let time = Duration::from_millis(millis);
        Measurement { wall: time, cpu: time, memory, requests: None }
    }

    fn row(theirs: Option<Measurement>) -> BenchRow {
        let targets = vec![BenchTarget::CpuShare(5), BenchTarget::Memory(8)];
        BenchRow { reference: theirs, ..BenchRow::new("version", figures(2, 5120), targets) }
    }

    #[test]
    fn one_line_compares_both_programs_with_the_targets() {
        let text = render(&[row(Some(figures(2_000, 30 * 1024)))]);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
            .collect();
        assert_eq!(lines[0], ["Work", "Time", "Processor time", "Peak memory", "Target"]);
        assert_eq!(lines[1], ["---"; 5]);
        let targets = "1/5 of the processor time: met (1/1000.0); 8 MiB: met (5.0 MiB)";
        assert_eq!(lines[2], ["version", "2.0 ms, 2.00 s", "2.0 ms, 2.00 s", "5.0 MiB, 30.0 MiB", targets]);
    }

    #[test]
    fn requests_are_listed_for_server_cases_only() {
        let mut asked = row(None);
        asked.capstan.requests = Some(161);
        let text = render(&[asked]);
        assert!(text.contains("| Requests |") && text.contains("| 161 "), "{text}");
    }
}

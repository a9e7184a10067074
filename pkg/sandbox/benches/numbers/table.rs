//! The table of all numbers.

use std::{fmt, time::Duration};

use crate::work::Column;

/// Numbers by name and column, in the order in which they came.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    promised: &'static str,
    cells: [Option<String>; Column::ALL.len()],
}

impl Table {
    pub(crate) fn add(&mut self, column: Column, name: &str, promised: &'static str, value: String) {
        let at = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name: name.to_owned(), promised, cells: Default::default() });
            self.rows.len() - 1
        });
        self.rows[at].cells[column as usize] = Some(value);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line =
            |f: &mut fmt::Formatter<'_>, name: &str, cells: [&str; Column::ALL.len()], promised: &str| {
                let [in_process, http1, http2, real] = cells;
                writeln!(f, "{name:<46} {in_process:>15} {http1:>18} {http2:>18} {real:>18}   {promised}")
            };
        writeln!(f)?;
        line(f, "", Column::ALL.map(Column::heading), "promised")?;
        for row in &self.rows {
            let cells = row.cells.each_ref().map(|cell| cell.as_deref().unwrap_or("-"));
            line(f, &row.name, cells, row.promised)?;
        }
        Ok(())
    }
}

/// As many digits as tell something.
pub(crate) fn time(duration: Duration) -> String {
    match duration.as_secs_f64() * 1e3 {
        millis if millis < 10.0 => format!("{millis:.2} ms"),
        millis if millis < 1000.0 => format!("{millis:.0} ms"),
        millis => format!("{:.2} s", millis / 1e3),
    }
}

/// Bytes as MiB.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
pub(crate) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

use std::iter;

use super::{
    clean::clean_line,
    narrow::{Narrow, fit, shorten},
};

/// Lays rows out in columns for people.
/// A cell with line ends cannot forge a row.
/// Shape: every column but the last is at least 10 wide with a gap of 3; the last one is not padded; each row ends in
/// a line end.
/// Source: clusterctl v1.14 `config repositories`.
///
/// In a terminal of some width, a table that is too wide gets narrow gaps, then the ways are taken in their order. Without a
/// width nothing is lost.
pub(crate) fn table<const N: usize>(
    width: Option<usize>,
    ways: &[Narrow],
    head: [&str; N],
    rows: &[[impl AsRef<str>; N]],
) -> String {
    const MINIMUM: usize = 10;
    const GAP: usize = 3;
    const NARROW_GAP: usize = 2;
    let rows = rows.iter().map(|row| row.each_ref().map(AsRef::as_ref));
    let lines: Vec<[String; N]> =
        iter::once(head).chain(rows).map(|row| row.map(|cell| clean_line(cell).into_owned())).collect();
    let cells = widths(&lines);
    let whole = lay_out(&lines, &cells.map(|width| Some(MINIMUM.max(width + GAP))), GAP);
    let Some(room) = width.filter(|width| whole.lines().any(|line| line.chars().count() > *width)) else {
        return whole;
    };
    let widths = cells.map(|width| width + NARROW_GAP);
    // Nothing stands behind the last gap.
    lay_out(&lines, &fit(&head, &widths, NARROW_GAP, room + NARROW_GAP, ways), NARROW_GAP)
}

/// The width of the widest cell of each column.
fn widths<const N: usize>(lines: &[[String; N]]) -> [usize; N] {
    let mut widths = [0; N];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

fn lay_out<const N: usize>(lines: &[[String; N]], widths: &[Option<usize>], gap: usize) -> String {
    let last = widths.iter().rposition(Option::is_some);
    let mut text = String::new();
    for line in lines {
        for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
            let Some(width) = width else { continue };
            let cell = shorten(cell, width.saturating_sub(gap));
            text.push_str(&cell);
            if Some(at) != last {
                text.extend(iter::repeat_n(' ', width - cell.chars().count()));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_has_no_trailing_blanks() {
        let text = table(None, &[], ["NAME", "FILE"], &[["a", "x"], ["a-long-name", "yy"]]);
        assert_eq!(text, "NAME          FILE\na             x\na-long-name   yy\n");
        assert_eq!(table(None, &[], ["A", "B"], &[["", ""]; 0]), "A         B\n");
        assert_eq!(table(None, &[], ["A"], &[["x\ny"]]), "A\nx\\u{a}y\n");
    }

    #[test]
    fn a_narrow_terminal_loses_what_matters_least() {
        let ways = [Narrow::Drop("AGE"), Narrow::Shorten("NAME", 8)];
        let within = |width| {
            table(width, &ways, ["NAME", "AGE", "STATUS"], &[["a-very-long-name", "3d", "not ready"]])
        };
        assert_eq!(
            within(None),
            "NAME               AGE       STATUS\na-very-long-name   3d        not ready\n"
        );
        assert_eq!(within(Some(38)), within(None));
        assert_eq!(within(Some(37)), "NAME              AGE  STATUS\na-very-long-name  3d   not ready\n");
        assert_eq!(within(Some(30)), "NAME              STATUS\na-very-long-name  not ready\n");
        assert_eq!(within(Some(20)), "NAME       STATUS\na-ve…name  not ready\n");
        assert_eq!(within(Some(1)), "NAME      STATUS\na-ve…ame  not ready\n");
    }
}

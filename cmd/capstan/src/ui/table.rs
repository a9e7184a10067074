//! Tables for wide and narrow terminals.

use std::{iter, ops::Range};

use super::sanitize_line;

/// Formats rows as columns for people.
/// A cell with line ends cannot forge a row.
/// Shape: every column but the last is at least 10 wide with a gap of 3. The last column is not padded, and each row
/// ends in a line end.
/// Source: clusterctl v1.14 `config repositories`.
///
/// If the table is wider than `width`, the gaps shrink, then each entry of `ways` applies in order. Without a width,
/// nothing is lost.
pub(crate) fn table<const N: usize>(
    width: Option<usize>,
    ways: &[NarrowingStep],
    head: [&str; N],
    rows: &[[impl AsRef<str>; N]],
) -> String {
    const MINIMUM: usize = 10;
    const GAP: usize = 3;
    const NARROW_GAP: usize = 2;
    let rows = rows.iter().map(|row| row.each_ref().map(AsRef::as_ref));
    let lines: Vec<[String; N]> =
        iter::once(head).chain(rows).map(|row| row.map(|cell| sanitize_line(cell).into_owned())).collect();
    let cells = widths(&lines);
    let whole = lay_out(&lines, &cells.map(|width| Some(MINIMUM.max(width + GAP))), GAP);
    let Some(room) = width.filter(|width| whole.lines().any(|line| line.chars().count() > *width)) else {
        return whole;
    };
    let widths = cells.map(|width| width + NARROW_GAP);
    // The last column has no gap.
    lay_out(&lines, &fit_columns(&head, &widths, NARROW_GAP, room + NARROW_GAP, ways), NARROW_GAP)
}

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

/// A way to make a table narrower. Ways apply in order until the table fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NarrowingStep {
    Drop(&'static str),
    /// Shortens the cells of a column, but not below the given number of characters.
    Shorten(&'static str, usize),
}

/// Returns the widths of the columns, including the gap, that fit into `room` if the ways suffice. `None` for dropped
/// columns.
pub(crate) fn fit_columns(
    columns: &[&str],
    widths: &[usize],
    gap: usize,
    room: usize,
    steps: &[NarrowingStep],
) -> Vec<Option<usize>> {
    let mut fitted: Vec<Option<usize>> = widths.iter().copied().map(Some).collect();
    for way in steps {
        let excess = fitted.iter().flatten().sum::<usize>().saturating_sub(room);
        if excess == 0 {
            break;
        }
        let (NarrowingStep::Drop(name) | NarrowingStep::Shorten(name, _)) = way;
        let Some(at) = columns.iter().position(|column| column == name) else { continue };
        fitted[at] = match way {
            NarrowingStep::Drop(_) => None,
            NarrowingStep::Shorten(_, least) => {
                let least = *least.max(&name.len()) + gap;
                fitted[at].map(|width| width.saturating_sub(excess).max(least.min(width)))
            }
        };
    }
    fitted
}

/// Returns the range of characters to remove from the middle of a text. `None` if the text fits.
/// Kubernetes names often start alike, so the end is as important as the start.
pub(crate) fn removed_middle(length: usize, width: usize) -> Option<Range<usize>> {
    if length <= width {
        return None;
    }
    let kept = width.saturating_sub(1);
    let before = kept.div_ceil(2);
    Some(before..length - (kept - before))
}

/// Shortens a text in its middle to the given number of characters.
fn shorten(text: &str, width: usize) -> String {
    let Some(lost) = removed_middle(text.chars().count(), width) else { return text.to_owned() };
    text.chars().take(lost.start).chain(['…']).chain(text.chars().skip(lost.end)).collect()
}

/// Returns at most the given number of characters, followed by `…` if the text is longer.
pub(crate) fn first_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
    fn a_narrow_terminal_drops_the_least_important_columns() {
        let ways = [NarrowingStep::Drop("AGE"), NarrowingStep::Shorten("NAME", 8)];
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

    #[test]
    fn narrowing_steps_apply_in_order_until_the_table_fits() {
        let ways = [
            NarrowingStep::Shorten("NAME", 10),
            NarrowingStep::Drop("AGE"),
            NarrowingStep::Shorten("NAME", 6),
        ];
        let fit = |room| fit_columns(&["NAME", "AGE", "STATUS"], &[22, 5, 8], 2, room, &ways);
        assert_eq!(fit(35), [Some(22), Some(5), Some(8)]);
        assert_eq!(fit(32), [Some(19), Some(5), Some(8)]);
        assert_eq!(fit(20), [Some(12), None, Some(8)]);
        assert_eq!(fit(17), [Some(9), None, Some(8)]);
        assert_eq!(fit(1), [Some(8), None, Some(8)], "it cannot get narrower");
    }

    #[test]
    fn a_name_loses_its_middle() {
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("abcdefghij", 6), "abc…ij");
        assert_eq!(shorten("äbcdefghij", 3), "ä…j");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn a_value_loses_its_end() {
        assert_eq!(first_chars("äbc", 3), "äbc");
        assert_eq!(first_chars("äbc", 1), "ä…");
    }
}

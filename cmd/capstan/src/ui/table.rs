//! Tables, also in terminals that are too narrow for them.

use std::{iter, ops::Range};

use super::clean_line;

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

/// A way to make a table narrower. Ways are taken one after the other until the table fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrow {
    Drop(&'static str),
    /// Shortens the cells of a column to no less than so many characters.
    Shorten(&'static str, usize),
}

/// The widths of the columns of a table that fits, if its ways suffice; none for columns that are left out. A width holds the
/// gap behind the cells.
pub(crate) fn fit(
    columns: &[&str],
    widths: &[usize],
    gap: usize,
    room: usize,
    ways: &[Narrow],
) -> Vec<Option<usize>> {
    let mut fitted: Vec<Option<usize>> = widths.iter().copied().map(Some).collect();
    for way in ways {
        let excess = fitted.iter().flatten().sum::<usize>().saturating_sub(room);
        if excess == 0 {
            break;
        }
        let (Narrow::Drop(name) | Narrow::Shorten(name, _)) = way;
        let Some(at) = columns.iter().position(|column| column == name) else { continue };
        fitted[at] = match way {
            Narrow::Drop(_) => None,
            Narrow::Shorten(_, least) => {
                let least = *least.max(&name.len()) + gap;
                fitted[at].map(|width| width.saturating_sub(excess).max(least.min(width)))
            }
        };
    }
    fitted
}

/// The middle that a text of some length loses for a width, as the range of its characters; none if all fit. Names of
/// Kubernetes begin alike, so the end matters as much as the beginning.
pub(crate) fn lost_middle(length: usize, width: usize) -> Option<Range<usize>> {
    if length <= width {
        return None;
    }
    let kept = width.saturating_sub(1);
    let before = kept.div_ceil(2);
    Some(before..length - (kept - before))
}

/// A text shortened in its middle to so many characters.
fn shorten(text: &str, width: usize) -> String {
    let Some(lost) = lost_middle(text.chars().count(), width) else { return text.to_owned() };
    text.chars().take(lost.start).chain(['…']).chain(text.chars().skip(lost.end)).collect()
}

/// The first characters of a text, so many at most, and `…` for the rest.
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

    #[test]
    fn ways_are_taken_in_their_order_until_the_table_fits() {
        let ways = [Narrow::Shorten("NAME", 10), Narrow::Drop("AGE"), Narrow::Shorten("NAME", 6)];
        let fit = |room| fit(&["NAME", "AGE", "STATUS"], &[22, 5, 8], 2, room, &ways);
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

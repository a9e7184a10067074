//! Tables in terminals that are too narrow for them.

use std::ops::Range;

/// A way to make a table narrower. Ways are taken one after the other until the table fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// Leaves a column out.
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
pub(crate) fn shorten(text: &str, width: usize) -> String {
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

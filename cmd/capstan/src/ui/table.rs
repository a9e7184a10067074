use super::clean::clean_line;

/// Lays rows out in columns for people.
/// A cell with line ends cannot forge a row.
/// Shape: every column but the last is at least 10 wide with a gap of 3; the last one is not padded; each row ends in
/// a line end.
/// Source: clusterctl v1.14 `config repositories`.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[&str; N]]) -> String {
    const MINIMUM: usize = 10;
    const GAP: usize = 3;
    let lines: Vec<_> = std::iter::once(&head).chain(rows).map(|row| row.map(clean_line)).collect();
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = MINIMUM.max(*width).max(cell.chars().count() + GAP);
        }
    }
    let mut text = String::new();
    for line in &lines {
        for (at, (cell, width)) in line.iter().zip(widths).enumerate() {
            text.push_str(cell);
            if at + 1 < N {
                text.extend(std::iter::repeat_n(' ', width - cell.chars().count()));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_line_up_and_the_last_one_has_no_trailing_blanks() {
        let text = table(["NAME", "FILE"], &[["a", "x"], ["a-long-name", "yy"]]);
        assert_eq!(text, "NAME          FILE\na             x\na-long-name   yy\n");
        assert_eq!(table(["A", "B"], &[]), "A         B\n");
        assert_eq!(table(["A"], &[["x\ny"]]), "A\nx\\u{a}y\n");
    }
}

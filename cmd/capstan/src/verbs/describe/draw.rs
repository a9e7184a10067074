use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use management::{Cell, Span, Tone, TreeTable};

use crate::ui::clean;

/// Lays a table out: each column is as wide as its widest cell, and every line is padded to its end, as clusterctl does.
/// Foreign text is made safe first.
pub(super) fn draw(table: &TreeTable, colour: bool) -> String {
    let mut widths: Vec<usize> = table.columns.iter().map(|column| column.len() + 1).collect();
    for line in &table.lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(length(cell) + table.gap);
        }
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (column, width) in table.columns.iter().zip(&widths) {
        let _ = write!(text, "{column:width$}");
    }
    text.push('\n');
    for line in &table.lines {
        for (cell, width) in line.iter().zip(&widths) {
            paint(cell, colour, &mut text);
            let _ = write!(text, "{:1$}", "", width - length(cell));
        }
        text.push('\n');
    }
    text
}

/// How many characters of a cell are seen.
fn length(cell: &Cell) -> usize {
    cell.0.iter().map(|span| clean(&span.text).chars().count()).sum()
}

fn paint(cell: &Cell, colour: bool, text: &mut String) {
    for Span { text: piece, tone } in &cell.0 {
        let style = if colour { style(*tone) } else { Style::new() };
        let _ = write!(text, "{style}{}{style:#}", clean(piece));
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Faint => AnsiColor::BrightBlack.on_default(),
        Tone::Strong => Style::new().bold(),
        Tone::Topic => AnsiColor::Cyan.on_default(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Doubtful => AnsiColor::Yellow.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, tone: Tone) -> Span {
        Span { text: text.to_owned(), tone }
    }

    #[test]
    fn colours_change_neither_widths_nor_words() {
        let table = TreeTable {
            columns: &["NAME", "STATUS"],
            gap: 2,
            lines: vec![
                vec![Cell(vec![span("├─", Tone::Faint), span("name", Tone::Strong)]), Cell::default()],
                vec![Cell::default(), Cell(vec![span("Unknown", Tone::Doubtful)])],
            ],
        };
        let plain = draw(&table, false);
        assert_eq!(plain, "NAME    STATUS   \n├─name           \n        Unknown  \n");
        let colours = draw(&table, true);
        assert!(colours.contains("\u{1b}[90m├─\u{1b}[0m\u{1b}[1mname\u{1b}[0m  "), "{colours:?}");
        assert_eq!(anstream::adapter::strip_str(&colours).to_string(), plain);
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        let lines = vec![vec![Cell(vec![span("a\u{1b}[2Jb", Tone::Plain)])]];
        let text = draw(&TreeTable { columns: &["NAME"], gap: 1, lines }, true);
        assert_eq!(text, "NAME        \na\\u{1b}[2Jb \n");
    }
}

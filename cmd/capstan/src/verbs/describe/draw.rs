use std::fmt::Write as _;

use workload::{Cell, Span, Tone, TreeTable};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar as _;

use crate::ui::{NarrowingStep, fit_columns, removed_middle, sanitize};

/// Ways to fit a terminal, for conditions of contract v1beta2: shorten the name, then drop counts.
const NARROW: [NarrowingStep; 7] = [
    NarrowingStep::Shorten("NAME", 32),
    NarrowingStep::Drop("UP TO DATE"),
    NarrowingStep::Drop("AVAILABLE"),
    NarrowingStep::Drop("READY"),
    NarrowingStep::Drop("SINCE"),
    NarrowingStep::Shorten("NAME", 20),
    NarrowingStep::Drop("REPLICAS"),
];

/// Ways to fit a terminal, for conditions of contract v1beta1, where `READY` is the status.
const NARROW_V1BETA1: [NarrowingStep; 3] =
    [NarrowingStep::Shorten("NAME", 32), NarrowingStep::Drop("SINCE"), NarrowingStep::Shorten("NAME", 20)];

/// The minimum width of messages in a narrow terminal, before other columns get more room.
const MIN_MESSAGE_WIDTH: usize = 24;

/// Draws a table: each column is as wide as its widest cell, and every line is padded to its end, as in clusterctl.
/// Escapes foreign text. For a terminal, shortens and drops columns until part of the messages fits, and does not pad
/// lines.
pub(super) fn draw(table: &TreeTable, colour: bool, room: Option<usize>) -> String {
    let mut widths: Vec<usize> = table.columns.iter().map(|column| column.len() + 1).collect();
    for line in &table.lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell_width(cell) + table.gap);
        }
    }
    let widths = match room {
        None => widths.into_iter().map(Some).collect(),
        Some(room) => fit_widths(table, widths, room),
    };
    let last = widths.iter().rposition(Option::is_some);
    let pad = |at: usize, count: usize| if room.is_some() && Some(at) == last { 0 } else { count };
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (at, (column, width)) in table.columns.iter().zip(&widths).enumerate() {
        let Some(width) = width else { continue };
        let _ = write!(text, "{column:0$}", pad(at, *width));
    }
    text.push('\n');
    for line in &table.lines {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let Some(width) = width else { continue };
            let cell = shorten_cell(cell, width.saturating_sub(table.gap));
            paint(&cell, colour, &mut text);
            let _ = write!(text, "{:1$}", "", pad(at, width - cell_width(&cell)));
        }
        if room.is_some() {
            text.truncate(text.trim_end_matches(' ').len());
        }
        text.push('\n');
    }
    text
}

/// Returns the widths of the columns in a terminal. The last column, the messages, keeps its full width.
fn fit_widths(table: &TreeTable, mut widths: Vec<usize>, room: usize) -> Vec<Option<usize>> {
    let Some(messages) = widths.pop() else { return Vec::new() };
    widths.push(messages.min(MIN_MESSAGE_WIDTH));
    let ways = if table.columns.contains(&"STATUS") { &NARROW[..] } else { &NARROW_V1BETA1[..] };
    let mut fitted = fit_columns(table.columns, &widths, table.gap, room, ways);
    if let Some(last) = fitted.last_mut() {
        *last = Some(messages);
    }
    fitted
}

/// Shortens a cell that is too long: first without the version after the name, then without its middle.
fn shorten_cell(cell: &Cell, width: usize) -> Cell {
    if cell_width(cell) > width
        && let [rest @ .., Span { tone: Tone::Strong, .. }, Span { tone: Tone::Plain, .. }] = &*cell.0
    {
        return shorten_cell(&Cell(cell.0[..=rest.len()].to_vec()), width);
    }
    let Some(lost) = removed_middle(cell_width(cell), width) else { return cell.clone() };
    let mut spans: Vec<Span> = Vec::new();
    let (mut at, mut is_marked) = (0, false);
    for Span { text, tone } in &cell.0 {
        let mut kept = String::new();
        for c in sanitize(text).chars() {
            let end = at + char_width(c);
            if end <= lost.start || at >= lost.end {
                kept.push(c);
            } else if !is_marked {
                kept.push('…');
                is_marked = true;
            }
            at = end;
        }
        spans.push(Span { text: kept, tone: *tone });
    }
    Cell(spans)
}

fn cell_width(cell: &Cell) -> usize {
    cell.0.iter().flat_map(|span| sanitize(&span.text).chars().map(char_width).collect::<Vec<_>>()).sum()
}

/// Returns the columns of a character in a terminal: two for wide characters, and none for combining ones.
fn char_width(c: char) -> usize {
    c.width().unwrap_or_default()
}

fn paint(cell: &Cell, colour: bool, text: &mut String) {
    for Span { text: piece, tone } in &cell.0 {
        let style = if colour { style(*tone) } else { Style::new() };
        let _ = write!(text, "{style}{}{style:#}", sanitize(piece));
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
        let plain = draw(&table, false, None);
        assert_eq!(plain, "NAME    STATUS   \n├─name           \n        Unknown  \n");
        let colours = draw(&table, true, None);
        assert!(colours.contains("\u{1b}[90m├─\u{1b}[0m\u{1b}[1mname\u{1b}[0m  "), "{colours:?}");
        assert_eq!(anstream::adapter::strip_str(&colours).to_string(), plain);
    }

    #[test]
    fn wide_characters_count_twice() {
        let lines = ["日本 ✅", "e\u{301}"].map(|text| vec![Cell(vec![span(text, Tone::Plain)])]).into();
        let table = TreeTable { columns: &["NAME"], gap: 1, lines };
        assert_eq!(draw(&table, false, None), "NAME    \n日本 ✅ \ne\u{301}       \n");
        let cell = Cell(vec![span("日本日本", Tone::Plain)]);
        assert_eq!(shorten_cell(&cell, 6).text(), "日…本");
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        let lines = vec![vec![Cell(vec![span("a\u{1b}[2Jb", Tone::Plain)])]];
        let text = draw(&TreeTable { columns: &["NAME"], gap: 1, lines }, true, None);
        assert_eq!(text, "NAME        \na\\u{1b}[2Jb \n");
    }

    #[test]
    fn a_shortened_name_keeps_its_colours_and_its_ends() {
        let cell = Cell(vec![
            span("├─", Tone::Faint),
            span("Machine ", Tone::Plain),
            span("team/one", Tone::Strong),
        ]);
        let short = shorten_cell(&cell, 9);
        assert_eq!(short.text(), "├─Ma…/one");
        assert_eq!(
            short.0.iter().map(|span| span.tone).collect::<Vec<_>>(),
            [Tone::Faint, Tone::Plain, Tone::Strong]
        );
        assert_eq!(shorten_cell(&cell, 18), cell);
    }
}

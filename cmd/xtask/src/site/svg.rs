use std::{fmt::Write as _, time::Duration};

use super::{
    ansi::{Span, Style},
    recording::RecordedLine,
};

/// The height of a line in pixels.
const LINE: usize = 20;
/// The visible part of the output.
const COLUMNS: usize = 100;
/// The width of the visible part in pixels. A character of 14 pixels is 8.4 wide.
const WIDTH: usize = COLUMNS * 84 / 10;
const ROWS: usize = 26;
const MARGIN: usize = 16;
const BAR: usize = 32;

/// The shortest time of a line before the next one, so that people can follow.
const MIN_PAUSE: Duration = Duration::from_millis(90);
/// The longest time without a new line. Longer waits are shortened.
const MAX_PAUSE: Duration = Duration::from_millis(1200);
/// The time to read the last lines before the picture starts again.
const END: Duration = Duration::from_secs(8);

/// The 16 colours of a terminal on a dark background.
const COLOURS: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4", "#6e7681",
    "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];

/// Draws a terminal in which the lines appear at their times and scroll. The picture contains no script.
pub(super) fn svg(title: &str, lines: &[RecordedLine]) -> String {
    let (times, total) = schedule(lines);
    let width = WIDTH + 2 * MARGIN;
    let height = BAR + ROWS * LINE + 2 * MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>text{{font:14px \
         ui-monospace,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}}.b{{font-weight:bold}}.d{{opacity:.6}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n<text x=\"{MARGIN}\" y=\"21\" \
         class=\"d\">{title}</text>\n<svg x=\"{MARGIN}\" y=\"{}\" width=\"{}\" height=\"{}\">\n<g>\n",
        BAR + MARGIN / 2,
        WIDTH,
        ROWS * LINE,
        title = escape(title),
    );
    text.push_str(&scrolling(&times, total));
    for (at, line) in lines.iter().enumerate() {
        let _ = write!(
            text,
            "<text y=\"{}\" visibility=\"hidden\">{}",
            at * LINE + 15,
            appearance(times[at], total)
        );
        let mut room = COLUMNS;
        for span in &line.spans {
            text.push_str(&tspan(span, &mut room));
        }
        text.push_str("</text>\n");
    }
    text + "</g>\n</svg>\n</svg>\n"
}

/// Returns the time of each line, and the time of the whole picture, with bounded waits.
fn schedule(lines: &[RecordedLine]) -> (Vec<Duration>, Duration) {
    let (mut shown_at, mut recorded_at) = (Duration::ZERO, Duration::ZERO);
    let mut times = Vec::new();
    for line in lines {
        shown_at += line.at.saturating_sub(recorded_at).clamp(MIN_PAUSE, MAX_PAUSE);
        recorded_at = line.at;
        times.push(shown_at);
    }
    (times, shown_at + END)
}

/// Shows a line from its time on.
fn appearance(at: Duration, total: Duration) -> String {
    let share = at.as_secs_f64() / total.as_secs_f64();
    format!(
        "<animate attributeName=\"visibility\" dur=\"{:.2}s\" repeatCount=\"indefinite\" calcMode=\"discrete\" \
         keyTimes=\"0;{share:.4}\" values=\"hidden;visible\"/>",
        total.as_secs_f64()
    )
}

/// Moves all lines up when a line appears below the last row.
fn scrolling(times: &[Duration], total: Duration) -> String {
    let (mut shares, mut offsets) = (vec!["0".to_owned()], vec!["0 0".to_owned()]);
    for (at, time) in times.iter().enumerate().skip(ROWS) {
        shares.push(format!("{:.4}", time.as_secs_f64() / total.as_secs_f64()));
        offsets.push(format!("0 -{}", (at + 1 - ROWS) * LINE));
    }
    format!(
        "<animateTransform attributeName=\"transform\" type=\"translate\" dur=\"{:.2}s\" repeatCount=\"indefinite\" \
         calcMode=\"discrete\" keyTimes=\"{}\" values=\"{}\"/>\n",
        total.as_secs_f64(),
        shares.join(";"),
        offsets.join(";")
    )
}

/// Writes a piece of a line. `room` is the number of columns that are left.
fn tspan(span: &Span, room: &mut usize) -> String {
    let shown: String = span.text.chars().take(*room).collect();
    *room -= shown.chars().count();
    let Style { is_bold, is_dim, colour } = span.style;
    let classes = [(is_bold, "b"), (is_dim, "d")].into_iter().filter(|(is_set, _)| *is_set);
    let classes: Vec<&str> = classes.map(|(_, class)| class).collect();
    let mut attributes = String::new();
    if !classes.is_empty() {
        let _ = write!(attributes, " class=\"{}\"", classes.join(" "));
    }
    if let Some(colour) = colour.and_then(|colour| COLOURS.get(usize::from(colour))) {
        let _ = write!(attributes, " fill=\"{colour}\"");
    }
    if attributes.is_empty() {
        escape(&shown)
    } else {
        format!("<tspan{attributes}>{}</tspan>", escape(&shown))
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::ansi::parse_line;

    fn line(seconds: u64, text: &str) -> RecordedLine {
        RecordedLine { at: Duration::from_secs(seconds), spans: parse_line(text) }
    }

    #[test]
    fn waits_are_long_enough_to_read_and_short_enough_to_watch() {
        let (times, total) = schedule(&[line(0, "a"), line(60, "b"), line(60, "c")]);
        assert_eq!(times, [MIN_PAUSE, MIN_PAUSE + MAX_PAUSE, 2 * MIN_PAUSE + MAX_PAUSE]);
        assert_eq!(total, 2 * MIN_PAUSE + MAX_PAUSE + END);
    }

    #[test]
    fn a_picture_shows_every_line_within_its_width() {
        let long = "x".repeat(COLUMNS + 10);
        let text = svg("a <b>", &[line(0, "\u{1b}[1;31m<&>\u{1b}[0m"), line(1, &long)]);
        assert!(text.contains("<title>a &lt;b&gt;</title>"), "{text}");
        assert!(text.contains("<tspan class=\"b\" fill=\"#ff7b72\">&lt;&amp;&gt;</tspan>"), "{text}");
        assert!(text.contains(&"x".repeat(COLUMNS)) && !text.contains(&"x".repeat(COLUMNS + 1)));
        assert_eq!(text.matches("<animate ").count(), 2);
    }
}

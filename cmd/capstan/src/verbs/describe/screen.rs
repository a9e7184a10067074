//! A tree that stays on the terminal and is drawn over when it changes.

use std::fmt::Write as _;

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

/// What is on the terminal, so that it can be drawn over.
#[derive(Debug, Default)]
pub(super) struct Screen {
    drawn: Vec<String>,
}

impl Screen {
    /// What has to be written so that these lines stand in place of those before; nothing when they do already. Nothing of
    /// it needs the whole screen: what was typed before stays above.
    pub(super) fn draw(&mut self, lines: Vec<String>, size: Size) -> String {
        let mut text = String::new();
        if self.drawn == lines {
            return text;
        }
        // A window that became narrower has broken lines in two.
        let rows: usize = self.drawn.iter().map(|line| seen(line).div_ceil(size.width.max(1)).max(1)).sum();
        // Writing to a String cannot fail.
        if rows > 0 {
            let _ = write!(text, "\u{1b}[{rows}A\r");
        }
        for line in &lines {
            let _ = writeln!(text, "{line}\u{1b}[K");
        }
        text.push_str("\u{1b}[J");
        self.drawn = lines;
        text
    }
}

/// As much of a header and a body as a terminal shows at once, cut at its edge. The last row stays free for the cursor.
pub(super) fn frame(header: &[String], body: &str, size: Size) -> Vec<String> {
    let body: Vec<&str> = body.lines().collect();
    let room = size.height.saturating_sub(header.len() + 1).max(1);
    let shown = if body.len() > room { room - 1 } else { body.len() };
    let more = (shown < body.len())
        .then(|| format!("… {} more lines; make the window larger or use --grouping", body.len() - shown));
    let lines = header.iter().map(String::as_str).chain(body[..shown].iter().copied()).chain(more.as_deref());
    lines.map(|line| cut(line.trim_end(), size.width)).collect()
}

/// How many characters of a line are seen: all but those of colours.
fn seen(line: &str) -> usize {
    anstream::adapter::strip_str(line).map(|piece| piece.chars().count()).sum()
}

/// A line without what is behind the edge; colours that were begun are ended all the same.
fn cut(line: &str, width: usize) -> String {
    let mut text = String::with_capacity(line.len());
    let (mut left, mut is_escape) = (width, false);
    for c in line.chars() {
        is_escape |= c == '\u{1b}';
        if is_escape {
            text.push(c);
            is_escape = c != 'm';
        } else if left > 0 {
            text.push(c);
            left -= 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { width: 8, height: 5 };

    fn framed(body: &str) -> Vec<String> {
        frame(&["head".to_owned()], body, SIZE)
    }

    #[test]
    fn a_tree_that_is_too_long_shows_its_top_and_says_how_much_is_missing() {
        assert_eq!(framed("1\n2\n3\n"), ["head", "1", "2", "3"]);
        let wide = Size { width: 80, ..SIZE };
        assert_eq!(
            frame(&["head".to_owned()], "1\n2\n3\n4\n5\n", wide),
            ["head", "1", "2", "… 3 more lines; make the window larger or use --grouping"]
        );
        assert_eq!(frame(&[], "1\n2\n", Size { width: 3, height: 0 }), ["… 2"]);
    }

    #[test]
    fn lines_end_at_the_edge_and_colours_with_them() {
        assert_eq!(framed("12345678\n123456789  \n"), ["head", "12345678", "12345678"]);
        assert_eq!(framed("1234\u{1b}[1m56789\u{1b}[0m"), ["head", "1234\u{1b}[1m5678\u{1b}[0m"]);
    }

    #[test]
    fn a_frame_is_drawn_over_the_one_before_and_not_when_it_is_the_same() {
        let mut screen = Screen::default();
        let line = |text: &str| vec![text.to_owned()];
        assert_eq!(
            screen.draw(line("\u{1b}[1m123456\u{1b}[0m"), SIZE),
            "\u{1b}[1m123456\u{1b}[0m\u{1b}[K\n\u{1b}[J"
        );
        assert_eq!(screen.draw(line("\u{1b}[1m123456\u{1b}[0m"), SIZE), "");
        // In a narrower window the line before takes two rows.
        assert_eq!(screen.draw(line("b"), Size { width: 4, ..SIZE }), "\u{1b}[2A\rb\u{1b}[K\n\u{1b}[J");
    }
}

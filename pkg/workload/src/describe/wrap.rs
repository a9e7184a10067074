/// The maximum length of a line in bytes; longer lines break between words.
const MAX_WIDTH: usize = 100;

/// Wraps the lines of a message. Leading blanks stay, blanks between words become one, and the lines of a bullet point
/// are indented.
/// Source: clusterctl v1.14 internal/util/tree/tree.go (formatParagraph), byte for byte: the blank before a word is not
/// counted. A word that is too long for a line leaves an empty line before it.
pub(super) fn wrap_message(message: &str) -> Vec<String> {
    message.split('\n').flat_map(wrap_line).collect()
}

fn wrap_line(line: &str) -> Vec<String> {
    let mut current: String = line.chars().take_while(|c| *c == ' ').collect();
    let is_point = line.trim().starts_with("* ");
    let indent = format!("{current}{}", if is_point { "  " } else { "" });
    let mut lines = Vec::new();
    for word in words(line) {
        if current.len() + word.len() < MAX_WIDTH {
            if !current.trim().is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut current, format!("{indent}{word}")));
        }
    }
    lines.push(current);
    lines
}

/// Splits a line at runs of white space. White space at an end of the line gives one empty word there.
fn words(line: &str) -> impl Iterator<Item = &str> {
    const WHITE: [char; 4] = ['\t', '\u{c}', '\r', ' '];
    let count = line.split(WHITE).count();
    let inner = move |(at, word): (usize, &str)| !word.is_empty() || at == 0 || at + 1 == count;
    line.split(WHITE).enumerate().filter(move |part| inner(*part)).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wrap_between_words_and_keep_their_indent() {
        let long = "word ".repeat(25);
        for (message, lines) in [
            ("", vec![String::new()]),
            ("one  \t two", vec!["one two".into()]),
            ("one\n\n  two\n", vec!["one".into(), String::new(), "  two".into(), String::new()]),
            ("one ", vec!["one ".into()]),
            (&*format!("{long}end"), vec![long[..99].to_owned() + "", "word word word word word end".into()]),
            (
                &*format!("  * {}", long.trim()),
                vec![
                    format!("  * {}", "word ".repeat(19).trim()),
                    format!("    {}", "word ".repeat(6).trim()),
                ],
            ),
            (&*"x".repeat(100), vec![String::new(), "x".repeat(100)]),
            (&*format!("a {}", "x".repeat(120)), vec!["a".into(), "x".repeat(120)]),
        ] {
            assert_eq!(wrap_message(message), lines, "{message:?}");
        }
    }
}

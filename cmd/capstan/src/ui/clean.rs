use std::borrow::Cow;

/// Makes text from elsewhere safe to show: control characters cannot move the cursor, colour or hide anything.
/// Shape: line ends and tabs stay; every other control character, and the marks that turn the direction of writing,
/// become `\u{…}`.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    escape(text, is_unsafe)
}

/// Makes text from elsewhere safe to show in one line: also escapes line ends and tabs.
pub(crate) fn clean_line(text: &str) -> Cow<'_, str> {
    escape(text, |c| c.is_control() || is_unsafe(c))
}

fn escape(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_unsafe(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_unsafe(c: char) -> bool {
    let turns_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns_direction
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_line};

    #[test]
    fn an_escape_sequence_in_a_name_cannot_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\r"), "a\\u{1b}[2Jb\\u{d}");
        assert_eq!(clean("two\nlines\t\u{e4}"), "two\nlines\tä");
        assert_eq!(clean("\u{202e}evil"), "\\u{202e}evil");
        assert_eq!(clean_line("two\nlines\u{1b}"), "two\\u{a}lines\\u{1b}");
    }
}

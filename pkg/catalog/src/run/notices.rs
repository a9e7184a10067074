//! Notices at the end of a compilation.

/// The maximum length of a line, in characters.
const WIDTH: usize = 100;

/// Returns the text of notices, with wrapped lines. Empty without notices.
pub fn notices_text(notices: &[String]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let mut out = "\nCommodore notices:\n".to_owned();
    for notice in notices {
        let mut line = " >".to_owned();
        for word in notice.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 2 {
                out.push_str(&line);
                out.push('\n');
                "  ".clone_into(&mut line);
            }
            line.push(' ');
            line.push_str(word);
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::notices_text;

    #[test]
    fn long_notices_are_wrapped() {
        let notice = format!("Component a is deprecated. {}", "word ".repeat(20));
        assert_data_eq!(
            notices_text(&[notice, "short".to_owned()]),
            str![[r#"

Commodore notices:
 > Component a is deprecated. word word word word word word word word word word word word word word
   word word word word word word
 > short

"#]]
        );
        assert_eq!(notices_text(&[]), "");
    }
}

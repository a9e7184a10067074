//! Reads INI files.

use super::{DEFAULT_SECTION, DELIMITERS};
use crate::SopsError;
use crate::tree::{Branch, Comment, Entry, Value};

pub(crate) fn read(text: &str) -> Result<Branch, SopsError> {
    let mut reader =
        Reader { lines: text.split_inclusive('\n'), line: 0, comment: String::new(), unnamed: 0 };
    let mut sections = vec![Section::new(DEFAULT_SECTION)];
    while let Some(line) = reader.next_line() {
        let line = line.trim_start();
        if line.is_empty() {
            continue;
        }
        if line.starts_with(['#', ';']) {
            reader.comment.push_str(line);
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (name, behind) =
                rest.rsplit_once(']').ok_or_else(|| reader.problem("the section has no `]`"))?;
            if name.is_empty() {
                return Err(reader.problem("the section has no name"));
            }
            reader.add_comment(behind);
            reader.unnamed = 0;
            let mut section = Section::new(name);
            section.entries.extend(reader.take_comment());
            sections.push(section);
            continue;
        }
        let (mut key, rest) = reader.key(line)?;
        if key == "-" {
            reader.unnamed += 1;
            key = format!("#{}", reader.unnamed);
        }
        let value = reader.value(rest)?;
        let comment = reader.take_comment();
        sections.last_mut().expect("invariant: the default section is there").set(key, &value, comment);
    }
    Ok(sections
        .into_iter()
        .map(|section| Entry::field(section.name, Value::Branch(section.entries)))
        .collect())
}

struct Section {
    name: String,
    entries: Vec<Entry>,
}

impl Section {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), entries: Vec::new() }
    }

    /// Sets a field, and the comment behind it. A repeated field keeps its place.
    fn set(&mut self, name: String, text: &str, comment: Option<Entry>) {
        let is_same = |entry: &Entry| entry.as_field().is_some_and(|(key, _)| key == name);
        let Some(at) = self.entries.iter().position(is_same) else {
            self.entries.push(Entry::field(name, Value::text(text)));
            self.entries.extend(comment);
            return;
        };
        self.entries[at] = Entry::field(name, Value::text(text));
        if matches!(self.entries.get(at + 1), Some(Entry::Comment(_))) {
            self.entries.remove(at + 1);
        }
        if let Some(comment) = comment {
            self.entries.insert(at + 1, comment);
        }
    }
}

struct Reader<'t> {
    lines: std::str::SplitInclusive<'t, char>,
    line: usize,
    /// The comment for the next section or field.
    comment: String,
    /// The number of fields named `-` in the section.
    unnamed: usize,
}

impl<'t> Reader<'t> {
    fn next_line(&mut self) -> Option<&'t str> {
        self.line += 1;
        self.lines.next()
    }

    fn problem(&self, problem: &str) -> SopsError {
        SopsError::Syntax { format: "INI", problem: format!("line {}: {problem}", self.line) }
    }

    /// Adds the comment in the rest of a line.
    fn add_comment(&mut self, rest: &str) {
        if let Some(at) = rest.find(['#', ';']) {
            self.comment.push_str(&rest[at..]);
        }
    }

    fn take_comment(&mut self) -> Option<Entry> {
        let comment = std::mem::take(&mut self.comment);
        let comment = comment.trim();
        let text = match comment.chars().next()? {
            ';' => comment.trim_start_matches([';', ' ']),
            '#' => comment.trim_start_matches(['#', ' ']),
            _ => comment,
        };
        Some(Entry::Comment(Comment::new(text.as_bytes())))
    }

    /// Reads the key of a line. Returns the rest behind the delimiter too.
    fn key(&self, line: &'t str) -> Result<(String, &'t str), SopsError> {
        let quote = ["\"\"\"", "\"", "`"]
            .into_iter()
            .find(|quote| line.starts_with(quote) && (quote.len() == 1 || line.len() > 6));
        let (key, rest) = match quote {
            Some(quote) => {
                let inside = &line[quote.len()..];
                let (key, rest) = inside
                    .split_once(quote)
                    .ok_or_else(|| self.problem("the quotes of the key are not closed"))?;
                let rest = rest.split_once(DELIMITERS).map(|(_, rest)| rest);
                (key, rest.ok_or_else(|| self.problem("the key has no `=`"))?)
            }
            None => line.split_once(DELIMITERS).ok_or_else(|| self.problem("the key has no `=`"))?,
        };
        if key.trim().is_empty() {
            return Err(self.problem("there is no key before `=`"));
        }
        Ok((key.trim().to_owned(), rest))
    }

    /// Reads a value: quoted, over several lines, or up to a comment.
    fn value(&mut self, rest: &str) -> Result<String, SopsError> {
        let rest = rest.trim_start();
        let quote = if rest.len() > 3 && rest.starts_with("\"\"\"") {
            Some("\"\"\"")
        } else {
            rest.starts_with('`').then_some("`")
        };
        if let Some(quote) = quote {
            let inside = &rest[quote.len()..];
            return match inside.rfind(quote) {
                Some(end) => Ok(inside[..end].to_owned()),
                None => self.quoted_lines(inside, quote),
            };
        }
        let line = rest.trim_end();
        if let Some(start) = line.strip_suffix('\\') {
            return Ok(self.continued_lines(start));
        }
        let text = match line.find(['#', ';']) {
            Some(at) => {
                self.comment.push_str(&line[at..]);
                line[..at].trim()
            }
            None => line,
        };
        let quoted = |quote| {
            let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
            (!inside.contains(quote)).then_some(inside)
        };
        Ok(quoted('\'').or_else(|| quoted('"')).unwrap_or(text).to_owned())
    }

    fn quoted_lines(&mut self, first: &str, quote: &str) -> Result<String, SopsError> {
        let mut text = first.to_owned();
        while let Some(line) = self.next_line() {
            match line.rfind(quote) {
                Some(end) if !line[end + quote.len()..].trim().ends_with('\\') => {
                    text.push_str(&line[..end]);
                    self.add_comment(line[end..].trim());
                    return Ok(text);
                }
                _ => text.push_str(line),
            }
        }
        Err(self.problem("the quotes of a value are not closed"))
    }

    fn continued_lines(&mut self, first: &str) -> String {
        let mut text = first.to_owned();
        while let Some(line) = self.next_line().map(str::trim).filter(|line| !line.is_empty()) {
            text.push_str(line);
            if !text.ends_with('\\') {
                break;
            }
            text.pop();
        }
        text
    }
}

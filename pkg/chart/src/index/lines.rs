//! An index in the layout in which Helm prints it: the lines of one chart are found by their indentation, and only they
//! are parsed. Any other layout is left to the caller.

use manifest::Value;
use manifest::yaml::{self, YamlLimits};

use super::{Found, has_api_version};

/// Finds a chart in an index. None if the text may have another layout, or if the lines of the chart cannot be parsed
/// alone, for example because they refer to an anchor.
pub(super) fn find(text: &str, chart: &str) -> Option<Found> {
    let mut scan = Scan { text, chart, ..Scan::default() };
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
        let line = text.get(start..end)?;
        if scan.line(line.trim_end_matches('\r'), start)? == Step::End {
            start = end;
            break;
        }
        start = end + 1;
    }
    scan.close(start.min(text.len()));
    let Scan { range, mut found, .. } = scan;
    if let Some((start, end)) = range {
        let value = yaml::read_value(text.get(start..end)?, &YamlLimits::default()).ok()?;
        let Value::Object(mut entry) = value else { return None };
        found.versions = Some(entry.remove(chart)?);
    }
    Some(found)
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Outside of `entries`.
    #[default]
    Top,
    /// In `entries`.
    Entries,
    /// Behind `entries`.
    Behind,
}

#[derive(PartialEq, Eq)]
enum Step {
    Next,
    /// A second document starts.
    End,
}

#[derive(Default)]
struct Scan<'t> {
    text: &'t str,
    chart: &'t str,
    state: State,
    /// The indentation of the names of charts.
    indent: Option<usize>,
    /// The start of the chart, while its lines are read.
    starts: Option<usize>,
    range: Option<(usize, usize)>,
    found: Found,
}

impl Scan<'_> {
    /// Reads a line that starts at an offset. None if the layout is another one.
    fn line(&mut self, line: &str, at: usize) -> Option<Step> {
        let content = line.trim_start_matches(' ');
        if content.is_empty() || content.starts_with('#') {
            return Some(Step::Next);
        }
        let indent = line.len() - content.len();
        if indent == 0 {
            return self.top_line(line, at);
        }
        if self.state != State::Entries {
            // The lines of another field.
            return Some(Step::Next);
        }
        let names = *self.indent.get_or_insert(indent);
        if indent > names {
            return Some(Step::Next);
        }
        if indent < names {
            return None;
        }
        if content == "-" || content.starts_with("- ") {
            // A list may have the indentation of its key.
            return (!self.found.names.is_empty() || self.starts.is_some()).then_some(Step::Next);
        }
        let (name, _) = key(content)?;
        self.close(at);
        if name == self.chart {
            self.starts = Some(at);
        } else {
            self.found.names.push(name.to_owned());
        }
        Some(Step::Next)
    }

    fn top_line(&mut self, line: &str, at: usize) -> Option<Step> {
        if line == "---" || line.starts_with("--- ") || line == "..." {
            let is_first =
                self.state == State::Top && !self.found.has_api_version && self.text[..at].trim().is_empty();
            return match (is_first, line) {
                (true, "---") => Some(Step::Next),
                (false, "---" | "...") => Some(Step::End),
                _ => None,
            };
        }
        let (name, value) = key(line)?;
        match name {
            "entries" => {
                let is_block = value.is_empty() || value.starts_with('#');
                if self.state != State::Top || !is_block {
                    return None;
                }
                self.state = State::Entries;
                return Some(Step::Next);
            }
            "apiVersion" => {
                let value = yaml::read_value(value, &YamlLimits::default()).ok()?;
                self.found.has_api_version = has_api_version(Some(&value));
            }
            _ => {}
        }
        if self.state == State::Entries {
            self.close(at);
            self.state = State::Behind;
        }
        Some(Step::Next)
    }

    /// Ends the lines of the chart. Of repeated charts the last one counts.
    fn close(&mut self, at: usize) {
        if let Some(start) = self.starts.take() {
            self.range = Some((start, at));
        }
    }
}

/// Splits a line into a plain or quoted key and its value. None for other keys.
fn key(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = match line.as_bytes().first()? {
        quote @ (b'"' | b'\'') => {
            let end = 1 + line[1..].find(char::from(*quote))?;
            let name = &line[1..end];
            if name.contains('\\') {
                return None;
            }
            (name, line[end + 1..].strip_prefix(':')?)
        }
        first if first.is_ascii_alphanumeric() || *first == b'_' => line.split_once(':')?,
        _ => return None,
    };
    let is_key = (rest.is_empty() || rest.starts_with(' ')) && !name.contains(" #");
    is_key.then(|| (name, rest.trim()))
}

//! The head of a document in simple YAML, read without a tree.
//!
//! Most documents of charts are block mappings of plain scalars, and some have thousands of lines. This reader knows
//! only such YAML, line by line. It gives up on everything else, so that the full reader decides and words the errors.

use super::Head;

/// The deepest nesting.
const MAX_DEPTH: usize = 64;

/// The longest key.
const MAX_KEY: usize = 256;

/// Plain scalars that are no strings.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// The part of an object that a mapping is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Object,
    Metadata,
    Annotations,
    Other,
}

/// An open list or mapping.
struct Level {
    column: usize,
    /// `None` for a list.
    role: Option<Role>,
    /// The role of the mapping that may follow the last key; `None` if the key has a value.
    pending: Option<Role>,
}

/// The scalar that may continue in the next line.
#[derive(Clone, Copy, Default)]
enum Open {
    #[default]
    Nothing,
    /// A plain scalar, in lines behind this column.
    Plain(usize),
    /// The text of `|` or `>`, in lines behind this column.
    Block(usize),
    /// Such a text with its indentation.
    Text(usize, usize),
}

/// Reads the head of a document. `None` if the document is no simple YAML.
pub(super) fn read(document: &str) -> Option<Head> {
    let mut reader = Reader::default();
    document.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')).then_some(())?;
    document.split('\n').try_for_each(|line| reader.line(line))?;
    (!reader.levels.is_empty()).then_some(reader.head)
}

#[derive(Default)]
struct Reader {
    head: Head,
    levels: Vec<Level>,
    open: Open,
    /// True once the mapping of the object was opened.
    is_started: bool,
    has_metadata: bool,
    has_annotations: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Option<()> {
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        match self.open {
            Open::Block(_) if content.is_empty() => return line.is_empty().then_some(()),
            Open::Block(outer) if column > outer => {
                self.open = Open::Text(outer, column);
                return Some(());
            }
            Open::Text(..) if content.is_empty() => return Some(()),
            Open::Text(_, indent) if column >= indent => return Some(()),
            // A comment may not follow directly, and other lines may not be between the two indentations.
            Open::Text(outer, _) if column > outer => return None,
            Open::Block(_) | Open::Text(..) if content.starts_with('#') => return None,
            Open::Plain(outer) if column > outer && !content.is_empty() => {
                return is_plain_line(content.trim_end_matches(' ')).then_some(());
            }
            _ => {}
        }
        let content = content.trim_end_matches(' ');
        if content.is_empty() {
            return Some(());
        }
        self.open = Open::Nothing;
        if content.starts_with('#') {
            return Some(());
        }
        self.content(content, column)
    }

    /// Reads a line that starts an item or an entry.
    fn content(&mut self, mut content: &str, mut column: usize) -> Option<()> {
        let mut follows_dash = false;
        while let Some(rest) = content.strip_prefix("- ") {
            self.item(column, follows_dash)?;
            follows_dash = true;
            content = rest.trim_start_matches(' ');
            column += 2 + rest.len() - content.len();
        }
        match split_key(content) {
            Some((key, value)) => self.entry(key, value, column, follows_dash),
            None if follows_dash => {
                let list = self.levels.last()?.column;
                self.scalar(content, list)
            }
            None => None,
        }
    }

    /// Starts an item, in the list at a column or in a new one.
    fn item(&mut self, column: usize, follows_dash: bool) -> Option<()> {
        if !follows_dash {
            self.close(|level| level.column > column);
            let level = self.levels.last_mut()?;
            match level.role {
                None => return (level.column == column).then_some(()),
                Some(_) if level.pending != Some(Role::Other) => return None,
                Some(_) => level.pending = None,
            }
        }
        self.push(Level { column, role: None, pending: None })
    }

    /// Reads an entry, in the mapping at a column or in a new one.
    fn entry(&mut self, key: &str, value: &str, column: usize, follows_dash: bool) -> Option<()> {
        if follows_dash {
            self.push(Level { column, role: Some(Role::Other), pending: None })?;
        } else {
            self.close(|level| level.column > column || level.column == column && level.role.is_none());
            match self.levels.last_mut() {
                None if column > 0 || self.is_started => return None,
                None => self.push(Level { column, role: Some(Role::Object), pending: None })?,
                Some(level) if level.column == column => {}
                Some(level) => {
                    let role = level.pending.take()?;
                    self.push(Level { column, role: Some(role), pending: None })?;
                }
            }
        }
        self.is_started = true;
        let role = self.levels.last()?.role?;
        let inner = self.head_entry(role, key, value)?;
        let level = self.levels.last_mut()?;
        level.pending = value.is_empty().then_some(inner);
        if value.is_empty() {
            return Some(());
        }
        self.scalar(value, column)?;
        // The kept value ends with its line.
        if role != Role::Other && matches!(self.open, Open::Plain(_)) {
            self.open = Open::Nothing;
        }
        Some(())
    }

    /// Keeps an entry that belongs to the head. Returns the role of a mapping below it.
    fn head_entry(&mut self, role: Role, key: &str, value: &str) -> Option<Role> {
        let known: &[&str] = match role {
            Role::Object => &["apiVersion", "kind", "metadata"],
            Role::Metadata => &["name", "annotations"],
            Role::Annotations if value.is_empty() => return None,
            Role::Annotations if !key.starts_with("helm.sh/") => return Some(Role::Other),
            Role::Annotations => {
                let replaced = self.head.annotations.insert(key.to_owned(), text_of(value)?.to_owned());
                return replaced.is_none().then_some(Role::Other);
            }
            Role::Other => return Some(Role::Other),
        };
        // Names count in any case.
        if !known.iter().any(|known| known.eq_ignore_ascii_case(key)) {
            return Some(Role::Other);
        }
        let head = &mut self.head;
        let field = match key {
            "apiVersion" => &mut head.api_version,
            "kind" => &mut head.kind,
            "name" => &mut head.name,
            "metadata" => return first(&mut self.has_metadata, value, Role::Metadata),
            "annotations" => return first(&mut self.has_annotations, value, Role::Annotations),
            _ => return None,
        };
        // The empty text of a repeated key could not be told from none.
        let text = text_of(value).filter(|text| field.is_empty() && !text.is_empty())?;
        text.clone_into(field);
        Some(Role::Other)
    }

    /// Reads a scalar of a list or mapping at a column.
    fn scalar(&mut self, value: &str, column: usize) -> Option<()> {
        match value {
            "|" | "|-" | "|+" | ">" | ">-" | ">+" => {
                self.open = Open::Block(column);
                self.levels.last()?.role.is_some().then_some(())
            }
            "[]" | "{}" => Some(()),
            _ if quoted(value).is_some() => Some(()),
            _ => {
                self.open = Open::Plain(column);
                (is_plain_start(value) && is_plain_line(value)).then_some(())
            }
        }
    }

    fn close(&mut self, is_closed: impl Fn(&Level) -> bool) {
        while self.levels.last().is_some_and(&is_closed) {
            self.levels.pop();
        }
    }

    fn push(&mut self, level: Level) -> Option<()> {
        self.levels.push(level);
        (self.levels.len() <= MAX_DEPTH).then_some(())
    }
}

/// Returns the role of a mapping that must occur once.
fn first(has_occurred: &mut bool, value: &str, role: Role) -> Option<Role> {
    let is_repeated = std::mem::replace(has_occurred, true);
    (!is_repeated && value.is_empty()).then_some(role)
}

/// Splits an entry into its key and the text of its value.
fn split_key(content: &str) -> Option<(&str, &str)> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let length = content.bytes().take_while(|byte| is_part(byte)).count();
    let (key, rest) = content.split_at(length);
    let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.len() <= MAX_KEY
        && !key.eq_ignore_ascii_case("null");
    let value = rest.strip_prefix(':').filter(|_| is_key)?;
    if value.is_empty() {
        return Some((key, value));
    }
    value.strip_prefix(' ').map(|value| (key, value.trim_start_matches(' ')))
}

/// Returns the content of a scalar in quotes without escapes.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = value[1..].strip_suffix(quote)?;
    (!inner.contains([quote, '\\'])).then_some(inner)
}

/// Returns the content of a scalar that is certainly a string and ends with its line.
fn text_of(value: &str) -> Option<&str> {
    if let Some(text) = quoted(value) {
        return Some(text);
    }
    let is_text = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && !WORDS.iter().any(|word| word.eq_ignore_ascii_case(value))
        && is_plain_line(value);
    is_text.then_some(value)
}

/// True for the start of a plain scalar that is no number beyond the range of Go.
fn is_plain_start(value: &str) -> bool {
    let first = value.strip_prefix('-').unwrap_or(value).as_bytes().first();
    let is_number =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'e' | b'E' | b'+' | b'-' | b'.' | b'_');
    let is_unsure = value.len() > 15 || value.contains(['e', 'E']);
    first.is_some_and(|first| first.is_ascii_alphanumeric() || matches!(first, b'/' | b'(' | b'$'))
        && !(is_unsure && value.bytes().all(is_number))
}

/// True for a line of a plain scalar without a key and a comment.
fn is_plain_line(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '/' | '(' | '$' | '-'))
        && !line.starts_with("- ")
        && line != "-"
        && !line.starts_with("---")
        && !line.ends_with(':')
        && !line.contains(": ")
        && !line.contains(" #")
}

#[cfg(test)]
mod tests {
    use super::super::Head;
    use super::read;

    /// Checks that this reader agrees with the full one if it reads a document at all.
    fn agrees(document: &str) -> bool {
        let Some(head) = read(document) else { return false };
        let json = crate::value_tree::read_json_text(document);
        let json = json.unwrap_or_else(|error| panic!("{error}: {document:?}"));
        let full = Head::of_json(&json).unwrap_or_else(|error| panic!("{error}: {document:?}"));
        let facts = |head: &Head| (head.api_version.clone(), head.kind.clone(), head.name.clone());
        assert_eq!(facts(&head), facts(&full), "{document:?}");
        let hooks: Vec<_> = full.annotations.iter().filter(|(key, _)| key.starts_with("helm.sh/")).collect();
        assert_eq!(head.annotations.iter().collect::<Vec<_>>(), hooks, "{document:?}");
        true
    }

    const DOCUMENT: &str = "# a comment
apiVersion: apps/v1
kind: \"Deployment\"
metadata:
  name: web
  annotations:
    helm.sh/hook: pre-install
    note: 'a b'
spec:
  replicas: -1
  list:
  - name: a
    on: 1.5
  -   - b
      - c: {}
  text: |-
    a: b
     # c

    d
  long: some words
    more words

    and more
  next: []
";

    #[test]
    fn simple_documents_are_read_like_others() {
        assert!(agrees(DOCUMENT));
        for document in
            ["a: b", "kind: A\nmetadata:\nspec:\n  a: 1", "metadata:\n  name: 'x'\n  labels:\n    a: b"]
        {
            assert!(agrees(document), "{document:?}");
        }
    }

    #[test]
    fn other_documents_are_left_to_the_full_reader() {
        for document in [
            "",
            "# a comment",
            "- a: b",
            "kind: 5",
            "kind: yes",
            "Kind: A",
            "kind: A\nkind: B",
            "metadata: x",
            "metadata:\n- a",
            "a: 1e999",
            "a: .inf",
            "a: &x b",
            "a: !!int b",
            "a: \"b\\x\"",
            "a: b: c",
            "a: b # c",
            "a:\tb",
            "a: b\n c: d",
            "a: |\n  b\n c",
            "null: a",
            "a: [b",
            "a: \u{feff}",
        ] {
            assert!(!agrees(document), "{document:?}");
        }
    }

    /// Every change of one place gives a document that both read alike, or that only the full reader reads.
    #[test]
    fn no_small_change_makes_the_readers_disagree() {
        let insertions = [
            "", " ", "  ", "\n", "\n\n", "-", "- ", ":", ": ", "#", " #", "'", "\"", "|", "|\n", ">-\n", "[",
            "{}", "e9", "a", "1", "\n ",
        ];
        let mut read = 0;
        for at in 0..DOCUMENT.len() {
            for insertion in insertions {
                for removed in 0..=2_usize.min(DOCUMENT.len() - at) {
                    let changed = format!("{}{insertion}{}", &DOCUMENT[..at], &DOCUMENT[at + removed..]);
                    read += usize::from(agrees(changed.trim()));
                }
            }
        }
        assert!(read > 5_000, "{read} documents are simple");
    }
}

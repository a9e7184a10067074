//! The head of a document in simple YAML, read without a tree.
//!
//! Most documents of charts are block mappings of plain scalars, and some have thousands of lines. This reader knows
//! only such YAML, line by line. It gives up on everything else, so that the full reader decides and words the errors.

mod scalar;
#[cfg(test)]
mod tests;

use memchr::memchr_iter;

use super::Head;
use scalar::{
    ends_quoted, has_simple_characters, is_flow, is_plain_line, is_plain_start, split_key, text_of, trim_end,
    trim_start, without_comment,
};

/// The deepest nesting.
const MAX_DEPTH: usize = 64;

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
    /// A text in these quotes, in lines behind this column.
    Quoted(usize, u8),
    /// The text of `|` or `>`, in lines behind this column.
    Block(usize),
    /// Such a text with its indentation.
    Text(usize, usize),
}

/// Reads the head of a document. `None` if the document is no simple YAML.
pub(super) fn read(document: &str) -> Option<Head> {
    has_simple_characters(document).then_some(())?;
    let mut reader = Reader::default();
    let mut start = 0;
    for end in memchr_iter(b'\n', document.as_bytes()).chain([document.len()]) {
        reader.line(&document[start..end])?;
        start = end + 1;
    }
    (!matches!(reader.open, Open::Quoted(..))).then_some(reader.head)
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
        let content = trim_start(line);
        let column = line.len() - content.len();
        match self.open {
            Open::Block(_) if content.is_empty() => return line.is_empty().then_some(()),
            Open::Block(outer) if column > outer => {
                self.open = Open::Text(outer, column);
                return Some(());
            }
            Open::Text(..) | Open::Quoted(..) if content.is_empty() => return Some(()),
            Open::Text(_, indent) if column >= indent => return Some(()),
            // A comment may not follow directly, and other lines may not be between the two indentations.
            Open::Text(outer, _) if column > outer => return None,
            Open::Block(_) | Open::Text(..) if content.starts_with('#') => return None,
            Open::Quoted(outer, _) if column <= outer => return None,
            Open::Quoted(_, quote) => {
                if ends_quoted(content, quote)? {
                    self.open = Open::Nothing;
                }
                return Some(());
            }
            Open::Plain(outer) if column > outer && !content.is_empty() => {
                return is_plain_line(trim_end(content)).then_some(());
            }
            _ => {}
        }
        let content = trim_end(content);
        if content.is_empty() {
            return Some(());
        }
        self.open = Open::Nothing;
        if content.starts_with('#') {
            return Some(());
        }
        let (content, has_comment) = without_comment(content);
        self.content(content, column)?;
        if has_comment && matches!(self.open, Open::Plain(_)) {
            self.open = Open::Nothing;
        }
        Some(())
    }

    /// Reads a line that starts an item or an entry.
    fn content(&mut self, mut content: &str, mut column: usize) -> Option<()> {
        let mut follows_dash = false;
        while let Some(rest) = content.strip_prefix("- ") {
            self.item(column, follows_dash)?;
            follows_dash = true;
            content = trim_start(rest);
            column += 2 + rest.len() - content.len();
        }
        match split_key(content) {
            Some((key, value)) => self.entry(key, value, column, follows_dash),
            None if follows_dash => {
                let list = self.levels.last()?.column;
                self.scalar(content, list)
            }
            None => self.value_below_key(content, column),
        }
    }

    /// Reads the value of the last key in a line of its own.
    fn value_below_key(&mut self, content: &str, column: usize) -> Option<()> {
        let level = self.levels.last_mut().filter(|level| level.column < column)?;
        let is_value = match level.pending? {
            Role::Other => !content.starts_with(['|', '>']),
            Role::Annotations => content == "{}",
            Role::Object | Role::Metadata => false,
        };
        is_value.then_some(())?;
        level.pending = None;
        let outer = level.column;
        self.scalar(content, outer)
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
            Role::Annotations if value.is_empty() || value.starts_with(['[', '{']) => return None,
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
        match value.as_bytes().first()? {
            b'|' | b'>' => {
                self.open = Open::Block(column);
                matches!(value, "|" | "|-" | "|+" | ">" | ">-" | ">+").then_some(())
            }
            quote @ (b'"' | b'\'') => {
                if !ends_quoted(&value[1..], *quote)? {
                    self.open = Open::Quoted(column, *quote);
                }
                Some(())
            }
            b'[' | b'{' => is_flow(value).then_some(()),
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

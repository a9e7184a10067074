//! Adds and removes entries in the text of a configuration file.

use api::ProviderType;
use manifest::{
    Map, Value,
    yaml::{self, YamlError, YamlLimits},
};
use transport::HostKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    pub(super) name: String,
    pub(super) provider_type: ProviderType,
    pub(super) url: String,
    pub(super) kind: Option<HostKind>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Unchanged,
    Added(String),
    Replaced(String),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("the file is not valid YAML")]
    Invalid(#[source] YamlError),
    #[error("the file contains `{name}` with the URL `{url}`")]
    OtherUrl { name: String, url: String },
    #[error("the file contains `{name}` with {kind}")]
    OtherKind { name: String, kind: String },
    #[error("the field `providers` {found}")]
    Layout { found: &'static str },
}

impl ConfigEntry {
    /// Returns the lines of the entry, indented by `indent`.
    pub(super) fn lines(&self, indent: &str) -> String {
        let scalar = |text: &str| yaml::write(&Value::from(text)).trim_end().to_owned();
        let (name, provider_type, url) = (scalar(&self.name), self.provider_type, scalar(&self.url));
        let kind = self.kind.map(|kind| format!("{indent}  kind: {kind}\n")).unwrap_or_default();
        format!("{indent}- name: {name}\n{indent}  type: {provider_type}\n{indent}  url: {url}\n{kind}")
    }

    fn value(&self) -> Value {
        let field = |name: &str, text: &str| (name.to_owned(), Value::from(text));
        let kind = self.kind.map(|kind| field("kind", &kind.to_string()));
        let fields =
            [field("name", &self.name), field("type", self.provider_type.as_str()), field("url", &self.url)];
        Value::Object(fields.into_iter().chain(kind).collect())
    }

    fn matches(&self, value: &Value) -> bool {
        field(value, "name") == Some(&self.name) && field(value, "type") == Some(self.provider_type.as_str())
    }
}

/// Adds an entry to the text of a configuration file, and leaves the rest unchanged.
/// Shape: the list is the top-level field `providers` in any letter case. The list is created if missing. The result
/// is parsed again and must contain exactly one more entry, or one changed URL.
pub(super) fn add_entry(text: &str, entry: &ConfigEntry, replace: bool) -> Result<Edit, EditError> {
    let before = read(text)?;
    let (key, list) = provider_list(&before)?;
    // Of two equal entries, the later one counts.
    let place = list.iter().rposition(|value| entry.matches(value));
    let kind = |at: usize| field(&list[at], "kind").filter(|kind| !kind.is_empty());
    if let Some(at) = place.filter(|at| kind(*at) != entry.kind.map(|kind| kind.to_string()).as_deref()) {
        let kind = kind(at).map_or("no host kind".to_owned(), |kind| format!("the host kind `{kind}`"));
        return Err(EditError::OtherKind { name: entry.name.clone(), kind });
    }
    let edit = match place {
        Some(at) if field(&list[at], "url") == Some(&entry.url) => return Ok(Edit::Unchanged),
        Some(at) if !replace => {
            let url = field(&list[at], "url").unwrap_or_default().to_owned();
            return Err(EditError::OtherUrl { name: entry.name.clone(), url });
        }
        Some(at) => Edit::Replaced(replace_url(text, at, &entry.url)?),
        None => Edit::Added(append_entry(text, key.is_some(), entry)?),
    };
    let (Edit::Added(edited) | Edit::Replaced(edited)) = &edit else { return Ok(edit) };
    let mut expected = before.clone();
    let list = expected.entry(key.unwrap_or_else(|| "providers".to_owned())).or_insert(Value::Null);
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    match (list.as_array_mut(), place) {
        (Some(list), Some(at)) => list[at]["url"] = Value::from(entry.url.as_str()),
        (Some(list), None) => list.push(entry.value()),
        (None, _) => return Err(EditError::Layout { found: "is not a list" }),
    }
    if read(edited).ok().as_ref() == Some(&expected) {
        Ok(edit)
    } else {
        Err(EditError::Layout { found: LAYOUT })
    }
}

const ONE_LINE: &str = "is on one line";
const LAYOUT: &str = "has a layout that capstan cannot edit safely";

fn read(text: &str) -> Result<Map<String, Value>, EditError> {
    match yaml::read_value(text, &YamlLimits::default()).map_err(EditError::Invalid)? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err(EditError::Layout { found: "cannot be added because the file is not a mapping" }),
    }
}

/// Returns the written key of the list, if any, and the list.
fn provider_list(fields: &Map<String, Value>) -> Result<(Option<String>, &[Value]), EditError> {
    let key = fields.keys().find(|key| key.eq_ignore_ascii_case("providers")).cloned();
    match key.as_ref().and_then(|key| fields.get(key)) {
        None | Some(Value::Null) => Ok((key, &[])),
        Some(Value::Array(list)) => Ok((key, list)),
        Some(_) => Err(EditError::Layout { found: "is not a list" }),
    }
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    let fields = value.as_object()?;
    fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
}

struct Block<'a> {
    lines: Vec<&'a str>,
    key: usize,
    /// The first line of each entry. The last number is the line after the last entry.
    starts: Vec<usize>,
    indent: &'a str,
}

impl<'a> Block<'a> {
    fn find(text: &'a str) -> Option<Self> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let key = lines.iter().position(|line| is_key(line))?;
        let content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let behind = key + 1;
        let first = lines[behind..].iter().position(|line| content(line)).map(|at| at + behind);
        let indent = first.map_or("", |at| indent_of(lines[at]));
        let is_entry = |line: &str| indent_of(line) == indent && line.trim_start().starts_with('-');
        let inside = |line: &str| is_entry(line) || indent_of(line).len() > indent.len();
        let (mut starts, mut end) = (Vec::new(), behind);
        for (at, line) in lines.iter().enumerate().skip(behind).filter(|(_, line)| content(line)) {
            if !inside(line) {
                break;
            }
            if is_entry(line) {
                starts.push(at);
            }
            end = at + 1;
        }
        starts.push(end);
        Some(Self { lines, key, starts, indent })
    }

    fn is_empty(&self) -> bool {
        self.starts.len() == 1
    }
}

fn is_key(line: &str) -> bool {
    let Some((key, _)) = line.split_once(':') else { return false };
    key.trim_end().trim_matches(['"', '\'']).eq_ignore_ascii_case("providers")
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn append_entry(text: &str, has_key: bool, entry: &ConfigEntry) -> Result<String, EditError> {
    let newline = line_end(text);
    let mut edited = String::with_capacity(text.len() + 256);
    let end_line = |edited: &mut String| {
        if !edited.is_empty() && !edited.ends_with('\n') {
            edited.push_str(newline);
        }
    };
    if !has_key {
        edited.push_str(text);
        end_line(&mut edited);
        edited.push_str(&format!("providers:\n{}", entry.lines("  ")).replace('\n', newline));
        return Ok(edited);
    }
    let block = Block::find(text).ok_or(EditError::Layout { found: LAYOUT })?;
    let key_line = block.lines[block.key];
    let behind_key =
        key_line.split_once(':').map_or("", |(_, rest)| rest.split(" #").next().unwrap_or_default().trim());
    let (key_line, indent) = match (behind_key, block.is_empty()) {
        ("", true) => (key_line.to_owned(), "  "),
        ("[]" | "~" | "null", true) => (key_line.replacen(&format!(" {behind_key}"), "", 1), "  "),
        ("", false) => (key_line.to_owned(), block.indent),
        _ => return Err(EditError::Layout { found: ONE_LINE }),
    };
    let end = block.starts.last().copied().unwrap_or(block.key + 1);
    edited.extend(block.lines[..block.key].iter().copied());
    edited.push_str(&key_line);
    edited.extend(block.lines[block.key + 1..end].iter().copied());
    end_line(&mut edited);
    edited.push_str(&entry.lines(indent).replace('\n', newline));
    edited.extend(block.lines[end..].iter().copied());
    Ok(edited)
}

/// Replaces the URL of one entry. The comment after the old URL stays.
fn replace_url(text: &str, at: usize, url: &str) -> Result<String, EditError> {
    let block = Block::find(text).ok_or(EditError::Layout { found: LAYOUT })?;
    let [start, end] = block
        .starts
        .get(at..at + 2)
        .and_then(|two| two.try_into().ok())
        .ok_or(EditError::Layout { found: ONE_LINE })?;
    let is_url = |line: &&str| {
        let key = line.trim_start_matches([' ', '-']).split_once(':').map_or("", |(key, _)| key);
        key.trim_end().trim_matches(['"', '\'']).eq_ignore_ascii_case("url")
    };
    let line =
        block.lines[start..end].iter().position(is_url).ok_or(EditError::Layout { found: LAYOUT })? + start;
    let (key, value) = block.lines[line].split_once(':').unwrap_or_default();
    let old = value.trim_end();
    let comment = old.find(" #").map_or("", |hash| &old[hash..]);
    let scalar = yaml::write(&Value::from(url));
    let mut edited = String::with_capacity(text.len() + url.len());
    edited.extend(block.lines[..line].iter().copied());
    edited.extend([key, ": ", scalar.trim_end(), comment, &value[old.len()..]]);
    edited.extend(block.lines[line + 1..].iter().copied());
    Ok(edited)
}

/// An entry of the list, with its written name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedEntry {
    pub(super) name: String,
    pub(super) provider_type: String,
}

/// Returns the entries in the text of a configuration file, in their order.
pub(super) fn list_entries(text: &str) -> Result<Vec<ListedEntry>, EditError> {
    let fields = read(text)?;
    let (_, list) = provider_list(&fields)?;
    let text = |value: &Value, name: &str| field(value, name).unwrap_or_default().to_owned();
    let entry = |value| ListedEntry { name: text(value, "name"), provider_type: text(value, "type") };
    Ok(list.iter().map(entry).collect())
}

/// Removes all entries of a provider from the text, and leaves the rest unchanged, including comments around an
/// entry.
pub(super) fn remove_entries(text: &str, name: &str, of: ProviderType) -> Result<String, EditError> {
    let before = read(text)?;
    let (key, list) = provider_list(&before)?;
    let is_meant =
        |value: &Value| field(value, "name") == Some(name) && field(value, "type") == Some(of.as_str());
    let block = Block::find(text).ok_or(EditError::Layout { found: LAYOUT })?;
    if block.starts.len() != list.len() + 1 {
        return Err(EditError::Layout { found: ONE_LINE });
    }
    let mut is_removed = vec![false; block.lines.len()];
    for (at, _) in list.iter().enumerate().filter(|(_, value)| is_meant(value)) {
        // Comments and empty lines after the last line of an entry belong to the next entry.
        let lines = &block.lines[block.starts[at]..block.starts[at + 1]];
        let is_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let end = lines.iter().rposition(is_content).map_or(0, |last| last + 1);
        is_removed[block.starts[at]..block.starts[at] + end].fill(true);
    }
    let kept: Vec<&Value> = list.iter().filter(|value| !is_meant(value)).collect();
    let mut edited = String::with_capacity(text.len());
    for (at, line) in block.lines.iter().enumerate().filter(|(at, _)| !is_removed[*at]) {
        match line.split_once(':') {
            Some((key, rest)) if at == block.key && kept.is_empty() => edited.extend([key, ": []", rest]),
            _ => edited.push_str(line),
        }
    }
    let mut expected = before.clone();
    let kept = Value::Array(kept.into_iter().cloned().collect());
    if let Some(list) = key.and_then(|key| expected.get_mut(&key)) {
        *list = kept;
    }
    if read(&edited).ok() == Some(expected) { Ok(edited) } else { Err(EditError::Layout { found: LAYOUT }) }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod removal_tests {
    use super::*;

    fn removed(text: &str) -> Result<String, EditError> {
        remove_entries(text, "mine", ProviderType::Infrastructure)
    }

    #[test]
    fn an_entry_goes_and_comments_around_it_stay() {
        let text = "# tokens\nA: 1\nproviders:\n  # first\n  - name: a\n    url: x\n    type: CoreProvider\n  # mine\n  \
                - url: y # here\n    name: mine\n    # inside\n    type: InfrastructureProvider\n\n  # last\n  - {name: b, \
                url: z, type: CoreProvider}\nB: 2 # end\n";
        let expected = "# tokens\nA: 1\nproviders:\n  # first\n  - name: a\n    url: x\n    type: CoreProvider\n  # mine\n\n  \
                    # last\n  - {name: b, url: z, type: CoreProvider}\nB: 2 # end\n";
        assert_eq!(removed(text).unwrap(), expected);
    }

    #[test]
    fn the_last_entry_leaves_an_empty_list_and_a_repeated_one_goes_with_it() {
        let entry = "- name: mine\r\n  type: InfrastructureProvider\r\n  url: y\r\n";
        let text = format!("Providers: # ours\r\n{entry}{entry}B: 2\r\n");
        assert_eq!(removed(&text).unwrap(), "Providers: [] # ours\r\nB: 2\r\n");
    }

    #[test]
    fn a_list_in_one_line_is_left_alone() {
        let text = "providers: [{name: mine, type: InfrastructureProvider, url: y}]\n";
        assert!(matches!(removed(text), Err(EditError::Layout { .. })));
    }
}

use std::{fmt::Write as _, path::Path};

use api::output::{ObjectList, Variable, VariableList};
use manifest::Object;

use crate::{
    Failure,
    kustomizations::FileNames,
    session::Session,
    settings::{OutputFormat, to_json},
    ui::{write_file_atomically, write_private_file},
    verbs::provenance::{self, Provenance},
};

/// The mode of rendered files. Only the owner can read them, because objects may contain credentials.
const OBJECTS_MODE: u32 = 0o600;

/// Writes rendered objects to a file. A file with a Secret becomes private, any other existing file keeps its mode.
pub(crate) fn write_objects(path: &Path, text: &str) -> Result<(), Failure> {
    if contains_secret(text) {
        write_private_file(path, text.as_bytes())?;
    } else {
        write_file_atomically(path, text.as_bytes(), OBJECTS_MODE)?;
    }
    Ok(())
}

/// True if a line of the YAML or JSON is the kind of a Secret.
fn contains_secret(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start().trim_start_matches("- ");
        let kind = line.strip_prefix("kind: ").or_else(|| line.strip_prefix("\"kind\": "));
        let kind = kind.and_then(|kind| kind.split([' ', ',']).next());
        kind.is_some_and(|kind| kind.trim_matches('"') == "Secret")
    })
}

/// Prints objects to stdout, or to a file once all objects are rendered.
/// Shape: YAML documents joined by `---`, or one `v1` List as JSON, with a final newline. Traced objects contain the
/// origin of their fields.
pub(crate) fn print_objects(
    mut objects: Vec<Object>,
    format: OutputFormat,
    provenance: Provenance,
    write_to: Option<&str>,
    session: &mut Session,
) -> Result<(), Failure> {
    FileNames::relative_to(session.environment().current_dir()).rename_origins(&mut objects);
    let text = match format {
        _ if provenance == Provenance::Json => provenance::report(&objects)?,
        OutputFormat::Text | OutputFormat::Yaml => manifest::write_traced_stream(&objects) + "\n",
        OutputFormat::Json => {
            let items = objects.into_iter().map(Object::into_value).collect();
            to_json(&ObjectList { api_version: "v1".to_owned(), kind: "List".to_owned(), items })?
        }
    };
    match write_to.map(str::trim).filter(|path| !path.is_empty() && *path != "-") {
        Some(path) => write_objects(&session.environment().resolve(path), &text),
        None => session.printer().write(text),
    }
}

/// Prints variables. `text` builds the list for people, which has two forms.
pub(super) fn print_variables(
    variables: Vec<Variable>,
    format: OutputFormat,
    session: &mut Session,
    text: impl FnOnce(&[Variable]) -> String,
) -> Result<(), Failure> {
    session.print(format, &VariableList { variables }, |list, _| text(&list.variables))
}

/// Returns the variable names in the format of clusterctl. An empty line if there are none.
pub(super) fn variable_names(variables: &[Variable]) -> String {
    if variables.is_empty() {
        return "\n".to_owned();
    }
    let mut text = "Variables:\n".to_owned();
    for variable in variables {
        let _ = writeln!(text, "  - {}", variable.name);
    }
    text
}

/// Quotes a text like `%q` in Go.
pub(super) fn go_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            c if u32::from(c) < 0x20 || c == '\u{7f}' => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(c));
            }
            c if is_unprintable(c) && u32::from(c) > 0xffff => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            }
            c if is_unprintable(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// True for characters that Go escapes: controls, blanks other than the space, invisible characters, and unassigned
/// code points.
/// Source: Go strconv.IsPrint.
fn is_unprintable(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    // A combining mark is printable, but only detected as such after another character.
    c.is_whitespace() || String::from_iter(['a', c]).escape_debug().to_string().contains("\\u{")
}

#[cfg(test)]
mod tests {
    use super::go_quoted;

    #[test]
    fn defaults_are_quoted_as_by_clusterctl() {
        assert_eq!(go_quoted("plain"), r#""plain""#);
        assert_eq!(go_quoted("a\"b\\c\nd\te\u{1}f"), r#""a\"b\\c\nd\te\x01f""#);
        assert_eq!(go_quoted("it's ü \u{a0}\u{85}"), r#""it's ü \u00a0\u0085""#);
        assert_eq!(go_quoted("\u{301} 😀\u{ad}\u{e0001}\u{feff}"), "\"\u{301} 😀\\u00ad\\U000e0001\\ufeff\"");
    }
}

//! Components and other objects in files.

use std::{fs, path::Path};

use component::{
    CheckedComponent, ComponentKey, FieldProblem, KIND, LocalObjects, check_component, check_metadata,
};
use manifest::{Object, YamlLimits, read_stream, value_text, yaml};
use transport::disk::read_limited;

use crate::{Failure, session::Session};

/// The largest file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The flags that name files with Components.
#[derive(clap::Args)]
pub(super) struct FileFlags {
    /// Files or folders with Components, their Secrets and sources; `-` for stdin
    #[arg(value_name = "FILE|DIR")]
    places: Vec<String>,

    /// File or folder as above; repeatable
    #[arg(short = 'f', long = "filename", value_name = "FILE|DIR")]
    filenames: Vec<String>,
}

impl FileFlags {
    /// True if no file is given.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.filenames.is_empty()
    }

    /// Returns the files and folders.
    /// # Errors
    /// None is given.
    pub(super) fn places(&self) -> Result<Vec<String>, Failure> {
        if self.is_empty() {
            return Err(Failure::user("no Components are given")
                .hint("name files or folders with Components, such as `web.yaml` or `components/`"));
        }
        Ok([&*self.places, &*self.filenames].concat())
    }
}

/// The objects of some files.
#[derive(Debug, Default)]
pub(super) struct ComponentFiles {
    /// The Components, in the order of files and documents.
    pub(super) components: Vec<CheckedComponent>,
    /// All other objects, such as Secrets and sources of Flux.
    pub(super) others: Vec<Object>,
}

impl ComponentFiles {
    /// Returns the objects that Components of a namespace may refer to. Objects without a namespace are in this one.
    pub(super) fn objects_for(&self, namespace: &str) -> LocalObjects {
        LocalObjects::new(self.others.iter().cloned(), namespace)
    }
}

/// Reads files and folders, `-` for stdin. Components without a namespace are in `namespace`.
/// # Errors
/// All problems of all Components, with file and line.
pub(super) fn read_components(
    places: &[String],
    namespace: &str,
    session: &mut Session,
) -> Result<ComponentFiles, Failure> {
    let (mut found, mut problems) = (ComponentFiles::default(), Vec::new());
    for (name, text) in read_texts(places, session)? {
        let stream = match read_stream(text.as_bytes(), &YamlLimits::default()) {
            Ok(stream) => stream,
            Err(error) => {
                problems.push(format!("{name}: {error}"));
                continue;
            }
        };
        for (mut object, line) in stream.objects.into_iter().zip(stream.lines) {
            let position = |field: &str| format!("{name}:{}", line_of(&text, line, field));
            let shown = object.get(&["metadata", "name"]).map(value_text).unwrap_or_default();
            let problem = |one: &FieldProblem| format!("{}: {shown}: {one}", position(&one.field));
            if object.kind() != KIND || object.group() != component::GROUP {
                problems.extend(check_metadata(&object).iter().map(problem));
                found.others.push(object);
                continue;
            }
            if object.get(&["metadata", "namespace"]).is_none_or(|own| own.is_null() || own == "") {
                object.set_namespace(namespace);
            }
            match check_component(&object) {
                Ok(checked) => {
                    for field in &checked.unknown_fields {
                        let text = format!("{}: unknown field `{field}`, ignored", position(field));
                        session.messages().warning(text);
                    }
                    let key = ComponentKey::of(&checked.component);
                    if found.components.iter().any(|other| ComponentKey::of(&other.component) == key) {
                        problems
                            .push(format!("{}: Component `{key}` is defined twice", position("metadata")));
                    }
                    found.components.push(checked);
                }
                Err(rejected) => problems.extend(rejected.iter().map(problem)),
            }
        }
    }
    match problems.len() {
        0 if found.components.is_empty() => {
            Err(Failure::user(format!("there is no Component in {}", places.join(", "))))
        }
        0 => Ok(found),
        count => {
            let message = format!("invalid Components: {}", crate::ui::format_count(count, "problem"));
            Err(problems.into_iter().fold(Failure::user(message), Failure::cause))
        }
    }
}

/// Reads all objects of files, such as Secrets.
pub(super) fn read_objects(places: &[String], session: &mut Session) -> Result<Vec<Object>, Failure> {
    let mut objects = Vec::new();
    for (name, text) in read_texts(places, session)? {
        let stream = read_stream(text.as_bytes(), &YamlLimits::default());
        let stream = stream
            .map_err(|error| Failure::user(format!("cannot read `{name}`")).cause(error.to_string()))?;
        if let Some(problem) = stream.objects.iter().flat_map(check_metadata).next() {
            return Err(Failure::user(format!("cannot read `{name}`")).cause(problem.to_string()));
        }
        objects.extend(stream.objects);
    }
    Ok(objects)
}

/// Returns the texts of files and of the YAML and JSON files in folders, with names for messages.
fn read_texts(places: &[String], session: &mut Session) -> Result<Vec<(String, String)>, Failure> {
    let mut texts = Vec::new();
    for place in places {
        if place == "-" {
            let bytes = session.read_stdin()?;
            texts.push(("stdin".to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
            continue;
        }
        let path = session.environment().resolve(place);
        if !path.is_dir() {
            texts.push((place.clone(), read_text(&path)?));
            continue;
        }
        let entries = fs::read_dir(&path).map_err(|error| Failure::io("read", &path, &error))?;
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        for file in files.iter().filter(|file| is_manifest(file)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            texts.push((format!("{}/{name}", place.trim_end_matches('/')), read_text(file)?));
        }
    }
    Ok(texts)
}

/// True for YAML and JSON files.
pub(super) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    path.is_file() && ["yaml", "yml", "json"].contains(&extension)
}

fn read_text(path: &Path) -> Result<String, Failure> {
    match read_limited(path, MAX_FILE_BYTES)? {
        Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        None => Err(Failure::user(format!("cannot find `{}`", path.display()))),
    }
}

/// Returns the line of a field in the document that starts at `start`, from 1.
fn line_of(text: &str, start: usize, field: &str) -> usize {
    let document: Vec<&str> = text.split('\n').skip(start.saturating_sub(1)).collect();
    yaml::line_of(&document.join("\n"), field).map_or(start, |line| start + line - 1)
}

//! The engine: its syntax, its loader, and its limits.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;

use super::error::TemplateError;
use super::rewrite::rewrite;
use super::{filters, methods, mutable, percent, python, standard_filters};
use crate::file_reading::read_text;
use crate::results::Reads;

/// The maximum size of a template in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The maximum number of steps of a template.
const MAX_STEPS: u64 = 10_000_000;

/// Renders a template. Other templates are found in its folder, then in the search paths.
pub(crate) fn render(
    file: &Path,
    search_paths: &[PathBuf],
    variables: &impl Serialize,
    reads: &Arc<Reads>,
) -> Result<String, TemplateError> {
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let name = file.file_name().and_then(|name| name.to_str());
    let name =
        name.ok_or_else(|| TemplateError::new("the name of the file is not valid UTF-8".to_owned()))?;
    let folders: Vec<PathBuf> = [folder].into_iter().chain(search_paths.iter().cloned()).collect();
    let source = |name: &str| Some(rewrite(&load(&folders, name, reads).ok()??));
    let environment = kapitan_environment(folders.clone(), reads);
    environment
        .get_template(name)
        .and_then(|template| template.render(Serde(variables)))
        .map_err(|error| TemplateError::of_engine(&error, source))
}

fn kapitan_environment(folders: Vec<PathBuf>, reads: &Arc<Reads>) -> Environment<'static> {
    let mut environment = environment(folders, reads);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    minijinja_contrib::add_to_environment(&mut environment);
    standard_filters::add(&mut environment);
    filters::add(&mut environment, reads);
    environment
}

/// Creates an engine with strict variables, the texts and methods of Python, and limits. It finds templates in folders.
pub(crate) fn environment(folders: Vec<PathBuf>, reads: &Arc<Reads>) -> Environment<'static> {
    let mut environment = Environment::new();
    let loader_reads = Arc::clone(reads);
    environment.set_loader(move |name| {
        load(&folders, name, &loader_reads)
            .map(|source| source.map(|source| rewrite(&source)))
            .map_err(|error| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string()))
    });
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(python::format);
    environment.set_unknown_method_callback(methods::call);
    environment.set_fuel(Some(MAX_STEPS));
    environment.add_filter(percent::FILTER, percent::percent);
    mutable::add(&mut environment);
    environment
}

/// Reads a template from the first folder that has it. A name never leaves its folder.
fn load(folders: &[PathBuf], name: &str, reads: &Reads) -> io::Result<Option<String>> {
    let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(inside) {
        return Ok(None);
    }
    let Some(path) = folders.iter().map(|folder| folder.join(name)).find(|path| reads.is_file(path)) else {
        return Ok(None);
    };
    let text = read_text(&path, MAX_BYTES).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot read `{}`: {error}", path.display()))
    })?;
    reads.note_content(&path, text.as_bytes());
    Ok(Some(text))
}

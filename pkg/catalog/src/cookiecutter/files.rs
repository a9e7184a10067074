//! The files of a rendered template.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use repository::git::NewFile;
use serde_json::Value;

use super::engine::Engine;
use super::{CookiecutterError, OrderedMap};
use crate::fnmatch::expression;

/// The maximum size of all files of a template in bytes, before and after rendering.
pub(super) const MAX_BYTES: u64 = 64 << 20;
/// The maximum number of files of a template.
const MAX_FILES: usize = 10_000;
/// The maximum number of folders around a file.
const MAX_DEPTH: usize = 64;

/// The hooks before and after the files are written.
pub(crate) const PRE_HOOK: &str = "pre_gen_project";
pub(crate) const POST_HOOK: &str = "post_gen_project";

/// Renders the files of a template. Their paths start in the new folder. They are sorted by path.
pub(crate) fn render(folder: &Path, variables: &OrderedMap) -> Result<Vec<NewFile>, CookiecutterError> {
    let root = template_folder(folder)?;
    let engine = Engine::new(variables, vec![root.clone(), folder.join("templates")])?;
    let copied = copied_patterns(variables);
    let variables = variables.to_value();
    let mut sources = Vec::new();
    list(&root, "", MAX_DEPTH, &mut sources)?;
    let mut files: BTreeMap<String, (String, NewFile)> = BTreeMap::new();
    let mut total = 0;
    for source in sources {
        let text = |text: &str| {
            engine
                .render(&source, text, &variables)
                .map_err(|reason| CookiecutterError::Text { path: source.clone(), reason })
        };
        let Some(path) = project_path(&text(&source)?)? else { continue };
        let (content, is_executable) = read(&root.join(&source))?;
        let is_copied = || copied.iter().any(|pattern| is_below(pattern, &source));
        let content = match std::str::from_utf8(&content) {
            Ok(template) if !template.contains('\0') && !is_copied() => text(template)?.into_bytes(),
            _ => content,
        };
        total += content.len() as u64;
        if total > MAX_BYTES {
            return Err(CookiecutterError::TooLarge { limit_mib: MAX_BYTES >> 20 });
        }
        let file = NewFile { path: path.clone(), content, is_executable };
        if let Some((first, _)) = files.insert(path.clone(), (source.clone(), file)) {
            return Err(CookiecutterError::Twice { first, second: source, path });
        }
    }
    Ok(files.into_values().map(|(_, file)| file).collect())
}

/// Returns the name of the new folder.
pub(crate) fn project_name(folder: &Path, variables: &OrderedMap) -> Result<String, CookiecutterError> {
    let root = template_folder(folder)?;
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let engine = Engine::new(variables, Vec::new())?;
    let rendered = engine
        .render(&name, &name, &variables.to_value())
        .map_err(|reason| CookiecutterError::Text { path: name.clone(), reason })?;
    project_path(&rendered)?.ok_or(CookiecutterError::Escapes { path: rendered })
}

/// Renders a hook of a template.
pub(crate) fn render_hook(
    folder: &Path,
    hook: &str,
    variables: &OrderedMap,
) -> Result<Vec<u8>, CookiecutterError> {
    let (content, _) = read(&folder.join(hook))?;
    let failed = |reason| CookiecutterError::Text { path: hook.to_owned(), reason };
    let text = String::from_utf8(content).map_err(|_| failed("it is not valid UTF-8".to_owned()))?;
    let engine = Engine::new(variables, vec![folder.to_owned(), folder.join("templates")])?;
    engine.render(hook, &text, &variables.to_value()).map(String::into_bytes).map_err(failed)
}

/// Reads all files of a folder, except for those of Git. They are sorted by path.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<NewFile>, CookiecutterError> {
    let mut paths = Vec::new();
    list(folder, "", MAX_DEPTH, &mut paths)?;
    let (mut files, mut total) = (BTreeMap::new(), 0);
    for path in paths.into_iter().filter(|path| !path.starts_with(".git/")) {
        let (content, is_executable) = read(&folder.join(&path))?;
        total += content.len() as u64;
        if total > MAX_BYTES {
            return Err(CookiecutterError::TooLarge { limit_mib: MAX_BYTES >> 20 });
        }
        let path = project_path(&path)?.unwrap_or_default();
        files.insert(path.clone(), NewFile { path, content, is_executable });
    }
    Ok(files.into_values().collect())
}

/// Returns the paths of the hooks of a template, sorted.
pub(crate) fn hooks(folder: &Path) -> Vec<String> {
    let names = [PRE_HOOK, POST_HOOK];
    let entries = fs::read_dir(folder.join("hooks")).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let files = files.filter(|file| hook_name(file).is_some_and(|name| names.contains(&name)));
    let mut hooks: Vec<String> = files.map(|file| format!("hooks/{file}")).collect();
    hooks.sort();
    hooks
}

/// Returns the name of a hook: that of its file without its extension. Backups of editors are no hooks.
pub(crate) fn hook_name(file: &str) -> Option<&str> {
    (!file.ends_with('~')).then(|| file.rsplit_once('.').map_or(file, |(name, _)| name))
}

/// Finds the folder whose name is the template of the new folder.
fn template_folder(folder: &Path) -> Result<PathBuf, CookiecutterError> {
    let disk = |source| CookiecutterError::Disk { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(disk)? {
        let entry = entry.map_err(disk)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_template = ["cookiecutter", "{{", "}}"].iter().all(|part| name.contains(part));
        if is_template && entry.file_type().map_err(disk)?.is_dir() {
            found.push(entry.path());
        }
    }
    found.into_iter().min().ok_or(CookiecutterError::NoTemplate)
}

fn copied_patterns(variables: &OrderedMap) -> Vec<Regex> {
    let patterns = variables.get("_copy_without_render").and_then(Value::as_array);
    patterns
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter_map(|pattern| expression(pattern).ok())
        .collect()
}

/// True if one of some patterns matches a path or a folder around it.
pub(crate) fn matches_path(patterns: &[String], path: &str) -> bool {
    patterns.iter().filter_map(|pattern| expression(pattern).ok()).any(|pattern| is_below(&pattern, path))
}

/// True if a pattern matches a path or one of the folders around it.
fn is_below(pattern: &Regex, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.into_iter().any(|end| pattern.is_match(&path[..end]))
}

/// Lists the paths of all files in a folder, sorted. Links to folders are left out.
fn list(root: &Path, prefix: &str, depth: usize, paths: &mut Vec<String>) -> Result<(), CookiecutterError> {
    let folder = root.join(prefix);
    let disk = |source| CookiecutterError::Disk { path: folder.clone(), source };
    let mut entries: Vec<_> = fs::read_dir(&folder).map_err(disk)?.collect::<Result<_, _>>().map_err(disk)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else {
            return Err(disk(std::io::Error::other("a name is not valid UTF-8")));
        };
        let path = format!("{prefix}{name}");
        if entry.file_type().map_err(disk)?.is_dir() {
            if depth > 0 {
                list(root, &format!("{path}/"), depth - 1, paths)?;
            }
        } else if entry.path().is_file() {
            paths.push(path);
        }
        if paths.len() > MAX_FILES {
            return Err(CookiecutterError::TooMany { limit: MAX_FILES });
        }
    }
    Ok(())
}

/// Returns a rendered path without empty parts. None if its last part is empty: such a file is not wanted.
fn project_path(rendered: &str) -> Result<Option<String>, CookiecutterError> {
    if rendered.is_empty() || rendered.ends_with('/') {
        return Ok(None);
    }
    let parts: Vec<&str> = rendered.split('/').filter(|part| !part.is_empty()).collect();
    let is_bad = |part: &&str| {
        matches!(*part, "." | "..") || part.eq_ignore_ascii_case(".git") || part.contains(['\0', '\\'])
    };
    if parts.iter().any(is_bad) {
        return Err(CookiecutterError::Escapes { path: rendered.to_owned() });
    }
    Ok(Some(parts.join("/")))
}

fn read(path: &Path) -> Result<(Vec<u8>, bool), CookiecutterError> {
    let disk = |source| CookiecutterError::Disk { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(disk)?;
    if metadata.len() > MAX_BYTES {
        return Err(CookiecutterError::TooLarge { limit_mib: MAX_BYTES >> 20 });
    }
    Ok((fs::read(path).map_err(disk)?, is_executable(&metadata)))
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &fs::Metadata) -> bool {
    false
}

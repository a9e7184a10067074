use std::{
    fmt::Write as _,
    fs, io,
    path::{Component, Path, PathBuf},
};

use chart::RenderedDocument;

use super::output::OutputFolder;
use crate::{Failure, WithContext as _, verbs::generate::print::write_objects};

/// Writes documents to one file per template below a folder, as `helm template` does. Returns the lines that Helm
/// prints.
///
/// Source: Helm 3.22 pkg/action/action.go (renderResources).
pub(super) fn write(folder: &OutputFolder, documents: &[RenderedDocument<'_>]) -> Result<String, Failure> {
    let OutputFolder { path: folder, name: shown, release } = folder;
    let mut files: Vec<(String, String)> = Vec::new();
    let mut lines = String::new();
    for RenderedDocument { source, content, is_crd, .. } in documents {
        let text = format!("---\n# Source: {source}\n{content}\n");
        let file = match release {
            Some(release) if !is_crd => format!("{release}/{source}"),
            _ => (*source).to_owned(),
        };
        let _ = writeln!(lines, "wrote {shown}/{file}");
        match files.iter_mut().find(|(other, _)| *other == file) {
            Some((_, content)) => content.push_str(&text),
            None => files.push((file, text)),
        }
    }
    let cannot = || format!("cannot write `{}`", folder.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    for (file, text) in files {
        write_objects(&create_parents(folder, &file)?, &text)?;
    }
    Ok(lines)
}

/// Creates the folders of a file and returns its path. Symbolic links inside the folder are an error, because they may
/// lead out of it.
fn create_parents(folder: &Path, source: &str) -> Result<PathBuf, Failure> {
    let mut path = folder.to_owned();
    let mut names = Path::new(source).components().peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else {
            return Err(Failure::user(format!("cannot write `{source}`: the path is outside the folder")));
        };
        path.push(name);
        let cannot = || format!("cannot write `{}`", path.display());
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => {
                return Err(Failure::user(format!(
                    "cannot write `{}`: it is a symbolic link",
                    path.display()
                ))
                .hint("remove the link, or use another folder"));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(cannot),
            // A concurrent run may create the same folder.
            Ok(_) | Err(_) if names.peek().is_some() => fs::create_dir_all(&path).with_context(cannot)?,
            Ok(_) | Err(_) => {}
        }
    }
    Ok(path)
}

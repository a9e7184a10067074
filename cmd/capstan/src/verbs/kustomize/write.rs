use std::{collections::BTreeMap, path::Path};

use kustomize::Output;

use crate::{Failure, session::Session, ui::write_file_atomically, verbs::generate::print::OBJECTS_MODE};

/// Writes what was built: to stdout, to a file, or into a folder that is there, a file for each object.
pub(super) fn write(output: &Output, to: &str, session: &mut Session) -> Result<(), Failure> {
    if to.is_empty() || to == "-" {
        return session.printer().data(output.text());
    }
    let path = session.environment().resolve(to);
    if path.is_dir() {
        return write_files(output, &path);
    }
    write_file_atomically(&path, output.text().as_bytes(), OBJECTS_MODE)?;
    Ok(())
}

/// No file is written where a name cannot be that of a file in the folder, or is that of two.
fn write_files(output: &Output, folder: &Path) -> Result<(), Failure> {
    let mut files = BTreeMap::new();
    for (name, text) in output.files() {
        let is_free = !name.contains(['/', '\\']) && !files.contains_key(&name);
        if !is_free {
            let message = format!("`{name}` cannot be the name of one object's file, nothing was written");
            return Err(Failure::user(message).hint("write to one file instead of a folder"));
        }
        files.insert(name, text);
    }
    for (name, text) in files {
        write_file_atomically(&folder.join(name), text.as_bytes(), OBJECTS_MODE)?;
    }
    Ok(())
}

use std::{collections::BTreeMap, path::Path};

use kustomize::Output;

use crate::{Failure, session::Session, verbs::generate::print::write_objects};

/// Writes what was built: to stdout, to a file, or into a folder that is there, a file for each object.
pub(super) fn write(output: &Output, to: &str, session: &mut Session) -> Result<(), Failure> {
    let path = session.environment().resolve(to);
    if !is_stdout(to) && path.is_dir() {
        return write_files(output, &path);
    }
    write_text(output.text(), to, session)
}

/// Writes a text to stdout or to a file.
pub(super) fn write_text(text: String, to: &str, session: &mut Session) -> Result<(), Failure> {
    if is_stdout(to) {
        return session.printer().data(text);
    }
    write_objects(&session.environment().resolve(to), &text)
}

fn is_stdout(to: &str) -> bool {
    to.is_empty() || to == "-"
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
        write_objects(&folder.join(name), &text)?;
    }
    Ok(())
}

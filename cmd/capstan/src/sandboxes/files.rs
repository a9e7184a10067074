use std::{fs, io, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Failure, failure::Kind, ui::write_private_file};

/// Reads a file of ours, or nothing when there is none.
/// # Errors
/// Names a file that cannot be read or was damaged.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let failure = Failure::new(Kind::Environment, format!("cannot read `{}`", path.display()));
            return Err(failure.because(&error));
        }
    };
    let value = serde_json::from_slice(&text).map_err(|error| {
        Failure::new(Kind::Environment, format!("`{}` is damaged", path.display()))
            .because(&error)
            .hint(format!("remove it with `rm {}`; it is made anew", path.display()))
    })?;
    Ok(Some(value))
}

/// Writes a whole file or nothing.
/// # Errors
/// Names the file.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Failure> {
    let text = serde_json::to_vec_pretty(value).map_err(|error| {
        Failure::new(Kind::Bug, format!("cannot write `{}`", path.display())).because(&error)
    })?;
    Ok(write_private_file(path, &text)?)
}

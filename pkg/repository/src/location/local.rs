use std::path::PathBuf;

use url::Url;

use super::{LocalLocation, LocationError};

/// Parses `file:///…`.
pub(super) fn parse_url(url: &Url, label: &str) -> Result<LocalLocation, LocationError> {
    if let Some(host) = url.host_str() {
        return Err(LocationError::FileHost { host: host.to_owned() });
    }
    let path = url.to_file_path().map_err(|()| LocationError::NotAbsolute)?;
    parse(path.to_str().ok_or_else(|| form_error(label, "it is not UTF-8".to_owned()))?, label)
}

/// Parses the path of a components file on this machine.
pub(super) fn parse(path: &str, label: &str) -> Result<LocalLocation, LocationError> {
    let parts: Vec<&str> = path.split(std::path::is_separator).collect();
    if parts.iter().any(|part| matches!(*part, ".." | ".")) {
        return Err(form_error(label, "it must not contain `.` or `..`".to_owned()));
    }
    let [base @ .., folder, version, file] = parts.as_slice() else {
        return Err(form_error(label, "it is too short".to_owned()));
    };
    if base.is_empty() {
        return Err(form_error(label, "it is too short".to_owned()));
    }
    if *folder != label {
        return Err(form_error(label, format!("it has `{folder}` in place of `{label}`")));
    }
    if api::VersionOrLatest::parse(version).is_err() {
        return Err(form_error(label, format!("`{version}` is neither a semantic version nor `latest`")));
    }
    if file.is_empty() {
        return Err(form_error(label, "it ends with a slash".to_owned()));
    }
    let tail = folder.len() + version.len() + file.len() + 3;
    let base = &path[..path.len() - tail];
    let base = if base.is_empty() { "/" } else { base };
    Ok(LocalLocation {
        base: PathBuf::from(base),
        label: label.to_owned(),
        version: (*version).to_owned(),
        file: (*file).to_owned(),
    })
}

fn form_error(label: &str, problem: String) -> LocationError {
    LocationError::LocalForm { label: label.to_owned(), problem }
}

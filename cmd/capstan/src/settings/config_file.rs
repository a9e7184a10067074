use std::{
    ffi::OsStr,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use api::output::PlaceState;
use provider::config::{ConfigFile, ConfigFormat};

use super::{SettingsError, discovery::candidates};
use crate::Environment;

/// Where the configuration of this run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In a file, named by `--config` or found.
    File(PathBuf),
    /// At an address, named by `--config`.
    Url(String),
    /// Nowhere: there is no file in any of the usual places.
    None,
}

/// Finds where the configuration is, by the flag or in the usual places.
pub(crate) fn source(flag: Option<&str>, environment: &Environment) -> Source {
    match flag {
        Some(url) if url.starts_with("https://") || url.starts_with("http://") => Source::Url(url.to_owned()),
        Some(path) if !path.is_empty() => Source::File(environment.resolve(path)),
        _ => {
            let found = candidates(environment).into_iter().find(|found| found.state == PlaceState::Taken);
            found.map_or(Source::None, |found| Source::File(found.path))
        }
    }
}

/// No configuration is as large; a file that grows without end is left here.
const LARGEST_BYTES: u64 = 16 << 20;

/// Reads a configuration file; what its text means is not looked at.
/// # Errors
/// Names the file: unreadable, of a format that cannot be read, or no text.
pub(crate) fn from_path(path: &Path) -> Result<ConfigFile, SettingsError> {
    let bytes = read(path).map_err(|source| SettingsError::Unreadable { path: path.to_owned(), source })?;
    let extension = path.extension().and_then(OsStr::to_str);
    let format = extension.and_then(ConfigFormat::from_extension).ok_or_else(|| SettingsError::Format {
        path: path.to_owned(),
        extension: extension.map(str::to_owned),
    })?;
    let origin = path.display().to_string();
    let text = text(&origin, bytes)?;
    Ok(ConfigFile { origin, folder: path.parent().map(Path::to_owned), format, text })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(LARGEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_BYTES {
        let text = format!("it is larger than the limit of {LARGEST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Takes what was fetched from a URL; it lives in memory only, and is YAML whatever the URL ends in. Its origin has no
/// credentials of the URL.
/// Source: clusterctl v1.14, run; differs: there the text is written beside the user's own configuration.
/// # Errors
/// `NotText`.
pub(crate) fn from_url(url: &str, bytes: Vec<u8>) -> Result<ConfigFile, SettingsError> {
    let origin = repository::shown_text(url);
    let text = text(&origin, bytes)?;
    Ok(ConfigFile { origin, folder: None, format: ConfigFormat::Yaml, text })
}

fn text(origin: &str, bytes: Vec<u8>) -> Result<String, SettingsError> {
    String::from_utf8(bytes).map_err(|error| SettingsError::NotText {
        origin: origin.to_owned(),
        valid_up_to: error.utf8_error().valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_measure_is_left_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clusterctl.yaml");
        fs::File::create(&path).unwrap().set_len(LARGEST_BYTES + 1).unwrap();
        let error = from_path(&path).unwrap_err();
        let SettingsError::Unreadable { source, .. } = error else { panic!("{error}") };
        assert_eq!(source.to_string(), "it is larger than the limit of 16777216 bytes");
    }

    #[test]
    fn the_flag_is_a_url_or_a_path_from_the_working_folder() {
        let environment = Environment::new([("HOME", "/nowhere")], "/home/me");
        let found = |flag| source(flag, &environment);
        assert_eq!(
            found(Some("https://example.com/c.yaml")),
            Source::Url("https://example.com/c.yaml".into())
        );
        assert_eq!(found(Some("c.yaml")), Source::File("/home/me/c.yaml".into()));
        assert_eq!(found(None), Source::None);
    }

    #[test]
    fn a_format_that_cannot_be_read_is_refused_by_its_ending() {
        let folder = tempfile::tempdir().unwrap();
        for (name, extension) in [("clusterctl.ini", Some("ini")), ("clusterctl", None)] {
            let path = folder.path().join(name);
            fs::write(&path, "A=1").unwrap();
            let error = from_path(&path).unwrap_err();
            assert!(
                matches!(&error, SettingsError::Format { extension: found, .. } if found.as_deref() == extension),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_is_not_there_or_no_text_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clusterctl.yaml");
        assert!(
            matches!(from_path(&path), Err(SettingsError::Unreadable { path: named, .. }) if named == path)
        );
        fs::write(&path, b"a: \xff").unwrap();
        assert!(matches!(from_path(&path), Err(SettingsError::NotText { valid_up_to: 3, .. })));
    }
}

use std::{io, path::PathBuf};

/// A configuration file that cannot even be read as text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// Not there, not ours to read, or no file.
    #[error("cannot read the configuration file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its ending tells of a format that cannot be read.
    #[error("cannot read the configuration file `{}`: its format is told by its ending, and {} cannot be read", path.display(), ending(extension.as_deref()))]
    Format {
        /// The file.
        path: PathBuf,
        /// Its ending, without the dot.
        extension: Option<String>,
    },
    /// Bytes that are no text.
    #[error("the configuration `{origin}` is not valid UTF-8 from byte {valid_up_to} on")]
    NotText {
        /// Path or URL.
        origin: String,
        /// Bytes before the first bad one.
        valid_up_to: usize,
    },
}

fn ending(extension: Option<&str>) -> String {
    match extension {
        Some(extension) => format!("`.{extension}`"),
        None => "a file without one".to_owned(),
    }
}

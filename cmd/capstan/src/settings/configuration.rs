use std::{
    ffi::OsStr,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use api::{ErrorExplanation, Explain, output::PlaceState};
use provider::config::{Config, ConfigFile, ConfigFormat};
use repository::RepositoryContext;

use super::{
    globals::{self, Globals},
    repositories::config_repositories,
    xdg::config_home,
};
use crate::{Environment, Failure, WithContext as _, failure::Kind, runtime::Runtime, ui::Messages};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigSource {
    /// A file, named by `--config` or found in a default folder.
    File(PathBuf),
    /// A URL, named by `--config`.
    Url(String),
    /// No configuration file in any default folder.
    None,
}

/// Finds the source of the configuration, from the flag or in the default folders.
pub(crate) fn config_source(flag: Option<&str>, environment: &Environment) -> ConfigSource {
    match flag {
        Some(url) if url.starts_with("https://") || url.starts_with("http://") => {
            ConfigSource::Url(url.to_owned())
        }
        Some(path) if !path.is_empty() => ConfigSource::File(environment.resolve(path)),
        _ => {
            let found =
                config_candidates(environment).into_iter().find(|found| found.state == PlaceState::Taken);
            found.map_or(ConfigSource::None, |found| ConfigSource::File(found.path))
        }
    }
}

/// The size limit of a configuration file, which also stops endless files.
const MAX_CONFIG_BYTES: u64 = 16 << 20;

/// Reads a configuration file without parsing the content.
pub(crate) fn read_config_file(path: &Path) -> Result<ConfigFile, SettingsError> {
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
    fs::File::open(path)?.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        let text = format!("the file is larger than the limit of {MAX_CONFIG_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Returns the configuration fetched from a URL. The content stays in memory and is YAML, whatever the URL ends in.
/// The origin has no credentials of the URL.
/// Source: clusterctl v1.14, run; differs: there, the text is written next to the configuration of the user.
pub(crate) fn parse_config_download(url: &str, bytes: Vec<u8>) -> Result<ConfigFile, SettingsError> {
    let origin = transport::address::redact_text(url);
    let text = text(&origin, bytes)?;
    Ok(ConfigFile { origin, folder: None, format: ConfigFormat::Yaml, text })
}

fn text(origin: &str, bytes: Vec<u8>) -> Result<String, SettingsError> {
    String::from_utf8(bytes).map_err(|error| SettingsError::NotText {
        origin: origin.to_owned(),
        valid_up_to: error.utf8_error().valid_up_to(),
    })
}

/// A possible path of the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigCandidate {
    pub(crate) path: PathBuf,
    pub(crate) state: PlaceState,
}

/// Returns every path to check without `--config`, in order.
/// Shape: for each folder, each file extension. The first file counts, even with an unsupported format, and files are
/// never merged. A folder with a matching name is skipped.
/// Source: clusterctl v1.14 through viper 1.21, run.
pub(crate) fn config_candidates(environment: &Environment) -> Vec<ConfigCandidate> {
    let folders = config_home(environment)
        .map(|folder| folder.join("cluster-api"))
        .into_iter()
        .chain(environment.home().map(|home| home.join(".cluster-api")));
    let paths = folders.flat_map(|folder| {
        ConfigFormat::SEARCHED_EXTENSIONS
            .iter()
            .map(move |ending| folder.join(format!("clusterctl.{ending}")))
    });
    let mut taken = false;
    paths
        .map(|path| {
            let state = match (path.is_file(), taken) {
                (false, _) => PlaceState::Absent,
                (true, true) => PlaceState::Shadowed,
                (true, false) => PlaceState::Taken,
            };
            taken |= state == PlaceState::Taken;
            ConfigCandidate { path, state }
        })
        .collect()
}

/// Reads the configuration of this run and overrides it with the environment.
/// Warns about keys that look mistyped. clusterctl ignores such keys, and so does capstan.
pub(crate) fn load_config(
    globals: &Globals,
    environment: &Environment,
    messages: &Messages,
    runtime: &Runtime,
) -> Result<Config, Failure> {
    let file = match config_source(globals.config.as_deref(), environment) {
        ConfigSource::None => None,
        ConfigSource::File(path) => Some(read_config_file(&path)?),
        ConfigSource::Url(url) => {
            Some(fetch(&url, &config_repositories(globals, environment, messages), runtime)?)
        }
    };
    match &file {
        Some(file) => messages.log(5, format!("using the configuration `{}`", file.origin)),
        None => messages.log(5, "using no configuration file"),
    }
    let config = Config::new(file, environment.variables())?;
    if let Some(level) = config.file_setting(LOG_LEVEL) {
        let level =
            log_level(&level.text, &format!("`{LOG_LEVEL}` in `{}`", config.origin().unwrap_or_default()))?;
        messages.raise_verbosity(level);
    }
    for unknown in config.unknown_keys() {
        let suggestion =
            unknown.suggestions.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        let origin = config.origin().unwrap_or_default();
        let text = format!("`{}` in `{origin}` has no effect", unknown.key);
        messages.warning(if suggestion.is_empty() {
            text
        } else {
            format!("{text}; did you mean {suggestion}?")
        });
    }
    // The user of the section reports its errors.
    for unused in config.unmatched_image_rules().unwrap_or_default() {
        messages.warning(unused.to_string());
    }
    Ok(config)
}

fn fetch(url: &str, context: &RepositoryContext, runtime: &Runtime) -> Result<ConfigFile, Failure> {
    let file = runtime.block_on(repository::fetch_url(context, url)).with_context(|| {
        format!("cannot read the configuration `{}`", transport::address::redact_text(url))
    })?;
    Ok(parse_config_download(url, file.bytes.into())?)
}

/// The environment variable and configuration key of the log verbosity.
const LOG_LEVEL: &str = "CLUSTERCTL_LOG_LEVEL";

/// Returns the log verbosity before the configuration is read: the flag, or else the environment.
/// Source: clusterctl v1.14, run: `-v 0` counts as not given.
pub(crate) fn verbosity(flag: Option<u8>, environment: &Environment) -> Result<u8, Failure> {
    match (flag, environment.text(LOG_LEVEL)) {
        (None | Some(0), Some(text)) => log_level(text, &format!("the environment variable `{LOG_LEVEL}`")),
        (given, _) => Ok(given.unwrap_or(0)),
    }
}

/// Parses a log level from outside the flag. `place` describes the source.
fn log_level(text: &str, place: &str) -> Result<u8, Failure> {
    globals::verbosity(text)
        .map_err(|expected| Failure::user(format!("invalid value `{text}` for {place}: {expected}")))
}

/// A configuration file that cannot be read as text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("cannot read the configuration file `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read the configuration file `{}`: {} is not supported", path.display(), ending(extension.as_deref()))]
    Format { path: PathBuf, extension: Option<String> },
    #[error("cannot read the configuration `{origin}`: invalid UTF-8 after byte {valid_up_to}")]
    NotText { origin: String, valid_up_to: usize },
}

impl Explain for SettingsError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let explanation = match self {
            Self::Format { .. } => {
                ErrorExplanation::hint("use a file with the extension .yaml, .json, .toml or .env")
            }
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                ErrorExplanation::hint(
                    "check the path after `--config`; relative paths start at the current folder",
                )
            }
            Self::Unreadable { .. } | Self::NotText { .. } => ErrorExplanation::default(),
        };
        explanation.with_kind(Kind::User)
    }
}

fn ending(extension: Option<&str>) -> String {
    match extension {
        Some(extension) => format!("the format `.{extension}`"),
        None => "a file without an extension".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn a_file_above_the_size_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clusterctl.yaml");
        fs::File::create(&path).unwrap().set_len(MAX_CONFIG_BYTES + 1).unwrap();
        let error = read_config_file(&path).unwrap_err();
        let SettingsError::Unreadable { source, .. } = error else { panic!("{error}") };
        assert_data_eq!(source.to_string(), str!["the file is larger than the limit of 16777216 bytes"]);
    }

    #[test]
    fn the_flag_is_a_url_or_a_path_from_the_working_folder() {
        let environment = Environment::new([("HOME", "/nowhere")], "/home/me");
        let found = |flag| config_source(flag, &environment);
        assert_eq!(
            found(Some("https://example.com/c.yaml")),
            ConfigSource::Url("https://example.com/c.yaml".into())
        );
        assert_eq!(found(Some("c.yaml")), ConfigSource::File("/home/me/c.yaml".into()));
        assert_eq!(found(None), ConfigSource::None);
    }

    #[test]
    fn an_unsupported_format_is_refused_by_its_extension() {
        let folder = tempfile::tempdir().unwrap();
        for (name, extension) in [("clusterctl.ini", Some("ini")), ("clusterctl", None)] {
            let path = folder.path().join(name);
            fs::write(&path, "A=1").unwrap();
            let error = read_config_file(&path).unwrap_err();
            assert!(
                matches!(&error, SettingsError::Format { extension: found, .. } if found.as_deref() == extension),
                "{error}"
            );
        }
    }

    #[test]
    fn a_missing_file_and_invalid_text_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clusterctl.yaml");
        assert!(
            matches!(read_config_file(&path), Err(SettingsError::Unreadable { path: named, .. }) if named == path)
        );
        fs::write(&path, b"a: \xff").unwrap();
        assert!(matches!(read_config_file(&path), Err(SettingsError::NotText { valid_up_to: 3, .. })));
    }

    fn world(files: &[&str]) -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let text = home.path().to_str().unwrap().to_owned();
        let environment = Environment::new(
            [("HOME", text.clone()), ("XDG_CONFIG_HOME", format!("{text}/xdg"))],
            home.path(),
        );
        (home, environment)
    }

    fn taken_paths(environment: &Environment) -> Vec<String> {
        let name = |candidate: ConfigCandidate| {
            candidate.path.iter().next_back().unwrap().to_str().unwrap().to_owned()
        };
        config_candidates(environment)
            .into_iter()
            .filter(|c| c.state == PlaceState::Taken)
            .map(name)
            .collect()
    }

    #[test]
    fn the_folder_counts_before_the_ending() {
        let (_home, environment) = world(&["xdg/cluster-api/clusterctl.yml", ".cluster-api/clusterctl.json"]);
        assert_eq!(taken_paths(&environment), ["clusterctl.yml"]);
    }

    #[test]
    fn of_two_files_in_a_folder_the_first_extension_wins() {
        let (_home, environment) =
            world(&["xdg/cluster-api/clusterctl.yaml", "xdg/cluster-api/clusterctl.toml"]);
        assert_eq!(taken_paths(&environment), ["clusterctl.toml"]);
        let shadowed =
            config_candidates(&environment).into_iter().filter(|c| c.state == PlaceState::Shadowed).count();
        assert_eq!(shadowed, 1);
    }

    // Row: D-02
    #[test]
    fn looking_creates_no_folder() {
        let (home, environment) = world(&[]);
        assert_eq!(taken_paths(&environment), Vec::<String>::new());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }
}

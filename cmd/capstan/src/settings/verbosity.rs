use crate::{Environment, Failure, cli};

/// The environment variable, and key of the configuration file, that says how much to log.
pub(super) const LOG_LEVEL: &str = "CLUSTERCTL_LOG_LEVEL";

/// How much to log, as far as it is known before the configuration is read: the flag, else the environment.
/// Source: clusterctl v1.14, run: `-v 0` counts as not given.
/// # Errors
/// When the variable holds no whole number.
pub(crate) fn verbosity(flag: Option<u8>, environment: &Environment) -> Result<u8, Failure> {
    match (flag, environment.text(LOG_LEVEL)) {
        (None | Some(0), Some(text)) => log_level(text, &format!("the environment variable `{LOG_LEVEL}`")),
        (given, _) => Ok(given.unwrap_or(0)),
    }
}

/// Reads a level that was not given by the flag; `place` is where it stands.
pub(super) fn log_level(text: &str, place: &str) -> Result<u8, Failure> {
    cli::verbosity(text)
        .map_err(|expected| Failure::user(format!("invalid value `{text}` for {place}: {expected}")))
}

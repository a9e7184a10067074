use provider::config::{Config, ConfigFile};

use super::{
    config_file::{Source, from_path, from_url, source},
    repositories::for_configuration,
    verbosity::{LOG_LEVEL, log_level},
};
use crate::{Failure, Within as _, session::Session};

/// Reads the configuration of this run and lays it under the environment.
/// Keys that look like a slip are warned of: the peer ignores them, and so do we.
/// # Errors
/// Names the file that cannot be read, or the URL that cannot be fetched.
pub(crate) fn load(session: &Session) -> Result<Config, Failure> {
    let flag = session.globals().config.as_deref();
    let file = match source(flag, session.environment()) {
        Source::None => None,
        Source::File(path) => Some(from_path(&path)?),
        Source::Url(url) => Some(fetch(&url, session)?),
    };
    match &file {
        Some(file) => session.messages().log(5, format!("using the configuration `{}`", file.origin)),
        None => session.messages().log(5, "no configuration file found"),
    }
    let config = Config::new(file, session.environment().variables())?;
    if let Some(level) = config.file_setting(LOG_LEVEL) {
        let level =
            log_level(&level.text, &format!("`{LOG_LEVEL}` in `{}`", config.origin().unwrap_or_default()))?;
        session.messages().raise_verbosity(level);
    }
    for unknown in config.unknown_keys() {
        let meant = unknown.near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
        let origin = config.origin().unwrap_or_default();
        let text = format!("`{}` in `{origin}` has no effect", unknown.key);
        session.messages().warning(if meant.is_empty() {
            text
        } else {
            format!("{text}; did you mean {meant}?")
        });
    }
    // Who uses the section says what is wrong with it.
    for unused in config.image_rules_of_nobody().unwrap_or_default() {
        session.messages().warning(unused.to_string());
    }
    Ok(config)
}

fn fetch(url: &str, session: &Session) -> Result<ConfigFile, Failure> {
    let context = for_configuration(session.globals(), session.environment(), session.messages());
    let file = session
        .block_on(repository::fetch_url(&context, url))
        .within(|| format!("cannot read the configuration `{}`", repository::shown_text(url)))?;
    Ok(from_url(url, file.bytes.into())?)
}

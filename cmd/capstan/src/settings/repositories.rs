use std::{collections::BTreeMap, sync::Arc};

use provider::config::{CacheFolder, Config, ConfigError};
use repository::{
    Context, Event, LockSettings, Network, Overrides, ProxySettings, Refresh, Secret, Settings, StoreSettings,
};

use super::xdg::{cache_home, config_home};
use crate::{
    Environment,
    cli::Globals,
    ui::{Messages, in_days},
};

/// How provider repositories are reached: tokens, proxies and certificates as configured, events shown on stderr.
/// `lock` is what every file is checked against. Making it costs nothing; the first request does.
/// # Errors
/// When a section of tokens holds something else than hosts, that of the cache something else than it must, or
/// `verify` of a provider something else than a key.
pub(crate) fn repositories(
    config: &Config,
    globals: &Globals,
    environment: &Environment,
    messages: &Messages,
    lock: Option<LockSettings>,
) -> Result<Context, ConfigError> {
    let token = |key, name| config.setting(key).and_then(|setting| Secret::new(name, setting.text));
    let by_host = |section, tokens: BTreeMap<String, String>| {
        tokens.into_iter().filter_map(|(host, text)| Some((host, Secret::new(section, text)?))).collect()
    };
    Ok(Context::new(Settings {
        github_token: token("github-token", "GITHUB_TOKEN"),
        gitlab_token: token("gitlab-access-token", "GITLAB_ACCESS_TOKEN"),
        github_enterprise_tokens: by_host("github-enterprise-tokens", config.github_enterprise_tokens()?),
        gitlab_tokens: by_host("gitlab-tokens", config.gitlab_tokens()?),
        store: store(config, environment)?,
        lock: lock.map(Arc::new),
        verify_keys: config.signature_keys()?,
        ..without_tokens(globals, environment, messages)
    }))
}

/// The same for the configuration file itself, which no token is sent for, and which is not kept.
pub(super) fn for_configuration(
    globals: &Globals,
    environment: &Environment,
    messages: &Messages,
) -> Context {
    Context::new(without_tokens(globals, environment, messages))
}

/// Where files are kept between runs: the variable, else the configuration, else the folder of the platform; nowhere
/// when it is `off`, or when no home folder is known.
fn store(config: &Config, environment: &Environment) -> Result<Option<StoreSettings>, ConfigError> {
    let configured = config.cache()?;
    let folder = environment.text("CAPSTAN_CACHE_DIR").map_or(configured.folder, CacheFolder::parse);
    let folder = match folder {
        CacheFolder::At(path) => Some(environment.resolve(path)),
        CacheFolder::Default => cache_home(environment).map(|folder| folder.join("capstan")),
        CacheFolder::Off => None,
    };
    let max_bytes = configured.max_bytes.unwrap_or(StoreSettings::DEFAULT_MAX_BYTES);
    Ok(folder.map(|folder| StoreSettings { folder, max_bytes }))
}

fn network(globals: &Globals, environment: &Environment) -> Network {
    let variable = environment.text("CAPSTAN_OFFLINE");
    let is_set = variable.is_some_and(|text| !matches!(text, "0" | "false"));
    if globals.offline || is_set { Network::Forbidden } else { Network::Allowed }
}

fn without_tokens(globals: &Globals, environment: &Environment, messages: &Messages) -> Settings {
    let messages = messages.clone();
    Settings {
        goproxy: environment.text("GOPROXY").map(str::to_owned),
        proxy: ProxySettings::from_variables(|name| environment.text(name).map(str::to_owned)),
        ca_file: environment.text("SSL_CERT_FILE").map(|path| environment.resolve(path)),
        network: network(globals, environment),
        refresh: if globals.refresh { Refresh::Everything } else { Refresh::Changing },
        events: Some(Arc::new(move |event| show(event, &messages))),
        ..Settings::default()
    }
}

/// Where files are looked for before the repository.
/// # Errors
/// When `overridesFolder` cannot be substituted.
pub(crate) fn overrides(config: &Config, environment: &Environment) -> Result<Overrides, ConfigError> {
    let configured = config.overrides_folder()?.map(|path| environment.resolve(path));
    let xdg = config_home(environment).map(|folder| folder.join("cluster-api"));
    let home = environment.home().map(|home| home.join(".cluster-api"));
    Ok(Overrides::choose(configured.as_deref(), xdg.as_deref(), home.as_deref()))
}

fn show(event: &Event, messages: &Messages) {
    let progress = messages.progress();
    match event {
        Event::RequestStarted { url } => {
            progress.begin(&format!("reading {url}"));
            messages.log(5, format!("requesting {url}"));
        }
        Event::Progress { received_bytes, total_bytes, .. } => {
            progress.advance(*received_bytes, *total_bytes);
        }
        Event::Retrying { url, why, after } => {
            progress.begin(&format!("trying {url} again ({why})"));
            messages.status(format!("trying {url} again in {after:?}: {why}"));
        }
        Event::RequestEnded { url } => messages.log(5, format!("finished {url}")),
        Event::UsingOverride { path, provider, version } => {
            messages.log(1, format!("using the override {} for {provider} {version}", path.display()));
        }
        Event::VersionSourceSkipped { source, why } => {
            messages.log(1, format!("no versions from {source}: {why}"));
        }
        Event::UsingKept { url } => messages.log(5, format!("taking {url} from the cache")),
        Event::UsingKeptOffline { url, age } => {
            messages.status(format!("offline: taking {url} as it was {} ago", in_days(*age)));
        }
        Event::WaitingForOther { wanted } => {
            progress.begin(&format!("waiting for another run that fetches {wanted}"));
            messages.log(1, format!("another run fetches {wanted}; waiting for it"));
        }
        Event::KeptDamaged { url } => {
            messages.warning(format!("the copy of {url} in the cache was damaged; it is fetched again"));
        }
        Event::StoreUnusable { why } => messages.warning(format!(
            "going on without the cache: {why}; `CAPSTAN_CACHE_DIR` names another folder, or is `off`"
        )),
    }
}

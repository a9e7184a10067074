use std::{collections::BTreeMap, sync::Arc, time::Duration};

use provider::config::{CacheFolder, Config, ConfigError};
use repository::{LockSettings, Overrides, ReleaseSettings, RepositoryContext, git::GitSettings};
use transport::{
    CaBundle, CredentialSources, Event, NetworkAccess, ProxySettings, Refresh, Secret, Settings,
    StoreSettings,
};

use super::{
    Globals,
    xdg::{cache_home, config_home},
};
use crate::{
    Environment,
    ui::{Messages, format_age},
};

/// The time limit of a credential helper, which may ask the user for input.
const HELPER_TIMEOUT: Duration = Duration::from_mins(1);

/// Returns the access to provider repositories with the configured credentials, proxies and certificates. Events are
/// shown on stderr.
/// Every file is checked against `lock`. Creating the context is cheap, requests are not.
pub(crate) fn repositories(
    config: &Config,
    globals: &Globals,
    environment: &Environment,
    messages: &Messages,
    lock: Option<LockSettings>,
) -> Result<RepositoryContext, ConfigError> {
    let token = |key, name| config.setting(key).and_then(|setting| Secret::new(name, setting.text));
    let by_host = |section, tokens: BTreeMap<String, String>| {
        tokens.into_iter().filter_map(|(host, text)| Some((host, Secret::new(section, text)?))).collect()
    };
    let releases = ReleaseSettings {
        lock: lock.map(Arc::new),
        verify_keys: config.signature_keys()?,
        ..releases_without_config(environment)
    };
    let transport = Settings {
        github_token: token("github-token", "GITHUB_TOKEN"),
        gitlab_token: token("gitlab-access-token", "GITLAB_ACCESS_TOKEN"),
        github_enterprise_tokens: by_host("github-enterprise-tokens", config.github_enterprise_tokens()?),
        gitlab_tokens: by_host("gitlab-tokens", config.gitlab_tokens()?),
        hosts: config.hosts()?,
        store: store(config, environment)?,
        ..settings_without_config(globals, environment, messages)
    };
    Ok(RepositoryContext::with_release_settings(transport, releases))
}

/// Returns the access to the configuration file itself, before any configuration. The file is not cached.
pub(crate) fn config_repositories(
    globals: &Globals,
    environment: &Environment,
    messages: &Messages,
) -> RepositoryContext {
    let transport = settings_without_config(globals, environment, messages);
    RepositoryContext::with_release_settings(transport, releases_without_config(environment))
}

/// Returns the cache folder: the variable, or else the configuration, or else the platform folder.
/// `None` if the cache is `off` or the home folder is unknown.
fn store(config: &Config, environment: &Environment) -> Result<Option<StoreSettings>, ConfigError> {
    let configured = config.cache()?;
    let folder = environment.text("CAPSTAN_CACHE_DIR").map_or(configured.folder, CacheFolder::parse);
    let folder = match folder {
        CacheFolder::Path(path) => Some(environment.resolve(path)),
        CacheFolder::Default => cache_home(environment).map(|folder| folder.join("capstan")),
        CacheFolder::Off => None,
    };
    let max_bytes = configured.max_bytes.unwrap_or(StoreSettings::DEFAULT_MAX_BYTES);
    Ok(folder.map(|folder| StoreSettings { folder, max_bytes }))
}

fn network(globals: &Globals, environment: &Environment) -> NetworkAccess {
    let variable = environment.text("CAPSTAN_OFFLINE");
    let is_set = variable.is_some_and(|text| !matches!(text, "0" | "false"));
    if globals.offline || is_set { NetworkAccess::Forbidden } else { NetworkAccess::Allowed }
}

fn settings_without_config(globals: &Globals, environment: &Environment, messages: &Messages) -> Settings {
    let messages = messages.clone();
    Settings {
        proxy: ProxySettings::from_variables(|name| environment.text(name).map(str::to_owned)),
        network: network(globals, environment),
        refresh: if globals.refresh { Refresh::Everything } else { Refresh::Changing },
        ca_bundles: ca_bundles(globals, environment),
        credentials: credential_sources(environment),
        events: Some(Arc::new(move |event| show_event(event, &messages))),
        ..Settings::default()
    }
}

fn releases_without_config(environment: &Environment) -> ReleaseSettings {
    ReleaseSettings {
        goproxy: environment.text("GOPROXY").map(str::to_owned),
        git: GitSettings { variables: environment.all(), ..GitSettings::default() },
        ..ReleaseSettings::default()
    }
}

fn ca_bundles(globals: &Globals, environment: &Environment) -> Vec<CaBundle> {
    let system = environment.text("SSL_CERT_FILE").map(|path| (path, "SSL_CERT_FILE"));
    let flag = globals.ca_bundle.as_deref().map(|path| (path, "--ca-bundle"));
    let own = flag.or_else(|| environment.text("CAPSTAN_CA_BUNDLE").map(|path| (path, "CAPSTAN_CA_BUNDLE")));
    let bundle = |(path, named_by): (&str, &str)| CaBundle {
        path: environment.resolve(path),
        named_by: named_by.to_owned(),
    };
    [system, own].into_iter().flatten().map(bundle).collect()
}

/// Returns the credential files of docker, podman and netrc. Named files come before files in default folders.
fn credential_sources(environment: &Environment) -> CredentialSources {
    let home = |path: &str| environment.home().map(|home| home.join(path));
    let named = |variable: Option<&str>| variable.map(|path| environment.resolve(path));
    let docker = named(environment.text("DOCKER_CONFIG")).or_else(|| home(".docker"));
    let podman = named(environment.text("XDG_RUNTIME_DIR")).map(|folder| folder.join("containers/auth.json"));
    let auth_files = [
        named(environment.text("REGISTRY_AUTH_FILE")),
        docker.map(|folder| folder.join("config.json")),
        podman,
    ];
    let path = environment.get("PATH").unwrap_or_default();
    CredentialSources {
        auth_files: auth_files.into_iter().flatten().collect(),
        helper_folders: std::env::split_paths(path).map(|folder| environment.resolve(folder)).collect(),
        helper_limit: HELPER_TIMEOUT,
        netrc: named(environment.text("NETRC")).or_else(|| home(".netrc")),
    }
}

pub(crate) fn overrides(config: &Config, environment: &Environment) -> Result<Overrides, ConfigError> {
    let configured = config.overrides_folder()?.map(|path| environment.resolve(path));
    let xdg = config_home(environment).map(|folder| folder.join("cluster-api"));
    let home = environment.home().map(|home| home.join(".cluster-api"));
    Ok(Overrides::choose(configured.as_deref(), xdg.as_deref(), home.as_deref()))
}

fn show_event(event: &Event, messages: &Messages) {
    let progress = messages.progress();
    match event {
        Event::RequestStarted { url } => {
            progress.begin(&format!("reading {url}"));
            messages.log(5, format!("requesting {url}"));
        }
        Event::Progress { received_bytes, total_bytes, .. } => {
            progress.advance(*received_bytes, *total_bytes);
        }
        Event::Retrying { url, reason: why, after } => {
            progress.begin(&format!("retrying {url} ({why})"));
            messages.status(format!("retrying {url} in {after:?}: {why}"));
        }
        Event::RequestEnded { url } => messages.log(5, format!("finished {url}")),
        Event::UsingOverride { path, provider, version } => {
            messages.log(1, format!("using the override {} for {provider} {version}", path.display()));
        }
        Event::VersionSourceSkipped { source, reason: why } => {
            messages.log(1, format!("no versions from {source}: {why}"));
        }
        Event::UsingCached { url } => messages.log(5, format!("using {url} from the cache")),
        Event::UsingCachedOffline { url, age } => {
            messages.status(format!("offline: using {url} from the cache, fetched {} ago", format_age(*age)));
        }
        Event::WaitingForOtherTask { wanted, holder } => {
            messages.waiting_for_run(&format!("to fetch {wanted}"), *holder);
        }
        Event::TagMoved { remote, tag, from, to } => messages
            .warning(format!("the tag `{tag}` of {remote} has moved from {from} to {to}; capstan uses {to}")),
        Event::CacheDamaged { url } => {
            messages.warning(format!("the copy of {url} in the cache is damaged; capstan fetches it again"));
        }
        Event::StoreUnusable { reason: why } => messages.warning(format!(
            "cannot use the cache: {why}; set `CAPSTAN_CACHE_DIR` to another folder or to `off`"
        )),
    }
}

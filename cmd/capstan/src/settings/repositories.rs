use std::{collections::BTreeMap, sync::Arc};

use provider::config::{Config, ConfigError};
use repository::{Context, Event, Overrides, ProxySettings, Secret, Settings};

use super::xdg::config_home;
use crate::{Environment, ui::Messages};

/// How provider repositories are reached: tokens, proxies and certificates as configured, events shown on stderr.
/// Making it costs nothing; the first request does.
/// # Errors
/// When a section of tokens holds something else than hosts.
pub(crate) fn repositories(
    config: &Config,
    environment: &Environment,
    messages: &Messages,
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
        ..without_tokens(environment, messages)
    }))
}

/// The same for the configuration file itself, which no token is sent for.
pub(super) fn for_configuration(environment: &Environment, messages: &Messages) -> Context {
    Context::new(without_tokens(environment, messages))
}

fn without_tokens(environment: &Environment, messages: &Messages) -> Settings {
    let messages = messages.clone();
    Settings {
        goproxy: environment.text("GOPROXY").map(str::to_owned),
        proxy: ProxySettings::from_variables(|name| environment.text(name).map(str::to_owned)),
        ca_file: environment.text("SSL_CERT_FILE").map(|path| environment.resolve(path)),
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
    }
}

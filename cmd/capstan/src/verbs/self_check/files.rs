//! The configuration, the kubeconfig, the cache, proxies and certificates.

use std::path::Path;

use api::output::{
    PlaceState, SelfCheckEntry,
    SelfCheckState::{Error, Note, Ok as Fine, Warning},
};
use transport::{ProxySettings, address::redact_text};

use super::{entry, entry_with_advice};
use crate::{
    Environment, Failure,
    session::Session,
    settings::{self, ConfigSource, default_kubeconfigs},
    ui::format_bytes,
};

const PROXY_VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

pub(super) fn checks(session: &Session) -> Vec<SelfCheckEntry> {
    let environment = session.environment();
    let mut checks = configuration(session);
    // Without a readable configuration, the folder of the cache is unknown.
    if checks.iter().all(|entry| entry.state != Error) && !is_remote(session) {
        checks.push(cache(session));
    }
    checks.push(kubeconfig(environment));
    checks.extend(proxies(environment));
    checks.extend(certificates(session));
    checks
}

fn source(session: &Session) -> ConfigSource {
    settings::config_source(session.globals().config.as_deref(), session.environment())
}

fn is_remote(session: &Session) -> bool {
    matches!(source(session), ConfigSource::Url(_))
}

/// Reads the configuration. Files that another one hides are warnings.
fn configuration(session: &Session) -> Vec<SelfCheckEntry> {
    let name = "configuration";
    let mut checks = match source(session) {
        ConfigSource::Url(url) => {
            return vec![entry(
                name,
                Fine,
                format!("{}; not read, because this needs the network", redact_text(&url)),
            )];
        }
        ConfigSource::None => vec![entry(name, Fine, "no file; the built-in providers are configured")],
        ConfigSource::File(path) => match session.config() {
            Ok(_) => vec![entry(name, Fine, path.display().to_string())],
            Err(failure) => vec![of_failure(name, &failure)],
        },
    };
    if session.globals().config.is_none() {
        let hidden = settings::config_candidates(session.environment()).into_iter();
        let hidden = hidden.filter(|candidate| candidate.state == PlaceState::Shadowed);
        checks.extend(hidden.map(|candidate| {
            entry_with_advice(
                name,
                Warning,
                format!("{} has no effect, because only the first file counts", candidate.path.display()),
                format!("merge {} into the first file, and remove it", candidate.path.display()),
            )
        }));
    }
    checks
}

fn cache(session: &Session) -> SelfCheckEntry {
    let store = match session.repositories() {
        Ok(context) => context.store().cloned(),
        Err(failure) => return of_failure("cache", &failure),
    };
    let Some(store) = store else {
        return entry("cache", Note, "disabled: it is `off`, or the home folder is unknown");
    };
    let folder = store.settings().folder.clone();
    let survey = match store.survey() {
        Ok(survey) => survey,
        Err(error) => return of_failure("cache", &error.into()),
    };
    let size = survey.size_bytes + survey.readers.values().sum::<u64>();
    let fact = format!(
        "{}: {} of {}",
        folder.display(),
        format_bytes(size),
        format_bytes(store.settings().max_bytes)
    );
    if folder.exists() && !is_writable(&folder) {
        let advice = "allow writing, or set `CAPSTAN_CACHE_DIR` to another folder or to `off`";
        return entry_with_advice("cache", Warning, format!("{fact}; it cannot be written"), advice);
    }
    entry("cache", Fine, fact)
}

/// Creates a temporary file, because permissions alone do not tell.
fn is_writable(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}

fn kubeconfig(environment: &Environment) -> SelfCheckEntry {
    let paths = default_kubeconfigs(environment);
    let existing: Vec<String> =
        paths.iter().filter(|path| path.is_file()).map(|path| path.display().to_string()).collect();
    if existing.is_empty() {
        return entry(
            "kubeconfig",
            Note,
            "no file; commands for a management cluster need `--kubeconfig` or `--sandbox`",
        );
    }
    entry("kubeconfig", Fine, existing.join(", "))
}

/// Shows proxies without passwords.
fn proxies(environment: &Environment) -> Vec<SelfCheckEntry> {
    let is_invalid = |name: &str, value: &str| {
        let only = |asked: &str| (asked == name).then(|| value.to_owned());
        ProxySettings::from_variables(only).check().is_err()
    };
    let set = PROXY_VARIABLES.into_iter().filter_map(|name| Some((name, environment.text(name)?)));
    let checks: Vec<SelfCheckEntry> = set
        .map(|(name, value)| {
            if is_invalid(name, value) {
                let advice = format!("set `{name}` to an address such as http://proxy.example:3128");
                return entry_with_advice("proxy", Error, format!("{name} is no valid address"), advice);
            }
            let is_list = name.eq_ignore_ascii_case("NO_PROXY");
            let shown = if is_list { value.to_owned() } else { shown_proxy(value) };
            entry("proxy", Fine, format!("{name}={shown}"))
        })
        .collect();
    if checks.is_empty() { vec![entry("proxy", Fine, "none")] } else { checks }
}

/// An address may lack its scheme: `user:password@proxy:3128`.
fn shown_proxy(address: &str) -> String {
    if address.contains("://") {
        return redact_text(address);
    }
    address.rsplit_once('@').map_or(address, |(_, host)| host).to_owned()
}

/// Reads the certificates to verify servers: those of the system, and files of additional ones.
fn certificates(session: &Session) -> Vec<SelfCheckEntry> {
    let environment = session.environment();
    let flag = session.globals().ca_bundle.as_deref().map(|path| ("--ca-bundle", path));
    let variables = ["SSL_CERT_FILE", "CAPSTAN_CA_BUNDLE"].map(|name| Some((name, environment.text(name)?)));
    let named = variables.into_iter().chain([flag]).flatten();
    let (files, missing): (Vec<_>, Vec<_>) = named.partition(|(_, path)| environment.resolve(path).is_file());
    let not_found = |(name, path): (&str, &str)| {
        let advice = format!("set `{name}` to a file of PEM certificates, or unset it");
        entry_with_advice("certificates", Error, format!("{name} names `{path}`, which is no file"), advice)
    };
    if !missing.is_empty() {
        return missing.into_iter().map(not_found).collect();
    }
    let context = settings::config_repositories(session.globals(), environment, session.messages());
    if let Err(error) = context.check_certificates() {
        return vec![of_failure("certificates", &error.into())];
    }
    let mut facts = vec!["those of the system".to_owned()];
    facts.extend(files.iter().map(|(name, path)| format!("{name}={path}")));
    facts.into_iter().map(|fact| entry("certificates", Fine, fact)).collect()
}

fn of_failure(name: &str, failure: &Failure) -> SelfCheckEntry {
    let advice = failure.distinct_hints().next().map(str::to_owned);
    SelfCheckEntry { advice, ..entry(name, Error, failure.one_line()) }
}

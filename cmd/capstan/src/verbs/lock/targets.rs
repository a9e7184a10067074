use std::collections::BTreeMap;

use api::{ProviderId, near_names, output::ProviderSource};
use provider::config::{CertManager, CertManagerMode, Config};
use repository::Lock as Locked;

use super::Lock;
use crate::Failure;

/// What is to be read.
pub(super) struct Target {
    pub(super) label: String,
    /// None for cert-manager.
    pub(super) id: Option<ProviderId>,
    /// The version that is asked for, or locked.
    pub(super) version: Option<String>,
    /// Whether it may take the place of what is locked.
    pub(super) is_anew: bool,
}

/// Versions by label, with whether they are locked anew.
type Wanted = BTreeMap<String, (Option<String>, bool)>;

/// What `--update` takes for everything that is locked.
const ALL: &str = "all";

/// What a command line is about, by label.
pub(super) fn targets(args: &Lock, lock: &Locked, config: &Config) -> Result<Vec<Target>, Failure> {
    if args.check && args.providers.is_given() {
        return Err(Failure::user("`--check` looks at everything that is locked").hint("name no providers"));
    }
    let mut wanted = Wanted::new();
    let of_lock = || lock.providers.keys().map(|label| (label.clone(), (None, false)));
    if args.providers.is_given() || (args.update.is_empty() && lock.providers.is_empty()) {
        wanted.extend(of_installation(args, config)?);
    } else if args.update.is_empty() {
        wanted.extend(of_lock());
    }
    for update in &args.update {
        let (label, version) = match update.split_once(':') {
            Some((label, version)) => (label, Some(version.to_owned())),
            None => (update.as_str(), None),
        };
        if label == ALL {
            wanted.extend(of_lock().map(|(label, _)| (label, (version.clone(), true))));
        } else {
            wanted.insert(label.to_owned(), (version, true));
        }
    }
    wanted.into_iter().map(|(label, wanted)| target(label, wanted, lock, config)).collect()
}

/// Providers and cert-manager of a first installation; where none are named, with those of the configuration.
fn of_installation(args: &Lock, config: &Config) -> Result<Wanted, Failure> {
    let mut wanted = Wanted::new();
    if !args.providers.is_given() {
        let configured = config.providers()?.into_iter().filter(|it| it.source != ProviderSource::BuiltIn);
        wanted.extend(configured.map(|it| (it.id.label(), (None, false))));
    }
    for (id, version) in args.providers.of_first_installation()?.providers {
        wanted.insert(id.label(), (version, false));
    }
    if config.cert_manager()?.mode == CertManagerMode::Managed {
        wanted.insert(CertManager::LABEL.to_owned(), (None, false));
    }
    Ok(wanted)
}

fn target(
    label: String,
    (version, is_anew): (Option<String>, bool),
    lock: &Locked,
    config: &Config,
) -> Result<Target, Failure> {
    if label == CertManager::LABEL {
        if version.is_some() {
            return Err(Failure::user("the version of cert-manager is that of the configuration").hint(
                "set `cert-manager.version` in clusterctl.yaml, then `capstan lock --update cert-manager`",
            ));
        }
        return Ok(Target { label, id: None, version, is_anew });
    }
    let providers = config.providers()?;
    let Some(provider) = providers.iter().find(|provider| provider.id.label() == label) else {
        let labels: Vec<String> = providers.iter().map(|provider| provider.id.label()).collect();
        let failure = Failure::user(format!("there is no provider with the label `{label}`"));
        let near = near_names(&label, labels.iter().map(String::as_str));
        return Err(match near.first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(
                "a label is written as `infrastructure-aws`; `capstan config repositories` lists the providers",
            ),
        });
    };
    let locked = lock.providers.get(&label).filter(|_| !is_anew).map(|locked| locked.version.clone());
    Ok(Target { id: Some(provider.id.clone()), label, version: version.or(locked), is_anew })
}

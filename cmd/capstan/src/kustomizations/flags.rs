use std::sync::Arc;

use api::{ProviderId, plan::SavedKustomization, similar_names};
use provider::{LazyOverlay, Overlays, config::Config};
use repository::{LockSettings, RepositoryContext};

use super::{
    fetch::Fetcher,
    overlay::{LazyKustomization, LockCheck, MissingOverlay},
};
use crate::{Failure, session::Session, settings::CUSTOMISATION, ui::Messages};

/// Kustomizations over the components of providers, for this run alone.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct KustomizationFlags {
    /// Kustomization for a provider in this run, such as aws=DIR; replaces the one in clusterctl.yaml. The name is
    /// optional with a single provider
    #[arg(long, value_name = "[PROVIDER=]DIR", help_heading = CUSTOMISATION)]
    kustomization: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunScope<'a> {
    pub(crate) named_providers: &'a [ProviderId],
    pub(crate) saved_kustomizations: &'a [SavedKustomization],
}

#[derive(Debug, Default)]
pub(crate) struct RunOverlays {
    overlays: Overlays,
    /// The kustomizations of the command line and of a saved plan.
    requested: Vec<(ProviderId, Arc<LazyKustomization>)>,
}

impl RunOverlays {
    /// Reads the kustomizations of the configuration. Those of a saved plan override them, and those of the command
    /// line override both.
    ///
    /// Each kustomization is read and fetched when its provider is rendered.
    pub(crate) fn read(
        flags: &KustomizationFlags,
        scope: RunScope<'_>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let config = session.config()?;
        let context = session.repositories()?;
        let lock = context.release_settings().lock.clone();
        let fetcher = Arc::new(Fetcher::new(context, session).for_provider_overlays());
        let mut all =
            Self { overlays: lazy_overlays(&config, lock.as_ref(), &fetcher)?, requested: Vec::new() };
        for (id, place) in requested_kustomizations(flags, scope, &config)? {
            if let Some(lock) = &lock {
                lock.check_unlocked_kustomization(&id.label())?;
            }
            let layer = Arc::new(LazyKustomization::new(place, None, Arc::clone(&fetcher)));
            all.overlays.insert(id.clone(), Arc::clone(&layer) as Arc<dyn LazyOverlay>);
            all.requested.push((id, layer));
        }
        Ok(all)
    }

    pub(crate) fn overlays(&self) -> &Overlays {
        &self.overlays
    }

    /// Returns the kustomizations to save in a plan: those of the command line that changed rendered components.
    pub(crate) fn saved_kustomizations(&self) -> Vec<SavedKustomization> {
        let used = self.requested.iter().filter(|(_, layer)| layer.is_used());
        used.map(|(id, layer)| SavedKustomization { provider: id.clone(), place: layer.portable_location() })
            .collect()
    }

    /// Warns about unused kustomizations of the command line.
    pub(crate) fn warn_unused(&self, messages: &Messages) {
        for (id, layer) in self.requested.iter().filter(|(_, layer)| !layer.is_used()) {
            let place = layer.location();
            messages.warning(format!(
                "the kustomization `{place}` had no effect: this run rendered no components of `{id}`"
            ));
        }
    }
}

/// Returns the kustomizations of the configuration without the checks of a lock.
pub(crate) fn configured_overlays(
    config: &Config,
    context: RepositoryContext,
    session: &Session,
) -> Result<Overlays, Failure> {
    lazy_overlays(config, None, &Arc::new(Fetcher::new(context, session)))
}

/// Returns unread kustomizations. Checks them against `lock` if given.
fn lazy_overlays(
    config: &Config,
    lock: Option<&Arc<LockSettings>>,
    fetcher: &Arc<Fetcher>,
) -> Result<Overlays, Failure> {
    let mut overlays = Overlays::default();
    for provider in config.providers()? {
        let label = provider.id.label();
        let reviewed = lock.map(|lock| LockCheck { lock: Arc::clone(lock), label: label.clone() });
        let is_locked = lock
            .and_then(|lock| lock.lock.providers.get(&label))
            .is_some_and(|entry| !entry.kustomization.is_empty());
        match (config.kustomization(&provider.id)?, reviewed) {
            (Some(place), reviewed) => {
                let layer = LazyKustomization::new(place, reviewed, Arc::clone(fetcher));
                overlays.insert(provider.id, Arc::new(layer));
            }
            (None, Some(reviewed)) if is_locked => {
                overlays.insert(provider.id, Arc::new(MissingOverlay { lock_check: reviewed }));
            }
            (None, _) => {}
        }
    }
    Ok(overlays)
}

/// Returns the kustomizations of the command line, then those of the plan for other providers.
fn requested_kustomizations(
    flags: &KustomizationFlags,
    scope: RunScope<'_>,
    config: &Config,
) -> Result<Vec<(ProviderId, String)>, Failure> {
    let mut all: Vec<(ProviderId, String)> = Vec::new();
    for flag in &flags.kustomization {
        let (id, place) = parse_flag(flag, scope.named_providers, config)?;
        if all.iter().any(|(known, _)| *known == id) {
            return Err(Failure::user(format!("`--kustomization` is given twice for `{id}`"))
                .hint("create one kustomization that lists both folders, and use that folder"));
        }
        all.push((id, place.to_owned()));
    }
    for SavedKustomization { provider, place } in scope.saved_kustomizations {
        if all.iter().all(|(known, _)| known != provider) {
            all.push((provider.clone(), place.clone()));
        }
    }
    Ok(all)
}

fn parse_flag<'f>(
    flag: &'f str,
    named: &[ProviderId],
    config: &Config,
) -> Result<(ProviderId, &'f str), Failure> {
    // A folder or URL may contain `=`, but only after a character that no provider name contains.
    let named_place = flag.split_once('=').filter(|(name, _)| !name.contains(['/', '\\', '.', ':']));
    let Some((name, place)) = named_place else {
        return match named {
            [only] => Ok((only.clone(), flag)),
            _ => Err(Failure::user(format!("`--kustomization {flag}` names no provider"))
                .hint(format!("add the provider name, such as `--kustomization aws={flag}`"))),
        };
    };
    let known: Vec<ProviderId> = config.providers()?.into_iter().map(|provider| provider.id).collect();
    let is_meant = |id: &&ProviderId| id.name == name || id.label() == name;
    let mut found: Vec<&ProviderId> = known.iter().filter(is_meant).collect();
    if found.len() > 1 && found.iter().any(|id| named.contains(id)) {
        found.retain(|id| named.contains(id));
    }
    match found.as_slice() {
        [id] => Ok(((*id).clone(), place)),
        [] => {
            let failure =
                Failure::user(format!("`--kustomization {flag}`: the provider `{name}` does not exist"));
            let near = similar_names(name, known.iter().map(|id| id.name.as_str()));
            Err(match near.first() {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint("run `capstan config repositories` to list the providers"),
            })
        }
        several => {
            let labels: Vec<String> = several.iter().map(|id| format!("`{}={place}`", id.label())).collect();
            Err(Failure::user(format!("`--kustomization {flag}`: several providers are named `{name}`"))
                .hint(format!("add the type: {}", labels.join(" or "))))
        }
    }
}

use std::collections::BTreeMap;

use api::{ProviderId, ProviderType};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use provider::{
    ProviderReleases,
    config::{CertManager, CertManagerMode, Config},
    supply::{self, Supply},
};
use repository::Lock;

use super::create::Create;
use crate::{Failure, Within as _, session::Session, settings, verbs::lifecycle::OwnedSources};

/// So many providers are read side by side.
const MAX_PROVIDERS_AT_ONCE: usize = 4;

/// A release, whole, and whose it is.
pub(super) struct Collected {
    pub(super) label: String,
    /// None for cert-manager.
    pub(super) id: Option<ProviderId>,
    /// Where it was read from.
    pub(super) url: String,
    pub(super) supply: Supply,
}

/// Reads all releases that a bundle is to have, by label; under the lock of this run.
/// # Errors
/// The first that cannot be read.
pub(super) fn collect(args: &Create, lock: &Lock, session: &Session) -> Result<Vec<Collected>, Failure> {
    let config = &*session.config()?;
    let sources = &OwnedSources::of(session)?;
    let mut releases = Vec::new();
    for (id, version) in providers(args, lock, config)? {
        releases.push((settings::provider_releases(&id, session)?, id, version));
    }
    let mut collected: Vec<Collected> = session.block_on(async {
        let each = releases.iter().map(|(releases, id, version)| async move {
            let one = one(releases, version.as_deref(), args, lock, sources);
            Box::pin(one).await.within(|| format!("cannot collect `{id}`"))
        });
        stream::iter(each).buffered(MAX_PROVIDERS_AT_ONCE).try_collect().await
    })?;
    if config.cert_manager()?.mode == CertManagerMode::Managed {
        let found = cert_manager(sources, session);
        collected.push(found.within(|| format!("cannot collect `{}`", CertManager::LABEL))?);
    }
    collected.sort_by(|a, b| a.label.cmp(&b.label));
    Ok(collected)
}

/// The providers of the lock, else those of a first installation.
fn providers(
    args: &Create,
    lock: &Lock,
    config: &Config,
) -> Result<Vec<(ProviderId, Option<String>)>, Failure> {
    if args.from_lock && lock.providers.is_empty() {
        return Err(Failure::user("there is nothing locked").hint("lock providers with `capstan lock`"));
    }
    if args.providers.is_given() || lock.providers.is_empty() {
        return Ok(args.providers.of_first_installation()?.providers);
    }
    let known = config.providers()?;
    let labels = lock.providers.keys().filter(|label| *label != CertManager::LABEL);
    labels
        .map(|label| {
            let found = known.iter().find(|provider| provider.id.label() == *label);
            let found = found.ok_or_else(|| {
                Failure::user(format!("`{label}` is locked, and there is no such provider"))
                    .hint("add it to clusterctl.yaml, or take it out of the lock")
            })?;
            Ok((found.id.clone(), None))
        })
        .collect()
}

async fn one(
    releases: &ProviderReleases,
    version: Option<&str>,
    args: &Create,
    lock: &Lock,
    sources: &OwnedSources,
) -> Result<Collected, Failure> {
    let id = &releases.provider().id;
    let release = releases.choose(version).await?;
    let label = id.label();
    let locked = lock.providers.get(&label).filter(|it| it.version == release.version());
    let mut also: Vec<String> = locked.into_iter().flat_map(|it| it.files.keys().cloned()).collect();
    if id.provider_type == ProviderType::Infrastructure && locked.is_none() {
        also.extend(args.with_file.iter().cloned());
    }
    let layer = sources.layers().get().get(id).await;
    let supply = supply::gather(&release, sources.config(), layer, &also).await?;
    Ok(Collected { label, id: Some(id.clone()), url: release.provider().url.clone(), supply })
}

fn cert_manager(sources: &OwnedSources, session: &Session) -> Result<Collected, Failure> {
    let sources = sources.get();
    let cert_manager = sources.config.cert_manager()?;
    let (manifest, files) = session.block_on(async {
        let manifest = management::cert_manager_manifest(&sources).await?;
        let files =
            supply::open_cert_manager(&cert_manager, sources.overrides.clone(), sources.repositories)?;
        let name = files.repository().components_file().to_owned();
        let files = supply::read_files(&files, &cert_manager.version, [name]).await?;
        Ok::<_, Failure>((manifest, files))
    })?;
    let images = supply::images(&manifest.objects);
    let (version, kustomization) = (cert_manager.version, BTreeMap::new());
    let supply = Supply { version, files, images, kustomization, warnings: manifest.warnings };
    Ok(Collected { label: CertManager::LABEL.to_owned(), id: None, url: cert_manager.url, supply })
}

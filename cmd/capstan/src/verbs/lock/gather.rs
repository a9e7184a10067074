use std::{collections::BTreeMap, path::Path};

use api::{ProviderType, output::LockChange};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use management::Sources;
use manifest::provenance::Trace;
use provider::{
    Layers, ProviderReleases,
    config::Config,
    supply::{self, Supply},
};
use repository::{Context, Lock as Locked, LockedProvider, Overrides};

use super::{Lock, targets::Target};
use crate::{
    Failure, Within as _, kustomizations, session::Session, settings, verbs::image_digests::ImageDigests,
};

/// So many providers are read side by side.
const MAX_PROVIDERS_AT_ONCE: usize = 4;

/// What was read of one provider, beside what is locked of it.
pub(super) struct Found {
    pub(super) label: String,
    pub(super) entry: LockedProvider,
    pub(super) changes: Vec<LockChange>,
    pub(super) is_anew: bool,
    pub(super) warnings: Vec<String>,
}

/// What was read of all of them.
pub(super) struct Gathered {
    /// In the order they were asked for.
    pub(super) found: Vec<Found>,
    /// A line for each image whose digest was asked for in vain.
    pub(super) unknown: Vec<String>,
}

struct Gathering<'a> {
    config: &'a Config,
    overrides: Overrides,
    context: Context,
    layers: Layers,
    lock: &'a Locked,
    also: &'a [String],
}

/// Reads all of them as if there were no lock, and asks for the digests of their images where that is wanted.
/// # Errors
/// The first that cannot be read.
pub(super) fn gather_all(
    targets: Vec<Target>,
    lock: &Locked,
    args: &Lock,
    session: &Session,
) -> Result<Gathered, Failure> {
    let config = &*session.config()?;
    let context =
        settings::repositories(config, session.globals(), session.environment(), session.messages(), None)?;
    let gathering = &Gathering {
        config,
        overrides: settings::overrides(config, session.environment())?,
        layers: kustomizations::configured(config, context.clone(), session)?,
        context,
        lock,
        also: &args.file,
    };
    let mut found: Vec<Found> = session.block_on(async {
        let each = targets.into_iter().map(|target| async move {
            let label = target.label.clone();
            Box::pin(gathering.one(target)).await.within(|| format!("cannot lock `{label}`"))
        });
        stream::iter(each).buffered(MAX_PROVIDERS_AT_ONCE).try_collect().await
    })?;
    let unknown =
        if args.digests { add_digests(&mut found, &gathering.context, session)? } else { Vec::new() };
    for one in &mut found {
        one.changes = one.entry.differences(lock.providers.get(&one.label));
    }
    Ok(Gathered { found, unknown })
}

/// Puts what registries say in the place of what was known before. Gives a line for each image of which they say nothing.
fn add_digests(found: &mut [Found], context: &Context, session: &Session) -> Result<Vec<String>, Failure> {
    let references = found.iter().flat_map(|it| it.entry.images.keys().map(String::as_str)).collect();
    let asked = session.block_on(async { Ok::<_, Failure>(ImageDigests::ask(context, references).await) })?;
    for (reference, known) in found.iter_mut().flat_map(|it| &mut it.entry.images) {
        *known = asked.known.get(reference).copied().or(*known);
    }
    Ok(asked.unknown)
}

impl Gathering<'_> {
    async fn one(&self, target: Target) -> Result<Found, Failure> {
        let (supply, url) = match &target.id {
            Some(_) => self.provider(&target).await?,
            None => self.cert_manager().await?,
        };
        let before = self.lock.providers.get(&target.label);
        let entry = supply.lock(self.shown(&url), before);
        let Target { label, is_anew, .. } = target;
        Ok(Found { label, entry, changes: Vec::new(), is_anew, warnings: supply.warnings })
    }

    async fn provider(&self, target: &Target) -> Result<(Supply, String), Failure> {
        let Some(id) = &target.id else { return self.cert_manager().await };
        let provider = self.config.provider(id)??;
        let url = provider.url.clone();
        let releases = ProviderReleases::open(provider, self.overrides.clone(), &self.context)?;
        let release = releases.choose(target.version.as_deref()).await?;
        // Files that were named once are read again, unless another version is locked.
        let before = self.lock.providers.get(&target.label).filter(|it| it.version == release.version());
        let mut also: Vec<String> = before.into_iter().flat_map(|it| it.files.keys().cloned()).collect();
        if id.provider_type == ProviderType::Infrastructure {
            also.extend(self.also.iter().filter(|name| !also.contains(name)).cloned().collect::<Vec<_>>());
        }
        let layer = self.layers.get(id).await;
        Ok((supply::gather(&release, self.config, layer, &also).await?, url))
    }

    async fn cert_manager(&self) -> Result<(Supply, String), Failure> {
        let cert_manager = self.config.cert_manager()?;
        let sources = Sources {
            config: self.config,
            overrides: &self.overrides,
            repositories: &self.context,
            layers: &self.layers,
            trace: Trace::Off,
        };
        let manifest = management::cert_manager_manifest(&sources).await?;
        let files = supply::open_cert_manager(&cert_manager, self.overrides.clone(), &self.context)?;
        let name = files.repository().components_file().to_owned();
        let files = supply::read_files(&files, &cert_manager.version, [name]).await?;
        let images = supply::images(&manifest.objects);
        let version = cert_manager.version;
        let kustomization = BTreeMap::new();
        let supply = Supply { version, files, images, kustomization, warnings: manifest.warnings };
        Ok((supply, cert_manager.url))
    }

    /// A url without credentials; a path below the configuration as it is seen from there, for the two may be carried
    /// about together.
    fn shown(&self, url: &str) -> String {
        let folder = self.config.origin().and_then(|origin| Path::new(origin).parent());
        let below = folder.and_then(|folder| Path::new(url).strip_prefix(folder).ok());
        match below.filter(|_| url.starts_with('/')) {
            Some(below) => below.display().to_string(),
            None => repository::shown_text(url),
        }
    }
}

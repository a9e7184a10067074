use std::{collections::BTreeMap, path::Path};

use api::{
    ProviderId, ProviderType,
    output::{LockChange, ProviderSource},
    similar_names,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use management::Sources;
use manifest::provenance::Trace;
use provider::{
    Overlays, ProviderReleases,
    config::{CertManager, CertManagerMode, Config},
    release_contents::{self, ReleaseContents},
};
use repository::{
    ChartSource, LockFile as Locked, LockSettings, LockedProvider, Overrides, RepositoryContext,
    UnlockedPolicy,
};

use super::Lock;
use crate::{
    Failure, WithContext as _, kustomizations, session::Session, settings, verbs::image_digests::ImageDigests,
};

const MAX_PROVIDERS_AT_ONCE: usize = 4;

pub(super) struct GatheredProvider {
    pub(super) label: String,
    pub(super) entry: LockedProvider,
    pub(super) changes: Vec<LockChange>,
    pub(super) may_replace: bool,
    pub(super) warnings: Vec<String>,
}

pub(super) struct GatheredLock {
    pub(super) providers: Vec<GatheredProvider>,
    /// A line per image without a digest from its registry.
    pub(super) unknown_digests: Vec<String>,
}

struct Gatherer<'a> {
    config: &'a Config,
    overrides: Overrides,
    context: RepositoryContext,
    layers: Overlays,
    lock: &'a Locked,
    extra_files: &'a [String],
}

/// Reads all releases as if there were no lock, and requests the digests of their images if the flags say so.
pub(super) fn gather_all(
    targets: Vec<LockTarget>,
    lock: &Locked,
    path: &Path,
    args: &Lock,
    session: &Session,
) -> Result<GatheredLock, Failure> {
    let config = &*session.config()?;
    // Kustomizations use the locked charts, as in all other commands.
    let charts = LockSettings {
        lock: Locked { charts: lock.charts.clone(), ..Locked::default() },
        location: path.display().to_string(),
        unlocked_policy: UnlockedPolicy::Allowed,
        chart_folder: Some(settings::chart_folder(path)),
    };
    let context = session.repositories_with(Some(charts))?;
    let gathering = &Gatherer {
        config,
        overrides: settings::overrides(config, session.environment())?,
        layers: kustomizations::configured_overlays(config, context.clone(), session)?,
        context,
        lock,
        extra_files: &args.file,
    };
    let mut found: Vec<GatheredProvider> = session.block_on(async {
        let each = targets.into_iter().map(|target| async move {
            let label = target.label.clone();
            Box::pin(gathering.gather(target)).await.with_context(|| format!("cannot lock `{label}`"))
        });
        stream::iter(each).buffered(MAX_PROVIDERS_AT_ONCE).try_collect().await
    })?;
    let unknown =
        if args.digests { add_digests(&mut found, &gathering.context, session)? } else { Vec::new() };
    for one in &mut found {
        one.changes = one.entry.differences(lock.providers.get(&one.label));
    }
    Ok(GatheredLock { providers: found, unknown_digests: unknown })
}

/// Replaces known digests with those of registries. Returns a line per image without a digest.
fn add_digests(
    found: &mut [GatheredProvider],
    context: &RepositoryContext,
    session: &Session,
) -> Result<Vec<String>, Failure> {
    let references = found.iter().flat_map(|it| it.entry.images.keys().map(String::as_str)).collect();
    let fetched =
        session.block_on(async { Ok::<_, Failure>(ImageDigests::fetch(context, references).await) })?;
    for (reference, known) in found.iter_mut().flat_map(|it| &mut it.entry.images) {
        *known = fetched.digests.get(reference).copied().or(*known);
    }
    Ok(fetched.failures)
}

impl Gatherer<'_> {
    async fn gather(&self, target: LockTarget) -> Result<GatheredProvider, Failure> {
        let (supply, url) = match &target.id {
            Some(_) => self.provider(&target).await?,
            None => self.cert_manager().await?,
        };
        let before = self.lock.providers.get(&target.label);
        let entry = supply.lock(self.shown_url(&url), before);
        let LockTarget { label, may_replace: is_anew, .. } = target;
        Ok(GatheredProvider {
            label,
            entry,
            changes: Vec::new(),
            may_replace: is_anew,
            warnings: supply.warnings,
        })
    }

    async fn provider(&self, target: &LockTarget) -> Result<(ReleaseContents, String), Failure> {
        let Some(id) = &target.id else { return self.cert_manager().await };
        let provider = self.config.provider(id)??;
        let url = provider.url.clone();
        let releases = ProviderReleases::open(provider, self.overrides.clone(), &self.context)?;
        let release = releases.choose_release(target.version.as_deref()).await?;
        // Files in the lock are read again, unless another version is locked.
        let before = self.lock.providers.get(&target.label).filter(|it| it.version == release.version());
        let mut also: Vec<String> = before.into_iter().flat_map(|it| it.files.keys().cloned()).collect();
        if id.provider_type == ProviderType::Infrastructure {
            also.extend(
                self.extra_files.iter().filter(|name| !also.contains(name)).cloned().collect::<Vec<_>>(),
            );
        }
        let layer = self.layers.get(id).await;
        Ok((release_contents::read_release_contents(&release, self.config, layer, &also).await?, url))
    }

    async fn cert_manager(&self) -> Result<(ReleaseContents, String), Failure> {
        let cert_manager = self.config.cert_manager()?;
        let sources = Sources {
            config: self.config,
            overrides: &self.overrides,
            repositories: &self.context,
            overlays: &self.layers,
            trace: Trace::Off,
        };
        let manifest = management::cert_manager_manifest(&sources).await?;
        let files =
            release_contents::open_cert_manager(&cert_manager, self.overrides.clone(), &self.context)?;
        let name = files.repository().components_file().to_owned();
        let files = release_contents::read_files(&files, &cert_manager.version, [name]).await?;
        let images = release_contents::find_all_images(&manifest.objects);
        let version = cert_manager.version;
        let kustomization = BTreeMap::new();
        let supply = ReleaseContents { version, files, images, kustomization, warnings: manifest.warnings };
        Ok((supply, cert_manager.url))
    }

    /// Returns a URL without credentials. A path below the configuration becomes relative, because both may be moved
    /// together.
    fn shown_url(&self, url: &str) -> String {
        let folder = self.config.origin().and_then(|origin| Path::new(origin).parent());
        let below = folder.and_then(|folder| Path::new(url).strip_prefix(folder).ok());
        match below.filter(|_| url.starts_with('/')) {
            Some(below) => below.display().to_string(),
            None => transport::address::redact_text(url),
        }
    }
}

pub(super) struct LockTarget {
    pub(super) label: String,
    /// The provider. `None` for cert-manager.
    pub(super) id: Option<ProviderId>,
    pub(super) version: Option<String>,
    /// True if the release may replace the locked one.
    pub(super) may_replace: bool,
}

/// Versions by label, with true if they may replace the locked ones.
type WantedVersions = BTreeMap<String, (Option<String>, bool)>;

const ALL: &str = "all";

pub(super) fn targets(args: &Lock, lock: &Locked, config: &Config) -> Result<Vec<LockTarget>, Failure> {
    if args.check && args.providers.is_given() {
        return Err(Failure::user("`--check` cannot be combined with provider flags")
            .hint("omit the provider flags; `--check` verifies every locked provider"));
    }
    let mut wanted = WantedVersions::new();
    let of_lock = || lock.providers.keys().map(|label| (label.clone(), (None, false)));
    if args.providers.is_given() || (args.selects_all() && lock.is_empty()) {
        wanted.extend(installation_versions(args, config)?);
    } else if args.selects_all() {
        wanted.extend(of_lock());
    }
    for update in args.update.iter().filter(|update| !ChartSource::is_url(update)) {
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

/// Returns the providers and cert-manager of a first installation. Without named providers, adds those of the
/// configuration.
fn installation_versions(args: &Lock, config: &Config) -> Result<WantedVersions, Failure> {
    let mut wanted = WantedVersions::new();
    if !args.providers.is_given() {
        let configured = config.providers()?.into_iter().filter(|it| it.source != ProviderSource::BuiltIn);
        wanted.extend(configured.map(|it| (it.id.label(), (None, false))));
    }
    for (id, version) in args.providers.first_installation()?.providers {
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
) -> Result<LockTarget, Failure> {
    if label == CertManager::LABEL {
        if version.is_some() {
            return Err(Failure::user("`--update` cannot set the version of cert-manager").hint(
                "set `cert-manager.version` in clusterctl.yaml, then run `capstan lock --update cert-manager`",
            ));
        }
        return Ok(LockTarget { label, id: None, version, may_replace: is_anew });
    }
    let providers = config.providers()?;
    let Some(provider) = providers.iter().find(|provider| provider.id.label() == label) else {
        let labels: Vec<String> = providers.iter().map(|provider| provider.id.label()).collect();
        let failure = Failure::user(format!("no provider has the label `{label}`"));
        let near = similar_names(&label, labels.iter().map(String::as_str));
        return Err(match near.first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(
                "use a label such as `infrastructure-aws`; run `capstan config repositories` to list the providers",
            ),
        });
    };
    let locked = lock.providers.get(&label).filter(|_| !is_anew).map(|locked| locked.version.clone());
    Ok(LockTarget { id: Some(provider.id.clone()), label, version: version.or(locked), may_replace: is_anew })
}

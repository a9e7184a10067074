use std::{collections::BTreeMap, fs::File, io::Read as _, path::Path};

use api::{
    ProviderId, ProviderType,
    output::{BundleReport, ImageList, ListedImage, ListedImagePlace},
};
use bundle::{Bundle as Archive, BundleWriter, ImageAddress, Platforms, ReleaseArtifact};
use chart::{Chart, VersionRange};
use clap::ArgGroup;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use provider::{
    ProviderReleases,
    config::{CertManager, CertManagerMode, Config},
    release_contents::{self, ReleaseContents},
};
use repository::{ChartSource, LockFile};
use serde_json::json;
use transport::{AddressOrigin, Digest};

use super::{
    read,
    site::{self, CONFIG_FILE, IMAGES_FILE},
};
use crate::{
    Failure, WithContext as _,
    session::Session,
    settings::{OutputFlag, OutputFormat, to_json},
    ui::format_bytes,
    verbs::{lifecycle::ReleaseSources, provider_flags::SeveralProviders},
};

/// Collect releases, charts, settings and images in one file
///
/// Includes the named providers and the defaults of a first installation, or without flags the providers of capstan.lock, and
/// always its charts. The file is a reproducible tar of an OCI layout, without the variables and credentials of the
/// configuration.
#[derive(clap::Args)]
#[command(group = ArgGroup::new(IMAGES).multiple(true))]
#[command(after_help = "Examples:
  {bin} bundle create --infrastructure aws --file lab.tar
  {bin} bundle create --from-lock --with-images --file lab.tar
  {bin} bundle create --from-lock --file - | ssh site 'cat > lab.tar'")]
pub(crate) struct Create {
    #[command(flatten)]
    pub(super) providers: SeveralProviders,

    /// File to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE", help_heading = HEADING)]
    file: String,

    /// Include only the locked providers and charts
    #[arg(long, help_heading = HEADING)]
    pub(super) from_lock: bool,

    /// Also include this template file of infrastructure providers; for hosts without file lists
    #[arg(long, value_name = "FILE,…", value_delimiter = ',', help_heading = HEADING)]
    pub(super) with_file: Vec<String>,

    /// Also include the images, copied from their registries
    #[arg(long, group = IMAGES, help_heading = HEADING)]
    with_images: bool,

    /// Also include these images, such as those of a chart
    #[arg(long, value_name = "IMAGE,…", value_delimiter = ',', group = IMAGES, help_heading = HEADING)]
    with_image: Vec<String>,

    /// Copy images only for this platform, such as linux/amd64; changes their digests
    #[arg(long, value_name = "OS/ARCH", requires = IMAGES, help_heading = HEADING)]
    platform: Option<String>,

    #[command(flatten, next_help_heading = HEADING)]
    output: OutputFlag,
}

const HEADING: &str = "Bundle";
/// The flags that include images.
const IMAGES: &str = "images";
const STDOUT: &str = "-";

pub(super) fn run(args: &Create, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    if args.from_lock && args.providers.is_given() {
        return Err(Failure::user("`--from-lock` cannot be combined with provider flags")
            .hint("omit the provider flags"));
    }
    let is_stdout = args.file == STDOUT;
    if is_stdout && format != OutputFormat::Text {
        return Err(Failure::user("`--output` cannot be combined with a bundle on standard output")
            .hint("omit `--output`, or write the bundle to a file with `--file FILE`"));
    }
    if is_stdout && session.printer().is_terminal() {
        return Err(Failure::user("cannot write a bundle to a terminal")
            .hint("redirect the output, or use `--file FILE`"));
    }
    for image in &args.with_image {
        ImageAddress::parse(image)?;
    }
    let before = session
        .repositories()?
        .release_settings()
        .lock
        .as_ref()
        .map(|it| it.lock.clone())
        .unwrap_or_default();
    let collected = collect(args, &before, session)?;
    for warning in collected.iter().flat_map(|it| &it.supply.warnings) {
        session.messages().warning(warning);
    }
    let config = session.config()?;
    let carried = |one| site::bundle_kustomization(one, &before, &config, session.environment());
    let carried = collected.iter().map(carried).collect::<Result<Vec<_>, Failure>>()?;
    // From here on, temporary files exist that only a return removes.
    let stop = session.defer_interrupts();
    let temporary = is_stdout.then(tempfile::tempdir).transpose()?;
    let path = match &temporary {
        Some(folder) => folder.path().join("bundle.tar"),
        None => session.environment().resolve(&args.file),
    };
    let shown = if is_stdout { "standard output".to_owned() } else { format!("`{}`", path.display()) };
    let unwritten = || {
        if is_stdout {
            "cannot create the bundle".to_owned()
        } else {
            format!("cannot create the bundle {shown}")
        }
    };
    let writer = BundleWriter::create(&path).with_context(unwritten)?.with_stop(stop);
    let mut lock = LockFile::default();
    for one in &collected {
        add_release(&writer, one, session).with_context(unwritten)?;
        let entry =
            one.supply.lock(transport::address::redact_text(&one.url), before.providers.get(&one.label));
        lock.providers.insert(one.label.clone(), entry);
    }
    lock.charts = before.charts;
    add_charts(&writer, &lock, session).with_context(unwritten)?;
    let more_images = add_images(args, &writer, &mut lock, &collected, session).with_context(unwritten)?;
    let mut settings = BTreeMap::from([
        (
            CONFIG_FILE.to_owned(),
            site::collected_configuration(collected.iter().zip(&carried), &config).into(),
        ),
        (LockFile::FILE.to_owned(), lock.to_string().into()),
        (IMAGES_FILE.to_owned(), to_json(&image_list(&collected, &lock, more_images))?.into()),
    ]);
    settings.extend(carried.into_iter().flat_map(|it| it.files));
    writer.add_configuration(settings).with_context(unwritten)?;
    let size_bytes =
        writer.finish().map_err(|error| session.interruption_or(error.into())).with_context(unwritten)?;
    let wrote = format!(
        "wrote {shown}, {}, without the variables and credentials of the configuration",
        format_bytes(size_bytes)
    );
    if is_stdout {
        print(&path, session)?;
    } else {
        let report: BundleReport = read::bundle_report(&args.file, &Archive::open(&path)?);
        session.print(format, &report, read::report_text)?;
    }
    session.show_result(wrote);
    Ok(())
}

/// Copies a file to standard output until the reader disconnects.
fn print(path: &Path, session: &mut Session) -> Result<(), Failure> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 * 1024];
    while session.printer().has_reader() {
        match file.read(&mut buffer)? {
            0 => break,
            read => session.printer().write(&buffer[..read])?,
        }
    }
    Ok(())
}

/// Adds a release. Warns if its signature is lost: a closed site can only verify the originally signed artifact.
fn add_release(writer: &BundleWriter, one: &CollectedRelease, session: &Session) -> Result<(), Failure> {
    let context = session.repositories()?;
    let files = one.supply.files.iter().map(|(name, file)| (name.clone(), file.bytes.clone())).collect();
    let (label, version) = (&one.label, &one.supply.version);
    let form = session.block_on(writer.add_release_from(&context, &one.url, label, version, files))?;
    if form == ReleaseArtifact::Repackaged && context.release_settings().verify_keys.contains_key(label) {
        session.messages().warning(format!(
            "the bundle contains `{label}` {version} without its signature, because its files differ from the signed \
             artifact"
        ));
    }
    Ok(())
}

/// Adds the charts of the lock, one after the other, because archives are in memory.
fn add_charts(writer: &BundleWriter, lock: &LockFile, session: &Session) -> Result<(), Failure> {
    let context = session.repositories()?;
    let versions = lock.charts.iter().flat_map(|(url, versions)| versions.keys().map(move |it| (url, it)));
    for (url, version) in versions {
        session.messages().log(1, format!("adding chart {url} {version}"));
        let added = session.block_on(async {
            let source = ChartSource::of_url(url, AddressOrigin::User)?;
            let fetched = source.fetch(&VersionRange::exact(version), &context).await?;
            let metadata = metadata_json(&Chart::from_archive(&fetched.bytes)?);
            let chart = (url.as_str(), version.as_str());
            writer.add_chart_from(&context, chart, &fetched.bytes, metadata.as_bytes()).await?;
            Ok::<_, Failure>(())
        });
        added.with_context(|| format!("cannot add chart `{url}` {version}"))?;
    }
    Ok(())
}

/// Returns the fields of `Chart.yaml` that registries show.
fn metadata_json(chart: &Chart) -> String {
    let metadata = chart.metadata();
    let fields = BTreeMap::from([
        ("apiVersion", &metadata.api_version),
        ("appVersion", &metadata.app_version),
        ("description", &metadata.description),
        ("name", &metadata.name),
        ("type", &metadata.kind),
        ("version", &metadata.version),
    ]);
    json!(fields.into_iter().filter(|(_, text)| !text.is_empty()).collect::<BTreeMap<_, _>>()).to_string()
}

/// Copies every image once. If an argument or annotation only seems to name an image, a failed copy is a warning.
///
/// Returns the digests of the images that are named by a flag.
fn add_images<'a>(
    args: &'a Create,
    writer: &BundleWriter,
    lock: &mut LockFile,
    collected: &[CollectedRelease],
    session: &Session,
) -> Result<BTreeMap<&'a str, Digest>, Failure> {
    let platforms = args.platform.clone().map_or(Platforms::All, Platforms::One);
    let context = session.repositories()?;
    let mut runs: BTreeMap<&str, bool> = BTreeMap::new();
    let of_releases = collected.iter().filter(|_| args.with_images).flat_map(|it| &it.supply.images);
    for image in of_releases {
        *runs.entry(&image.reference).or_default() |= image.location.is_container();
    }
    runs.extend(args.with_image.iter().map(|image| (image.as_str(), true)));
    let mut named = BTreeMap::new();
    for (reference, is_run) in runs {
        let known: Option<Digest> =
            lock.providers.values().find_map(|it| it.images.get(reference).copied().flatten());
        session.messages().log(1, format!("copying {reference}"));
        let copied = session.block_on(writer.add_image(&context, reference, known, &platforms));
        match copied {
            Ok(digest) => {
                let images = lock.providers.values_mut().filter_map(|it| it.images.get_mut(reference));
                images.for_each(|known| *known = Some(digest));
                if let Some(image) = args.with_image.iter().find(|image| *image == reference) {
                    named.insert(image.as_str(), digest);
                }
            }
            Err(failure) if !is_run && failure.kind() != crate::failure::Kind::Interrupted => {
                session.messages().warning(format!(
                    "skipped `{reference}`, which no container uses: {}",
                    failure.message()
                ));
            }
            Err(failure) => return Err(failure.with_context(format!("cannot copy the image `{reference}`"))),
        }
    }
    Ok(named)
}

fn image_list(collected: &[CollectedRelease], lock: &LockFile, named: BTreeMap<&str, Digest>) -> ImageList {
    let listed = |image: &str| ListedImage {
        image: image.to_owned(),
        digest: None,
        used_by: Vec::new(),
        places: Vec::new(),
    };
    let mut images: BTreeMap<&str, ListedImage> = BTreeMap::new();
    for one in collected {
        for found in &one.supply.images {
            let image = images.entry(&found.reference).or_insert_with(|| listed(&found.reference));
            let known = lock.providers.get(&one.label).and_then(|it| *it.images.get(&found.reference)?);
            image.digest = known.map(|digest| digest.to_string());
            if !image.used_by.contains(&one.label) {
                image.used_by.push(one.label.clone());
            }
            image.places.push(ListedImagePlace {
                component: one.label.clone(),
                object: found.object.to_string(),
                runs: found.location.is_container(),
                place: found.location.to_string(),
            });
        }
    }
    for (reference, digest) in named {
        let image = images.entry(reference).or_insert_with(|| listed(reference));
        image.digest = Some(digest.to_string());
    }
    ImageList { images: images.into_values().collect() }
}

const MAX_PROVIDERS_AT_ONCE: usize = 4;

pub(super) struct CollectedRelease {
    pub(super) label: String,
    /// The provider. `None` for cert-manager.
    pub(super) id: Option<ProviderId>,
    pub(super) url: String,
    pub(super) supply: ReleaseContents,
}

/// Reads all releases of a bundle, sorted by label, and checks them against the lock of this run.
pub(super) fn collect(
    args: &Create,
    lock: &LockFile,
    session: &Session,
) -> Result<Vec<CollectedRelease>, Failure> {
    let config = &*session.config()?;
    let sources = &ReleaseSources::new(session)?;
    let mut releases = Vec::new();
    for (id, version) in providers(args, lock, config)? {
        releases.push((session.provider_releases(&id)?, id, version));
    }
    let mut collected: Vec<CollectedRelease> = session.block_on(async {
        let each = releases.iter().map(|(releases, id, version)| async move {
            let one = collect_provider(releases, version.as_deref(), args, lock, sources);
            Box::pin(one).await.with_context(|| format!("cannot collect `{id}`"))
        });
        stream::iter(each).buffered(MAX_PROVIDERS_AT_ONCE).try_collect().await
    })?;
    let has_charts_only = args.from_lock && lock.providers.is_empty();
    if config.cert_manager()?.mode == CertManagerMode::Managed && !has_charts_only {
        let found = cert_manager(sources, session);
        collected.push(found.with_context(|| format!("cannot collect `{}`", CertManager::LABEL))?);
    }
    collected.sort_by(|a, b| a.label.cmp(&b.label));
    Ok(collected)
}

/// Returns the providers of the lock, or else those of a first installation.
fn providers(
    args: &Create,
    lock: &LockFile,
    config: &Config,
) -> Result<Vec<(ProviderId, Option<String>)>, Failure> {
    if args.from_lock && lock.is_empty() {
        return Err(
            Failure::user("the lock is missing or empty").hint("run `capstan lock` to lock providers")
        );
    }
    if args.providers.is_given() || (lock.providers.is_empty() && !args.from_lock) {
        return Ok(args.providers.first_installation()?.providers);
    }
    let known = config.providers()?;
    let labels = lock.providers.keys().filter(|label| *label != CertManager::LABEL);
    labels
        .map(|label| {
            let found = known.iter().find(|provider| provider.id.label() == *label);
            let found = found.ok_or_else(|| {
                Failure::user(format!("the locked provider `{label}` is not configured"))
                    .hint("add the provider to clusterctl.yaml, or remove it from the lock")
            })?;
            Ok((found.id.clone(), None))
        })
        .collect()
}

async fn collect_provider(
    releases: &ProviderReleases,
    version: Option<&str>,
    args: &Create,
    lock: &LockFile,
    sources: &ReleaseSources,
) -> Result<CollectedRelease, Failure> {
    let id = &releases.provider().id;
    let release = releases.choose_release(version).await?;
    let label = id.label();
    let locked = lock.providers.get(&label).filter(|it| it.version == release.version());
    let mut also: Vec<String> = locked.into_iter().flat_map(|it| it.files.keys().cloned()).collect();
    if id.provider_type == ProviderType::Infrastructure && locked.is_none() {
        also.extend(args.with_file.iter().cloned());
    }
    let layer = sources.overlays().overlays().get(id).await;
    let supply = release_contents::read_release_contents(&release, sources.config(), layer, &also).await?;
    Ok(CollectedRelease { label, id: Some(id.clone()), url: release.provider().url.clone(), supply })
}

fn cert_manager(sources: &ReleaseSources, session: &Session) -> Result<CollectedRelease, Failure> {
    let sources = sources.sources();
    let cert_manager = sources.config.cert_manager()?;
    let (manifest, files) = session.block_on(async {
        let manifest = management::cert_manager_manifest(&sources).await?;
        let files = release_contents::open_cert_manager(
            &cert_manager,
            sources.overrides.clone(),
            sources.repositories,
        )?;
        let name = files.repository().components_file().to_owned();
        let files = release_contents::read_files(&files, &cert_manager.version, [name]).await?;
        Ok::<_, Failure>((manifest, files))
    })?;
    let images = release_contents::find_all_images(&manifest.objects);
    let (version, kustomization) = (cert_manager.version, BTreeMap::new());
    let supply = ReleaseContents { version, files, images, kustomization, warnings: manifest.warnings };
    Ok(CollectedRelease { label: CertManager::LABEL.to_owned(), id: None, url: cert_manager.url, supply })
}

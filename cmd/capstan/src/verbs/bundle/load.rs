use std::{collections::BTreeSet, fs, path::Path};

use api::output::{BundleLoad, LoadedContentState};
use bundle::{
    Bundle as Archive, BundleItem, ExistingContent, ImageAddress, RegistryTarget, load_into_folder,
    load_into_registry,
};
use manifest::{Map, Value};
use repository::LockFile;
use transport::Digest;

use super::{
    read::{self, open},
    site::{self, CONFIG_FILE, IMAGES_FILE},
};
use crate::{
    Failure, WithContext as _,
    failure::Kind,
    session::Session,
    settings::{self, OutputFlag},
    ui::{Messages, format_count, write_file_atomically},
    verbs::path_lock::{LOCK_WRITER, take_turn},
};

/// Load a bundle into a folder or a registry
///
/// The command verifies the complete bundle first and keeps existing content. A folder becomes a local repository with
/// clusterctl.yaml and capstan.lock. For a registry, the command prints the configuration that uses it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} bundle load lab.tar --to-folder /srv/capi
  {bin} bundle load lab.tar --to-registry oci://registry.lab/capi")]
pub(crate) struct Load {
    /// Bundle file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// Folder of the local repository
    #[arg(long, value_name = "DIR", conflicts_with = "to_registry")]
    to_folder: Option<String>,

    /// Registry with a common prefix of all repositories
    #[arg(long, value_name = "oci://HOST[/PREFIX]")]
    to_registry: Option<String>,

    /// Replace different content of the same version
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    output: OutputFlag,
}

/// The first line of a configuration from a bundle, with the digest of the rest. The digest detects changes by the
/// user.
const GENERATED_HEADER: &str = "# Written by `bundle load`; it is kept once it is changed. ";

const RESUME_HINT: &str = "re-run the same command to upload the remaining content";

pub(super) const FILE_MODE: u32 = 0o644;

pub(super) fn run(args: &Load, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let existing = if args.force { ExistingContent::Replace } else { ExistingContent::Refuse };
    let within = || format!("cannot load `{}`", args.file);
    let loaded = match (&args.to_folder, &args.to_registry) {
        (Some(folder), _) => {
            let bundle = open(&args.file, session)?;
            let folder = session.environment().resolve(folder);
            // Temporary folders of releases exist during the load, which only a return removes.
            let bundle = bundle.with_stop(session.defer_interrupts());
            let loaded = load_to_folder(&bundle, &folder, existing, session);
            loaded.map_err(|failure| session.interruption_or(failure)).with_context(within)?
        }
        (None, Some(target)) => {
            let bundle = open(&args.file, session)?;
            load_to_registry(&bundle, target, existing, session).with_context(within)?
        }
        (None, None) => {
            return Err(Failure::user("the target is missing: use `--to-folder` or `--to-registry`"));
        }
    };
    for content in &loaded.contents {
        let what = match content.state {
            LoadedContentState::New => "loaded",
            LoadedContentState::Unchanged => "unchanged:",
            LoadedContentState::Replaced => "replaced",
        };
        session.messages().status(format!(
            "{what} {} {} ({})",
            read::content_kind_text(content.kind),
            content.name,
            content.place
        ));
    }
    session.print(format, &loaded, |loaded, _| match &args.to_folder {
        Some(_) => String::new(),
        None => loaded.configuration.clone(),
    })?;
    let news = loaded.contents.iter().filter(|it| it.state != LoadedContentState::Unchanged).count();
    session.show_result(match news {
        0 => format!("nothing to load: `{}` already has everything", loaded.target),
        news => format!("loaded {} to `{}`", format_count(news, "part"), loaded.target),
    });
    Ok(())
}

fn load_to_folder(
    bundle: &Archive,
    folder: &Path,
    existing: ExistingContent,
    session: &Session,
) -> Result<BundleLoad, Failure> {
    let local = |it: &site::BundledRelease<'_>| {
        let version = if it.is_cert_manager() { it.version } else { "latest" };
        format!("{}/{version}/{}", it.label, it.components_file)
    };
    let configuration = site::configuration(bundle, local, Map::new())?;
    let lock_path = folder.join(LockFile::FILE);
    let bundled = bundle.read_lock()?;
    let images = bundle.read_setting(IMAGES_FILE)?;
    let _turn = take_turn(&lock_path, LOCK_WRITER, &session.repositories_with(None)?, session)?;
    // An unusable lock is an error before the first write.
    let mut lock = settings::read_lock(&lock_path)?.unwrap_or_default();
    let contents = load_into_folder(bundle, folder, existing)?;
    lock.providers.extend(bundled.providers);
    for (url, versions) in bundled.charts {
        lock.charts.entry(url).or_default().extend(versions);
    }
    write(&lock_path, lock.to_string().as_bytes())?;
    let config_path = folder.join(CONFIG_FILE);
    // A bundle of charts alone must not replace the providers of another bundle.
    if site::releases(bundle).next().is_some() || !config_path.exists() {
        write(&folder.join(IMAGES_FILE), &images)?;
        site::write_kustomizations(bundle, folder, existing, session.messages())?;
        write_configuration(&config_path, &configuration, existing, session.messages())?;
    }
    Ok(BundleLoad { target: folder.display().to_string(), contents, configuration })
}

fn load_to_registry(
    bundle: &Archive,
    target: &str,
    existing: ExistingContent,
    session: &Session,
) -> Result<BundleLoad, Failure> {
    let place = RegistryTarget::parse(target)?;
    let configuration =
        site::configuration(bundle, |it| place.provider_url(it.label), registry_map(bundle, &place)?)?;
    if site::has_kustomizations(bundle) {
        session.messages().warning(
            "a registry cannot store the kustomizations of the bundle; run `capstan bundle load FILE --to-folder DIR` to \
             write them beside clusterctl.yaml",
        );
    }
    let context = session.repositories()?;
    let loaded = session.block_on(load_into_registry(bundle, &context, &place, existing));
    let contents = loaded.map_err(|failure| match failure.kind() {
        Kind::Interrupted => failure.with_resume_hint("during the upload", RESUME_HINT),
        _ => failure,
    })?;
    Ok(BundleLoad { target: transport::address::redact_text(target), contents, configuration })
}

fn registry_map(bundle: &Archive, place: &RegistryTarget) -> Result<Map<String, Value>, Failure> {
    let mut names = BTreeSet::new();
    for entry in bundle.entries() {
        if let BundleItem::Image { reference, .. } = &entry.item {
            names.insert(ImageAddress::parse(reference)?.registry().to_owned());
        }
    }
    Ok(names
        .into_iter()
        .map(|name| (place.image_prefix(&name), name))
        .map(|(to, name)| (name, to.into()))
        .collect())
}

/// Writes the configuration, unless the user changed the existing one.
fn write_configuration(
    path: &Path,
    configuration: &str,
    existing: ExistingContent,
    messages: &Messages,
) -> Result<(), Failure> {
    let stamp = |text: &str| format!("{GENERATED_HEADER}{}\n", Digest::of(text.as_bytes()));
    let is_ours =
        |there: &str| there.split_once('\n').is_some_and(|(first, rest)| stamp(rest).trim_end() == first);
    if existing == ExistingContent::Refuse
        && let Ok(there) = fs::read_to_string(path)
        && !is_ours(&there)
    {
        messages.warning(format!(
            "kept `{}`, which you changed; print the new configuration with `-o yaml`, or replace it with `--force`",
            path.display()
        ));
        return Ok(());
    }
    write(path, format!("{}{configuration}", stamp(configuration)).as_bytes())
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    if fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    Ok(write_file_atomically(path, content, FILE_MODE)?)
}

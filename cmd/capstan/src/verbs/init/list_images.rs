use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Failure, WithContext as _,
    session::Session,
    settings::{KubeFlags, OutputFlag, OutputFormat},
    ui::Messages,
    verbs::{image_digests::ImageDigests, lifecycle::ReleaseSources, provider_flags::SeveralProviders},
};
use api::output::{ImageList, ListedImage, ListedImagePlace};
use manifest::{
    Object,
    images::{self, ImageReference},
    provenance::Trace,
};
use provider::{
    ComponentsInput, Overlay, Release, Substitution, TemplateText, build_components,
    config::{CertManager, CertManagerMode, Config, Variables},
    release_contents,
};
use repository::{LockSettings, RepositoryContext};

/// List the container images that an installation needs
///
/// Lists every image of a first installation once: cert-manager, Cluster API and the named providers, with image overrides
/// applied. The command needs no management cluster. It warns about images in arguments, variables and annotations;
/// `-o json` also lists them, and the objects and the digest of every image.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} init list-images --infrastructure aws:v2.11.1

  # Images to mirror, by digest
  {bin} init list-images --infrastructure aws --digests

  # For scripts, with the objects that use each image
  {bin} init list-images --infrastructure aws -o json")]
pub(crate) struct ListImages {
    #[command(flatten)]
    output: OutputFlag,

    /// Add digests to the images; read unknown digests from the registries
    #[arg(long)]
    digests: bool,

    /// The peer takes these flags here too.
    #[command(flatten)]
    kube: KubeFlags,
}

type Images = BTreeMap<String, ImageUses>;

#[derive(Default)]
struct ImageUses {
    places: BTreeSet<ListedImagePlace>,
    /// True if clusterctl lists the image: a Deployment or a DaemonSet runs the image.
    is_listed: bool,
}

pub(super) fn run(
    args: &ListImages,
    providers: &SeveralProviders,
    session: &mut Session,
) -> Result<(), Failure> {
    let format = args.output.format()?;
    if args.kube.is_given() {
        session
            .messages()
            .log(1, "the list is for a first installation and does not depend on a management cluster");
    }
    let mut images = Images::new();
    let sources = ReleaseSources::new(session)?;
    for (id, version) in providers.first_installation()?.providers {
        let releases = session.provider_releases(&id)?;
        let (release, text, layer) = session
            .block_on(async {
                let release = releases.choose_release(version.as_deref()).await?;
                release.check().await?;
                let text = release.components().await?;
                let layer = sources.overlays().overlays().get(&id).await;
                Ok::<_, provider::ReleaseError>((release, text, layer))
            })
            .with_context(|| format!("cannot list the images of `{id}`"))?;
        for warning in add_provider(&release, &text, layer, sources.config(), &mut images)? {
            session.messages().warning(warning);
        }
    }
    add_cert_manager(&sources, session, &mut images)
        .with_context(|| format!("cannot list the images of `{}`", CertManager::LABEL))?;
    warn_unlisted(&images, format, session.messages());
    let context = session.repositories()?;
    let mut list = list(&images, context.release_settings().lock.as_deref());
    if args.digests {
        add_digests(&mut list, &context, session)?;
    }
    session.print(format, &list, |list, _| text(list, &images, args))
}

/// Requests missing digests from registries. An image without a digest causes a warning and stays in the list.
fn add_digests(list: &mut ImageList, context: &RepositoryContext, session: &Session) -> Result<(), Failure> {
    let unknown = list.images.iter().filter(|it| it.digest.is_none()).map(|it| it.image.as_str());
    let unknown: BTreeSet<&str> = unknown.collect();
    let image_digests =
        session.block_on(async { Ok::<_, Failure>(ImageDigests::fetch(context, unknown).await) })?;
    image_digests.failures.iter().for_each(|line| session.messages().warning(line));
    for image in &mut list.images {
        let found = image_digests.digests.get(&image.image).map(ToString::to_string);
        image.digest = image.digest.take().or(found);
    }
    Ok(())
}

/// Returns one image per line, as clusterctl does, with its digest if requested.
/// Source: clusterctl v1.14 cmd/init_list_images.go.
fn text(list: &ImageList, images: &Images, args: &ListImages) -> String {
    let mut text = String::new();
    for listed in list.images.iter().filter(|it| images.get(&it.image).is_some_and(|uses| uses.is_listed)) {
        text.push_str(&listed.image);
        let digest = listed.digest.as_ref().filter(|_| args.digests && !listed.image.contains('@'));
        if let Some(digest) = digest {
            text.push('@');
            text.push_str(digest);
        }
        text.push('\n');
    }
    text
}

/// Warns about images that the text, which matches clusterctl, does not list.
fn warn_unlisted(images: &Images, format: OutputFormat, messages: &Messages) {
    if format != OutputFormat::Text {
        return;
    }
    for (image, uses) in images.iter().filter(|(_, uses)| !uses.is_listed) {
        let places = uses.places.iter().map(|it| format!("{} of `{}`", it.place, it.object));
        let places: Vec<String> = places.collect();
        messages.warning(format!("the list does not include `{image}`: {}", places.join(", ")));
    }
}

fn list(images: &Images, lock: Option<&LockSettings>) -> ImageList {
    let one = |(image, uses): (&String, &ImageUses)| {
        let used_by: BTreeSet<String> = uses.places.iter().map(|it| it.component.clone()).collect();
        ListedImage {
            digest: digest(image, &used_by, lock),
            image: image.clone(),
            used_by: used_by.into_iter().collect(),
            places: uses.places.iter().cloned().collect(),
        }
    };
    ImageList { images: images.iter().map(one).collect() }
}

fn digest(image: &str, used_by: &BTreeSet<String>, lock: Option<&LockSettings>) -> Option<String> {
    let written = ImageReference::parse(image).ok().and_then(|it| it.digest.map(str::to_owned));
    let locked = |lock: &LockSettings| {
        let mut entries = used_by.iter().filter_map(|label| lock.lock.providers.get(label));
        entries.find_map(|entry| *entry.images.get(image)?).map(|digest| digest.to_string())
    };
    written.or_else(|| lock.and_then(locked))
}

fn add(label: &str, objects: &[Object], images: &mut Images) {
    for image in objects.iter().flat_map(images::images_of) {
        images.entry(image.to_owned()).or_default().is_listed = true;
    }
    for found in release_contents::find_all_images(objects) {
        images.entry(found.reference).or_default().places.insert(ListedImagePlace {
            component: label.to_owned(),
            object: found.object.to_string(),
            runs: found.location.is_container(),
            place: found.location.to_string(),
        });
    }
}

fn add_provider(
    release: &Release<'_>,
    text: &TemplateText,
    layer: Option<&dyn Overlay>,
    config: &Config,
    images: &mut Images,
) -> Result<Vec<String>, Failure> {
    let id = &release.provider().id;
    let components = build_components(&ComponentsInput {
        provider: id,
        text,
        variables: &Variables::new(config),
        substitution: Substitution::OnlySet,
        image_overrides: &config.image_overrides()?,
        overlay: layer,
        customisations: &config.customisations(id)?,
        target_namespace: Some("default"),
        trace: Trace::Off,
    })
    .with_context(|| format!("cannot list the images of `{id}` {}", release.version()))?;
    add(&id.label(), &components.objects, images);
    Ok(components.warnings)
}

fn add_cert_manager(sources: &ReleaseSources, session: &Session, images: &mut Images) -> Result<(), Failure> {
    if sources.config().cert_manager()?.mode != CertManagerMode::Managed {
        return Ok(());
    }
    let sources = sources.sources();
    let manifest = session.block_on(management::cert_manager_manifest(&sources))?;
    manifest.warnings.iter().for_each(|warning| session.messages().warning(warning));
    add(CertManager::LABEL, &manifest.objects, images);
    Ok(())
}

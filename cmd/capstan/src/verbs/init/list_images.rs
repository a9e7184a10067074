use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Failure, Within as _,
    session::Session,
    settings::{self, KubeFlags, OutputFormat},
    verbs::{lifecycle::OwnedSources, provider_flags::SeveralProviders},
};
use api::{
    ProviderId,
    output::{ImageList, ListedImage},
};
use manifest::images;
use provider::{
    ComponentsInput, Release, Substitution, TemplateText, build_components,
    config::{CertManager, CertManagerMode, Config, Variables},
};

/// List the container images that an installation needs
///
/// Lists those of cert-manager, Cluster API and the named providers, each once, with image overrides in place. No
/// management cluster is asked: the list is that of a first installation.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} init list-images --infrastructure aws:v2.11.1

  # For scripts: who runs what
  {bin} init list-images --infrastructure aws -o json")]
pub(crate) struct ListImages {
    /// Output format: text, json or yaml
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,

    /// The peer takes these flags here too.
    #[command(flatten)]
    kube: KubeFlags,
}

/// Images by name, with who runs them.
type Images = BTreeMap<String, BTreeSet<String>>;

pub(super) fn run(
    args: &ListImages,
    providers: &SeveralProviders,
    session: &mut Session,
) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    if args.kube.is_given() {
        session.messages().log(1, "the list is that of a first installation; no management cluster is asked");
    }
    let config = session.config()?;
    let mut images = Images::new();
    for (id, version) in providers.of_first_installation()?.providers {
        let releases = settings::provider_releases(&id, session)?;
        let (release, text) = session
            .block_on(async {
                let release = releases.choose(version.as_deref()).await?;
                release.check().await?;
                let text = release.components().await?;
                Ok::<_, provider::ReleaseError>((release, text))
            })
            .within(|| format!("cannot list the images of `{id}`"))?;
        add_provider(&id, &release, &text, &config, &mut images)?;
    }
    add_cert_manager(&OwnedSources::of(session)?, session, &mut images)
        .within(|| format!("cannot list the images of `{}`", CertManager::LABEL))?;
    let listed = images
        .into_iter()
        .map(|(image, used_by)| ListedImage { image, used_by: used_by.into_iter().collect() });
    let list = ImageList { images: listed.collect() };
    let text = format.render(&list, |list| {
        list.images.iter().flat_map(|listed| [listed.image.as_str(), "\n"]).collect()
    })?;
    session.printer().data(text)
}

fn add_provider(
    id: &ProviderId,
    release: &Release<'_>,
    text: &TemplateText,
    config: &Config,
    images: &mut Images,
) -> Result<(), Failure> {
    let components = build_components(&ComponentsInput {
        provider: id,
        text,
        variables: &Variables::new(config),
        substitution: Substitution::WhatIsSet,
        image_overrides: &config.image_overrides()?,
        customisations: &config.customisations(id)?,
        target_namespace: Some("default"),
    })
    .within(|| format!("cannot list the images of `{id}` {}", release.version()))?;
    for image in components.images {
        images.entry(image).or_default().insert(id.label());
    }
    Ok(())
}

fn add_cert_manager(sources: &OwnedSources, session: &Session, images: &mut Images) -> Result<(), Failure> {
    if sources.config().cert_manager()?.mode != CertManagerMode::Managed {
        return Ok(());
    }
    let sources = sources.get();
    let manifest = session.block_on(management::cert_manager_manifest(&sources))?;
    for image in manifest.objects.iter().flat_map(images::images_of) {
        images.entry(image.to_owned()).or_default().insert(CertManager::LABEL.to_owned());
    }
    Ok(())
}

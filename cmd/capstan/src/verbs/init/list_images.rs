use std::collections::{BTreeMap, BTreeSet};

use api::{
    ProviderId,
    output::{ImageList, ListedImage},
};
use manifest::images;
use provider::{
    ComponentsInput, Release, Substitution, TemplateText, build_components,
    config::{CertManager, Config, Variables},
};
use repository::WithOverrides;

use crate::{
    Failure, Within as _,
    session::Session,
    settings::{self, OutputFormat},
    verbs::provider_flags::SeveralProviders,
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
}

/// Images by name, with who runs them.
type Images = BTreeMap<String, BTreeSet<String>>;

pub(super) fn run(
    args: &ListImages,
    providers: &SeveralProviders,
    session: &mut Session,
) -> Result<(), Failure> {
    let format = OutputFormat::parse(&args.output)?;
    let config = session.config()?;
    let mut images = Images::new();
    for (id, version) in providers.of_first_installation()? {
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
    add_cert_manager(&config, session, &mut images)
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
        target_namespace: Some("default"),
    })
    .within(|| format!("cannot list the images of `{id}` {}", release.version()))?;
    for image in components.images {
        images.entry(image).or_default().insert(id.label());
    }
    Ok(())
}

/// cert-manager has no metadata and no variables of its own; its namespace is its own too.
fn add_cert_manager(config: &Config, session: &Session, images: &mut Images) -> Result<(), Failure> {
    let cert_manager = config.cert_manager()?;
    if cert_manager.externally_provisioned {
        return Ok(());
    }
    let context = session.repositories()?;
    let repository = repository::open(&cert_manager.url, CertManager::LABEL, &context)?;
    let file_name = repository.components_file().to_owned();
    let overrides = settings::overrides(config, session.environment())?;
    let files = WithOverrides::new(repository, overrides, CertManager::LABEL, context);
    let file = session.block_on(async { files.read(&cert_manager.version, &file_name).await })?;
    let text = TemplateText::new(file.origin.to_string(), &file.bytes)?;
    let substituted = text.substitute_what_is_set(&Variables::new(config))?;
    let overrides = config.image_overrides()?;
    for mut object in text.read_objects(&substituted)?.objects {
        let rule = |image: &str| overrides.resolve(CertManager::LABEL, image);
        images::override_images(&mut object, &rule).map_err(|bad| {
            Failure::user(format!("`{}` names images that cannot be used", text.file))
                .hints(bad.iter().map(ToString::to_string))
        })?;
        for image in images::images_of(&object) {
            images.entry(image.to_owned()).or_default().insert(CertManager::LABEL.to_owned());
        }
    }
    Ok(())
}

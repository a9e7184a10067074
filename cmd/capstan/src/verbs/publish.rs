use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use api::output::{Publication, PublicationOutcome, PublishedFile};
use bundle::{ExistingTag, Package, PackageContent, PackageFile, PackageTarget, TagState};
use provider::{ReleaseError, release_contents::release_files};

use crate::{
    Failure, WithContext as _, session::Session, settings::OutputFlag, ui::format_count,
    verbs::provider_flags::OneProvider,
};

/// Publish the files of a release to a registry
///
/// Packs the files of a folder or of a provider release into one artifact that capstan and cluster-api-operator can read. The
/// artifact is reproducible.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  # The files of a folder, as version v1.2.3
  {bin} publish ./out oci://registry.lab/providers/my-cloud:v1.2.3

  # A release of a configured provider
  {bin} publish -i aws:v2.11.1 oci://registry.lab/providers/aws

  # Show the artifact and its digest
  {bin} publish -i aws:v2.11.1 oci://registry.lab/providers/aws --dry-run")]
pub(crate) struct Publish {
    /// Folder of the files, unless a provider is named, and target: oci://REGISTRY/REPOSITORY[:VERSION]
    #[arg(value_name = "DIR|TARGET", required = true, num_args = 1..=2)]
    words: Vec<String>,

    #[command(flatten)]
    provider: OneProvider,

    /// Replace the version if it exists with other files
    #[arg(long)]
    force: bool,

    /// Show the artifact, and publish nothing
    #[arg(long)]
    dry_run: bool,

    /// Creation time to record in the artifact, RFC 3339; changes the digest
    #[arg(long, value_name = "TIME")]
    created: Option<String>,

    /// Annotation of the artifact; repeatable
    #[arg(long = "annotation", value_name = "KEY=VALUE")]
    annotations: Vec<String>,

    #[command(flatten)]
    output: OutputFlag,
}

pub(crate) fn run(args: &Publish, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let annotations = annotations(&args.annotations)?;
    let (files, version, target) = match args.words.as_slice() {
        [target] => {
            let (files, version) = package_files(args, session)?;
            (files, Some(version), target)
        }
        [folder, target] if !args.provider.is_given() => {
            (folder_files(&session.environment().resolve(folder))?, None, target)
        }
        words => {
            return Err(Failure::user(format!("`{}` cannot be combined with a provider", words.join("` `")))
                .hint("use a folder or a provider, then one target"));
        }
    };
    let target = PackageTarget::parse(target, version.as_deref())?;
    let package = Package::new(files, annotations, args.created.clone())
        .with_context(|| format!("cannot publish to `{}`", target.address()))?;
    let context = session.repositories()?;
    let before = session.block_on(async {
        if args.dry_run {
            return package.tag_state(&context, &target).await;
        }
        let existing = if args.force { ExistingTag::Move } else { ExistingTag::Keep };
        package.publish(&context, &target, existing).await
    });
    let before = before.with_context(|| format!("cannot publish to `{}`", target.address()))?;
    let report = report(args, &package, &target, before);
    session.print(format, &report, |result, _| result_text(result))?;
    let (files, target) = (format_count(report.files.len(), "file"), &report.target);
    match report.outcome {
        PublicationOutcome::Published => session.show_result(format!("published {files} to {target}")),
        PublicationOutcome::TagMoved => session.show_result(format!("replaced {target} with {files}")),
        PublicationOutcome::AlreadyThere if !args.dry_run => {
            session.show_result(format!("nothing to publish: {target} already has these files"));
        }
        _ => {}
    }
    Ok(())
}

fn annotations(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let split = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Failure::user(format!("invalid value `{text}` for `--annotation`")).hint("use KEY=VALUE")),
    };
    given.iter().map(split).collect()
}

fn folder_files(folder: &Path) -> Result<Vec<PackageFile>, Failure> {
    let failed = |error: std::io::Error| Failure::io("read the folder", folder, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let shown = entry.path();
        let metadata = fs::metadata(&shown).map_err(|error| Failure::io("read", &shown, &error))?;
        if !metadata.is_file() {
            let problem = format!("cannot publish `{}`: it is not a file", shown.display());
            return Err(Failure::user(problem).hint("move it out of the folder: a release has only files"));
        }
        let name = entry.file_name().into_string().map_err(|name| {
            Failure::user(format!("the name of `{}` is not valid UTF-8", folder.join(name).display()))
        })?;
        files.push(PackageFile { name, content: PackageContent::Path(entry.path()) });
    }
    if files.is_empty() {
        return Err(Failure::user(format!("the folder `{}` contains no files to publish", folder.display())));
    }
    Ok(files)
}

/// Returns the release files that Cluster API uses. The host may have other files too, such as programs.
fn package_files(args: &Publish, session: &Session) -> Result<(Vec<PackageFile>, String), Failure> {
    let (id, version) = args.provider.provider_and_version()?;
    let releases = session.provider_releases(&id)?;
    let files = session.block_on(async {
        let release = releases.choose_release(version.as_deref()).await?;
        let mut files = Vec::new();
        for name in release_files(&release).await? {
            match release.read(&name).await {
                Ok(file) => files.push(PackageFile { name, content: PackageContent::Bytes(file.bytes) }),
                // If the host cannot list files, the list contains the default template even if it does not exist.
                Err(ReleaseError::Read { source, .. })
                    if source.is_not_found() && provider::flavor_of_file(&name).is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok::<_, Failure>((files, release.version().to_owned()))
    });
    files.with_context(|| format!("cannot read the release of `{id}`"))
}

fn report(args: &Publish, package: &Package, target: &PackageTarget, before: TagState) -> Publication {
    let outcome = match (before, args.dry_run) {
        (TagState::Same, _) => PublicationOutcome::AlreadyThere,
        (TagState::Other(_), true) => PublicationOutcome::TagTaken,
        (TagState::Other(_), false) => PublicationOutcome::TagMoved,
        (TagState::Free, true) => PublicationOutcome::Planned,
        (TagState::Free, false) => PublicationOutcome::Published,
    };
    let files = package.files().map(|(name, digest, size_bytes)| PublishedFile {
        name: name.to_owned(),
        digest: digest.to_string(),
        size_bytes,
    });
    Publication {
        target: target.address(),
        digest: package.digest().to_string(),
        outcome,
        files: files.collect(),
    }
}

fn result_text(report: &Publication) -> String {
    let what = match report.outcome {
        PublicationOutcome::Published => "published",
        PublicationOutcome::TagMoved => "published, replacing other files",
        PublicationOutcome::AlreadyThere => "already published",
        PublicationOutcome::Planned => "would be published",
        PublicationOutcome::TagTaken => "exists with other files; `--force` would replace them",
    };
    let mut text = format!("{}@{}\n{what}:\n", report.target, report.digest);
    for file in &report.files {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {}  {} bytes", file.name, file.size_bytes);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_release_has_the_targets_of_links_and_nothing_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (store, release) = (folder.path().join("store.yaml"), folder.path().join("release"));
        fs::write(&store, "kind: Metadata").unwrap();
        fs::create_dir(&release).unwrap();
        std::os::unix::fs::symlink("../store.yaml", release.join("metadata.yaml")).unwrap();
        let files = folder_files(&release).unwrap();
        assert_eq!(files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["metadata.yaml"]);
        fs::create_dir(release.join("templates")).unwrap();
        assert!(folder_files(&release).is_err());
    }
}

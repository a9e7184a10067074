use std::path::Path;

use chart::{Chart, ChartFile, Dependency, VersionRange, locked_dependencies};
use repository::{ChartSource, RepositoryContext};
use transport::AddressOrigin;

use super::folder::read_files;
use crate::{Failure, WithContext as _, session::Session};

/// Files with the exact versions of dependencies.
const LOCKS: [&str; 2] = ["Chart.lock", "requirements.lock"];

/// Loads a chart from a folder, with the dependencies that are missing in `charts/`. Writes nothing.
pub(super) fn load(place: &str, folder: &Path, session: &Session) -> Result<Chart, Failure> {
    let context = || format!("cannot load chart `{place}`");
    let mut files = read_files(folder).with_context(context)?;
    let chart = Chart::from_files(files.clone()).with_context(context)?;
    let missing: Vec<&Dependency> = chart.missing_dependencies().collect();
    if missing.is_empty() {
        return Ok(chart);
    }
    let locked = locked(&files).with_context(context)?;
    let repositories = session.repositories()?;
    for dependency in missing {
        let found = session.block_on(fetch(dependency, &locked, folder, &repositories));
        let found = found.with_context(|| format!("cannot fetch the dependency `{}`", dependency.name));
        files.extend(found.with_context(context)?);
    }
    Chart::from_files(files).with_context(context)
}

/// Returns the dependencies in the lock of a chart.
fn locked(files: &[ChartFile]) -> Result<Vec<Dependency>, Failure> {
    let lock = files.iter().find(|file| LOCKS.contains(&file.path.as_str()));
    Ok(lock.map(locked_dependencies).transpose()?.unwrap_or_default())
}

/// Returns the files of a dependency: an archive, or a folder beside the chart.
async fn fetch(
    dependency: &Dependency,
    locked: &[Dependency],
    folder: &Path,
    repositories: &RepositoryContext,
) -> Result<Vec<ChartFile>, Failure> {
    let Dependency { name, repository, version, .. } = dependency;
    if let Some(path) = repository.strip_prefix("file://") {
        let mut files = read_files(&folder.join(path))?;
        for file in &mut files {
            file.path.insert_str(0, &format!("charts/{name}/"));
        }
        return Ok(files);
    }
    if repository.is_empty() {
        return Err(
            Failure::user("Chart.yaml sets no `repository` for it").hint("copy the chart to `charts/`")
        );
    }
    if repository.starts_with('@') || repository.starts_with("alias:") {
        let message = format!("the repository name `{repository}` of `helm repo add` is not supported");
        return Err(Failure::user(message).hint("set `repository` in Chart.yaml to a URL"));
    }
    let is_same = |other: &&Dependency| other.name == *name && other.repository == *repository;
    let version = locked.iter().find(is_same).map_or(version, |locked| &locked.version);
    let range = VersionRange::parse(version, false)?;
    let source = ChartSource::parse(name, Some(repository), AddressOrigin::User)?;
    let fetched = source.fetch(&range, repositories).await?;
    Ok(vec![ChartFile::new(format!("charts/{name}.tgz"), &*fetched.bytes)])
}

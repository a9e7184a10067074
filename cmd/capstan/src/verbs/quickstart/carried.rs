//! The providers that the program carries: the newer of the two releases that ship with the project.

use std::{fs, io, path::Path};

/// Names files below the folder they are kept in, each with its text.
macro_rules! carried {
    ($($path:literal),+ $(,)?) => {
        [$(($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../e2e/fixtures/", $path)))),+]
    };
}

/// The configuration that points at all others.
pub(super) const CONFIG: &str = "clusterctl.yaml";

/// The infrastructure provider among them.
pub(super) const INFRASTRUCTURE: &str = "sandbox";

/// Its flavor with a managed topology.
pub(super) const FLAVOR: &str = "development";

/// Each file by its path, which the configuration knows.
const FILES: [(&str, &str); 13] = carried![
    "clusterctl.yaml",
    "repository/cert-manager/v1.0.0/cert-manager.yaml",
    "repository/cluster-api/v1.1.0/core-components.yaml",
    "repository/cluster-api/v1.1.0/metadata.yaml",
    "repository/bootstrap-kubeadm/v1.1.0/bootstrap-components.yaml",
    "repository/bootstrap-kubeadm/v1.1.0/metadata.yaml",
    "repository/control-plane-kubeadm/v1.1.0/control-plane-components.yaml",
    "repository/control-plane-kubeadm/v1.1.0/metadata.yaml",
    "repository/infrastructure-sandbox/v1.1.0/infrastructure-components.yaml",
    "repository/infrastructure-sandbox/v1.1.0/metadata.yaml",
    "repository/infrastructure-sandbox/v1.1.0/cluster-template.yaml",
    "repository/infrastructure-sandbox/v1.1.0/cluster-template-development.yaml",
    "repository/infrastructure-sandbox/v1.1.0/clusterclass-quick-start.yaml",
];

/// Writes all of them below a folder.
/// # Errors
/// When one cannot be written.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let below = |path: std::path::PathBuf| {
            if path.is_dir() { files(&path) } else { vec![path.display().to_string()] }
        };
        entries.flat_map(below).collect()
    }

    #[test]
    fn every_file_of_the_newer_releases_is_carried() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/fixtures");
        let prefix = format!("{}/", shipped.display());
        let of_newer = |path: &String| !path.contains("/v1.0.0/") || path.contains("/cert-manager/");
        let shipped = files(&shipped.join("repository")).into_iter().filter(of_newer);
        let mut shipped: BTreeSet<String> = shipped.map(|path| path.replace(&prefix, "")).collect();
        shipped.insert(CONFIG.to_owned());
        assert_eq!(FILES.map(|(path, _)| path.to_owned()).into_iter().collect::<BTreeSet<_>>(), shipped);
    }
}

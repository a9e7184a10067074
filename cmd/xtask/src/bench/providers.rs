use std::{
    fmt::{Display, Write as _},
    fs,
    path::Path,
};

use anyhow::Result;
use api::{Metadata, ProviderId, ProviderType};

/// A provider of the corpus, with the first version to install and the newest version.
struct Entry {
    provider_type: ProviderType,
    name: &'static str,
    first: &'static str,
    newest: &'static str,
}

const fn entry(
    provider_type: ProviderType,
    name: &'static str,
    first: &'static str,
    newest: &'static str,
) -> Entry {
    Entry { provider_type, name, first, newest }
}

const CERT_MANAGER: &str = "cert-manager/v1.21.1/cert-manager.yaml";

const PROVIDERS: [Entry; 5] = [
    entry(ProviderType::Core, "cluster-api", "v1.13.5", "v1.14.0"),
    entry(ProviderType::Bootstrap, "kubeadm", "v1.13.5", "v1.14.0"),
    entry(ProviderType::ControlPlane, "kubeadm", "v1.13.5", "v1.14.0"),
    entry(ProviderType::Infrastructure, "docker", "v1.13.5", "v1.14.0"),
    entry(ProviderType::Infrastructure, "aws", "v2.11.1", "v2.11.1"),
];

/// The command line that installs the first `count` providers.
pub(super) fn init(count: usize) -> Vec<String> {
    std::iter::once("init".to_owned()).chain(flags(count)).collect()
}

/// The flags that name the first `count` providers.
pub(super) fn flags(count: usize) -> Vec<String> {
    let flags = PROVIDERS[..count].iter().flat_map(|Entry { provider_type, name, first, .. }| {
        [format!("--{}", provider_type.flag()), format!("{name}:{first}")]
    });
    flags.collect()
}

/// The files of all providers and of cert-manager that capstan reads, as paths in the corpus.
pub(super) fn files() -> Vec<String> {
    let of_entry = |Entry { provider_type, name, first, .. }: &Entry| {
        let label = ProviderId::new(*provider_type, *name).label();
        [provider_type.components_file(), Metadata::FILE].map(|file| format!("{label}/{first}/{file}"))
    };
    PROVIDERS.iter().flat_map(of_entry).chain([CERT_MANAGER.to_owned()]).collect()
}

/// Writes a configuration of all providers for a corpus in a folder or on a web server. Returns its path.
///
/// # Errors
/// Fails if the file cannot be written.
pub(super) fn configuration(corpus: impl Display, path: &Path) -> Result<String> {
    let mut text = format!(
        "cert-manager: {{url: \"{corpus}/{CERT_MANAGER}\"}}\n\
         AWS_B64ENCODED_CREDENTIALS: bm9uZQ==\nproviders:\n"
    );
    for Entry { provider_type, name, newest, .. } in &PROVIDERS {
        let (kind, file) = (provider_type.as_str(), provider_type.components_file());
        let label = ProviderId::new(*provider_type, *name).label();
        writeln!(text, "- {{name: {name}, type: {kind}, url: \"{corpus}/{label}/{newest}/{file}\"}}")?;
    }
    fs::write(path, text)?;
    Ok(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_names_each_of_its_providers_with_a_version() {
        let four = "init --core cluster-api:v1.13.5 --bootstrap kubeadm:v1.13.5 \
                    --control-plane kubeadm:v1.13.5 --infrastructure docker:v1.13.5";
        assert_eq!(init(4).join(" "), four);
        assert_eq!(init(5).join(" "), format!("{four} --infrastructure aws:v2.11.1"));
    }
}

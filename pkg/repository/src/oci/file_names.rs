use api::ProviderType;

/// The possible names of provider files in an artifact.
/// Source: cluster-api-operator, "Using OCI Artifact", and its oci_source.go, for the order of names. Differs:
/// templates and other files may have the long name too. Differs: the short name of a runtime extension follows
/// clusterctl or the operator.
#[derive(Debug)]
pub(super) struct FileNames {
    /// `{type}-{name}`, as in the operator. `None` for cert-manager, which is not a provider.
    stem: Option<String>,
    /// The requested name of the components file.
    components: String,
    /// Alternative names of the components file.
    other_components: Vec<String>,
}

/// The label of cert-manager, which has no provider type.
pub(crate) const CERT_MANAGER_LABEL: &str = "cert-manager";

const CERT_MANAGER_FILE: &str = "cert-manager.yaml";

const COMPONENTS: &str = "components.yaml";

impl FileNames {
    /// Derives the names from a provider label.
    pub(super) fn of(label: &str) -> Self {
        if label == CERT_MANAGER_LABEL {
            let components = CERT_MANAGER_FILE.to_owned();
            return Self { stem: None, components, other_components: Vec::new() };
        }
        let (provider_type, name) = type_and_name(label);
        let word = type_word(provider_type);
        Self {
            stem: Some(format!("{word}-{name}")),
            components: provider_type.components_file().to_owned(),
            other_components: vec![format!("{word}-{COMPONENTS}"), COMPONENTS.to_owned()],
        }
    }

    pub(super) fn components(&self) -> &str {
        &self.components
    }

    /// Possible names of a file of a version, in order of precedence.
    pub(super) fn candidates(&self, version: &str, file: &str) -> Vec<String> {
        let is_components = file == self.components;
        let long = if is_components { COMPONENTS } else { file };
        let mut names: Vec<String> = self.prefixes(version).map(|prefix| format!("{prefix}{long}")).collect();
        names.push(file.to_owned());
        if is_components {
            names.extend(self.other_components.iter().cloned());
        }
        names
    }

    /// The name under which a file of the artifact can be read.
    pub(super) fn short_name(&self, version: &str, title: &str) -> String {
        let long = self.prefixes(version).find_map(|prefix| title.strip_prefix(&prefix).map(str::to_owned));
        let name = long.unwrap_or_else(|| title.to_owned());
        if self.other_components.contains(&name) { self.components.clone() } else { name }
    }

    /// Prefixes of long names, with the version as written and with `v` added or removed.
    fn prefixes(&self, version: &str) -> impl Iterator<Item = String> {
        let number = version.trim_start_matches('v');
        let versions = if version.starts_with('v') {
            [version.to_owned(), number.to_owned()]
        } else {
            [number.to_owned(), format!("v{number}")]
        };
        let stem = self.stem.clone();
        versions.into_iter().filter_map(move |version| Some(format!("{}-{version}-", stem.as_ref()?)))
    }
}

/// Splits a label into type and name. A label without a type prefix is a core provider.
pub(super) fn type_and_name(label: &str) -> (ProviderType, &str) {
    ProviderType::ALL
        .into_iter()
        .filter(|of| *of != ProviderType::Core)
        .find_map(|of| Some((of, label.strip_prefix(of.label_prefix())?)))
        .unwrap_or((ProviderType::Core, label))
}

/// The word for a provider type in the operator's file names.
fn type_word(provider_type: ProviderType) -> &'static str {
    match provider_type {
        ProviderType::RuntimeExtension => "runtimeextension",
        other => other.flag(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_searched_in_the_order_of_the_operator() {
        let names = |label: &str, file: &str| FileNames::of(label).candidates("v1.9.3", file);
        assert_eq!(
            names("infrastructure-azure", "metadata.yaml"),
            [
                "infrastructure-azure-v1.9.3-metadata.yaml",
                "infrastructure-azure-1.9.3-metadata.yaml",
                "metadata.yaml"
            ]
        );
        assert_eq!(
            names("control-plane-kubeadm", "control-plane-components.yaml"),
            [
                "control-plane-kubeadm-v1.9.3-components.yaml",
                "control-plane-kubeadm-1.9.3-components.yaml",
                "control-plane-components.yaml",
                "control-plane-components.yaml",
                "components.yaml"
            ]
        );
        assert_eq!(
            names("cluster-api", "core-components.yaml")[0],
            "core-cluster-api-v1.9.3-components.yaml"
        );
        let extension = names("runtime-extension-nutanix", "runtime-extensions-components.yaml");
        assert_eq!(extension[3], "runtimeextension-components.yaml");
        assert_eq!(names("cert-manager", "cert-manager.yaml"), ["cert-manager.yaml"]);
    }

    #[test]
    fn long_names_are_shortened_for_the_own_provider_only() {
        let names = FileNames::of("infrastructure-docker");
        let cases = [
            ("infrastructure-docker-v1.9.4-components.yaml", "infrastructure-components.yaml"),
            ("infrastructure-docker-v1.9.4-metadata.yaml", "metadata.yaml"),
            ("bootstrap-kubeadm-v1.9.4-metadata.yaml", "bootstrap-kubeadm-v1.9.4-metadata.yaml"),
            ("components.yaml", "infrastructure-components.yaml"),
            ("cluster-template.yaml", "cluster-template.yaml"),
        ];
        for (title, expected) in cases {
            assert_eq!(names.short_name("v1.9.4", title), expected);
        }
    }
}

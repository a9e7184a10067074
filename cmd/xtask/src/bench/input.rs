use std::{fs, path::Path};

use anyhow::{Context as _, Result};

use crate::workspace::beside;

/// The number of copies of each core provider CRD in the large file.
const COPIES: usize = 10;

/// The input of the cases.
pub(super) struct Input {
    /// The path of a configuration file for both programs.
    pub(super) config: String,
}

/// Writes a configuration for the corpus, and a large release beside it. `None` without a corpus.
pub(super) fn prepare(folder: &Path) -> Result<Option<Input>> {
    let corpus = beside("CAPSTAN_CORPUS", "corpus").join("providers");
    let core = corpus.join("cluster-api/v1.14.0");
    if !core.is_dir() {
        return Ok(None);
    }
    let corpus = corpus.canonicalize()?;
    let repository = folder.join("repository/cluster-api");
    for version in ["v1.14.0", "v9.0.0"] {
        fs::create_dir_all(repository.join(version))?;
    }
    let read = |name: &str| {
        let path = core.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let (components, metadata) = (read("core-components.yaml")?, read("metadata.yaml")?);
    fs::write(repository.join("v1.14.0/core-components.yaml"), &components)?;
    fs::write(repository.join("v1.14.0/metadata.yaml"), &metadata)?;
    fs::write(repository.join("v9.0.0/core-components.yaml"), enlarge(&components))?;
    fs::write(repository.join("v9.0.0/metadata.yaml"), METADATA)?;
    let config = folder.join("clusterctl.yaml");
    let text = format!(
        "providers:\n- name: cluster-api\n  type: CoreProvider\n  url: {}/v1.14.0/core-components.yaml\n\
         - name: docker\n  type: InfrastructureProvider\n  url: {}/infrastructure-docker/v1.14.0/infrastructure-components.yaml\n",
        repository.display(),
        corpus.display()
    );
    fs::write(&config, text)?;
    Ok(Some(Input { config: config.display().to_string() }))
}

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                        - major: 9\n  minor: 0\n  contract: v1beta2\n";

/// Repeats every CRD of a components file under other names.
fn enlarge(components: &str) -> String {
    let mut large = components.trim_end().to_owned();
    for copy in 1..COPIES {
        for document in
            components.split("\n---\n").filter(|text| text.contains("\nkind: CustomResourceDefinition\n"))
        {
            let document = document
                .trim_start_matches("---\n")
                .replace(".cluster.x-k8s.io\n", &format!(".copy-{copy}.x-k8s.io\n"));
            large.push_str("\n---\n");
            large.push_str(document.trim_end());
        }
    }
    large.push('\n');
    large
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_holds_every_crd_under_names_of_its_own() {
        let one = "kind: Namespace\n---\napiVersion: v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.cluster.x-k8s.io\n";
        let large = enlarge(one);
        assert_eq!(large.matches("kind: CustomResourceDefinition").count(), COPIES);
        assert_eq!(large.matches("kind: Namespace").count(), 1);
        assert!(large.contains("name: a.copy-9.x-k8s.io\n"));
    }
}

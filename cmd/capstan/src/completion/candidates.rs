use std::{collections::BTreeSet, ffi::OsString, fs, path::PathBuf, time::Duration};

use api::{ProviderId, ProviderType};
use inventory::ManagementCluster;
use provider::config::Config;
use repository::Location;
use workload::namespace_names;

use crate::{
    Environment,
    cli::raw_flag_value,
    sandboxes::SandboxesFolder,
    settings::{self, ConfigSource, KubeFlags},
};

/// The fast sources of candidates: the configuration, repositories in local folders, and objects of the management
/// cluster if the cluster answers in time.
/// Sources that cannot be read give no candidates, because completion cannot show errors.
pub(crate) struct Candidates {
    environment: Environment,
    config: Option<String>,
    kube: KubeFlags,
    namespace: Option<String>,
    target_kubeconfig: Option<PathBuf>,
}

impl Candidates {
    /// Reads the flags that select the sources.
    pub(crate) fn new(environment: Environment, words: &[OsString]) -> Self {
        let config = raw_flag_value(words, "config", None).map(str::to_owned);
        let of = |long| raw_flag_value(words, long, None).map(str::to_owned);
        let kube = KubeFlags {
            kubeconfig: of("kubeconfig").map(PathBuf::from),
            kubeconfig_context: of("kubeconfig-context"),
            sandbox: of("sandbox"),
        };
        let target_kubeconfig = of("to-kubeconfig").map(PathBuf::from);
        let namespace = raw_flag_value(words, "namespace", Some('n')).map(str::to_owned);
        Self { environment, config, kube, namespace, target_kubeconfig }
    }

    fn config(&self) -> Option<Config> {
        let file = match settings::config_source(self.config.as_deref(), &self.environment) {
            ConfigSource::File(path) => Some(settings::read_config_file(&path).ok()?),
            ConfigSource::None => None,
            ConfigSource::Url(_) => return None,
        };
        Config::new(file, self.environment.variables()).ok()
    }

    /// Returns the folder that contains a folder per version, if the releases of a provider are local.
    fn releases(&self, provider: &ProviderId) -> Option<PathBuf> {
        let config = self.config()?.provider(provider).ok()?.ok()?;
        match Location::parse(&config.url, &provider.label(), config.kind).ok()? {
            Location::Local(local) => Some(local.base.join(local.label)),
            _ => None,
        }
    }

    /// Reads names from the management cluster, with a short timeout for interactive use.
    fn query_cluster(
        &self,
        names: impl AsyncFnOnce(&ManagementCluster, &str) -> Option<Vec<String>>,
    ) -> Vec<String> {
        const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
        let query = async {
            let namespace = self.kube.namespace(self.namespace.as_deref(), &self.environment).ok()?;
            let cluster =
                settings::completion_cluster(&self.kube, &self.environment, QUERY_TIMEOUT).await.ok()?;
            names(&cluster, &namespace).await
        };
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return Vec::new();
        };
        let answer = runtime.block_on(async { tokio::time::timeout(QUERY_TIMEOUT, query).await });
        // Abandons a credential plugin that still asks for a password.
        runtime.shutdown_background();
        let mut names = answer.ok().flatten().unwrap_or_default();
        names.sort_unstable();
        names
    }

    pub(super) fn providers(&self, provider_type: ProviderType) -> Vec<String> {
        let providers = self.config().and_then(|config| config.providers().ok()).unwrap_or_default();
        let of_type = providers.into_iter().filter(|provider| provider.id.provider_type == provider_type);
        of_type.map(|provider| provider.id.name).collect()
    }

    pub(super) fn versions(&self, provider: &ProviderId) -> Vec<String> {
        let names = self.releases(provider).map(|folder| names_in(&folder)).unwrap_or_default();
        let mut versions: Vec<api::Version> =
            names.iter().filter_map(|name| api::Version::parse(name).ok()).collect();
        versions.sort_by(|a, b| b.cmp(a));
        versions.iter().map(ToString::to_string).collect()
    }

    pub(super) fn flavors(&self, provider: &ProviderId, version: Option<&str>) -> Vec<String> {
        let Some(folder) = self.releases(provider) else { return Vec::new() };
        let versions = match version {
            Some(version) => vec![version.to_owned()],
            None => self.versions(provider),
        };
        let files = versions.iter().flat_map(|version| names_in(&folder.join(version)));
        let flavors = files.filter_map(|file| provider::flavor_of_file(&file).map(str::to_owned));
        flavors.filter(|flavor| !flavor.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(super) fn contexts(&self) -> Vec<String> {
        KubeFlags { kubeconfig_context: None, ..self.kube.clone() }.contexts(&self.environment)
    }

    pub(super) fn target_contexts(&self) -> Vec<String> {
        let kubeconfig = self.target_kubeconfig.clone();
        KubeFlags { kubeconfig, ..KubeFlags::default() }.contexts(&self.environment)
    }

    pub(super) fn sandboxes(&self) -> Vec<String> {
        SandboxesFolder::of(&self.environment).and_then(|home| home.names()).unwrap_or_default()
    }

    pub(super) fn namespaces(&self) -> Vec<String> {
        self.query_cluster(async |cluster, _| namespace_names(cluster).await.ok())
    }

    pub(super) fn clusters(&self) -> Vec<String> {
        self.query_cluster(async |cluster, namespace| workload::cluster_names(cluster, namespace).await.ok())
    }

    pub(super) fn rollouts(&self, resource: &str) -> Vec<String> {
        self.query_cluster(async |cluster, namespace| {
            workload::rollout_names(cluster, namespace, resource).await.ok()
        })
    }
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().as_os_str().to_str().map(str::to_owned)).collect()
}

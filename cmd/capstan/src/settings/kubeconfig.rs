use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use api::{ErrorExplanation, Explain, one_of, similar_names};
use apply::Credentials;
use kube::config::Kubeconfig;
use manifest::yaml::{self, YamlLimits};

use super::CLUSTER;
use crate::{Environment, Failure, failure::Kind, sandboxes::SandboxesFolder};

/// The flags that choose a management cluster.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct KubeFlags {
    /// Kubeconfig of the management cluster [default: $KUBECONFIG, else ~/.kube/config]
    #[arg(long, value_name = "PATH", help_heading = CLUSTER)]
    pub(crate) kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig [default: its current context]
    #[arg(long, alias = "kube-context", value_name = "CONTEXT", help_heading = CLUSTER)]
    pub(crate) kubeconfig_context: Option<String>,

    /// Sandbox to use instead of a kubeconfig; `init` starts it if necessary
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["kubeconfig", "kubeconfig_context"],
        help_heading = CLUSTER
    )]
    pub(crate) sandbox: Option<String>,
}

/// A variable that exists in every pod.
const POD_VARIABLE: &str = "KUBERNETES_SERVICE_HOST";

/// The kubeconfig context of a management cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KubeContext {
    pub(crate) name: String,
    /// The namespace of the context, if given.
    pub(crate) namespace: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum KubeconfigError {
    #[error("cannot find a kubeconfig")]
    NotFound { paths: Vec<PathBuf> },
    #[error("cannot read the kubeconfig `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("cannot merge the kubeconfig `{}` with the previous files of KUBECONFIG", path.display())]
    Unmergeable {
        path: PathBuf,
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    #[error("the kubeconfig has no current context")]
    NoCurrentContext { known: Vec<String> },
    #[error("the kubeconfig has no context `{name}`")]
    UnknownContext { name: String, suggestions: Vec<String>, known: Vec<String> },
    /// Without this check, requests have no credentials.
    #[error("context `{context}` names user `{user}`, which the kubeconfig does not have")]
    MissingUser { context: String, user: String, known: Vec<String> },
    #[error("{}", .0.one_line())]
    Sandbox(Box<Failure>),
}

impl Explain for KubeconfigError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::NotFound { paths: looked_at } => {
                let places: Vec<String> = looked_at.iter().map(|path| path.display().to_string()).collect();
                let searched = if places.is_empty() {
                    "HOME is not set".to_owned()
                } else {
                    format!("these files do not exist: {}", places.join(", "))
                };
                ErrorExplanation::hint(format!(
                    "use `--kubeconfig FILE` or `--sandbox NAME`, or set KUBECONFIG ({searched})"
                ))
            }
            Self::NoCurrentContext { known } | Self::UnknownContext { known, .. } if known.is_empty() => {
                ErrorExplanation::hint("the file has no contexts; use another one with `--kubeconfig FILE`")
                    .with_kind(Kind::User)
            }
            Self::NoCurrentContext { known } => ErrorExplanation::hint(format!(
                "select a context with `--kubeconfig-context`: {}",
                one_of(known)
            ))
            .with_kind(Kind::User),
            Self::UnknownContext { suggestions: near, known, .. } => {
                ErrorExplanation::hint(if near.is_empty() {
                    format!("the kubeconfig has {}", one_of(known))
                } else {
                    format!("did you mean {}?", one_of(near))
                })
                .with_kind(Kind::User)
            }
            Self::MissingUser { known, .. } => ErrorExplanation::hint(match known.as_slice() {
                [] => "add the user, or select another context with `--kubeconfig-context`".to_owned(),
                known => format!("correct the user of the context; the kubeconfig has {}", one_of(known)),
            })
            .with_kind(Kind::User),
            Self::Sandbox(failure) => ErrorExplanation::hints(failure.distinct_hints()),
            Self::Unreadable { .. } => ErrorExplanation::hint("use another file with `--kubeconfig FILE`"),
            Self::Unmergeable { .. } => ErrorExplanation::default(),
        }
    }
}

/// Checks that the kubeconfig has the user of a context. A context may have no user.
fn check_user(config: &Kubeconfig, name: &str) -> Result<(), KubeconfigError> {
    let named = config.contexts.iter().find(|context| context.name == name);
    let user =
        named.and_then(|named| named.context.as_ref()?.user.as_deref()).filter(|user| !user.is_empty());
    match user {
        Some(user) if !config.auth_infos.iter().any(|known| known.name == user) => {
            Err(KubeconfigError::MissingUser {
                context: name.to_owned(),
                user: user.to_owned(),
                known: config.auth_infos.iter().map(|known| known.name.clone()).collect(),
            })
        }
        _ => Ok(()),
    }
}

impl KubeFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.sandbox.is_some()
            || self.kubeconfig.as_deref().is_some_and(|path| !path.as_os_str().is_empty())
            || self.kubeconfig_context.as_deref().is_some_and(|name| !name.is_empty())
    }

    /// Returns the effective context: the named one, or else the current context of the merged files.
    /// Does not access the cluster, and never falls back to the service account of a pod.
    pub(crate) fn context(&self, environment: &Environment) -> Result<KubeContext, KubeconfigError> {
        self.selected_context(&self.read(environment)?)
    }

    /// Returns the credentials of the management cluster from the effective context.
    /// The service account of a pod counts only without cluster flags and without any kubeconfig. Otherwise a typing
    /// error could select another cluster.
    /// Source: clusterctl v1.14 client/cluster/proxy.go; differs: there, any error in the kubeconfig selects the pod.
    pub(crate) fn credentials(&self, environment: &Environment) -> Result<Credentials, KubeconfigError> {
        let config = match self.read(environment) {
            Err(error) if self.falls_back_to_pod(&error, environment) => return Ok(Credentials::InCluster),
            read => read?,
        };
        let context = self.selected_context(&config)?.name;
        check_user(&config, &context)?;
        Ok(Credentials::Kubeconfig { config: Box::new(config), context })
    }

    /// Returns the namespace of a verb: the given one, or else the one of the context, or else `default`.
    pub(crate) fn namespace(
        &self,
        given: Option<&str>,
        environment: &Environment,
    ) -> Result<String, KubeconfigError> {
        if let Some(given) = given.filter(|given| !given.is_empty()) {
            return Ok(given.to_owned());
        }
        let of_context = match self.context(environment) {
            Err(error) if self.falls_back_to_pod(&error, environment) => None,
            context => context?.namespace,
        };
        Ok(of_context.unwrap_or_else(|| "default".to_owned()))
    }

    /// True if the service account of the pod replaces the missing kubeconfig.
    fn falls_back_to_pod(&self, error: &KubeconfigError, environment: &Environment) -> bool {
        let is_missing = matches!(error, KubeconfigError::NotFound { .. });
        is_missing && !self.is_given() && environment.text(POD_VARIABLE).is_some()
    }

    fn selected_context(&self, config: &Kubeconfig) -> Result<KubeContext, KubeconfigError> {
        let known = || config.contexts.iter().map(|context| context.name.clone()).collect::<Vec<_>>();
        let named = self.kubeconfig_context.as_deref().filter(|name| !name.is_empty());
        let Some(name) = named.or(config.current_context.as_deref()).filter(|name| !name.is_empty()) else {
            return Err(KubeconfigError::NoCurrentContext { known: known() });
        };
        let Some(found) = config.contexts.iter().find(|context| context.name == name) else {
            let near = similar_names(name, config.contexts.iter().map(|context| context.name.as_str()));
            let near = near.into_iter().map(str::to_owned).collect();
            return Err(KubeconfigError::UnknownContext {
                name: name.to_owned(),
                suggestions: near,
                known: known(),
            });
        };
        let namespace = found.context.as_ref().and_then(|context| context.namespace.clone());
        Ok(KubeContext { name: name.to_owned(), namespace: namespace.filter(|text| !text.is_empty()) })
    }

    /// Returns the names of all contexts, for completion. Empty if no kubeconfig can be read.
    pub(crate) fn contexts(&self, environment: &Environment) -> Vec<String> {
        let config = self.read(environment).unwrap_or_default();
        config.contexts.into_iter().map(|context| context.name).collect()
    }

    /// Reads and merges the files like kubectl: the first entry of a name counts, and missing files of the variable
    /// are skipped.
    fn read(&self, environment: &Environment) -> Result<Kubeconfig, KubeconfigError> {
        if let Some(name) = &self.sandbox {
            let path =
                of_sandbox(name, environment).map_err(|why| KubeconfigError::Sandbox(Box::new(why)))?;
            return read_file(&path);
        }
        if let Some(path) = self.kubeconfig.as_deref().filter(|path| !path.as_os_str().is_empty()) {
            return read_file(&environment.resolve(path));
        }
        let places = default_kubeconfigs(environment);
        let present: Vec<&PathBuf> = places.iter().filter(|path| path.exists()).collect();
        if present.is_empty() {
            return Err(KubeconfigError::NotFound { paths: places });
        }
        let mut merged = Kubeconfig::default();
        for path in present {
            let next = read_file(path)?;
            merged = merged.merge(next).map_err(|source| KubeconfigError::Unmergeable {
                path: path.clone(),
                source: Box::new(source),
            })?;
        }
        Ok(merged)
    }
}

fn of_sandbox(name: &str, environment: &Environment) -> Result<PathBuf, Failure> {
    let make = || format!("create it with `capstan sandbox start {name}`");
    let folder = SandboxesFolder::of(environment)?.find(name).map_err(|failure| failure.hint(make()))?;
    match folder.process()? {
        Some(_) => Ok(folder.kubeconfig()),
        None => Err(Failure::user(format!("sandbox `{name}` is not running"))
            .hint(format!("start it with `capstan sandbox start {name}`"))),
    }
}

fn read_file(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    if is_cut_utf16(path).unwrap_or_default() {
        let source = "the UTF-16 text ends within a character; save the file as UTF-8".into();
        return Err(KubeconfigError::Unreadable { path: path.to_owned(), source });
    }
    Kubeconfig::read_from(path).map_err(|error| KubeconfigError::Unreadable {
        path: path.to_owned(),
        source: match error {
            // The text of the outer error repeats the path and the reason.
            kube::config::KubeconfigError::ReadConfig(reason, _) => Box::new(reason),
            kube::config::KubeconfigError::Parse(error) => {
                syntax_error(path, error.location().map(|it| (it.line(), it.column())))
            }
            other => Box::new(other),
        },
    })
}

/// True if a file is in UTF-16 and has an odd number of bytes, for which kube panics. Pipes are not read, because they can
/// be read only once.
fn is_cut_utf16(path: &Path) -> io::Result<bool> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() % 2 == 0 {
        return Ok(false);
    }
    let mut mark = [0; 2];
    File::open(path)?.read_exact(&mut mark)?;
    Ok(matches!(mark, [0xFF, 0xFE] | [0xFE, 0xFF]))
}

/// Returns the reason why a kubeconfig cannot be parsed, without its lines: they contain secrets.
fn syntax_error(
    path: &Path,
    line_and_column: Option<(u64, u64)>,
) -> Box<dyn std::error::Error + Send + Sync> {
    let text = fs::read(path).unwrap_or_default();
    if let Err(error) = yaml::read_value(&String::from_utf8_lossy(&text), &YamlLimits::default()) {
        return Box::new(error);
    }
    let reason = "a value has the wrong type, or a field is missing";
    line_and_column
        .map_or_else(|| reason.to_owned(), |(line, column)| format!("line {line}, column {column}: {reason}"))
        .into()
}

/// Returns the kubeconfig of the user for new entries: the first existing file of `KUBECONFIG`, or else its last
/// file. Without the variable, `~/.kube/config`.
/// Source: kubectl 1.36 `config set-context`.
pub(super) fn user_kubeconfig(environment: &Environment) -> Option<PathBuf> {
    let places = default_kubeconfigs(environment);
    places.iter().find(|path| path.exists()).or(places.last()).cloned()
}

pub(crate) fn default_kubeconfigs(environment: &Environment) -> Vec<PathBuf> {
    let list = environment.get("KUBECONFIG").map(std::env::split_paths).into_iter().flatten();
    let named: Vec<PathBuf> =
        list.filter(|path| !path.as_os_str().is_empty()).map(|path| environment.resolve(path)).collect();
    if named.is_empty() {
        environment.home().map(|home| home.join(".kube").join("config")).into_iter().collect()
    } else {
        named
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ONE: &str = "
kind: Config
apiVersion: v1
current-context: prod
users: [{name: u, user: {}}]
contexts:
- name: prod
  context: {cluster: c, user: u, namespace: team-a}
- name: staging
  context: {cluster: c, user: u}
- name: lonely
  context: {cluster: c, user: gone}
";
    const TWO: &str = "
kind: Config
apiVersion: v1
current-context: other
contexts:
- name: other
  context: {cluster: c, user: u, namespace: team-b}
- name: prod
  context: {cluster: c, user: u, namespace: hidden}
";

    fn world(kubeconfig: &str) -> (tempfile::TempDir, Environment) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("one"), ONE).unwrap();
        fs::write(folder.path().join("two"), TWO).unwrap();
        fs::write(folder.path().join("broken"), "contexts: [").unwrap();
        let environment = Environment::new([("KUBECONFIG", kubeconfig), ("HOME", "/nowhere")], folder.path());
        (folder, environment)
    }

    fn context(kubeconfig: &str, flags: &KubeFlags) -> Result<KubeContext, KubeconfigError> {
        let (_folder, environment) = world(kubeconfig);
        flags.context(&environment)
    }

    fn with_context(name: &str) -> KubeFlags {
        KubeFlags { kubeconfig_context: Some(name.to_owned()), ..KubeFlags::default() }
    }

    #[test]
    fn the_current_context_gives_the_namespace() {
        let found = context("one", &KubeFlags::default()).unwrap();
        assert_eq!(found, KubeContext { name: "prod".into(), namespace: Some("team-a".into()) });
        assert_eq!(context("one", &with_context("staging")).unwrap().namespace, None);
    }

    #[test]
    fn a_context_without_its_user_has_no_credentials() {
        let (_folder, environment) = world("one");
        let Err(KubeconfigError::MissingUser { context, user, .. }) =
            with_context("lonely").credentials(&environment)
        else {
            panic!("the kubeconfig lacks the user")
        };
        assert_eq!((&*context, &*user), ("lonely", "gone"));
    }

    #[test]
    fn a_given_namespace_wins_over_the_context() {
        let namespace = |flags: &KubeFlags, given| {
            let (_folder, environment) = world("one");
            flags.namespace(given, &environment).unwrap()
        };
        assert_eq!(namespace(&KubeFlags::default(), Some("mine")), "mine");
        assert_eq!(namespace(&KubeFlags::default(), Some("")), "team-a");
        assert_eq!(namespace(&with_context("staging"), None), "default");
    }

    #[test]
    fn the_first_file_with_an_entry_wins_and_missing_files_are_skipped() {
        let found = context("gone:two:one", &KubeFlags::default()).unwrap();
        assert_eq!(found.namespace.as_deref(), Some("team-b"));
        assert_eq!(context("one:two", &with_context("prod")).unwrap().namespace.as_deref(), Some("team-a"));
    }

    // Row: D-09
    #[test]
    fn a_mistyped_context_gets_similar_names() {
        let error = context("one", &with_context("stagign")).unwrap_err();
        assert!(
            matches!(error, KubeconfigError::UnknownContext { suggestions, .. } if suggestions == ["staging"])
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = context("one:broken", &KubeFlags::default()).unwrap_err();
        assert!(
            matches!(&error, KubeconfigError::Unreadable { path, .. } if path.ends_with("broken")),
            "{error}"
        );
        let flags = KubeFlags { kubeconfig: Some("gone".into()), ..KubeFlags::default() };
        assert!(matches!(context("one", &flags), Err(KubeconfigError::Unreadable { .. })));
    }

    #[test]
    fn a_cut_file_in_utf16_is_an_error() {
        let (folder, environment) = world("cut");
        let text = ONE.encode_utf16().flat_map(u16::to_le_bytes);
        let mut bytes: Vec<u8> = [0xFF, 0xFE].into_iter().chain(text).collect();
        fs::write(folder.path().join("cut"), &bytes).unwrap();
        assert!(KubeFlags::default().context(&environment).is_ok());
        bytes.pop();
        fs::write(folder.path().join("cut"), &bytes).unwrap();
        let error = KubeFlags::default().context(&environment).unwrap_err();
        assert!(
            matches!(&error, KubeconfigError::Unreadable { path, .. } if path.ends_with("cut")),
            "{error}"
        );
    }

    #[test]
    fn a_missing_kubeconfig_names_the_searched_files() {
        let error = context("", &KubeFlags::default()).unwrap_err();
        assert!(
            matches!(&error, KubeconfigError::NotFound { paths } if paths == &[PathBuf::from("/nowhere/.kube/config")]),
            "{error}"
        );
    }

    // Row: D-93
    #[test]
    fn a_pod_uses_its_account_only_without_a_kubeconfig() {
        let pod = |flags: &KubeFlags, kubeconfig| {
            let (_folder, environment) = world(kubeconfig);
            let in_pod = [("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBECONFIG", kubeconfig)];
            flags.credentials(&Environment::new(in_pod, environment.current_dir()))
        };
        assert!(matches!(pod(&KubeFlags::default(), "gone"), Ok(Credentials::InCluster)));
        assert!(
            matches!(pod(&KubeFlags::default(), "one"), Ok(Credentials::Kubeconfig { context, .. }) if context == "prod")
        );
        assert!(matches!(pod(&with_context("stagign"), "one"), Err(KubeconfigError::UnknownContext { .. })));
        assert!(matches!(pod(&with_context("prod"), "gone"), Err(KubeconfigError::NotFound { .. })));
        assert!(matches!(pod(&KubeFlags::default(), "broken"), Err(KubeconfigError::Unreadable { .. })));
        let (_folder, outside) = world("gone");
        assert!(matches!(KubeFlags::default().credentials(&outside), Err(KubeconfigError::NotFound { .. })));
    }
}

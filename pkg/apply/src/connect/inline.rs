//! Kubeconfigs of other people, such as those of Secrets. They must not read files or run programs of this machine.

use kube::config::{AuthInfo, Cluster, Kubeconfig};
use manifest::{YamlLimits, yaml};

use super::Credentials;

/// The reason why a kubeconfig of a Secret is refused. Its text shows no content of the kubeconfig, except names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum InlineKubeconfigError {
    #[error("the kubeconfig is not valid YAML: line {line}")]
    Syntax { line: usize },
    #[error("the kubeconfig is not valid: a field has the wrong type")]
    Type,
    #[error("the kubeconfig has no `current-context`")]
    NoContext,
    #[error("the kubeconfig has no {section} `{name}`")]
    Missing { section: &'static str, name: String },
    #[error("the kubeconfig uses `{field}`; only inline credentials are supported")]
    NotInline { field: &'static str },
}

impl Credentials {
    /// Parses a kubeconfig, and takes its current context. Only inline data is accepted: plug-ins and files are
    /// refused.
    /// # Errors
    /// The reason why the kubeconfig is refused.
    pub fn inline_kubeconfig(content: &[u8]) -> Result<Self, InlineKubeconfigError> {
        use InlineKubeconfigError as Refused;
        let text = std::str::from_utf8(content).map_err(|_| Refused::Type)?;
        let value = yaml::read_value(text, &YamlLimits::default());
        let value = value.map_err(|error| Refused::Syntax { line: error.line })?;
        let config: Kubeconfig = serde_json::from_value(value).map_err(|_| Refused::Type)?;
        let context = config.current_context.clone().filter(|name| !name.is_empty());
        let context = context.ok_or(Refused::NoContext)?;
        let missing = |section, name: &str| Refused::Missing { section, name: name.to_owned() };
        let used = config.contexts.iter().find(|one| one.name == context);
        let used = used.and_then(|one| one.context.as_ref()).ok_or_else(|| missing("context", &context))?;
        let cluster = config.clusters.iter().find(|one| one.name == used.cluster);
        let cluster = cluster.and_then(|one| one.cluster.as_ref());
        check_cluster(cluster.ok_or_else(|| missing("cluster", &used.cluster))?)?;
        if let Some(user) = used.user.as_deref().filter(|user| !user.is_empty()) {
            let found = config.auth_infos.iter().find(|one| one.name == user);
            check_user(found.and_then(|one| one.auth_info.as_ref()).ok_or_else(|| missing("user", user))?)?;
        }
        Ok(Self::Kubeconfig { config: Box::new(config), context })
    }
}

fn check_cluster(cluster: &Cluster) -> Result<(), InlineKubeconfigError> {
    refuse([("certificate-authority", cluster.certificate_authority.is_some())])
}

fn check_user(user: &AuthInfo) -> Result<(), InlineKubeconfigError> {
    refuse([
        ("exec", user.exec.is_some()),
        ("auth-provider", user.auth_provider.is_some()),
        ("tokenFile", user.token_file.is_some()),
        ("client-certificate", user.client_certificate.is_some()),
        ("client-key", user.client_key.is_some()),
    ])
}

fn refuse<const N: usize>(fields: [(&'static str, bool); N]) -> Result<(), InlineKubeconfigError> {
    let used = fields.into_iter().find(|(_, is_used)| *is_used);
    used.map_or(Ok(()), |(field, _)| Err(InlineKubeconfigError::NotInline { field }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(user: &str, cluster: &str) -> Result<Credentials, InlineKubeconfigError> {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {{{cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n"
        );
        Credentials::inline_kubeconfig(text.as_bytes())
    }

    // Row: CMP-18
    #[test]
    fn kubeconfigs_with_plugins_or_files_are_refused() {
        let server = "server: 'https://host'";
        assert!(parse("token: secret", server).is_ok());
        let fields = [
            ("exec: {command: login}", server, "exec"),
            ("auth-provider: {name: oidc, config: {}}", server, "auth-provider"),
            ("tokenFile: /token", server, "tokenFile"),
            ("client-certificate: /crt", server, "client-certificate"),
            ("client-key: /key", server, "client-key"),
            ("token: secret", "server: 'https://host', certificate-authority: /ca", "certificate-authority"),
        ];
        for (user, cluster, field) in fields {
            assert_eq!(parse(user, cluster).unwrap_err(), InlineKubeconfigError::NotInline { field });
        }
    }

    #[test]
    fn invalid_kubeconfigs_are_refused_without_their_content() {
        let problem = |text: &str| Credentials::inline_kubeconfig(text.as_bytes()).unwrap_err();
        assert_eq!(problem("a: [secret"), InlineKubeconfigError::Syntax { line: 1 });
        assert_eq!(problem("users: secret"), InlineKubeconfigError::Type);
        assert_eq!(problem("{}"), InlineKubeconfigError::NoContext);
        let missing = InlineKubeconfigError::Missing { section: "context", name: "c".to_owned() };
        assert_eq!(problem("current-context: c"), missing);
    }
}

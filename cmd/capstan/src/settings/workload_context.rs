use api::{ErrorExplanation, Explain};
use manifest::yaml::{self, YamlLimits};
use serde_json::{Map, Value, json};

/// A context in the kubeconfig of a workload cluster, with its cluster and its user.
#[derive(Debug)]
pub(crate) struct WorkloadContext {
    pub(super) context: KubeconfigEntry,
    pub(super) cluster: KubeconfigEntry,
    pub(super) user: KubeconfigEntry,
}

/// An entry of a kubeconfig list.
#[derive(Debug)]
pub(super) struct KubeconfigEntry {
    pub(super) name: String,
    pub(super) content: Map<String, Value>,
}

/// The treatment of fields that make kubectl run commands, read files, use a proxy or trust another certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsafeFields {
    Reject,
    Allow,
}

/// The copied fields of one kind of entry. All other fields are dropped.
struct EntryFields {
    list: &'static str,
    safe: &'static [&'static str],
    dangerous: &'static [&'static str],
}

/// Source: client-go 0.36 tools/clientcmd/api/v1/types.go.
const CLUSTER: EntryFields = EntryFields {
    list: "clusters",
    safe: &["server", "certificate-authority-data", "disable-compression"],
    dangerous: &["certificate-authority", "insecure-skip-tls-verify", "proxy-url", "tls-server-name"],
};
const USER: EntryFields = EntryFields {
    list: "users",
    safe: &[
        "client-certificate-data",
        "client-key-data",
        "token",
        "username",
        "password",
        "as",
        "as-uid",
        "as-groups",
        "as-user-extra",
    ],
    dangerous: &["auth-provider", "client-certificate", "client-key", "exec", "tokenFile"],
};
const CONTEXT: EntryFields =
    EntryFields { list: "contexts", safe: &["cluster", "user", "namespace"], dangerous: &[] };

/// The reason why a text has no usable context. Contains no values of the text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkloadContextError {
    #[error("the kubeconfig is not valid UTF-8")]
    NotText,
    #[error("the kubeconfig is not valid YAML at line {line}")]
    NotYaml { line: usize },
    #[error("the kubeconfig has no {0}")]
    Missing(&'static str),
    #[error(
        "the context name of the kubeconfig is empty, starts with `-`, or contains spaces or control characters"
    )]
    UnsafeName,
    #[error("the kubeconfig has unsafe fields: {}", fields.join(", "))]
    UnsafeFields { fields: Vec<String> },
}

impl Explain for WorkloadContextError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let print = ErrorExplanation::hint("omit `--merge` to print the unchanged kubeconfig");
        match self {
            Self::UnsafeFields { .. } => {
                print.with_hint("add `--allow-unsafe-fields` if you trust everyone who can write this Secret")
            }
            Self::UnsafeName => print.with_hint("use another context name: `--context-name NAME`"),
            Self::NotText | Self::NotYaml { .. } | Self::Missing(_) => print,
        }
    }
}

impl WorkloadContext {
    /// Parses the current or only context of a kubeconfig, with the fields that kubectl defines.
    /// With `name`, the cluster and the user get that name too.
    pub(crate) fn parse(
        content: &[u8],
        name: Option<&str>,
        unsafe_fields: UnsafeFields,
    ) -> Result<Self, WorkloadContextError> {
        use WorkloadContextError::{Missing, NotText, NotYaml};
        let text = std::str::from_utf8(content).map_err(|_| NotText)?;
        let document = yaml::read_value(text, &YamlLimits::default());
        let document = document.map_err(|error| NotYaml { line: error.line })?;
        let current = match (document["current-context"].as_str(), document["contexts"].as_array()) {
            (Some(current), _) if !current.is_empty() => current,
            (_, Some(contexts)) if contexts.len() == 1 => contexts[0]["name"].as_str().unwrap_or_default(),
            _ => return Err(Missing("current context")),
        };
        let mut refused = Vec::new();
        let mut entry = |fields: &EntryFields, name: &str| {
            let (entry, dangerous) = fields.read(&document, name)?;
            refused.extend(dangerous);
            Some(entry)
        };
        let context =
            entry(&CONTEXT, current).ok_or(Missing("context with the name of the current context"))?;
        let named = |key: &str| context.content.get(key).and_then(Value::as_str).unwrap_or_default();
        let cluster = entry(&CLUSTER, named("cluster")).ok_or(Missing("cluster for the context"))?;
        let user = entry(&USER, named("user")).ok_or(Missing("user for the context"))?;
        if unsafe_fields == UnsafeFields::Reject && !refused.is_empty() {
            return Err(WorkloadContextError::UnsafeFields { fields: refused });
        }
        let mut workload = Self { context, cluster, user };
        if let Some(name) = name {
            workload.rename(name);
        } else if !is_one_word(current) {
            return Err(WorkloadContextError::UnsafeName);
        }
        Ok(workload)
    }

    pub(crate) fn name(&self) -> &str {
        &self.context.name
    }

    fn rename(&mut self, name: &str) {
        for entry in [&mut self.context, &mut self.cluster, &mut self.user] {
            name.clone_into(&mut entry.name);
        }
        self.context.content.insert("cluster".to_owned(), json!(name));
        self.context.content.insert("user".to_owned(), json!(name));
    }
}

impl EntryFields {
    /// Returns the first entry of a name, which is the effective one, and the paths of its unsafe fields.
    fn read(&self, document: &Value, name: &str) -> Option<(KubeconfigEntry, Vec<String>)> {
        let key = self.list.trim_end_matches('s');
        let entries = document[self.list].as_array()?;
        let all = entries.iter().find(|entry| entry["name"] == name)?[key].as_object()?;
        let known = all.iter().filter(|(field, value)| {
            let field = field.as_str();
            !is_unset(value) && (self.safe.contains(&field) || self.dangerous.contains(&field))
        });
        let content: Map<_, _> = known.map(|(field, value)| (field.clone(), value.clone())).collect();
        let dangerous = self.dangerous.iter().filter(|field| content.contains_key(**field));
        let paths = dangerous.map(|field| format!("`{}[{name}].{key}.{field}`", self.list)).collect();
        Some((KubeconfigEntry { name: name.to_owned(), content }, paths))
    }
}

/// True if the value means the same as a missing field.
fn is_unset(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(str::is_empty)
}

/// True if the shell passes the name as one argument in `kubectl --context $(capstan get kubeconfig …)`.
fn is_one_word(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && !name.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(content: &[u8]) -> WorkloadContextError {
        WorkloadContext::parse(content, None, UnsafeFields::Reject).unwrap_err()
    }

    fn kubeconfig(cluster: &Value, user: &Value) -> Vec<u8> {
        let context = json!({"cluster": "c", "user": "u", "extensions": [1]});
        json!({
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": context}],
        })
        .to_string()
        .into_bytes()
    }

    #[test]
    fn an_invalid_kubeconfig_is_refused() {
        use WorkloadContextError::{Missing, NotText, NotYaml, UnsafeName};
        assert!(matches!(error(b"\xff"), NotText));
        assert!(matches!(error(b"a: b\nsecret: [token\n"), NotYaml { line: 2 }));
        assert!(matches!(error(b""), Missing(_)));
        assert!(matches!(error(b"current-context: a\n"), Missing(_)));
        assert!(matches!(error(b"contexts: [{name: a, context: {cluster: c, user: u}}]\n"), Missing(_)));
        for name in ["a --server=x", "-s", "a\u{1b}[2J", ""] {
            let text = String::from_utf8(kubeconfig(&json!({"server": "s"}), &json!({}))).unwrap();
            let error = error(text.replace("\"x\"", &json!(name).to_string()).as_bytes());
            assert!(matches!(error, UnsafeName | Missing(_)), "{name}: {error:?}");
        }
    }

    // Row: D-260
    #[test]
    fn every_unsafe_field_is_refused_with_its_path() {
        let cluster = json!({
            "server": "s", "proxy-url": "p", "insecure-skip-tls-verify": true, "tls-server-name": "n", "certificate-authority": "f",
        });
        let user = json!({
            "exec": {"command": "c"}, "auth-provider": {"name": "p"}, "client-certificate": "f", "client-key": "f",
            "tokenFile": "f", "token": "t",
        });
        let content = kubeconfig(&cluster, &user);
        let WorkloadContextError::UnsafeFields { fields } = error(&content) else {
            panic!("refused otherwise")
        };
        assert_eq!(
            fields,
            [
                "`clusters[c].cluster.certificate-authority`",
                "`clusters[c].cluster.insecure-skip-tls-verify`",
                "`clusters[c].cluster.proxy-url`",
                "`clusters[c].cluster.tls-server-name`",
                "`users[u].user.auth-provider`",
                "`users[u].user.client-certificate`",
                "`users[u].user.client-key`",
                "`users[u].user.exec`",
                "`users[u].user.tokenFile`",
            ]
        );
        let allowed = WorkloadContext::parse(&content, None, UnsafeFields::Allow).unwrap();
        assert_eq!(Value::Object(allowed.cluster.content), cluster);
        assert_eq!(Value::Object(allowed.user.content), user);
    }

    #[test]
    fn fields_that_kubectl_does_not_define_are_dropped() {
        let cluster = json!({"server": "s", "insecure-skip-tls-verify": false, "new": 1});
        let content = kubeconfig(&cluster, &json!({"token": "t", "extensions": []}));
        let workload = WorkloadContext::parse(&content, None, UnsafeFields::Reject).unwrap();
        assert_eq!(Value::Object(workload.cluster.content), json!({"server": "s"}));
        assert_eq!(Value::Object(workload.user.content), json!({"token": "t"}));
        assert_eq!(Value::Object(workload.context.content), json!({"cluster": "c", "user": "u"}));
    }
}

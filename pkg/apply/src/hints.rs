//! Next steps after the refusal or silence of an API server.

use api::{ErrorExplanation, Explain, output::ErrorKind};

use crate::{
    ApiError, Blocker, ConnectError, DefinitionInUse, EngineError, InvalidObject, LeaseError, MigrationError,
    NetworkError, PlanError, RecordedSetError, WriteError,
};

impl Explain for ConnectError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Plugin { install_hint: Some(hint), .. } => ErrorExplanation::hint(hint.trim()),
            Self::Plugin { command, .. } => {
                ErrorExplanation::hint(format!("run `{command}` to see its error; it must be on the PATH"))
            }
            Self::Context { .. } => {
                ErrorExplanation::hint("check the context with `kubectl config view --minify`")
            }
            Self::InCluster(_) | Self::Impersonation { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for ApiError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Status { code: 401, .. } => {
                ErrorExplanation::hint("log in again, or renew the credentials of the kubeconfig's context")
            }
            Self::Status { code: 403, message, .. } => ErrorExplanation::hint(forbidden_hint(message)),
            Self::Unreachable { source, .. } => ErrorExplanation::hint(network_hint(source)),
            Self::InvalidAnswer { server, code: 400, .. } if server.starts_with("http://") => {
                ErrorExplanation::hint("set `server` in the kubeconfig to an `https://` address")
            }
            Self::InvalidAnswer { .. } => ErrorExplanation::hint(
                "check `server` in the kubeconfig: another program answers there, such as a proxy",
            ),
            Self::UnknownKind { .. } => ErrorExplanation::hint(
                "install the definition of the kind, or check its apiVersion; list kinds with `kubectl api-resources`",
            ),
            Self::UnavailableGroup { group_version, .. } => ErrorExplanation::hint(format!(
                "repair or delete the APIService of `{group_version}`; list them with `kubectl get apiservices`"
            )),
            Self::LeaseLost { .. } => ErrorExplanation::hint(
                "run `capstan status` to see unfinished work and the command that completes it",
            )
            .with_kind(ErrorKind::Conflict),
            Self::Credentials { source, .. } => ErrorExplanation::cause(source),
            Self::LeaseUnconfirmed { source, .. } => ErrorExplanation::cause(source),
            Self::RetriesExhausted { last, .. } => ErrorExplanation::cause(last),
            Self::Status { .. } | Self::NoLease { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for LeaseError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Held { .. } => ErrorExplanation::hint(
                "re-run without `--no-wait-lock` to wait, or with `--take-over` to stop the other run",
            )
            .with_kind(ErrorKind::Conflict),
            Self::Forbidden { name, source } => ErrorExplanation::hint(format!(
                "request a Role in namespace `{}` with the verbs create, get, update and delete on \
                 leases.coordination.k8s.io; check it with `kubectl auth can-i create leases -n {}`",
                name.namespace, name.namespace
            ))
            .because(source),
            Self::Api(inner) => inner.explain(),
        }
    }
}

impl Explain for RecordedSetError {
    fn explain(&self) -> ErrorExplanation<'_> {
        let blockers = |blockers: &[Blocker]| ErrorExplanation::texts(blockers.iter().map(Blocker::describe));
        match self {
            Self::Record { .. } => ErrorExplanation::hint(
                "another release of capstan wrote the record; use that release, or delete the ConfigMap and apply again",
            )
            .with_kind(ErrorKind::Conflict),
            Self::NotReady { blockers: all, .. } => blockers(all)
                .with_hint("re-run the same command to go on waiting, or wait longer with `--timeout`"),
            Self::NotDeleted { blockers: all, .. } => {
                blockers(all).with_hint("re-run the same command to delete the remaining objects")
            }
            Self::Engine(error) => error.explain(),
            Self::Api(error) => error.explain(),
        }
    }
}

impl Explain for EngineError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::InvalidObjects { objects } => ErrorExplanation::errors(objects),
            Self::Plan { objects } => ErrorExplanation::errors(objects),
            Self::InUse { definitions } => ErrorExplanation::errors(definitions),
            Self::Writes { failed } => ErrorExplanation::errors(failed.iter().map(|(_, error)| error)),
            Self::Api(inner) => inner.explain(),
        }
    }
}

impl Explain for WriteError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Api(inner) => inner.explain(),
            Self::Plan(inner) => inner.explain(),
        }
    }
}

impl Explain for MigrationError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Api { source, .. } => ErrorExplanation::cause(source),
            Self::StorageVersionRemoved { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for DefinitionInUse {
    fn explain(&self) -> ErrorExplanation<'_> {
        let name = &self.definition.name;
        ErrorExplanation::hint(format!("delete the objects first; list them with `kubectl get {name} -A`"))
            .with_kind(ErrorKind::Conflict)
    }
}

impl Explain for InvalidObject {}

impl Explain for PlanError {}

fn network_hint(why: &NetworkError) -> &'static str {
    match why {
        NetworkError::Refused => {
            "start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`"
        }
        NetworkError::UnknownHost => {
            "correct `server` or `proxy-url` in the kubeconfig, or name another context with `--kubeconfig-context`"
        }
        NetworkError::Certificate { .. } => {
            "use a kubeconfig of this server: its `certificate-authority` must have signed the server certificate"
        }
        NetworkError::Protocol { https: false } => "set `server` in the kubeconfig to an `https://` address",
        NetworkError::Protocol { https: true } => {
            "correct the port of `server` in the kubeconfig: this port does not serve HTTPS"
        }
        NetworkError::TimedOut { .. } | NetworkError::Connection { .. } => {
            "check the network path: VPN, firewall, HTTPS_PROXY and NO_PROXY, `proxy-url` in the kubeconfig"
        }
    }
}

/// Returns the next step after a refusal by a webhook, by the authorizer, or because of a terminating namespace.
fn forbidden_hint(message: &str) -> String {
    if message.ends_with("because it is being terminated") {
        return "wait until the namespace is deleted, then re-run the same command".to_owned();
    }
    let webhook = message.strip_prefix("admission webhook \"").and_then(|rest| rest.split_once("\" denied "));
    match webhook {
        Some((webhook, _)) => format!(
            "change the object as the webhook requires; find the owner of `{webhook}` with `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`"
        ),
        None => permission_hint(message),
    }
}

/// Returns the command that checks the missing permission, from the text of the authorizer: `User "x" cannot patch
/// resource "deployments" in API group "apps" in the namespace "ns"`.
fn permission_hint(message: &str) -> String {
    let behind = |word: &str| {
        let rest = &message[message.find(word)? + word.len()..];
        rest.split('"').next().filter(|text| !text.is_empty() && !text.contains(' '))
    };
    let verb = message.split(" cannot ").nth(1).and_then(|rest| rest.split(' ').next());
    let (Some(verb), Some(resource)) = (verb, behind("resource \"")) else {
        return "request this permission, or name another context with `--kubeconfig-context`".to_owned();
    };
    let group = behind("API group \"").map(|group| format!(".{group}")).unwrap_or_default();
    let scope = behind("namespace \"").map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    format!("request this permission; check it with `kubectl auth can-i {verb} {resource}{group}{scope}`")
}

#[cfg(test)]
mod tests {
    use api::error_chain;
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::ObjectKey;

    fn status(code: u16, message: &str) -> ApiError {
        ApiError::Status {
            action: "apply Deployment ns/a".to_owned(),
            code,
            reason: String::new(),
            message: message.to_owned(),
            causes: Vec::new(),
            retry_after: None,
        }
    }

    #[test]
    fn a_missing_permission_is_shown_with_its_check() {
        let hints = [
            r#"deployments.apps is forbidden: User "me" cannot patch resource "deployments" in API group "apps" in the namespace "ns""#,
            r#"namespaces is forbidden: User "me" cannot list resource "namespaces" in API group "" at the cluster scope"#,
            r#"configmaps "m" is forbidden: unable to create new content in namespace ns because it is being terminated"#,
            "no",
        ]
        .map(|message| error_chain(&status(403, message)).hints.join("
"));
        assert_data_eq!(
            hints.join(
                "
"
            ),
            str![[r#"
request this permission; check it with `kubectl auth can-i patch deployments.apps -n ns`
request this permission; check it with `kubectl auth can-i list namespaces`
wait until the namespace is deleted, then re-run the same command
request this permission, or name another context with `--kubeconfig-context`
"#]]
        );
    }

    #[test]
    fn a_refusing_webhook_is_no_missing_permission() {
        let message = r#"admission webhook "policy.example.org" denied the request: not on a Friday"#;
        assert_data_eq!(
            error_chain(&status(403, message)).hints.join("\n"),
            str![
                "change the object as the webhook requires; find the owner of `policy.example.org` with `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`"
            ]
        );
    }

    #[test]
    fn a_server_error_has_no_hint() {
        assert_eq!(error_chain(&status(500, "internal error")).hints, Vec::<String>::new());
    }

    #[test]
    fn each_failed_write_names_its_object_once() {
        let object = ObjectKey { kind: "Namespace".to_owned(), name: "a".to_owned(), ..ObjectKey::default() };
        let theirs = PlanError::OwnedByOther { object: object.clone(), theirs: "other".to_owned() };
        let failed = (0..25).map(|_| (object.clone(), WriteError::Plan(theirs.clone()))).collect();
        let lines = error_chain(&EngineError::Writes { failed }).lines.split_off(1);
        assert_eq!(lines.len(), 21);
        assert_eq!(lines[0], theirs.to_string());
        assert_eq!(lines[20], "and 5 more");
    }
}

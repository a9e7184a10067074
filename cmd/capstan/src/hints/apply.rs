use std::error::Error;

use apply::{ApiError, ConnectError, InUse, LeaseError, NoAnswer};

use super::rules::as_error;

pub(super) fn hints(error: &(dyn Error + 'static)) -> Vec<String> {
    let one = as_error::<ConnectError>(error)
        .and_then(connection)
        .or_else(|| as_error::<ApiError>(error).and_then(request))
        .or_else(|| as_error::<LeaseError>(error).and_then(lease))
        .or_else(|| as_error::<InUse>(error).map(in_use));
    one.into_iter().collect()
}

fn connection(error: &ConnectError) -> Option<String> {
    match error {
        ConnectError::Plugin { install_hint: Some(hint), .. } => Some(hint.trim().to_owned()),
        ConnectError::Plugin { command, .. } => {
            Some(format!("run `{command}` yourself to see what it says; it must be on the PATH"))
        }
        ConnectError::Context { .. } => {
            Some("`kubectl config view --minify` shows what the context holds".to_owned())
        }
        ConnectError::InCluster(_) | ConnectError::Impersonation { .. } => None,
    }
}

fn request(error: &ApiError) -> Option<String> {
    match error {
        ApiError::Status { code: 401, .. } => {
            Some("log in again, or renew the credentials of the kubeconfig's context".to_owned())
        }
        ApiError::Status { code: 403, message, .. } => Some(may_not(message)),
        ApiError::Unreachable { source, .. } => Some(no_answer(source).to_owned()),
        ApiError::Answer { server, code: 400, .. } if server.starts_with("http://") => {
            Some("write `https://` into `server` in the kubeconfig".to_owned())
        }
        ApiError::Answer { .. } => {
            Some("the address in the kubeconfig leads to something else, such as a proxy's page".to_owned())
        }
        ApiError::NoSuchKind { .. } => Some(
            "install what defines it, or check its apiVersion; `kubectl api-resources` lists kinds"
                .to_owned(),
        ),
        ApiError::BrokenGroup { group_version, .. } => {
            Some(format!("mend or delete what serves `{group_version}`: `kubectl get apiservices` shows it"))
        }
        ApiError::LeaseLost { .. } => {
            Some("`capstan status` shows what is unfinished and the command that completes it".to_owned())
        }
        ApiError::Status { .. }
        | ApiError::NoLease { .. }
        | ApiError::Unconfirmed { .. }
        | ApiError::Credentials { .. }
        | ApiError::OutOfTime { .. } => None,
    }
}

fn lease(error: &LeaseError) -> Option<String> {
    match error {
        LeaseError::Held { .. } => Some(
            "run it again without `--no-wait-lock` to wait, or with `--take-over` to stop the other run"
                .to_owned(),
        ),
        LeaseError::Forbidden { name, .. } => Some(format!(
            "ask for a Role in namespace `{}` with the verbs create, get, update and delete on \
             leases.coordination.k8s.io; check it with `kubectl auth can-i create leases -n {}`",
            name.namespace, name.namespace
        )),
        LeaseError::Api(_) => None,
    }
}

fn no_answer(why: &NoAnswer) -> &'static str {
    match why {
        NoAnswer::Refused => {
            "start the cluster, or name another with `--kubeconfig` and `--kubeconfig-context`"
        }
        NoAnswer::NoSuchHost => {
            "correct `server` or `proxy-url` in the kubeconfig, or name another context with `--kubeconfig-context`"
        }
        NoAnswer::Certificate { .. } => {
            "take a kubeconfig of this server: `certificate-authority` must be the one that signed its certificate"
        }
        NoAnswer::Protocol { https: false } => "write `https://` into `server` in the kubeconfig",
        NoAnswer::Protocol { https: true } => {
            "correct the port of `server` in the kubeconfig: this one is not for HTTPS"
        }
        NoAnswer::TimedOut { .. } | NoAnswer::Connection { .. } => {
            "check the way to it: VPN, firewall, HTTPS_PROXY and NO_PROXY, `proxy-url` in the kubeconfig"
        }
    }
}

/// The question that shows the missing right, made from the words of the authorizer:
/// `User "x" cannot patch resource "deployments" in API group "apps" in the namespace "ns"`.
fn may_not(message: &str) -> String {
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

fn in_use(error: &InUse) -> String {
    format!("delete the objects first: `kubectl get {} -A` lists them", error.definition.name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_missing_right_is_shown_as_the_question_for_it() {
        let denied = |message| hints(&status(403, message)).join("\n");
        assert_eq!(
            denied(
                "deployments.apps is forbidden: User \"me\" cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"ns\""
            ),
            "request this permission; check it with `kubectl auth can-i patch deployments.apps -n ns`"
        );
        assert_eq!(
            denied(
                "namespaces is forbidden: User \"me\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope"
            ),
            "request this permission; check it with `kubectl auth can-i list namespaces`"
        );
        assert_eq!(
            denied("no"),
            "request this permission, or name another context with `--kubeconfig-context`"
        );
    }

    #[test]
    fn what_nobody_can_mend_has_no_hint() {
        assert_eq!(hints(&status(500, "internal error")), Vec::<String>::new());
    }
}

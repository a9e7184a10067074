//! Next steps after a failed change of the providers of a management cluster.

use api::{ErrorExplanation, Explain, ProviderId, output::ErrorKind};
use apply::{Blocker, GroupKind, ObjectKey};

use crate::{
    CertManagerError, CertManagerManifestError, DeleteError, LifecycleError, NotReady,
    ProviderSelectionError, RandomBytesError, RenderError, ResolveError, StatusError, UnfinishedRun,
    UpgradeError, UpgradeItemError,
};

impl Explain for LifecycleError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Contract(inner) => inner.explain(),
            Self::Inventory(inner) => inner.explain(),
            Self::Problems(inner) => inner.explain(),
            Self::CertManager(inner) => inner.explain(),
            Self::Upgrade(inner) => inner.explain(),
            Self::Delete(inner) => inner.explain(),
            Self::Unfinished(inner) => inner.explain(),
            Self::Journal(inner) => inner.explain(),
            Self::NotReady(inner) => inner.explain(),
            Self::Api(inner) => inner.explain(),
            Self::Resolve { errors, .. } => ErrorExplanation::errors(errors),
            Self::Apply { source, .. } => ErrorExplanation::cause(source),
        }
    }
}

impl Explain for RenderError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Config(inner) => inner.explain(),
            Self::CertManager(inner) => inner.explain(),
            Self::Problems(inner) => inner.explain(),
            Self::Resolve { errors } => ErrorExplanation::errors(errors),
        }
    }
}

impl Explain for ResolveError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Release(inner) => inner.explain(),
            Self::Config { source, .. } => ErrorExplanation::cause(source),
            Self::Unknown { source, .. } => ErrorExplanation::cause(source),
            Self::Components { source, .. } => ErrorExplanation::cause(source),
        }
    }
}

impl Explain for StatusError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Inventory(inner) => inner.explain(),
            Self::Api(inner) => inner.explain(),
        }
    }
}

impl Explain for CertManagerError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Config(inner) => inner.explain(),
            Self::Manifest(source) => ErrorExplanation::cause(source),
            Self::Apply(source) => ErrorExplanation::cause(source),
            Self::Migrate(source) => ErrorExplanation::cause(source),
            Self::Api(source) => ErrorExplanation::cause(source),
            Self::NotAnswering { blockers, .. } => ErrorExplanation::hint(match blockers.first() {
                Some(blocker) => describe_hint(blocker),
                None => "check its pods with `kubectl get pods -n cert-manager`, or increase `cert-manager.timeout` in clusterctl.yaml"
                    .to_owned(),
            }),
            Self::InvalidVersion { .. } => ErrorExplanation::hint(
                "correct the annotation, or skip cert-manager with `--skip-cert-manager`",
            ),
            Self::InvalidWantedVersion { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for CertManagerManifestError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Config(inner) => inner.explain(),
            Self::Text(inner) => inner.explain(),
            Self::Read { source, .. } => ErrorExplanation::cause(source),
            Self::Images { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for UpgradeError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::Unfinished(upgrade) if upgrade.rolling_back => ErrorExplanation::hint(
                "complete the rollback with `capstan upgrade resume`, or keep the current state with `capstan upgrade abort`",
            ),
            Self::Unfinished(_) => ErrorExplanation::hint(
                "resume it with `capstan upgrade resume`, undo it with `capstan upgrade rollback`, or keep the current state with `capstan upgrade abort`",
            ),
            Self::MissingKustomizations { lost, .. } => {
                let flag = |(id, _): &(ProviderId, String)| format!("`--kustomization {}=DIR`", id.label());
                let flags = lost.iter().map(flag).collect::<Vec<_>>().join(" and ");
                ErrorExplanation::hint(format!("pass {flags}, or roll back with `capstan upgrade rollback`"))
            }
            Self::NoJournal { verb: "roll back" } => ErrorExplanation::hint(
                "a complete rollback leaves no upgrade: compare the versions of `capstan status`, or list upgrades with `capstan upgrade plan`",
            ),
            Self::NoJournal { .. } => {
                ErrorExplanation::hint("list available versions with `capstan upgrade plan`")
            }
            // A single reason is already the message itself.
            Self::CannotRollBack { reasons } => {
                ErrorExplanation::texts(reasons.iter().filter(|_| reasons.len() > 1).cloned()).with_hint(
                    "resolve the reasons and re-run the command, or complete the upgrade with `capstan upgrade resume`",
                )
            }
            Self::WriteJournal { source } => ErrorExplanation::cause(source),
            Self::InvalidJournal { .. } => ErrorExplanation::default(),
        }
    }
}

impl Explain for UnfinishedRun {
    fn explain(&self) -> ErrorExplanation<'_> {
        let hint = match self {
            Self::Upgrade(upgrade) if upgrade.rolling_back => {
                "complete the rollback with `capstan upgrade resume`, or ignore it with `--abandon`".to_owned()
            }
            Self::Upgrade(_) => {
                "complete it with `capstan upgrade resume`, undo it with `capstan upgrade rollback`, or ignore it with `--abandon`"
                    .to_owned()
            }
            Self::Move(journal) => format!(
                "complete it on its source cluster with `{}`, or ignore it with `--abandon`",
                journal.resume_command()
            ),
            Self::Restore { command, .. } => {
                format!("complete it with `{command}`, or ignore it with `--abandon`")
            }
        };
        ErrorExplanation::hint(hint).with_kind(ErrorKind::Conflict)
    }
}

impl Explain for DeleteError {
    fn explain(&self) -> ErrorExplanation<'_> {
        match self {
            Self::UnknownProviders { providers, installed } => {
                ErrorExplanation::errors(providers).with_hint(if installed.is_empty() {
                    "no providers are installed".to_owned()
                } else {
                    format!("installed providers: {}", installed.join(", "))
                })
            }
            // The hints of the definitions repeat the hint of the error.
            Self::InUse { providers } => {
                let definitions = providers.iter().flat_map(|(_, definitions)| definitions);
                ErrorExplanation::texts(definitions.map(ToString::to_string)).with_hint(
                    "delete these objects first, or omit `--include-crd` to keep the CustomResourceDefinitions",
                )
            }
        }
    }
}

impl Explain for NotReady {
    fn explain(&self) -> ErrorExplanation<'_> {
        let members = ErrorExplanation::texts(self.blockers.iter().map(Blocker::one_line));
        match self.rejected_definition() {
            Some(refused) => {
                members.with_hint(describe_hint(refused)).with_hint(name_conflict_hint(&refused.object))
            }
            None => self
                .blockers
                .first()
                .map(describe_hint)
                .into_iter()
                .fold(members, ErrorExplanation::with_hint),
        }
    }
}

impl Explain for ProviderSelectionError {}

impl Explain for UpgradeItemError {}

impl Explain for RandomBytesError {}

/// Returns the hint for a definition whose names conflict within its group.
fn name_conflict_hint(refused: &ObjectKey) -> String {
    let group = refused.name.split_once('.').map_or("its group", |(_, group)| group);
    format!(
        "another CustomResourceDefinition of `{group}` uses the same name; if it is unused, delete it and re-run the same command"
    )
}

/// Returns the command that shows most about the innermost blocker.
fn describe_hint(blocker: &Blocker) -> String {
    let innermost = std::iter::successors(Some(blocker), |blocker| blocker.children.first()).last();
    let object = &innermost.unwrap_or(blocker).object;
    let GroupKind { group, kind } = object.group_kind();
    let dotted = if group.is_empty() { String::new() } else { format!(".{group}") };
    let scope = match object.namespace.as_str() {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    };
    format!(
        "inspect it with `kubectl describe {}{dotted}{scope} {}`; check all providers with `capstan status`",
        kind.to_lowercase(),
        object.name
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use api::error_chain;
    use apply::{Health, Status};
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn blocker(group: &str, kind: &str, below: Vec<Blocker>) -> Blocker {
        let object = ObjectKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: "ns".to_owned(),
            name: "manager".to_owned(),
        };
        let status = Status { health: Health::InProgress, message: "0 of 1".to_owned() };
        Blocker { object, status, since: Duration::ZERO, children: below }
    }

    #[test]
    fn hints_describe_the_innermost_blocker() {
        let not_ready = |blockers| error_chain(&NotReady { after: Duration::from_secs(5), blockers }).hints;
        assert_data_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![])]).join("\n"),
            str![
                "inspect it with `kubectl describe deployment.apps -n ns manager`; check all providers with `capstan status`"
            ]
        );
        assert_data_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![blocker("", "Pod", vec![])])]).join("\n"),
            str![
                "inspect it with `kubectl describe pod -n ns manager`; check all providers with `capstan status`"
            ]
        );
        assert_eq!(not_ready(vec![]), Vec::<String>::new());
        let mut refused = blocker("apiextensions.k8s.io", "CustomResourceDefinition", vec![]);
        refused.object.namespace.clear();
        refused.object.name = "widgets.example.org".to_owned();
        refused.status.health = Health::Failed;
        assert_data_eq!(
            not_ready(vec![blocker("apps", "Deployment", vec![]), refused]).join("\n"),
            str![[r#"
inspect it with `kubectl describe customresourcedefinition.apiextensions.k8s.io widgets.example.org`; check all providers with `capstan status`
another CustomResourceDefinition of `example.org` uses the same name; if it is unused, delete it and re-run the same command
"#]]
        );
    }

    #[test]
    fn several_rollback_reasons_are_listed_one_by_one() {
        let not_chosen = |provider: &str| ProviderSelectionError {
            provider: provider.to_owned(),
            problem: "is not installed".to_owned(),
        };
        let unknown = DeleteError::UnknownProviders {
            providers: vec![not_chosen("infrastructure-aws"), not_chosen("addon-helm")],
            installed: Vec::new(),
        };
        assert_data_eq!(
            error_chain(&unknown).lines[1..].join("\n"),
            str![[r#"
`infrastructure-aws` is not installed
`addon-helm` is not installed
"#]]
        );
    }

    #[test]
    fn a_rollback_without_an_upgrade_may_be_complete() {
        let hints = |verb| error_chain(&UpgradeError::NoJournal { verb }).hints.join("\n");
        assert_data_eq!(
            hints("roll back"),
            str![
                "a complete rollback leaves no upgrade: compare the versions of `capstan status`, or list upgrades with `capstan upgrade plan`"
            ]
        );
        assert_data_eq!(hints("resume"), str!["list available versions with `capstan upgrade plan`"]);
    }

    #[test]
    fn each_reason_against_a_rollback_is_reported() {
        let no_way = |reasons: &[&str]| {
            error_chain(&UpgradeError::CannotRollBack {
                reasons: reasons.iter().map(ToString::to_string).collect(),
            })
            .lines
        };
        assert_data_eq!(no_way(&["one"]).join("\n"), str!["cannot roll back: one"]);
        assert_data_eq!(
            no_way(&["one", "two"]).join("\n"),
            str![[r#"
cannot roll back, for 2 reasons
one
two
"#]]
        );
    }
}

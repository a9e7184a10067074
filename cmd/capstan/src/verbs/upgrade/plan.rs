use std::{collections::BTreeSet, fmt::Write as _};

use api::{
    Contract,
    output::{CertManagerAction, CertManagerReport, ContractUpgrade, ProviderUpgrade, UpgradePlan},
};
use management::{AvailableUpgrades, NextVersion};
use provider::InstalledProvider;

use crate::{
    Failure,
    kustomizations::shown_location,
    program::Program,
    session::Session,
    settings::{self, OutputFlag, ServerFlags},
    suggested_commands::SuggestedCommands,
    ui::{NarrowingStep, table},
    verbs::lifecycle::ReleaseSources,
};

/// Show available upgrades
///
/// Lists the installed providers and their next versions for each available contract. Nothing is written.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  {bin} upgrade plan
  {bin} upgrade plan -o json")]
pub(crate) struct UpgradePlanFlags {
    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    server: ServerFlags,
}

pub(super) fn run(args: &UpgradePlanFlags, session: &mut Session) -> Result<(), Failure> {
    let format = args.output.format()?;
    let sources = ReleaseSources::new(session)?;
    let cluster = settings::management_cluster(&args.server.kube, &args.server.pace, session)?;
    let outlook = session.block_on(management::find_upgrades(&cluster, &sources.sources()))?;
    if let Some(unfinished) = &outlook.unfinished {
        session.messages().warning(format!(
            "the upgrade started at {} is unfinished; run `capstan upgrade resume` to complete it, or \
             `capstan upgrade rollback` to undo it",
            unfinished.begun
        ));
    }
    let mut plan = upgrade_plan(&outlook);
    for provider in plan.contracts.iter_mut().flat_map(|contract| &mut contract.providers) {
        let place = sources.config().kustomization(&provider.id)?;
        provider.kustomization = place.map(|place| shown_location(&place));
    }
    // Under the name clusterctl, the text matches that of clusterctl.
    let commands = match session.program() {
        Program::Clusterctl => SuggestedCommands::of_program(Program::Clusterctl),
        _ => session.messages().commands(),
    };
    let program = session.program();
    session.print(format, &plan, |plan, width| text(plan, width, program, &commands))
}

fn upgrade_plan(outlook: &AvailableUpgrades) -> UpgradePlan {
    let contracts = outlook.contracts.iter().map(|(contract, providers)| {
        let mut providers: Vec<ProviderUpgrade> =
            providers.iter().map(|(installed, next)| provider_upgrade(installed, next)).collect();
        providers.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        ContractUpgrade {
            contract: contract.clone(),
            supported: contract.as_str() == Contract::CURRENT,
            providers,
        }
    });
    UpgradePlan {
        cert_manager: CertManagerReport { plan: outlook.cert_manager.clone(), steps: Vec::new() },
        contracts: contracts.collect(),
        unfinished: outlook.unfinished.clone(),
    }
}

/// Source: clusterctl v1.14 cmd/upgrade_plan.go sorts by the text of the type, not by its rank.
fn sort_key(provider: &ProviderUpgrade) -> (&str, &str, &str) {
    (provider.id.provider_type.as_str(), &provider.provider, &provider.namespace)
}

fn provider_upgrade(installed: &InstalledProvider, next: &NextVersion) -> ProviderUpgrade {
    let (next, why) = match next {
        NextVersion::To(version) => (Some(version.clone()), None),
        NextVersion::UpToDate => (None, None),
        NextVersion::None { why } => (None, Some(why.clone())),
    };
    ProviderUpgrade {
        provider: installed.id.label(),
        id: installed.id.clone(),
        namespace: installed.namespace.clone(),
        current: installed.version.clone(),
        next,
        why,
        kustomization: None,
    }
}

/// Source: clusterctl v1.14 cmd/upgrade_plan.go; differs: a provider without an upgrade has a reason, and
/// kustomizations are on a separate line at the end.
fn text(plan: &UpgradePlan, width: Option<usize>, program: Program, commands: &SuggestedCommands) -> String {
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let mut text = match plan.cert_manager.plan.action {
        CertManagerAction::None | CertManagerAction::External => String::new(),
        CertManagerAction::Keep => "Cert-Manager is already up to date\n\n".to_owned(),
        CertManagerAction::Install | CertManagerAction::Upgrade => format!(
            "Cert-Manager will be upgraded from \"{}\" to \"{}\"\n\n",
            version(&plan.cert_manager.plan.from),
            version(&plan.cert_manager.plan.to)
        ),
    };
    for contract in &plan.contracts {
        text.push_str(&contract_text(contract, width, program, commands));
    }
    let providers = plan.contracts.iter().flat_map(|contract| &contract.providers);
    let kustomized: BTreeSet<String> = providers
        .filter_map(|it| it.kustomization.as_ref().map(|place| format!("{} ({place})", it.provider)))
        .collect();
    if !kustomized.is_empty() {
        let list = kustomized.into_iter().collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "Applied kustomizations: {list}");
    }
    text
}

fn contract_text(
    contract: &ContractUpgrade,
    width: Option<usize>,
    program: Program,
    commands: &SuggestedCommands,
) -> String {
    let name = &contract.contract;
    let next: Vec<String> = contract.providers.iter().map(next_text).collect();
    let rows: Vec<[&str; 5]> = contract
        .providers
        .iter()
        .zip(&next)
        .map(|(provider, next)| {
            let provider_type = provider.id.provider_type.as_str();
            [&*provider.provider, &*provider.namespace, provider_type, &*provider.current, next]
        })
        .collect();
    let ways = [
        NarrowingStep::Shorten("NAMESPACE", 12),
        NarrowingStep::Drop("TYPE"),
        NarrowingStep::Shorten("NAME", 16),
        NarrowingStep::Drop("NAMESPACE"),
    ];
    let rows = table(width, &ways, ["NAME", "NAMESPACE", "TYPE", "CURRENT VERSION", "NEXT VERSION"], &rows);
    let advice = if contract.providers.iter().all(|provider| provider.next.is_none()) {
        "You are already up to date!".to_owned()
    } else if contract.supported {
        format!(
            "You can now apply the upgrade by executing the following command:\n\n{}",
            commands.complete_command(&format!("capstan upgrade apply --contract {name}"))
        )
    } else {
        format!(
            "The current version of {} could not upgrade to {name} contract (only {} supported).",
            program.name(),
            Contract::CURRENT
        )
    };
    format!("\nLatest release available for the {name} Cluster API contract version:\n\n{rows}\n{advice}\n\n")
}

fn next_text(provider: &ProviderUpgrade) -> String {
    match (&provider.next, &provider.why) {
        (Some(next), _) => next.clone(),
        (None, None) => "Already up to date".to_owned(),
        (None, Some(why)) => format!("none: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use api::{ProviderId, ProviderType, output::CertManagerPlan};

    fn installed(provider_type: ProviderType, name: &str, namespace: &str) -> InstalledProvider {
        InstalledProvider {
            id: ProviderId::new(provider_type, name),
            version: "v1.13.5".to_owned(),
            namespace: namespace.to_owned(),
        }
    }

    fn outlook(next: NextVersion) -> AvailableUpgrades {
        let core = installed(ProviderType::Core, "cluster-api", "capi-system");
        let bootstrap = installed(ProviderType::Bootstrap, "kubeadm", "capi-kubeadm-bootstrap-system");
        AvailableUpgrades {
            cert_manager: CertManagerPlan::keep("v1.20.3"),
            contracts: vec![(
                Contract::new("v1beta2"),
                vec![(core, next), (bootstrap, NextVersion::UpToDate)],
            )],
            unfinished: None,
        }
    }

    fn shown(plan: &UpgradePlan, program: Program) -> String {
        text(plan, None, program, &SuggestedCommands::of_program(program))
    }

    // Row: D-242, D-317
    #[test]
    fn under_the_name_clusterctl_the_table_is_identical() {
        let plan = upgrade_plan(&outlook(NextVersion::To("v1.14.0".to_owned())));
        assert_data_eq!(
            shown(&plan, Program::Clusterctl),
            str![[r"
Cert-Manager is already up to date


Latest release available for the v1beta2 Cluster API contract version:

NAME                NAMESPACE                       TYPE                CURRENT VERSION   NEXT VERSION
bootstrap-kubeadm   capi-kubeadm-bootstrap-system   BootstrapProvider   v1.13.5           Already up to date
cluster-api         capi-system                     CoreProvider        v1.13.5           v1.14.0

You can now apply the upgrade by executing the following command:

clusterctl upgrade apply --contract v1beta2


"]]
        );
    }

    // Row: D-242
    #[test]
    fn kustomizations_are_listed_once_below_the_table() {
        let mut plan = upgrade_plan(&outlook(NextVersion::UpToDate));
        plan.contracts[0].providers[1].kustomization = Some("/etc/capi/core".to_owned());
        let contract = plan.contracts[0].clone();
        assert_data_eq!(
            shown(&plan, Program::Capstan),
            str![[r#"
Cert-Manager is already up to date


Latest release available for the v1beta2 Cluster API contract version:

NAME                NAMESPACE                       TYPE                CURRENT VERSION   NEXT VERSION
bootstrap-kubeadm   capi-kubeadm-bootstrap-system   BootstrapProvider   v1.13.5           Already up to date
cluster-api         capi-system                     CoreProvider        v1.13.5           Already up to date

You are already up to date!

Applied kustomizations: cluster-api (/etc/capi/core)

"#]]
        );
        plan.contracts.push(contract);
        assert_eq!(shown(&plan, Program::Capstan).matches("/etc/capi/core").count(), 1);
    }

    #[test]
    fn a_provider_without_a_next_version_has_a_reason() {
        let why = "no release series of contract v1beta2".to_owned();
        let text = shown(&upgrade_plan(&outlook(NextVersion::None { why })), Program::Capstan);
        assert_data_eq!(
            text,
            str![[r#"
Cert-Manager is already up to date


Latest release available for the v1beta2 Cluster API contract version:

NAME                NAMESPACE                       TYPE                CURRENT VERSION   NEXT VERSION
bootstrap-kubeadm   capi-kubeadm-bootstrap-system   BootstrapProvider   v1.13.5           Already up to date
cluster-api         capi-system                     CoreProvider        v1.13.5           none: no release series of contract v1beta2

You are already up to date!


"#]]
        );
    }
}

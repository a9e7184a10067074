//! Finds every problem before the first write.

mod access;
mod plural;

use std::collections::BTreeSet;

use api::{Contract, ProviderId, ProviderType, Version};
use inventory::{PreflightProblem, ProviderInventory};
use manifest::{Object, Value};
use provider::find_contract;

use crate::RenderedProvider;

pub(crate) use access::{AccessNeed, check_access, check_permissions};

/// The annotation of a definition that has an unusual name on purpose. Any value counts.
const SKIP_NAME_CHECK: &str = "clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check";

/// Checks providers against each other and against the installed providers: one core provider, one instance
/// of each provider, contracts, and names of definitions.
/// Shape: `installed_core` is the contract of the installed core provider, if known.
/// Source: clusterctl v1.14 client/cluster/installer.go (Validate); differs: returns all problems, not only
/// the first.
pub(crate) fn check_providers(
    inventory: &ProviderInventory,
    queue: &[RenderedProvider],
    installed_core: Option<&Contract>,
) -> Vec<PreflightProblem> {
    let mut problems = check_instances(inventory, queue);
    problems.extend(check_core(inventory, queue));
    problems.extend(check_versions(queue));
    let core = queue.iter().find(|provider| provider.id.provider_type == ProviderType::Core);
    if let Some(contract) = core.map(|core| &core.contract).or(installed_core) {
        problems.extend(check_contracts(queue, contract));
    }
    problems.extend(queue.iter().flat_map(check_definition_names));
    problems
}

/// Checks that the queue and the inventory together contain each provider once, in any version.
fn check_instances(inventory: &ProviderInventory, queue: &[RenderedProvider]) -> Vec<PreflightProblem> {
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for provider in queue {
        let there: Vec<String> = inventory
            .entries_of(&provider.id)
            .map(|installed| format!("{} in namespace `{}`", installed.version, installed.namespace))
            .collect();
        if !there.is_empty() {
            let text = format!("`{}` is already installed: {}", provider.id, there.join(", "));
            let RenderedProvider { id, version, .. } = provider;
            let (flag, name) = (id.provider_type.flag(), &id.name);
            let hint = format!("change its version with `capstan upgrade apply --{flag} {name}:{version}`");
            problems.push(PreflightProblem::ignorable(text, hint));
        } else if !seen.insert(&provider.id) {
            let text = format!("`{}` is requested more than once", provider.id);
            problems.push(PreflightProblem::ignorable(text, "request it once"));
        }
    }
    problems
}

fn check_core(inventory: &ProviderInventory, queue: &[RenderedProvider]) -> Option<PreflightProblem> {
    let ids = inventory.providers.iter().map(|installed| &installed.id);
    let ids = ids.chain(queue.iter().map(|provider| &provider.id));
    let cores: BTreeSet<&ProviderId> = ids.filter(|id| id.provider_type == ProviderType::Core).collect();
    let hint = "a management cluster requires exactly one core provider";
    match cores.len() {
        1 => None,
        0 => Some(PreflightProblem::ignorable("the management cluster would have no core provider", hint)),
        _ => {
            let names: Vec<String> = cores.iter().map(|id| format!("`{id}`")).collect();
            Some(PreflightProblem::ignorable(
                format!("the management cluster would have several core providers: {}", names.join(", ")),
                hint,
            ))
        }
    }
}

/// Checks that the metadata of each provider lists the series of its version, with a contract this binary supports.
pub(crate) fn check_versions(queue: &[RenderedProvider]) -> Vec<PreflightProblem> {
    let judge = |provider: &RenderedProvider| {
        let version = Version::parse(&provider.version).ok()?;
        let why = match &provider.metadata {
            Ok(metadata) => find_contract(&provider.id, metadata, &version).err()?.to_string(),
            Err(why) => format!("cannot determine the contract of `{}` {version}: {why}", provider.id),
        };
        let hint = "use another version, or update its repository URL in clusterctl.yaml";
        Some(PreflightProblem::ignorable(why, hint))
    };
    queue.iter().filter_map(judge).collect()
}

/// Checks that each provider works with a core provider of this contract.
pub(crate) fn check_contracts(queue: &[RenderedProvider], core: &Contract) -> Vec<PreflightProblem> {
    let fits = compatible_contracts(core);
    let judge = |provider: &RenderedProvider| {
        // `check_versions` already reported providers with an unsupported contract.
        let unknown = !provider.contract.is_compatible();
        if unknown || fits.contains(&provider.contract.as_str()) {
            return None;
        }
        let (id, version, contract) = (&provider.id, &provider.version, &provider.contract);
        let text = format!(
            "`{id}` {version} implements contract {contract}, but the core provider supports only {}",
            fits.join(", ")
        );
        Some(PreflightProblem::ignorable(
            text,
            format!("use a version of `{id}` with one of these contracts"),
        ))
    };
    queue.iter().filter_map(judge).collect()
}

/// Returns the contracts of providers that work with a core provider of the given contract.
/// Source: clusterctl v1.14: the current contract accepts older contracts, any other contract only itself.
pub(crate) fn compatible_contracts(core: &Contract) -> Vec<&str> {
    if core.as_str() == Contract::CURRENT { Contract::COMPATIBLE.to_vec() } else { vec![core.as_str()] }
}

/// Checks that each definition is named after the plural of its kind, because Cluster API finds definitions by name.
pub(crate) fn check_definition_names(provider: &RenderedProvider) -> Vec<PreflightProblem> {
    let judge = |object: &Object| {
        if object.kind() != "CustomResourceDefinition" || object.annotation(SKIP_NAME_CHECK).is_some() {
            return None;
        }
        let text = |path: &[&str]| object.get(path).and_then(Value::as_str).unwrap_or_default();
        let kind = text(&["spec", "names", "kind"]);
        let expected = format!("{}.{}", plural::plural(&kind.to_lowercase()), text(&["spec", "group"]));
        let name = object.name();
        if name == expected {
            return None;
        }
        let text = format!(
            "definition `{name}` of `{}` must be named `{expected}`, or Cluster API cannot find kind {kind}",
            provider.id
        );
        let hint = format!(
            "if no Cluster API object references this kind, annotate the definition with `{SKIP_NAME_CHECK}`"
        );
        Some(PreflightProblem::ignorable(text, hint))
    };
    provider.objects.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests;

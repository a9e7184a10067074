//! Selects compatible versions for an upgrade. Pure functions.

use std::collections::BTreeSet;

use api::{Contract, Metadata, ProviderType, Version};
use inventory::{PreflightProblem, ProviderInventory};
use provider::InstalledProvider;

use crate::{UpgradeItem, UpgradeRequest, UpgradeTarget, preflight::compatible_contracts};

/// The next version of an installed provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextVersion {
    /// A newer version is available.
    To(String),
    /// The provider already has the newest version that works with this contract.
    UpToDate,
    /// There is no such version, or the versions cannot be read.
    None {
        /// The reason, such as `no release of contract v1beta2`.
        why: String,
    },
}

/// An installed provider and the releases in its repository.
#[derive(Clone, Debug)]
pub(crate) struct UpgradeCandidate {
    pub(crate) installed: InstalledProvider,
    /// The releases, or the reason why they cannot be read.
    pub(crate) releases: Result<CandidateReleases, String>,
}

/// The releases of an installed provider.
#[derive(Clone, Debug)]
pub(crate) struct CandidateReleases {
    /// The installed version.
    pub(crate) current: Version,
    pub(crate) versions: Vec<Version>,
    /// The metadata read so far. The first metadata that lists a release series defines its contract.
    pub(crate) metadata: Vec<Metadata>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
}

/// The changes of an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UpgradeChoice {
    /// Providers with their new versions, in execution order.
    pub(crate) items: Vec<(InstalledProvider, String)>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
}

/// The rows of one contract.
pub(crate) type ContractUpgrades = (Contract, Vec<(InstalledProvider, NextVersion)>);

/// The maximum number of minor versions of Cluster API that one upgrade may advance.
/// Source: clusterctl v1.14 client/cluster/upgrader.go (skip rule); differs: there, versions before 1.10 are
/// not checked.
const MAX_MINORS: u64 = 3;

/// True if a provider of one contract works with a core provider of another contract.
fn works_with(contract: &Contract, core: &Contract) -> bool {
    compatible_contracts(core).contains(&contract.as_str())
}

fn problem(text: String, hint: Option<String>) -> PreflightProblem {
    PreflightProblem { hint, ..PreflightProblem::fatal(text) }
}

fn qualified_name(installed: &InstalledProvider) -> String {
    format!("{}/{}", installed.namespace, installed.id)
}

impl CandidateReleases {
    /// Returns the contract of the release series of a version.
    pub(crate) fn contract_of(&self, version: &Version) -> Option<&Contract> {
        self.metadata.iter().find_map(|metadata| metadata.series_of(version)).map(|series| &series.contract)
    }

    /// Returns the highest release above the installed one that works with a contract.
    /// Skips pre-releases and releases of series that no metadata lists.
    fn newest_compatible(&self, contract: &Contract) -> Option<&Version> {
        let fits = |version: &&Version| {
            !version.is_prerelease()
                && **version > self.current
                && self.contract_of(version).is_some_and(|of| works_with(of, contract))
        };
        self.versions.iter().filter(fits).max()
    }

    fn next_version(&self, contract: &Contract) -> NextVersion {
        if let Some(next) = self.newest_compatible(contract) {
            return NextVersion::To(next.as_str().to_owned());
        }
        match self.contract_of(&self.current) {
            Some(of) if works_with(of, contract) => NextVersion::UpToDate,
            Some(of) => NextVersion::None {
                why: format!("{} implements {of}, and no newer release supports {contract}", self.current),
            },
            None => NextVersion::None {
                why: format!("the metadata lists no release series for {}", self.current),
            },
        }
    }

    /// Returns the contracts of the release series from the installed version on.
    fn newer_contracts(&self) -> BTreeSet<Contract> {
        let current = (self.current.semver().major, self.current.semver().minor);
        let lists_current = |metadata: &&Metadata| metadata.series_of(&self.current).is_some();
        let series = self
            .metadata
            .iter()
            .find(lists_current)
            .into_iter()
            .flat_map(|metadata| &metadata.release_series);
        series.filter(|s| (s.major, s.minor) >= current).map(|s| s.contract.clone()).collect()
    }
}

/// Checks that every provider is installed once, and that there is one core provider.
/// Source: clusterctl v1.14 client/cluster/inventory.go (CheckSingleProviderInstance).
pub(crate) fn check_instances(inventory: &ProviderInventory) -> Vec<PreflightProblem> {
    let mut problems = Vec::new();
    let ids: BTreeSet<_> = inventory.providers.iter().map(|installed| &installed.id).collect();
    for id in ids {
        let places: Vec<_> = inventory.entries_of(id).map(qualified_name).collect();
        if places.len() > 1 {
            let text = format!("`{id}` is installed {} times: {}", places.len(), places.join(", "));
            problems.push(problem(text, Some("delete all but one".to_owned())));
        }
    }
    let cores = inventory.names(ProviderType::Core);
    if cores.len() != 1 {
        let text = format!("exactly one core provider is required, but {} are installed", cores.len());
        problems.push(problem(text, None));
    }
    problems
}

/// Returns the available upgrades for each contract, in contract order. Providers are sorted by type, name
/// and namespace.
/// Source: clusterctl v1.14 client/cluster/upgrader.go (Plan); differs: there, one unreadable provider stops
/// the plan. There, a contract is left out unless each provider has a next version.
pub(crate) fn available_upgrades(candidates: &[UpgradeCandidate]) -> Vec<ContractUpgrades> {
    let mut rows: Vec<&UpgradeCandidate> = candidates.iter().collect();
    rows.sort_by_key(|row| {
        (row.installed.id.provider_type.as_str(), &*row.installed.id.name, &*row.installed.namespace)
    });
    let next = |candidate: &UpgradeCandidate, contract: &Contract| match &candidate.releases {
        Ok(releases) => releases.next_version(contract),
        Err(why) => NextVersion::None { why: why.clone() },
    };
    available_contracts(candidates)
        .into_iter()
        .map(|contract| {
            let of = |row: &&UpgradeCandidate| (row.installed.clone(), next(row, &contract));
            let row = rows.iter().map(of).collect();
            (contract, row)
        })
        .collect()
}

/// Returns the contracts that the core provider can upgrade to. If its releases are unknown, the current contract.
fn available_contracts(candidates: &[UpgradeCandidate]) -> BTreeSet<Contract> {
    let ahead = core_candidate(candidates)
        .and_then(|core| core.releases.as_ref().ok())
        .map(CandidateReleases::newer_contracts);
    ahead
        .filter(|contracts| !contracts.is_empty())
        .unwrap_or_else(|| BTreeSet::from([Contract::new(Contract::CURRENT)]))
}

fn core_candidate(candidates: &[UpgradeCandidate]) -> Option<&UpgradeCandidate> {
    candidates.iter().find(|candidate| candidate.installed.id.provider_type == ProviderType::Core)
}

/// Selects the new version of each provider.
/// Source: clusterctl v1.14 client/cluster/upgrader.go (ApplyPlan, ApplyCustomPlan).
/// # Errors
/// Returns all problems.
pub(crate) fn choose_upgrade(
    candidates: &[UpgradeCandidate],
    request: &UpgradeRequest,
) -> Result<UpgradeChoice, Vec<PreflightProblem>> {
    let mut choosing = VersionChooser { candidates, problems: Vec::new(), choice: UpgradeChoice::default() };
    match &request.target {
        UpgradeTarget::Contract(contract) => choosing.choose_by_contract(contract),
        UpgradeTarget::Providers(items) => choosing.choose_by_name(items),
    }
    choosing.choice.items.sort_by_key(|(installed, _)| installed.id.provider_type);
    choosing.check_distances(request);
    let VersionChooser { problems, mut choice, .. } = choosing;
    if !problems.is_empty() {
        return Err(problems);
    }
    let notes =
        candidates.iter().filter_map(|candidate| candidate.releases.as_ref().ok()).flat_map(|r| &r.warnings);
    choice.warnings.extend(notes.cloned());
    Ok(choice)
}

struct VersionChooser<'a> {
    candidates: &'a [UpgradeCandidate],
    problems: Vec<PreflightProblem>,
    choice: UpgradeChoice,
}

impl<'a> VersionChooser<'a> {
    fn add_problem(&mut self, text: String, hint: Option<String>) {
        self.problems.push(problem(text, hint));
    }

    /// Returns the providers with known releases. The others are problems, because their compatibility is unknown.
    fn with_known_releases(&mut self) -> Vec<(&'a InstalledProvider, &'a CandidateReleases)> {
        let mut known = Vec::new();
        for candidate in self.candidates {
            match &candidate.releases {
                Ok(releases) => known.push((&candidate.installed, releases)),
                Err(why) => {
                    let text =
                        format!("cannot determine the versions of `{}`: {why}", candidate.installed.id);
                    self.add_problem(text, None);
                }
            }
        }
        known
    }

    fn choose_by_contract(&mut self, contract: &Contract) {
        if contract.as_str() != Contract::CURRENT {
            let hint = format!("use `--contract {}`", Contract::CURRENT);
            return self.add_problem(format!("cannot upgrade to contract {contract}"), Some(hint));
        }
        for (installed, releases) in self.with_known_releases() {
            match releases.next_version(contract) {
                NextVersion::To(version) => self.choice.items.push((installed.clone(), version)),
                NextVersion::UpToDate => {}
                NextVersion::None { why } => {
                    self.add_problem(format!("cannot upgrade `{}`: {why}", installed.id), None);
                }
            }
        }
    }

    fn choose_by_name(&mut self, items: &[UpgradeItem]) {
        let mut targets: Vec<(&InstalledProvider, &CandidateReleases, Option<Version>)> = self
            .with_known_releases()
            .into_iter()
            .map(|(installed, releases)| (installed, releases, None))
            .collect();
        for item in items {
            self.set_target(item, &mut targets);
        }
        let core = targets.iter().find(|(installed, ..)| installed.id.provider_type == ProviderType::Core);
        // A missing core provider is already a problem.
        if let Some((core, releases, target)) = core {
            let version = target.as_ref().unwrap_or(&releases.current);
            match releases.contract_of(version) {
                Some(contract) if contract.as_str() == Contract::CURRENT => {}
                Some(contract) => {
                    let text = format!("`{}` {version} implements contract {contract}", core.id);
                    let hint = format!("also select a version with contract {} for it", Contract::CURRENT);
                    self.add_problem(text, Some(hint));
                }
                None => self.add_problem(
                    format!("the metadata lists no release series for `{}` {version}", core.id),
                    None,
                ),
            }
        }
        for (installed, releases, target) in &targets {
            self.check_contract(installed, releases, target.as_ref());
        }
        let chosen = targets.into_iter().filter_map(|(installed, _, target)| {
            target.map(|version| (installed.clone(), version.as_str().to_owned()))
        });
        self.choice.items.extend(chosen);
    }

    /// Finds the provider of an item and sets its target version.
    fn set_target(
        &mut self,
        item: &UpgradeItem,
        targets: &mut [(&InstalledProvider, &CandidateReleases, Option<Version>)],
    ) {
        let is = |installed: &InstalledProvider| {
            installed.id == item.provider
                && item.namespace.as_ref().is_none_or(|namespace| *namespace == installed.namespace)
        };
        if !self.candidates.iter().any(|candidate| is(&candidate.installed)) {
            let named = item.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
            let there: Vec<_> =
                self.candidates.iter().map(|candidate| qualified_name(&candidate.installed)).collect();
            let hint = format!("installed providers: {}", there.join(", "));
            return self.add_problem(format!("`{named}{}` is not installed", item.provider), Some(hint));
        }
        let version = match Version::parse(&item.version) {
            Ok(version) => version,
            Err(error) => return self.add_problem(format!("`{}`: {error}", item.provider), None),
        };
        // A provider with unknown releases is not among the targets, and is already a problem.
        let Some((_, _, target)) = targets.iter_mut().find(|(installed, ..)| is(installed)) else { return };
        if target.replace(version).is_some() {
            self.add_problem(format!("`{}` is requested twice", item.provider), None);
        }
    }

    /// Checks the contract of a provider, upgraded or not, against the core provider. The core provider is
    /// checked earlier.
    fn check_contract(
        &mut self,
        installed: &InstalledProvider,
        releases: &CandidateReleases,
        target: Option<&Version>,
    ) {
        if installed.id.provider_type == ProviderType::Core {
            return;
        }
        let version = target.unwrap_or(&releases.current);
        let core = Contract::new(Contract::CURRENT);
        let text = match releases.contract_of(version) {
            Some(contract) if works_with(contract, &core) => return,
            Some(contract) => {
                format!(
                    "`{}` {version} implements contract {contract}, which is incompatible with {core}",
                    installed.id
                )
            }
            None => format!("the metadata lists no release series for `{}` {version}", installed.id),
        };
        let hint = target.is_none().then(|| format!("also upgrade `{}`", installed.id));
        self.add_problem(text, hint);
    }

    /// Checks the direction and the number of skipped versions for each provider.
    fn check_distances(&mut self, request: &UpgradeRequest) {
        for (installed, to) in self.choice.items.clone() {
            let (Ok(from), Ok(target)) = (Version::parse(&installed.version), Version::parse(&to)) else {
                continue;
            };
            if target < from && !request.options.allow_downgrade {
                let text = format!("`{}` would be downgraded from {from} to {target}", installed.id);
                self.add_problem(text, Some("allow the downgrade with `--allow-downgrade`".to_owned()));
            }
            if target == from {
                let text = format!("`{}` already has version {from}", installed.id);
                self.choice.warnings.push(text);
            }
            if skips_too_many(&installed, &from, &target) && !request.options.allow_skip {
                let text = format!(
                    "`{}` would skip too many versions: {from} to {target} is more than {MAX_MINORS} minor versions",
                    installed.id
                );
                self.add_problem(text, Some("upgrade in several steps, or pass `--allow-skip`".to_owned()));
            }
        }
    }
}

/// True if a provider from the Cluster API repository advances too many minor versions.
fn skips_too_many(installed: &InstalledProvider, from: &Version, to: &Version) -> bool {
    let is_ours = match installed.id.provider_type {
        ProviderType::Core => true,
        ProviderType::Bootstrap | ProviderType::ControlPlane => installed.id.name == "kubeadm",
        _ => false,
    };
    let (from, to) = (from.semver(), to.semver());
    is_ours && from.major == to.major && to.minor > from.minor + MAX_MINORS
}

#[cfg(test)]
mod tests;

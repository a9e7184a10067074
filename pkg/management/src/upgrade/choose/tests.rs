use std::fmt::Write as _;

use api::{ProviderId, ReleaseSeries};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{WaitOptions, testing::upgrade_to_contract};

/// Parses `core v1.0.0: v1.0.0 v1.1.0-rc.0 | 1.0=v1beta1 1.1=v1beta2`: name, installed version,
/// releases, series.
/// `!reason` after the first colon stands for unknown releases.
fn candidate(line: &str) -> UpgradeCandidate {
    let (installed, rest) = line.split_once(':').unwrap();
    let (name, version) = installed.split_once(' ').unwrap();
    let (provider_type, name) = match name {
        "core" => (ProviderType::Core, "cluster-api"),
        "bootstrap" => (ProviderType::Bootstrap, "kubeadm"),
        "microk8s" => (ProviderType::Bootstrap, "microk8s"),
        other => (ProviderType::Infrastructure, other),
    };
    let id = ProviderId::new(provider_type, name);
    let installed =
        InstalledProvider { namespace: format!("{name}-system"), id, version: version.to_owned() };
    let releases = match rest.trim().strip_prefix('!') {
        Some(why) => Err(why.to_owned()),
        None => Ok(releases(version, rest)),
    };
    UpgradeCandidate { installed, releases }
}

fn releases(current: &str, rest: &str) -> CandidateReleases {
    let (versions, series) = rest.split_once('|').unwrap();
    let version = |text: &str| Version::parse(text).unwrap();
    let one = |text: &str| {
        let (number, contract) = text.split_once('=').unwrap();
        let (major, minor) = number.split_once('.').unwrap();
        ReleaseSeries {
            major: major.parse().unwrap(),
            minor: minor.parse().unwrap(),
            contract: Contract::new(contract),
        }
    };
    CandidateReleases {
        current: version(current),
        versions: versions.split_whitespace().map(version).collect(),
        metadata: vec![Metadata { release_series: series.split_whitespace().map(one).collect() }],
        warnings: Vec::new(),
    }
}

fn candidates(lines: &[&str]) -> Vec<UpgradeCandidate> {
    lines.iter().copied().map(candidate).collect()
}

/// Returns `v1beta2: cluster-api v1.1.0, aws -`, with `-` for up to date and `(why)` for no version.
fn outlook_text(lines: &[&str]) -> Vec<String> {
    let row = |(installed, next): &(InstalledProvider, NextVersion)| match next {
        NextVersion::To(version) => format!("{} {version}", installed.id.name),
        NextVersion::UpToDate => format!("{} -", installed.id.name),
        NextVersion::None { why } => format!("{} ({why})", installed.id.name),
    };
    let text = |(contract, rows): &ContractUpgrades| {
        format!("{contract}: {}", rows.iter().map(row).collect::<Vec<_>>().join(", "))
    };
    available_upgrades(&candidates(lines)).iter().map(text).collect()
}

// Row: D-115, D-116
#[test]
fn available_upgrades_list_the_newest_compatible_release() {
    let cases: [(&str, &[&str]); 7] = [
        (
            "within the current contract",
            &[
                "core v1.0.0: v1.0.0 v1.0.1 | 1.0=v1beta2",
                "aws v2.0.0: v2.0.0 v2.0.1 v2.1.0 | 2.0=v1beta2 2.1=v1beta2",
            ],
        ),
        (
            "an older contract that works beside it",
            &["core v1.0.0: v1.0.0 v1.0.1 | 1.0=v1beta2", "aws v2.0.0: v2.0.0 v2.0.1 | 2.0=v1beta1"],
        ),
        ("pre-releases are passed over", &["core v1.0.0: v1.0.0 v1.1.0-rc.0 | 1.0=v1beta2 1.1=v1beta2"]),
        (
            "from one contract to the next, where a provider has no newer release",
            &[
                "core v1.10.0: v1.10.0 v1.10.1 v1.11.0 | 1.10=v1beta1 1.11=v1beta2",
                "aws v2.0.0: v2.0.0 | 2.0=v1beta1",
            ],
        ),
        (
            "a provider too old for the next contract",
            &["core v1.0.0: v1.1.0 | 1.0=v1beta1 1.1=v1beta2", "aws v0.9.0: v0.9.1 | 0.9=v1alpha4"],
        ),
        (
            "a contract that is newer than this binary, and a release of a series nobody lists",
            &["core v1.0.0: v1.0.1 v2.0.0 v3.0.0 | 1.0=v1beta2 2.0=v1beta3"],
        ),
        (
            "what cannot be read is a row",
            &["core v1.0.0: !no answer", "aws v2.0.0: v2.0.1 | 2.0=v1beta1", "docker v1.0.0: !no such host"],
        ),
    ];
    let mut outlooks = String::new();
    for (name, lines) in cases {
        let _ = writeln!(outlooks, "{name}:\n  {}", outlook_text(lines).join("\n  "));
    }
    assert_data_eq!(
        outlooks,
        str![[r#"
within the current contract:
  v1beta2: cluster-api v1.0.1, aws v2.1.0
an older contract that works beside it:
  v1beta2: cluster-api v1.0.1, aws v2.0.1
pre-releases are passed over:
  v1beta2: cluster-api -
from one contract to the next, where a provider has no newer release:
  v1beta1: cluster-api v1.10.1, aws -
  v1beta2: cluster-api v1.11.0, aws -
a provider too old for the next contract:
  v1beta1: cluster-api -, aws (v0.9.0 implements v1alpha4, and no newer release supports v1beta1)
  v1beta2: cluster-api v1.1.0, aws (v0.9.0 implements v1alpha4, and no newer release supports v1beta2)
a contract that is newer than this binary, and a release of a series nobody lists:
  v1beta2: cluster-api v1.0.1
  v1beta3: cluster-api v2.0.0
what cannot be read is a row:
  v1beta2: cluster-api (no answer), aws v2.0.1, docker (no such host)

"#]]
    );
}

fn request(target: &str) -> UpgradeRequest {
    let item = |text: &str| {
        let (name, rest) = text.rsplit_once('=').unwrap();
        let (namespace, name) = match name.split_once('/') {
            Some((namespace, name)) => (Some(namespace.to_owned()), name),
            None => (None, name),
        };
        let provider = candidate(&format!("{name} v0.0.0: !")).installed.id;
        UpgradeItem { provider, namespace, version: rest.to_owned() }
    };
    let target = match target.strip_prefix("contract ") {
        Some(contract) => UpgradeTarget::Contract(Contract::new(contract)),
        None => UpgradeTarget::Providers(target.split_whitespace().map(item).collect()),
    };
    UpgradeRequest { target, ..upgrade_to_contract(WaitOptions { timeout: None, must_be_ready: false }) }
}

/// Returns `cluster-api v1.1.0, aws v2.1.0`, or `! ` and the problems.
fn choice_text(candidates: &[UpgradeCandidate], request: &UpgradeRequest) -> String {
    match choose_upgrade(candidates, request) {
        Ok(choice) => {
            let item = |(installed, to): &(InstalledProvider, String)| format!("{} {to}", installed.id.name);
            choice.items.iter().map(item).collect::<Vec<_>>().join(", ")
        }
        Err(problems) => {
            let texts: Vec<_> = problems.into_iter().map(|problem| problem.text).collect();
            format!("! {}", texts.join("; "))
        }
    }
}

const CORE: &str = "core v1.10.0: v1.10.0 v1.11.0 v1.12.0-rc.0 | 1.9=v1beta1 1.10=v1beta1 1.11=v1beta2 1.12=v1beta2 2.0=v1beta3";
const AWS: &str = "aws v2.0.0: v2.0.0 v2.1.0 | 1.0=v1alpha4 2.0=v1beta1 2.1=v1beta2 3.0=v1beta3";
const OLD_AWS: &str = "aws v1.0.0: v1.0.0 v2.0.0 | 1.0=v1alpha4 2.0=v1beta1";

#[test]
fn compatible_requested_versions_are_chosen() {
    let cases: [(&str, &[&str], &str); 17] = [
        ("all of a contract", &[AWS, CORE], "contract v1beta2"),
        ("nothing newer", &["core v1.11.0: v1.11.0 | 1.11=v1beta2"], "contract v1beta2"),
        ("another contract", &[CORE], "contract v1beta1"),
        ("a provider that stays behind", &[CORE, "aws v1.0.0: v1.0.0 | 1.0=v1alpha4"], "contract v1beta2"),
        ("core alone, the other works beside it", &[CORE, AWS], "core=v1.11.0"),
        ("both, in the order of types", &[CORE, AWS], "aws=v2.1.0 core=v1.11.0"),
        ("a pre-release that was named", &[CORE, AWS], "core=v1.12.0-rc.0"),
        ("with its namespace", &[CORE], "cluster-api-system/core=v1.11.0"),
        ("in another namespace", &[CORE], "default/core=v1.11.0"),
        ("one that is not installed", &["core v1.11.0: v1.11.0 | 1.11=v1beta2"], "aws=v2.1.0"),
        ("while core stays on an old contract", &[CORE, AWS], "aws=v2.1.0"),
        ("core to a contract that is too new", &[CORE, AWS], "core=v2.0.0 aws=v3.0.0"),
        ("another that would stay behind", &[CORE, OLD_AWS], "core=v1.11.0"),
        ("the same taken along", &[CORE, OLD_AWS], "core=v1.11.0 aws=v2.0.0"),
        ("a version of no series", &[CORE, AWS], "core=v1.11.0 aws=v2.7.0"),
        ("what is no version", &[CORE], "core=v1.11"),
        ("twice", &[CORE], "core=v1.11.0 core=v1.11.0"),
    ];
    let mut choices = String::new();
    for (name, lines, target) in cases {
        let choice = choice_text(&candidates(lines), &request(target));
        let _ = writeln!(choices, "{name}:\n  {}", if choice.is_empty() { "nothing" } else { &choice });
    }
    assert_data_eq!(
        choices,
        str![[r#"
all of a contract:
  cluster-api v1.11.0, aws v2.1.0
nothing newer:
  nothing
another contract:
  ! cannot upgrade to contract v1beta1
a provider that stays behind:
  ! cannot upgrade `infrastructure-aws`: v1.0.0 implements v1alpha4, and no newer release supports v1beta2
core alone, the other works beside it:
  cluster-api v1.11.0
both, in the order of types:
  cluster-api v1.11.0, aws v2.1.0
a pre-release that was named:
  cluster-api v1.12.0-rc.0
with its namespace:
  cluster-api v1.11.0
in another namespace:
  ! `default/cluster-api` is not installed; `cluster-api` v1.10.0 implements contract v1beta1
one that is not installed:
  ! `infrastructure-aws` is not installed
while core stays on an old contract:
  ! `cluster-api` v1.10.0 implements contract v1beta1
core to a contract that is too new:
  ! `cluster-api` v2.0.0 implements contract v1beta3; `infrastructure-aws` v3.0.0 implements contract v1beta3, which is incompatible with v1beta2
another that would stay behind:
  ! `infrastructure-aws` v1.0.0 implements contract v1alpha4, which is incompatible with v1beta2
the same taken along:
  cluster-api v1.11.0, aws v2.0.0
a version of no series:
  ! the metadata lists no release series for `infrastructure-aws` v2.7.0
what is no version:
  ! `cluster-api`: `v1.11` is not a semantic version; `cluster-api` v1.10.0 implements contract v1beta1
twice:
  ! `cluster-api` is requested twice

"#]]
    );
}

#[test]
fn unknown_releases_of_one_provider_stop_the_upgrade() {
    let candidates = candidates(&[CORE, "aws v2.0.0: !no answer"]);
    let targets = ["contract v1beta2", "core=v1.11.0", "core=v1.11.0 aws=v2.1.0"];
    assert_data_eq!(
        targets.map(|target| choice_text(&candidates, &request(target))).join("\n"),
        str![[r#"
! cannot determine the versions of `infrastructure-aws`: no answer
! cannot determine the versions of `infrastructure-aws`: no answer
! cannot determine the versions of `infrastructure-aws`: no answer
"#]]
    );
}

// Row: D-112
#[test]
fn downgrades_are_rejected_unless_allowed() {
    let candidates = candidates(&["core v1.11.0: v1.11.0 | 1.10=v1beta2 1.11=v1beta2"]);
    let mut request = request("core=v1.10.3");
    assert_data_eq!(
        choice_text(&candidates, &request),
        str!["! `cluster-api` would be downgraded from v1.11.0 to v1.10.3"]
    );
    request.options.allow_downgrade = true;
    assert_eq!(choice_text(&candidates, &request), "cluster-api v1.10.3");
}

// Row: D-114
#[test]
fn the_installed_version_is_accepted_with_a_warning() {
    let candidates = candidates(&["core v1.11.0: v1.11.0 | 1.11=v1beta2"]);
    let choice = choose_upgrade(&candidates, &request("core=v1.11.0")).unwrap();
    assert_eq!(choice.items.len(), 1);
    assert_data_eq!(choice.warnings.join("\n"), str!["`cluster-api` already has version v1.11.0"]);
}

// Row: D-113
#[test]
fn upgrades_over_more_than_three_minor_versions_are_rejected() {
    let series = "1.2=v1beta1 1.5=v1beta2 1.6=v1beta2 1.11=v1beta2 1.14=v1beta2 1.15=v1beta2 2.9=v1beta2";
    let cases = [
        ("core", "v1.11.0", "v1.14.0", true),
        ("core", "v1.11.0", "v1.15.0", false),
        ("core", "v1.2.0", "v1.5.9", true),
        ("core", "v1.2.0", "v1.6.0", false),
        ("core", "v1.2.0", "v2.9.0", true),
        ("bootstrap", "v1.11.0", "v1.15.0", false),
        ("microk8s", "v1.2.0", "v1.15.0", true),
        ("aws", "v1.2.0", "v1.15.0", true),
    ];
    for (name, from, to, fits) in cases {
        let mut lines = vec![format!("{name} {from}: {to} | {series}")];
        if name != "core" {
            lines.push("core v1.14.0: v1.14.0 | 1.14=v1beta2".to_owned());
        }
        let candidates: Vec<_> = lines.iter().map(|line| candidate(line)).collect();
        let mut request = request(&format!("{name}={to}"));
        assert_eq!(choose_upgrade(&candidates, &request).is_ok(), fits, "{name} {from} {to}");
        request.options.allow_skip = true;
        assert!(choose_upgrade(&candidates, &request).is_ok(), "{name} {from} {to}");
    }
}

#[test]
fn the_first_metadata_that_lists_a_series_counts() {
    let mut of_aws = releases("v1.0.0", "v1.0.0 v1.1.0 | 1.0=v1beta1");
    assert_eq!(of_aws.newest_compatible(&Contract::new("v1beta2")), None);
    of_aws.metadata.push(releases("v1.0.0", "| 1.0=v9 1.1=v1beta2").metadata.remove(0));
    assert_eq!(of_aws.contract_of(&of_aws.current).unwrap().as_str(), "v1beta1");
    assert_eq!(of_aws.newest_compatible(&Contract::new("v1beta2")).unwrap().as_str(), "v1.1.0");
}

#[test]
fn every_provider_is_installed_once_with_one_core() {
    let inventory = |lines: &[&str]| ProviderInventory {
        providers: candidates(lines).into_iter().map(|candidate| candidate.installed).collect(),
        is_defined: true,
        ..ProviderInventory::default()
    };
    let texts = |lines: &[&str]| -> Vec<String> {
        check_instances(&inventory(lines)).into_iter().map(|problem| problem.text).collect()
    };
    assert!(texts(&["core v1.0.0: !", "aws v1.0.0: !"]).is_empty());
    assert_data_eq!(
        texts(&["aws v1.0.0: !"]).join("\n"),
        str!["exactly one core provider is required, but 0 are installed"]
    );
    assert_data_eq!(
        texts(&["core v1.0.0: !", "aws v1.0.0: !", "aws v1.1.0: !"]).join("\n"),
        str![
            "`infrastructure-aws` is installed 2 times: aws-system/infrastructure-aws, aws-system/infrastructure-aws"
        ]
    );
}

use api::{Metadata, ReleaseSeries};

use inventory::PreflightProblems;
use snapbox::{assert_data_eq, str};

use super::*;
use crate::testing::{
    NEW_VERSION, OLD_VERSION, bootstrap, components, control_plane, core, docker, installed, namespace_of,
    objects,
};

fn rendered(id: &ProviderId, version: &str, contract: &str) -> RenderedProvider {
    let numbers = Version::parse(version).unwrap().semver().clone();
    let series =
        ReleaseSeries { major: numbers.major, minor: numbers.minor, contract: Contract::new(contract) };
    RenderedProvider {
        id: id.clone(),
        version: version.to_owned(),
        contract: Contract::new(contract),
        metadata: Ok(Metadata { release_series: vec![series] }),
        namespace: namespace_of(id),
        kustomization: None,
        objects: objects(&components(id, version)),
        warnings: Vec::new(),
    }
}

fn inventory(ids: &[ProviderId]) -> ProviderInventory {
    let providers = ids.iter().map(|id| installed(id, OLD_VERSION)).collect();
    ProviderInventory { providers, is_defined: true, ..ProviderInventory::default() }
}

fn texts(inventory: &ProviderInventory, queue: &[RenderedProvider], core: Option<&str>) -> Vec<String> {
    let problems = check_providers(inventory, queue, core.map(Contract::new).as_ref());
    assert!(problems.iter().all(|problem| problem.can_be_ignored && problem.hint.is_some()));
    problems.into_iter().map(|problem| problem.text).collect()
}

#[test]
fn providers_that_fit_together_are_no_problem() {
    let first =
        [core(), bootstrap(), control_plane(), docker()].map(|id| rendered(&id, NEW_VERSION, "v1beta2"));
    assert_eq!(texts(&inventory(&[]), &first, None), [""; 0]);
    let older = [rendered(&docker(), NEW_VERSION, "v1beta1")];
    assert_eq!(texts(&inventory(&[core()]), &older, Some("v1beta2")), [""; 0]);
    assert_eq!(texts(&inventory(&[core()]), &older, Some("v1beta1")), [""; 0]);
}

#[test]
fn each_broken_rule_is_reported() {
    let (core_new, docker_new) =
        (rendered(&core(), NEW_VERSION, "v1beta2"), rendered(&docker(), NEW_VERSION, "v1beta2"));
    let other_core = ProviderId::new(ProviderType::Core, "other");
    let cases = [
        (inventory(&[core(), docker()]), vec![docker_new.clone()], Some("v1beta2")),
        (inventory(&[core()]), vec![docker_new.clone(), docker_new.clone()], Some("v1beta2")),
        (inventory(&[]), vec![docker_new.clone()], None),
        (inventory(&[other_core]), vec![core_new], None),
        (inventory(&[core()]), vec![docker_new], Some("v1beta1")),
        (inventory(&[core()]), vec![rendered(&docker(), NEW_VERSION, "v1alpha4")], Some("v1beta2")),
    ];
    let reported = cases.map(|(inventory, queue, core)| texts(&inventory, &queue, core).join("; "));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`infrastructure-docker` is already installed: v1.13.5 in namespace `infrastructure-docker-system`
`infrastructure-docker` is requested more than once
the management cluster would have no core provider
the management cluster would have several core providers: `cluster-api`, `other`
`infrastructure-docker` v1.14.0 implements contract v1beta2, but the core provider supports only v1beta1
`infrastructure-docker` v1.14.0 implements contract v1alpha4; this version of capstan supports v1beta2, v1beta1
"#]]
    );
}

#[test]
fn all_problems_of_all_providers_are_reported_together() {
    let mut unlisted = rendered(&docker(), NEW_VERSION, "v1beta2");
    unlisted.metadata.as_mut().unwrap().release_series[0].minor = 13;
    unlisted.contract = Contract::new("");
    let queue =
        [rendered(&core(), NEW_VERSION, "v1beta1"), rendered(&bootstrap(), NEW_VERSION, "v1beta2"), unlisted];
    assert_data_eq!(
        texts(&inventory(&[bootstrap()]), &queue, None).join("\n"),
        str![[r#"
`bootstrap-kubeadm` is already installed: v1.13.5 in namespace `bootstrap-kubeadm-system`
metadata.yaml of `infrastructure-docker` does not list release series 1.14, only 1.13
`bootstrap-kubeadm` v1.14.0 implements contract v1beta2, but the core provider supports only v1beta1
"#]]
    );
}

#[test]
fn definition_names_must_match_the_plural_unless_annotated() {
    let named = |annotations: &str| {
        let text = components(&docker(), NEW_VERSION)
            .replace("{name: dockermachines.", &format!("{{{annotations}name: dockers."));
        let mut provider = rendered(&docker(), NEW_VERSION, "v1beta2");
        provider.objects = objects(&text);
        check_definition_names(&provider).into_iter().map(|problem| problem.text).collect::<Vec<_>>()
    };
    assert_data_eq!(
        named("").join("\n"),
        str![
            "definition `dockers.infrastructure.cluster.x-k8s.io` of `infrastructure-docker` must be named `dockermachines.infrastructure.cluster.x-k8s.io`, or Cluster API cannot find kind DockerMachine"
        ]
    );
    assert_eq!(named(&format!("annotations: {{{SKIP_NAME_CHECK}: ''}}, ")), [""; 0]);
}

#[test]
fn one_problem_is_shown_directly_and_several_are_counted() {
    let problem = |text: &str| PreflightProblem::fatal(text);
    assert_data_eq!(
        PreflightProblems { problems: vec![problem("it is late")] }.to_string(),
        str!["it is late"]
    );
    assert_data_eq!(
        PreflightProblems { problems: vec![problem("a"), problem("b")] }.to_string(),
        str!["found 2 problems; nothing was written"]
    );
}

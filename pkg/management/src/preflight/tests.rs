use api::{Metadata, ReleaseSeries};

use inventory::PreflightProblems;

use super::*;
use crate::tests::{
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
        images: Vec::new(),
        warnings: Vec::new(),
    }
}

fn inventory(ids: &[ProviderId]) -> ProviderInventory {
    let providers = ids.iter().map(|id| installed(id, OLD_VERSION)).collect();
    ProviderInventory { providers, is_defined: true, unfinished: None }
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
fn each_rule_that_is_broken_is_told_in_words() {
    let (core_new, docker_new) =
        (rendered(&core(), NEW_VERSION, "v1beta2"), rendered(&docker(), NEW_VERSION, "v1beta2"));
    let installed_docker =
        "`infrastructure-docker` is installed already: v1.13.5 in namespace `infrastructure-docker-system`";
    let other_core = ProviderId::new(ProviderType::Core, "other");
    let cases = [
        (inventory(&[core(), docker()]), vec![docker_new.clone()], Some("v1beta2"), installed_docker),
        (
            inventory(&[core()]),
            vec![docker_new.clone(), docker_new.clone()],
            Some("v1beta2"),
            "`infrastructure-docker` is asked for more than once",
        ),
        (inventory(&[]), vec![docker_new.clone()], None, "there would be no core provider"),
        (
            inventory(&[other_core]),
            vec![core_new],
            None,
            "there would be several core providers: `cluster-api`, `other`",
        ),
        (
            inventory(&[core()]),
            vec![docker_new],
            Some("v1beta1"),
            "`infrastructure-docker` v1.14.0 implements contract v1beta2; the core provider works with v1beta1",
        ),
        (
            inventory(&[core()]),
            vec![rendered(&docker(), NEW_VERSION, "v1alpha4")],
            Some("v1beta2"),
            "`infrastructure-docker` v1.14.0 implements contract v1alpha4; this binary works with v1beta2, v1beta1",
        ),
    ];
    for (inventory, queue, core, expected) in cases {
        assert_eq!(texts(&inventory, &queue, core), [expected]);
    }
}

#[test]
fn all_problems_of_all_providers_come_together() {
    let mut unlisted = rendered(&docker(), NEW_VERSION, "v1beta2");
    unlisted.metadata.as_mut().unwrap().release_series[0].minor = 13;
    unlisted.contract = Contract::new("");
    let queue =
        [rendered(&core(), NEW_VERSION, "v1beta1"), rendered(&bootstrap(), NEW_VERSION, "v1beta2"), unlisted];
    assert_eq!(
        texts(&inventory(&[bootstrap()]), &queue, None),
        [
            "`bootstrap-kubeadm` is installed already: v1.13.5 in namespace `bootstrap-kubeadm-system`",
            "release series 1.14 of `infrastructure-docker` is not in its metadata.yaml, which lists 1.13",
            "`bootstrap-kubeadm` v1.14.0 implements contract v1beta2; the core provider works with v1beta1",
        ]
    );
}

#[test]
fn a_definition_is_named_by_the_plural_of_its_kind_unless_it_says_otherwise() {
    let named = |annotations: &str| {
        let text = components(&docker(), NEW_VERSION)
            .replace("{name: dockermachines.", &format!("{{{annotations}name: dockers."));
        let mut provider = rendered(&docker(), NEW_VERSION, "v1beta2");
        provider.objects = objects(&text);
        check_definition_names(&provider).into_iter().map(|problem| problem.text).collect::<Vec<_>>()
    };
    assert_eq!(
        named(""),
        [
            "definition `dockers.infrastructure.cluster.x-k8s.io` of `infrastructure-docker` would have to be named \
          `dockermachines.infrastructure.cluster.x-k8s.io` for Cluster API to find kind DockerMachine"
        ]
    );
    assert_eq!(named(&format!("annotations: {{{SKIP_NAME_CHECK}: ''}}, ")), [""; 0]);
}

#[test]
fn one_problem_speaks_for_itself_and_several_are_counted() {
    let problem = |text: &str| PreflightProblem::fatal(text);
    assert_eq!(PreflightProblems { problems: vec![problem("it is late")] }.to_string(), "it is late");
    assert_eq!(
        PreflightProblems { problems: vec![problem("a"), problem("b")] }.to_string(),
        "2 problems were found before anything was written"
    );
}

//! Tests of the number of requests per command: the limit depends only on the number of objects and providers.

use std::time::Duration;

use apply::StepAction;
use support::{
    fixture::Fixture,
    request_counter::{RequestCounter, RequestCounts},
};

use crate::{
    DeleteRequest, LifecyclePlan, UnfinishedPolicy, WaitOptions, delete_providers, init, plan_delete,
    plan_init, plan_upgrade, status,
    testing::{
        OLD_VERSION, Releases, bootstrap, cert_manager, cluster, control_plane, core, docker, init_of,
        upgrade_to_contract,
    },
    upgrade,
};

const PROVIDERS: usize = 4;
const NO_WAIT: WaitOptions = WaitOptions { timeout: None, must_be_ready: false };

/// Returns the number of objects that a plan writes or deletes.
fn touched(plan: &LifecyclePlan) -> usize {
    let steps = plan.providers.iter().flat_map(|provider| &provider.objects.plan.steps);
    steps.filter(|step| !matches!(step.action, StepAction::Keep | StepAction::Orphan)).count()
}

fn at_most(bound: usize, tally: &RequestCounts) {
    assert!(tally.total() <= bound, "{} requests, not {bound}: {tally}", tally.total());
}

#[tokio::test]
async fn requests_do_not_depend_on_the_number_of_providers() {
    let fixture = Fixture::start().await;
    fixture.apply(&cert_manager("v1.21.1")).await;
    let releases = Releases::small();
    let sources = releases.sources();
    let mut counter = RequestCounter::start(fixture.sandbox());

    let providers = [
        (core(), OLD_VERSION),
        (bootstrap(), OLD_VERSION),
        (control_plane(), OLD_VERSION),
        (docker(), OLD_VERSION),
    ];
    let request = init_of(&providers, NO_WAIT);
    let first = cluster(&fixture).await;
    let mut plan = plan_init(&first, &sources, &request).await.unwrap();
    let objects = touched(&plan);
    init(&first, &sources, &request, &mut plan).await.unwrap();
    // Besides its objects, a provider has a record, written twice, and an inventory entry.
    at_most(objects + 3 * PROVIDERS + 20, &counter.all());

    counter.restart();
    status(&cluster(&fixture).await).await.unwrap();
    // A record and a namespace per provider, and a list per kind.
    at_most(2 * PROVIDERS + 15, &counter.all());

    counter.restart();
    let mut request = upgrade_to_contract(NO_WAIT);
    request.options.skip_cert_manager = true;
    let second = cluster(&fixture).await;
    let mut plan = plan_upgrade(&second, &sources, &request).await.unwrap();
    let changed = touched(&plan);
    upgrade(&second, &sources, &request, &mut plan).await.unwrap();
    // Each change is dry-run first. A provider has its record, its entry and its part of the journal.
    at_most(2 * changed + 8 * PROVIDERS + 30, &counter.all());

    counter.restart();
    let wait = WaitOptions { timeout: Some(Duration::ZERO), must_be_ready: false };
    let request = DeleteRequest {
        providers: None,
        include_crds: false,
        include_namespaces: false,
        wait,
        full_objects: false,
        unfinished: UnfinishedPolicy::Refuse,
    };
    let third = cluster(&fixture).await;
    let mut plan = plan_delete(&third, &request).await.unwrap();
    let objects = touched(&plan);
    delete_providers(&third, &request, &mut plan).await.unwrap();
    // A record is read and deleted. An entry and a part of the journal are deleted. Nothing is written.
    at_most(objects + 4 * PROVIDERS + 21, &counter.all());
}

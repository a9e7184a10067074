//! Tests of interrupted runs and of the runs that resume them.

use super::*;

/// Returns all installed objects by kind and name, without fields that differ between runs.
async fn state(fixture: &Fixture) -> Vec<Value> {
    let kinds = [
        NAMESPACE,
        CUSTOM_RESOURCE_DEFINITION,
        PROVIDER,
        DEPLOYMENT,
        SERVICE,
        CERTIFICATE,
        CLUSTER_ROLE,
        CLUSTER_ROLE_BINDING,
    ];
    let mut state = Vec::new();
    for kind in kinds {
        for object in fixture.list(kind).await {
            let metadata = &object["metadata"];
            let spec = if kind == SERVICE { Value::Null } else { object["spec"].clone() };
            let place = json!([kind.kind, metadata["namespace"], metadata["name"]]);
            state.push(json!([place, metadata["labels"], metadata["annotations"], spec, object["version"]]));
        }
    }
    state
}

/// Runs until the server has answered the given number of requests, then drops the run. Returns true if the
/// run finished.
async fn cut_after(requests: u64, fixture: &Fixture, releases: &Releases, request: &InitRequest) -> bool {
    let cluster = cluster(fixture).await;
    let audit = fixture.sandbox().audit();
    let last = audit.answered().saturating_add(requests);
    let cut = async {
        while audit.answered() < last {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = cut => false,
        result = run(&cluster, releases, request) => {
            result.unwrap();
            true
        }
    }
}

// Row: D-100
#[tokio::test]
async fn an_interrupted_init_is_completed_by_a_rerun() {
    let releases = Releases::small();
    let request = small_request(OLD_VERSION);
    let whole = with_controllers().await;
    assert!(cut_after(u64::MAX, &whole, &releases, &request).await);
    whole.wait_until_idle().await;
    let expected = state(&whole).await;
    assert!(expected.len() > 20, "{expected:#?}");
    // The step is a prime number, so that the interruptions hit all parts of a run.
    for requests in (5..).step_by(7) {
        let fixture = with_controllers().await;
        let is_done = cut_after(requests, &fixture, &releases, &request).await;
        let cluster = cluster(&fixture).await;
        // The versions are recorded, so the second command need not name them.
        let is_noted = cluster.inventory().await.unwrap().unfinished.is_some();
        let again = if is_noted { small_request("") } else { request.clone() };
        run(&cluster, &releases, &again).await.unwrap();
        fixture.wait_until_idle().await;
        assert_eq!(state(&fixture).await, expected, "cut off after {requests} requests");
        assert_eq!(cluster.inventory().await.unwrap().unfinished, None);
        if is_done {
            return;
        }
    }
}

#[tokio::test]
async fn a_first_init_of_an_older_contract_can_only_be_completed() {
    let old = |id: &ProviderId| components(id, OLD_VERSION).replace("v1beta2", "v1beta1");
    let releases = Releases::small()
        .with_contract(&core(), OLD_VERSION, "v1beta1", &old(&core()))
        .with_contract(&docker(), OLD_VERSION, "v1beta1", &old(&docker()));
    let fixture = with_controllers().await;
    let cluster = cluster(&fixture).await;
    let begun = [core(), docker()].map(|id| installed(&id, OLD_VERSION));
    let only_core = InitRequest { declined: ProviderType::ALL.to_vec(), ..request(&[(core(), OLD_VERSION)]) };
    run(&cluster, &releases, &only_core).await.unwrap();
    cluster.define_inventory(Some(&begun), &api::labels::LabelsByOwner::new()).await.unwrap();

    assert_eq!(run(&cluster, &releases, &small_request("")).await.unwrap(), (true, None));
    assert_eq!(cluster.inventory().await.unwrap().providers, begun);
    let error = run(&cluster, &releases, &request(&[(bootstrap(), OLD_VERSION)])).await.unwrap_err();
    assert!(
        matches!(error, LifecycleError::Contract(inventory::ContractError::Unsupported { .. })),
        "{error:?}"
    );
}

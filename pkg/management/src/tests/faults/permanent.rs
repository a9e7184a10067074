//! Tests of permanent faults: the error is reported at once, and the same command completes the run after a fix.

use support::kind::{CUSTOM_RESOURCE_DEFINITION, Kind};
use tokio::time::Instant;

use super::*;

const DEPLOYMENT: Kind = Kind::new("apps", "v1", "Deployment", "deployments");

/// Runs into a permanent fault, then completes the run without the fault. Returns the error.
async fn reported(
    work: Work,
    fate: impl Fn(&support::scripted_connection::OutgoingRequest<'_>) -> RequestOutcome + Send + Sync + 'static,
) -> String {
    let start = Start::of(work).await;
    let expected = start.undisturbed(work).await;
    let (fixture, _folder) = start.again().await;
    let begun = Instant::now();
    let reported =
        start.run(work, &ScriptedConnection::new(&fixture, fate)).await.expect_err("it was refused");
    assert!(begun.elapsed() < Duration::from_secs(5), "{work:?} took {:?}: {reported}", begun.elapsed());
    start.done(work, &fixture).await;
    assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    reported
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_is_reported_and_a_rerun_resumes() {
    for work in Work::ALL {
        let expired = |request: &support::scripted_connection::OutgoingRequest<'_>| match request.number {
            0..25 => RequestOutcome::Answered,
            _ => RequestOutcome::Rejected(401, "Unauthorized", "Unauthorized"),
        };
        let reported = reported(work, expired).await;
        assert!(reported.contains("code: 401"), "{work:?}: {reported}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_denial_is_reported_at_once() {
    const NO: &str = "admission webhook \"policy.example.org\" denied the request: not on a Friday";
    for work in [Work::Init, Work::Upgrade, Work::RollBack] {
        let denied = |request: &support::scripted_connection::OutgoingRequest<'_>| {
            let is_denied = request.is_write()
                && request.path.ends_with("/infrastructure-docker-system/deployments/manager");
            if is_denied { RequestOutcome::Rejected(403, "Forbidden", NO) } else { RequestOutcome::Answered }
        };
        let reported = reported(work, denied).await;
        assert!(reported.contains("Deployment infrastructure-docker-system/manager"), "{work:?}: {reported}");
        assert!(reported.contains("not on a Friday"), "{work:?}: {reported}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_storage_prevents_an_upgrade() {
    let start = Start::of(Work::Upgrade).await;
    let (fixture, _folder) = start.again().await;
    let before = state(&fixture).await;
    let wire = ScriptedConnection::new(&fixture, |request| {
        let is_full = request.is_write() && request.path.contains("/secrets");
        let words = "etcdserver: mvcc: database space exceeded";
        if is_full { RequestOutcome::Rejected(500, "InternalError", words) } else { RequestOutcome::Answered }
    });
    let reported = start.run(Work::Upgrade, &wire).await.unwrap_err();
    assert!(reported.contains("Upgrade(WriteJournal"), "{reported}");
    assert!(reported.contains(": etcdserver: mvcc: database space exceeded\n"), "{reported}");
    assert_same(&state(&fixture).await, &before, "a full storage");
}

#[tokio::test(start_paused = true)]
async fn all_missing_permissions_are_reported_before_any_write() {
    for work in [Work::Init, Work::Upgrade] {
        let start = Start::of(work).await;
        let (fixture, _folder) = start.again().await;
        fixture.inject_fault("forbid,verb=patch,resource=apps/deployments");
        fixture.inject_fault("forbid,verb=create,resource=services");
        let before = state(&fixture).await;
        let reported = start
            .run(work, &ScriptedConnection::new(&fixture, |_| RequestOutcome::Answered))
            .await
            .unwrap_err();
        assert!(reported.contains("patch `deployments.apps`"), "{work:?}: {reported}");
        assert!(reported.contains("create `services`"), "{work:?}: {reported}");
        assert_same(&state(&fixture).await, &before, &format!("{work:?}"));
    }
}

#[tokio::test]
async fn an_unestablished_definition_is_reported_on_timeout() {
    let fixture = Fixture::builder().controllers(ControllerSwitches::default()).start().await;
    let releases = releases();
    // The other definition uses the kind name that docker brings.
    let taken = components(&docker(), OLD_VERSION)
        .replace("dockermachines", "others")
        .replace("dockermachine", "other");
    let definition =
        taken.split("---\n").find(|document| document.contains("CustomResourceDefinition")).unwrap();
    fixture.apply(definition).await;
    let request = InitRequest {
        wait: WaitOptions { timeout: Some(Duration::from_secs(1)), must_be_ready: true },
        ..first_installation()
    };
    let cluster = cluster_behind(&ScriptedConnection::new(&fixture, |_| RequestOutcome::Answered)).await;
    let sources = releases.sources();
    let mut plan = Box::pin(plan_init(&cluster, &sources, &request)).await.unwrap();
    let error = Box::pin(init(&cluster, &sources, &request, &mut plan)).await.unwrap_err();
    let LifecycleError::NotReady(late) = &error else { panic!("{error:?}") };
    let names: Vec<_> = late.blockers.iter().map(|blocker| blocker.object.to_string()).collect();
    assert_eq!(names, ["CustomResourceDefinition dockermachines.infrastructure.cluster.x-k8s.io"]);
    for plural in ["others", "dockermachines"] {
        fixture
            .delete(CUSTOM_RESOURCE_DEFINITION, &format!("{plural}.infrastructure.cluster.x-k8s.io"))
            .await;
    }
    fixture.wait_until_idle().await;
    Work::Init.carry_out(&cluster, &releases).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_aggregated_api_without_a_service_blocks_nothing() {
    const DEAD: &str = "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.dead.example.org}, \
        spec: {group: dead.example.org, version: v1, groupPriorityMinimum: 1000, versionPriority: 15, \
        insecureSkipTLSVerify: true, service: {name: nobody, namespace: default}}}";
    for work in Work::ALL {
        let start = Start::of(work).await;
        let expected = start.undisturbed(work).await;
        let (fixture, _folder) = start.again().await;
        fixture.apply(DEAD).await;
        start.done(work, &fixture).await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    }
}

#[tokio::test(start_paused = true)]
async fn init_waits_for_terminating_objects() {
    let start = Start::of(Work::Delete).await;
    let (fixture, _folder) = start.again().await;
    let expected = state(&fixture).await;
    let cluster = cluster_behind(&ScriptedConnection::new(&fixture, |_| RequestOutcome::Answered)).await;
    let no_wait = WaitOptions { timeout: None, must_be_ready: false };
    let request = DeleteRequest { wait: no_wait, ..everything() };
    let mut plan = Box::pin(plan_delete(&cluster, &request)).await.unwrap();
    Box::pin(delete_providers(&cluster, &request, &mut plan)).await.unwrap();
    start.done(Work::Init, &fixture).await;
    assert_same(&state(&fixture).await, &expected, "installed again at once");
}

#[tokio::test(start_paused = true)]
async fn every_verb_completes_a_partly_deleted_cert_manager() {
    for work in [Work::Init, Work::Upgrade] {
        let start = Start::of(Work::Upgrade).await;
        let expected = start.undisturbed(work).await;
        let (fixture, _folder) = start.again().await;
        for name in ["cert-manager", "cert-manager-webhook"] {
            fixture.delete(DEPLOYMENT, &format!("cert-manager/{name}")).await;
        }
        fixture.delete(CUSTOM_RESOURCE_DEFINITION, "clusterissuers.cert-manager.io").await;
        fixture.wait_until_idle().await;
        start.done(work, &fixture).await;
        assert_same(&state(&fixture).await, &expected, &format!("{work:?}"));
    }
}

//! Tests of `init` with providers that are already installed.
use snapbox::{assert_data_eq, str};

use super::*;

const MANAGER: &str = "infrastructure-docker-system/manager";
const WEBHOOK: &str = "infrastructure-docker-system/webhook";
const MANAGERS_ROLE: &str = "infrastructure-docker-manager";

#[tokio::test]
async fn a_retry_repairs_missing_and_changed_objects_only() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    fixture.wait_until_idle().await;
    fixture.delete(SERVICE, WEBHOOK).await;
    fixture.merge(CLUSTER_ROLE, MANAGERS_ROLE, &json!({"rules": []})).await;

    let again = request(&[(docker(), "")]);
    let again = InitRequest { declined: small_request("").declined, ..again };
    let plan = plan_init(&cluster, &releases.sources(), &again).await.unwrap();
    let steps: Vec<_> = plan
        .providers
        .iter()
        .flat_map(|provider| &provider.objects.plan.steps)
        .filter(|step| step.action.is_write())
        .map(|step| format!("{:?} {} {:?}", step.action, step.key, step.why))
        .collect();
    assert_data_eq!(
        steps.join("\n"),
        str![[r#"
Update ClusterRole infrastructure-docker-manager Some("differs from the applied state")
Create Service infrastructure-docker-system/webhook None
"#]]
    );
    assert!(!plan.is_empty());
    let mut counter = RequestCounter::start(fixture.sandbox());
    assert_eq!(run(&cluster, &releases, &again).await.unwrap(), (false, None));
    assert!(fixture.get(SERVICE, WEBHOOK).await.is_some());
    assert_ne!(fixture.get(CLUSTER_ROLE, MANAGERS_ROLE).await.unwrap()["rules"], json!([]));
    let touched = written(&counter);
    assert!(
        touched.iter().all(|write| !write.contains("deployments") && !write.contains("certificates")),
        "{touched:#?}"
    );

    counter.restart();
    run(&cluster, &releases, &again).await.unwrap();
    assert_eq!(written(&counter), [""; 0]);
}

#[tokio::test]
async fn replicas_set_by_a_user_are_kept() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    fixture.merge(DEPLOYMENT, MANAGER, &json!({"spec": {"replicas": 3}})).await;
    fixture.wait_until_idle().await;
    run(&cluster, &releases, &small_request("")).await.unwrap();
    assert_eq!(fixture.get(DEPLOYMENT, MANAGER).await.unwrap()["spec"]["replicas"], 3);
    fixture.wait_until_idle().await;
    let counter = RequestCounter::start(fixture.sandbox());
    run(&cluster, &releases, &small_request("")).await.unwrap();
    assert_eq!(written(&counter), [""; 0]);
}

#[tokio::test]
async fn a_retry_waits_again_for_an_unready_provider() {
    let controllers = ControllerSwitches { workloads: false, ..ControllerSwitches::default() };
    let fixture = Fixture::builder().controllers(controllers).start().await;
    fixture.apply(&cert_manager(CERT_MANAGER)).await;
    let releases = Releases::small().with_external_cert_manager();
    let cluster = cluster(&fixture).await;
    let soon = WaitOptions { timeout: Some(Duration::from_millis(1)), must_be_ready: false };
    run(&cluster, &releases, &InitRequest { wait: soon, ..small_request("") }).await.unwrap();
    let added =
        InitRequest { wait: WaitOptions { must_be_ready: true, ..soon }, ..request(&[(bootstrap(), "")]) };
    for _ in 0..2 {
        let error = run(&cluster, &releases, &added).await.unwrap_err();
        let LifecycleError::NotReady(late) = &error else { panic!("{error:?}") };
        assert!(
            late.blockers.iter().any(|late| late.object.namespace == "bootstrap-kubeadm-system"),
            "{late:?}"
        );
    }
}

#[tokio::test]
async fn init_does_not_complete_an_interrupted_upgrade() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let cluster = cluster(&fixture).await;
    run(&cluster, &releases, &small_request(OLD_VERSION)).await.unwrap();
    let record = "infrastructure-docker-system/capstan.infrastructure-docker";
    fixture.merge(CONFIG_MAP, record, &json!({"data": {"version": NEW_VERSION}})).await;
    let plan = plan_init(&cluster, &releases.sources(), &small_request(OLD_VERSION)).await.unwrap();
    assert!(plan.is_empty() && plan.providers.is_empty());
    assert_data_eq!(
        plan.warnings.join("\n"),
        str![
            "the upgrade of `infrastructure-docker` between v1.13.5 and v1.14.0 was interrupted: complete it with `capstan upgrade resume` or `capstan upgrade apply`"
        ]
    );
}

#[tokio::test]
async fn unlabelled_objects_are_detected_by_dry_run_and_write() {
    let (fixture, releases) = (with_controllers().await, Releases::small());
    let role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: \
                infrastructure-docker-manager}, rules: []}";
    fixture.apply(role).await;
    let cluster = cluster(&fixture).await;
    for (server_dry_run, expected) in [(false, StepAction::Create), (true, StepAction::Adopt)] {
        let request = InitRequest { server_dry_run, ..small_request("") };
        let plan = plan_init(&cluster, &releases.sources(), &request).await.unwrap();
        let steps = plan.providers.iter().flat_map(|provider| &provider.objects.plan.steps);
        let found = steps.filter(|step| step.key.kind == "ClusterRole" && step.key.name == MANAGERS_ROLE);
        assert_eq!(found.map(|step| step.action).collect::<Vec<_>>(), [expected]);
    }
    run(&cluster, &releases, &small_request("")).await.unwrap();
    let role = fixture.get(CLUSTER_ROLE, MANAGERS_ROLE).await.unwrap();
    assert_ne!(role["rules"], json!([]));
}

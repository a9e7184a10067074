//! Tests of every effect of a fault from the client's view.

use super::*;

#[tokio::test]
async fn a_status_fault_answers_without_effect() {
    let sandbox = with_faults(&["429:7,verb=create,times=1", "410,verb=list,times=1"]).await;
    let response = send(&sandbox, "POST", CONFIG_MAPS, config_map("one").to_string()).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"7".parse().unwrap())
    );
    let (code, status) = get(&sandbox, CONFIG_MAPS).await;
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
    assert_eq!(get(&sandbox, &format!("{CONFIG_MAPS}/one")).await.0, 404);
    assert_eq!(ask(&sandbox, "POST", CONFIG_MAPS, &config_map("one")).await.0, 201);
}

#[tokio::test]
async fn a_cut_before_drops_the_write_and_a_cut_after_keeps_it() {
    let sandbox =
        with_faults(&["cut-before,verb=create,name=,times=1", "cut-after,verb=write,times=1"]).await;
    for (name, code) in [("before", 404), ("after", 200)] {
        let sent = send(&sandbox, "POST", CONFIG_MAPS, config_map(name).to_string()).await;
        assert_eq!(sent.unwrap_err(), ConnectionCut);
        assert_eq!(get(&sandbox, &format!("{CONFIG_MAPS}/{name}")).await.0, code, "{name}");
    }
    let codes: Vec<_> = sandbox.audit().since(0).iter().map(|request| request.code).collect();
    assert_eq!(codes, [0, 404, 0, 200]);
}

#[tokio::test]
async fn a_dropped_watch_sends_one_event_and_the_next_one_all() {
    let sandbox = with_faults(&["drop-watch,times=1"]).await;
    let from = sandbox.revision();
    for name in ["one", "two"] {
        ask(&sandbox, "POST", CONFIG_MAPS, &config_map(name)).await;
    }
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={from}");
    let mut dropped = Watch::open(&sandbox, &path).await;
    assert_eq!(dropped.next().await.unwrap().unwrap()["object"]["metadata"]["name"], "one");
    assert_eq!(dropped.next().await, Some(Err(ConnectionCut)));
    let mut whole = Watch::open(&sandbox, &path).await;
    for name in ["one", "two"] {
        assert_eq!(whole.next().await.unwrap().unwrap()["object"]["metadata"]["name"], name);
    }
}

#[tokio::test]
async fn a_killed_server_keeps_the_write_and_stops_answering() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { data_dir: Some(folder.path().join("data")), ..Options::default() };
    let faults = vec![Fault::parse("kill,verb=create,resource=configmaps").unwrap()];
    let sandbox = start(Options { faults, ..options.clone() }).await;
    let mut watch = Watch::open(&sandbox, &format!("{CONFIG_MAPS}?watch=1&resourceVersion=1")).await;
    let sent = send(&sandbox, "POST", CONFIG_MAPS, config_map("one").to_string()).await;
    assert_eq!(sent.unwrap_err(), ConnectionCut);
    sandbox.wait_until_killed().await;
    assert_eq!(send(&sandbox, "GET", "/version", "").await.unwrap_err(), ConnectionCut);
    while watch.next().await.is_some() {}
    drop((sandbox, watch));
    let sandbox = start(options).await;
    assert_eq!(get(&sandbox, &format!("{CONFIG_MAPS}/one")).await.0, 200);
}

#[tokio::test]
async fn forbidden_faults_also_affect_access_reviews() {
    let sandbox = with_faults(&["forbid,verb=get,resource=secrets,namespace=default"]).await;
    let (code, status) = get(&sandbox, "/api/v1/namespaces/default/secrets/one").await;
    assert_eq!(code, 403);
    assert_eq!(
        status["message"],
        "secrets \"one\" is forbidden: User \"admin\" cannot get resource \"secrets\" in API group \"\" in the \
         namespace \"default\""
    );
    for (verb, (group, resource), namespace, allowed) in [
        ("get", ("", "secrets"), "default", false),
        ("*", ("", "secrets"), "default", false),
        ("get", ("", "*"), "default", false),
        ("*", ("*", "*"), "", false),
        ("list", ("", "secrets"), "default", true),
        ("get", ("", "secrets"), "kube-system", true),
        ("*", ("apps", "*"), "", true),
    ] {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": resource, "namespace": namespace}},
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        let (code, review) = ask(&sandbox, "POST", path, &review).await;
        assert_eq!(
            (code, &review["status"]["allowed"]),
            (201, &json!(allowed)),
            "{verb} {group}/{resource} {namespace}"
        );
    }
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"},
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    assert_eq!(ask(&sandbox, "POST", path, &review).await.1["status"]["incomplete"], true);
}

#[tokio::test]
async fn a_delayed_request_can_have_another_fault() {
    let sandbox = sandbox().await;
    let slow = sandbox.faults().add(Fault::parse("latency:1ms").unwrap());
    sandbox.faults().add(Fault::parse("409,verb=update").unwrap());
    assert_eq!(get(&sandbox, CONFIG_MAPS).await.0, 200);
    assert_eq!(ask(&sandbox, "PUT", &format!("{CONFIG_MAPS}/one"), &config_map("one")).await.0, 409);
    assert_eq!(sandbox.faults().applied_count(slow), Some(2));
}

#[tokio::test]
async fn faults_can_be_added_and_removed_at_runtime() {
    let sandbox = sandbox().await;
    let fault = sandbox.faults().add(Fault::parse("503").unwrap());
    assert_eq!(get(&sandbox, "/version").await.0, 503);
    assert_eq!(sandbox.faults().applied_count(fault), Some(1));
    sandbox.faults().remove(fault);
    assert_eq!(get(&sandbox, "/version").await.0, 200);
}

#[tokio::test]
async fn the_audit_log_names_users_and_requests() {
    let sandbox = sandbox().await;
    let before = sandbox.audit().answered();
    ask(&sandbox, "POST", &format!("{CONFIG_MAPS}?dryRun=All&fieldManager=me"), &config_map("one")).await;
    get(&sandbox, "/apis/apps/v1/deployments?watch=0").await;
    get(&sandbox, "/readyz").await;
    let log = sandbox.audit().since(before);
    let reported: Vec<_> = log
        .iter()
        .map(|r| {
            format!(
                "{} {} {} {} {} {} {}",
                r.verb, r.group, r.resource, r.namespace, r.client, r.code, r.dry_run
            )
        })
        .collect();
    assert_eq!(
        reported,
        ["create  configmaps default me 201 true", "list apps deployments   200 false", "get     200 false",]
    );
}

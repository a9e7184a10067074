use super::*;
use crate::testing::{Lab, Reply, ScriptedServer};

fn permission(verb: &str, group: &str, resource: &str, namespace: &str) -> Permission {
    let [verb, group, resource, namespace] = [verb, group, resource, namespace].map(str::to_owned);
    Permission { verb, group, resource, namespace }
}

#[tokio::test]
async fn an_administrator_is_checked_with_one_request() {
    let sandbox = Lab::start().await;
    let wanted = [permission("create", "apps", "deployments", "a"), permission("get", "", "secrets", "")];
    let access = sandbox.server.check_permissions(&wanted).await.unwrap();
    assert_eq!(access, AccessReview { denied: Vec::new(), is_admin: true });
    assert_eq!(sandbox.server.requests(), 1);
}

#[tokio::test]
async fn missing_permissions_keep_the_order_of_the_request() {
    let sandbox = Lab::start().await;
    sandbox.fixture.inject_fault("forbid,resource=secrets");
    sandbox.fixture.inject_fault("forbid,resource=*,verb=update");
    let wanted = [
        permission("get", "", "secrets", "a"),
        permission("get", "", "configmaps", "a"),
        permission("update", "apps", "deployments", ""),
        permission("get", "apps", "deployments", ""),
    ];
    let access = sandbox.server.check_permissions(&wanted).await.unwrap();
    let denied: Vec<_> = access.denied.iter().map(|denied| denied.permission.to_string()).collect();
    assert_eq!(denied, ["get secrets in namespace a", "update deployments.apps"]);
    assert!(!access.is_admin);
    assert_eq!(sandbox.server.requests(), 5);
}

#[tokio::test]
async fn the_reason_of_the_authorizer_is_kept() {
    let script = ScriptedServer::default();
    let reply = |status| Reply::json(201, &json!({"status": status}));
    let unsure = json!({"allowed": false, "evaluationError": "role `x` not found"});
    let no = json!({"allowed": false, "reason": "because"});
    script.on(&format!("POST {REVIEWS}"), [reply(json!({"allowed": false})), reply(no), reply(unsure)]);
    let wanted = [permission("get", "", "pods/log", "a"), permission("list", "", "pods", "a")];
    let access = script.lab().await.server.check_permissions(&wanted).await.unwrap();
    let reasons: Vec<_> = access.denied.iter().map(|denied| &*denied.reason).collect();
    assert_eq!(reasons, ["because", "role `x` not found"]);
}

/// Returns permissions, of which the rules allow several in namespace `a`.
fn wanted() -> Vec<Permission> {
    vec![
        permission("get", "", "pods", "a"),
        permission("get", "", "pods/log", "a"),
        permission("delete", "apps", "deployments", "a"),
        permission("delete", "", "pods", "a"),
        permission("get", "", "secrets", "a"),
        permission("get", "", "pods", "b"),
        permission("get", "", "pods", ""),
    ]
}

/// Returns the number of single questions that follow a given answer about rules.
async fn asked_singly(rules: Reply) -> usize {
    let script = ScriptedServer::default();
    let no = json!({"status": {"allowed": false}});
    let yes = Reply::json(201, &json!({"status": {"allowed": true}}));
    script.on(&format!("POST {REVIEWS}"), [Reply::json(201, &no), yes]).on(&format!("POST {RULES}"), [rules]);
    let access = script.lab().await.server.check_permissions(&wanted()).await.unwrap();
    assert_eq!(access.denied, []);
    let requests = script.received();
    assert_eq!(requests.iter().filter(|request| request.ends_with(RULES)).count(), 1, "{requests:#?}");
    requests.len() - 2
}

#[tokio::test]
async fn permissions_covered_by_namespace_rules_are_not_checked_singly() {
    let rules = |incomplete: bool| {
        let rule = |verbs: [&str; 1], group: &str, resources: &[&str], names: &[&str]| json!({"verbs": verbs, "apiGroups": [group], "resources": resources, "resourceNames": names});
        let rules = [
            rule(["get"], "", &["pods", "*/log"], &[]),
            rule(["*"], "apps", &["*"], &[]),
            // A rule for one Secret does not cover all Secrets.
            rule(["get"], "", &["secrets"], &["one"]),
        ];
        Reply::json(201, &json!({"status": {"resourceRules": rules, "incomplete": incomplete}}))
    };
    assert_eq!(asked_singly(rules(false)).await, wanted().len() - 3);
    assert_eq!(
        asked_singly(rules(true)).await,
        wanted().len(),
        "an authorizer that does not tell may forbid"
    );
    assert_eq!(asked_singly(Reply::json(403, &json!({"kind": "Status", "code": 403}))).await, wanted().len());
}

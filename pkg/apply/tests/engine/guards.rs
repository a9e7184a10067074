//! Guards of definitions with instances of other owners.

use std::time::Duration;

use apply::{ApplySet, ApplySetItem, GroupKind, ItemPhase, ManagedType};
use support::kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION};

use crate::lab::*;

async fn installed() -> Lab {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&(widgets(&[]) + &widget("own", &[]) + &config_map("a", &[], "1"))).await;
    lab
}

// Row: ENG-46
// Row: ENG-47
#[tokio::test]
async fn nothing_is_deleted_while_somebody_uses_a_kind_of_the_set() {
    let mut lab = installed().await;
    for name in ["one", "two", "three", "four"] {
        lab.fixture
            .apply(
                &widget(&format!("team/{name}"), &[])
                    .replace("---", &format!("---\n{}---", namespace("team").trim_start_matches("---"))),
            )
            .await;
    }
    let counter = lab.count();
    let error = tell(&lab.delete().await.unwrap_err());
    assert_eq!(
        error,
        "kinds that are to go are still in use: CustomResourceDefinition widgets.example.org is still in use: \
         Widget team/four, Widget team/one, Widget team/three and at least 1 more"
    );
    assert_eq!(writes(&counter), Vec::<String>::new());
    assert_eq!(
        counter.reads().to_string(),
        "1 list configmaps, 1 list customresourcedefinitions, 2 list widgets"
    );
    assert_eq!(lab.phase("ConfigMap", "a"), Some((ItemPhase::Ready, "Current")));
}

// Row: ENG-48
#[tokio::test]
async fn own_instances_do_not_count_and_go_before_their_definition() {
    let mut lab = installed().await;
    let counter = lab.count();
    lab.deleted().await;
    let deletions: Vec<_> =
        writes(&counter).into_iter().filter(|write| write.starts_with("delete ")).collect();
    assert_eq!(
        deletions,
        ["delete widgets own", "delete customresourcedefinitions widgets.example.org", "delete configmaps a"]
    );
    assert!(lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, "widgets.example.org").await.is_none());
}

// Row: ENG-49
#[tokio::test]
async fn kinds_of_an_aggregated_api_are_guarded_too() {
    let lab = Lab::start().await;
    lab.fixture.apply(&widgets(&[])).await;
    lab.server.forget_kinds();
    lab.fixture.apply(&widget("theirs", &[])).await;
    // A definition stands in for an aggregated server: discovery shows both alike.
    let text = str::to_owned;
    let service = ApplySetItem {
        key: key("apiregistration.k8s.io", "APIService", "v1.example.org"),
        version: text("v1"),
        managed_types: vec![ManagedType { group: text("example.org"), version: text("v1"), kind: text("*") }],
        ..ApplySetItem::default()
    };
    let set = ApplySet { items: vec![service] };
    let found = lab.server.in_use(&set, &lab.marks, &lab.options).await.unwrap();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["APIService v1.example.org is still in use: Widget default/theirs"]);
}

#[tokio::test]
async fn kinds_that_come_by_other_means_are_guarded_by_pattern() {
    let mut lab = Lab::start().await;
    lab.fixture.apply(&widgets(&[])).await;
    lab.fixture.apply(&widget("theirs", &[])).await;
    lab.applied(&config_map("a", &[], "1")).await;
    lab.options.additional_managed_types = vec![GroupKind::new("*.org", "*")];
    let error = tell(&lab.delete().await.unwrap_err());
    assert!(error.contains("widgets.example.org is still in use: Widget default/theirs"), "{error}");
    assert!(lab.fixture.get(CONFIG_MAP, "default/a").await.is_some());
}

#[tokio::test]
async fn a_definition_that_stays_may_be_used() {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&(widgets(&[("delete-policy", "orphan")]) + &config_map("a", &[], "1"))).await;
    lab.fixture.apply(&widget("theirs", &[])).await;
    lab.deleted().await;
    assert!(lab.fixture.get(WIDGET, "default/theirs").await.is_some());
    let definition = lab.fixture.get(CUSTOM_RESOURCE_DEFINITION, "widgets.example.org").await.unwrap();
    let finalizers = definition["metadata"]["finalizers"].to_string();
    assert!(!finalizers.contains("engine.test"), "{finalizers}");
}

#[tokio::test]
async fn a_redundant_definition_that_is_used_stops_the_run_before_anything_is_touched() {
    let mut lab = installed().await;
    lab.fixture.apply(&widget("theirs", &[])).await;
    let counter = lab.count();
    let error = tell(&lab.apply(&config_map("a", &[], "2")).await.unwrap_err());
    assert!(error.contains("widgets.example.org is still in use: Widget default/theirs"), "{error}");
    assert_eq!(writes(&counter), Vec::<String>::new());
}

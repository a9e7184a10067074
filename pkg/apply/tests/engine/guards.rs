//! Guards of definitions with instances of other owners.

use snapbox::{assert_data_eq, str};
use std::time::Duration;

use apply::{ApplySet, ApplySetItem, EngineError, GroupKind, ItemPhase, ManagedType};
use support::kind::{CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION};

use crate::testing::*;

async fn installed() -> Lab {
    let mut lab = Lab::start().await;
    lab.until = Some(Duration::from_mins(1));
    lab.applied(&(widgets(&[]) + &widget("own", &[]) + &config_map("a", &[], "1"))).await;
    lab
}

/// Checks that the error names the widgets and one widget of another owner.
fn assert_widget_in_use(error: &EngineError) {
    let EngineError::InUse { definitions } = error else { panic!("{error:?}") };
    let [definition] = &definitions[..] else { panic!("{definitions:?}") };
    assert_eq!(definition.definition.name, "widgets.example.org");
    assert_eq!(definition.examples, ["Widget default/theirs"]);
}

// Row: ENG-46
// Row: ENG-47
#[tokio::test]
async fn nothing_is_deleted_while_others_use_a_kind_of_the_set() {
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
    assert_data_eq!(
        error,
        str![
            "cannot delete definitions: objects of other owners use them: CustomResourceDefinition widgets.example.org is still in use: Widget team/four, Widget team/one, Widget team/three and at least 1 more"
        ]
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
async fn own_instances_are_deleted_before_their_definition() {
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
    let used: Vec<_> =
        found.iter().map(|found| (found.definition.to_string(), &found.examples[..])).collect();
    assert_eq!(used, [("APIService v1.example.org".to_owned(), &["Widget default/theirs".to_owned()][..])]);
}

#[tokio::test]
async fn kinds_of_other_sources_are_guarded_by_pattern() {
    let mut lab = Lab::start().await;
    lab.fixture.apply(&widgets(&[])).await;
    lab.fixture.apply(&widget("theirs", &[])).await;
    lab.applied(&config_map("a", &[], "1")).await;
    lab.options.additional_managed_types = vec![GroupKind::new("*.org", "*")];
    assert_widget_in_use(&lab.delete().await.unwrap_err());
    assert!(lab.fixture.get(CONFIG_MAP, "default/a").await.is_some());
}

#[tokio::test]
async fn an_orphaned_definition_may_be_in_use() {
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
async fn a_redundant_definition_in_use_stops_the_run_before_writes() {
    let mut lab = installed().await;
    lab.fixture.apply(&widget("theirs", &[])).await;
    let counter = lab.count();
    assert_widget_in_use(&lab.apply(&config_map("a", &[], "2")).await.unwrap_err());
    assert_eq!(writes(&counter), Vec::<String>::new());
}

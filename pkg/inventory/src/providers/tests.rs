use api::labels::Labels;
use manifest::Value;
use serde_json::json;
use support::{fixture::Fixture, kind::CUSTOM_RESOURCE_DEFINITION};

use super::*;
use crate::testing::{NEW_VERSION, cluster, core, docker, installed};

fn established(mut definition: Object) -> Object {
    let condition = json!({"conditions": [{"type": "Established", "status": "True"}]});
    definition.as_map_mut().insert("status".to_owned(), condition);
    definition
}

fn unfinished(text: &str) -> Annotations {
    Annotations { unfinished: Some(text.to_owned()), labels: None }
}

#[test]
fn an_entry_read_back_is_the_entry_written() {
    let docker = installed(&docker(), NEW_VERSION);
    let object = entry::write(&docker);
    assert_eq!(
        object.clone().into_value(),
        json!({
            "apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3",
            "kind": "Provider",
            "metadata": {
                "name": "infrastructure-docker",
                "namespace": "infrastructure-docker-system",
                "labels": {
                    "clusterctl.cluster.x-k8s.io": "",
                    "cluster.x-k8s.io/provider": "infrastructure-docker",
                    "clusterctl.cluster.x-k8s.io/core": "inventory",
                },
            },
            "providerName": "docker",
            "type": "InfrastructureProvider",
            "version": "v1.14.0",
        })
    );
    assert_eq!(entry::read(&object).unwrap(), docker);
}

#[test]
fn an_invalid_entry_is_reported_with_its_field() {
    let problem = |field: &str, value: Value| {
        let mut object = entry::write(&installed(&docker(), NEW_VERSION));
        object.as_map_mut().insert(field.to_owned(), value);
        match entry::read(&object).unwrap_err() {
            InventoryError::InvalidEntry { entry, problem } => {
                assert_eq!(entry, "infrastructure-docker-system/infrastructure-docker");
                problem
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(problem("version", Value::Null).contains("`version`"));
    let of_type = problem("type", json!("Infra"));
    assert!(of_type.contains("`type`") && of_type.contains("`Infra`"), "{of_type}");
}

#[test]
fn an_annotation_survives_a_round_trip_and_a_foreign_one_fails() {
    let providers = [installed(&core(), NEW_VERSION), installed(&docker(), "v1.2.3")];
    let labels = LabelsByOwner::from([("core".to_owned(), Labels::from([("a".to_owned(), "b".to_owned())]))]);
    let noted = definition::definition(&Annotations {
        unfinished: Some(definition::format_unfinished(&providers)),
        labels: definition::format_labels(&labels),
    });
    assert_eq!(definition::parse_unfinished(&noted).unwrap().as_deref(), Some(&providers[..]));
    assert_eq!(definition::parse_labels(&noted).unwrap(), labels);
    let none = definition::definition(&Annotations::default());
    assert_eq!(definition::parse_unfinished(&none).unwrap(), None);
    assert_eq!(definition::parse_labels(&none).unwrap(), LabelsByOwner::new());
    let error = definition::parse_unfinished(&definition::definition(&unfinished("soon"))).unwrap_err();
    assert!(
        matches!(&error, InventoryError::InvalidEntry { problem, .. } if problem.contains("capstan.dev/unfinished-init")),
        "{error:?}"
    );
}

#[test]
fn a_definition_is_updated_only_for_relevant_changes() {
    type Change = fn(&mut Value);
    let none = Annotations::default();
    let as_is = established(definition::definition(&none));
    assert!(definition::is_up_to_date(&as_is, &none));
    assert!(!definition::is_up_to_date(&as_is, &unfinished("[]")), "a note is missing");
    assert!(!definition::is_up_to_date(&definition::definition(&none), &none), "it is not established");
    let changed = |change: fn(&mut Value)| {
        let mut whole = as_is.clone().into_value();
        change(&mut whole);
        definition::is_up_to_date(&Object::try_from(whole).unwrap(), &none)
    };
    let cases: [(&str, Change, bool); 5] = [
        (
            "other words",
            |it| it["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = json!("x"),
            true,
        ),
        ("what servers add", |it| it["spec"]["conversion"] = json!({"strategy": "None"}), true),
        ("a column fewer", |it| it["spec"]["versions"][0]["additionalPrinterColumns"] = json!([]), false),
        ("no label", |it| it["metadata"]["labels"] = json!({}), false),
        ("no category", |it| it["spec"]["names"]["categories"] = Value::Null, false),
    ];
    for (what, change, fine) in cases {
        assert_eq!(changed(change), fine, "{what}");
    }
}

#[tokio::test]
async fn an_empty_cluster_has_an_empty_inventory() {
    let fixture = Fixture::start().await;
    assert_eq!(cluster(&fixture).await.inventory().await.unwrap(), ProviderInventory::default());
}

#[tokio::test]
async fn recorded_providers_are_listed_until_removed() {
    let fixture = Fixture::start().await;
    let cluster = cluster(&fixture).await;
    let (core, docker) = (installed(&core(), NEW_VERSION), installed(&docker(), NEW_VERSION));
    cluster.define_inventory(Some(std::slice::from_ref(&core)), &LabelsByOwner::new()).await.unwrap();
    for provider in [&docker, &core] {
        fixture
            .apply(&format!(
                "{{apiVersion: v1, kind: Namespace, metadata: {{name: {}}}}}",
                provider.namespace
            ))
            .await;
        cluster.record_provider(provider).await.unwrap();
    }
    let inventory = cluster.inventory().await.unwrap();
    assert_eq!(inventory.providers, [core.clone(), docker.clone()]);
    assert_eq!(inventory.unfinished.as_deref(), Some(&[core.clone()][..]));

    cluster.define_inventory(None, &LabelsByOwner::new()).await.unwrap();
    assert!(cluster.inventory().await.unwrap().unfinished.is_some(), "the note stays");
    cluster.finish_first_installation().await.unwrap();
    cluster.delete_provider_record(&docker).await.unwrap();
    let inventory = cluster.inventory().await.unwrap();
    assert_eq!((inventory.providers, inventory.unfinished), (vec![core], None));
}

#[tokio::test]
async fn an_up_to_date_definition_is_not_written() {
    let fixture = Fixture::start().await;
    let cluster = cluster(&fixture).await;
    cluster.define_inventory(None, &LabelsByOwner::new()).await.unwrap();
    let before = fixture.get(CUSTOM_RESOURCE_DEFINITION, DEFINITION).await;
    cluster.define_inventory(None, &LabelsByOwner::new()).await.unwrap();
    assert_eq!(fixture.get(CUSTOM_RESOURCE_DEFINITION, DEFINITION).await, before);
}

#[tokio::test]
async fn a_definition_without_the_supported_version_is_refused() {
    let fixture = Fixture::start().await;
    let mut other = definition::definition(&Annotations::default()).into_value();
    other["spec"]["versions"][0]["name"] = json!("v1");
    fixture.apply(&other.to_string()).await;
    let cluster = cluster(&fixture).await;
    assert!(matches!(cluster.inventory().await, Err(InventoryError::UnsupportedVersion)));
    assert!(matches!(
        cluster.define_inventory(None, &LabelsByOwner::new()).await,
        Err(InventoryError::UnsupportedVersion)
    ));
}

use super::*;
use crate::kinds::CustomResource;

/// The built-in kinds and custom kinds that are not yet in discovery order.
fn kinds() -> Kinds {
    let custom = |group: &str, version: &str, plural: &str, kind: &str| {
        let like = builtin::resources().iter().find(|resource| &*resource.plural == "deployments").unwrap();
        Arc::new(ResourceType {
            group: group.into(),
            version: version.into(),
            storage_version: "v1".into(),
            plural: plural.into(),
            kind: kind.into(),
            custom: Some(Arc::new(CustomResource::default())),
            ..ResourceType::clone(like)
        })
    };
    let custom = vec![
        custom("shop.example.com", "v1beta1", "widgets", "Widget"),
        custom("shop.example.com", "v1", "widgets", "Widget"),
        custom("alpha.example.com", "v2", "zones", "Zone"),
        custom("shop.example.com", "v1", "apples", "Apple"),
        custom("apps", "v1alpha1", "rings", "Ring"),
    ];
    Kinds::new(discovery_order(custom), 1)
}

fn names<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[name].as_str().unwrap()).collect()
}

#[test]
fn custom_groups_follow_the_built_in_ones() {
    let groups = groups(&kinds());
    let names = names(&groups["groups"], "name");
    assert_eq!(names[..3], ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
    // The version `v1` of `shop.example.com` sorts before the version `v2` of `alpha.example.com`.
    assert_eq!(names[names.len() - 2..], ["shop.example.com", "alpha.example.com"]);
    let aggregated = aggregated(&kinds(), false);
    let items = aggregated["items"].as_array().unwrap();
    let last = items[items.len() - 2..].iter().map(|item| item["metadata"]["name"].as_str().unwrap());
    assert_eq!(last.collect::<Vec<_>>(), ["alpha.example.com", "shop.example.com"]);
}

#[test]
fn a_group_lists_its_preferred_version_first() {
    let kinds = kinds();
    let shop = group(&kinds, "shop.example.com").unwrap();
    assert_eq!(names(&shop["versions"], "version"), ["v1", "v1beta1"]);
    assert_eq!(shop["preferredVersion"]["groupVersion"], "shop.example.com/v1");
    assert_eq!(shop["kind"], "APIGroup");
    let autoscaling = group(&kinds, "autoscaling").unwrap();
    assert_eq!(names(&autoscaling["versions"], "version"), ["v2", "v1"]);
    assert_eq!(group(&kinds, "nothing.example.com"), None);
    assert_eq!(group(&kinds, ""), None);
}

#[test]
fn a_custom_version_of_a_built_in_group_joins_the_group() {
    let kinds = kinds();
    assert_eq!(names(&group(&kinds, "apps").unwrap()["versions"], "version"), ["v1", "v1alpha1"]);
    let all = groups(&kinds);
    assert_eq!(names(&all["groups"], "name").iter().filter(|name| **name == "apps").count(), 1);
}

#[test]
fn resources_have_subresources_and_a_storage_hash() {
    let kinds = kinds();
    let list = resources(&kinds, "apps", "v1").unwrap();
    let deployments =
        list["resources"].as_array().unwrap().iter().find(|r| r["name"] == "deployments").unwrap();
    assert_eq!(deployments["storageVersionHash"], "8aSe+NMegvE=");
    assert_eq!(deployments["shortNames"], json!(["deploy"]));
    let scale =
        list["resources"].as_array().unwrap().iter().find(|r| r["name"] == "deployments/scale").unwrap();
    assert_eq!((&scale["group"], &scale["kind"]), (&json!("autoscaling"), &json!("Scale")));
    // Events of both groups are stored as one resource.
    for (group, version) in [("", "v1"), ("events.k8s.io", "v1")] {
        let list = resources(&kinds, group, version).unwrap();
        let events = list["resources"].as_array().unwrap().iter().find(|r| r["name"] == "events").unwrap();
        assert_eq!(events["storageVersionHash"], "r2yiGXH7wu8=");
    }
    assert_eq!(resources(&kinds, "apps", "v7"), None);
}

#[test]
fn a_custom_resource_whose_stored_version_is_not_served_has_no_hash() {
    let kinds = kinds();
    let first = |group, version| resources(&kinds, group, version).unwrap()["resources"][0].clone();
    assert!(first("shop.example.com", "v1beta1")["storageVersionHash"].is_string());
    assert_eq!(first("alpha.example.com", "v2")["storageVersionHash"], Value::Null);
}

#[test]
fn the_aggregated_document_names_group_and_version_of_custom_kinds_only() {
    let kinds = kinds();
    let all = aggregated(&kinds, false);
    let group = |name: &str| {
        let items = all["items"].as_array().unwrap();
        items.iter().find(|item| item["metadata"]["name"] == name).unwrap()["versions"][0].clone()
    };
    let apples = &group("shop.example.com")["resources"][0];
    assert_eq!(
        apples["responseKind"],
        json!({"group": "shop.example.com", "version": "v1", "kind": "Apple"})
    );
    let apps = group("apps");
    assert_eq!(apps["freshness"], "Current");
    let deployments = &apps["resources"][2];
    assert_eq!(deployments["responseKind"], json!({"group": "", "version": "", "kind": "Deployment"}));
    assert_eq!(deployments["subresources"][0]["responseKind"]["group"], "autoscaling");
    let core = aggregated(&kinds, true);
    assert_eq!(core["items"].as_array().unwrap().len(), 1);
    assert_eq!(core["items"][0]["metadata"], json!({}));
}

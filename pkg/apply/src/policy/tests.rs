use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::testing::model::options;

fn read(annotations: &Value, options: &ApplyOptions) -> Result<ObjectPolicies, Vec<String>> {
    let object = json!({"metadata": {"name": "a", "annotations": annotations}});
    ObjectPolicies::of(&object.try_into().unwrap(), options)
}

fn policies(annotations: &Value) -> Policies {
    read(annotations, &options()).unwrap().policies
}

// Row: ENG-29
#[test]
fn an_annotation_overrides_the_default_of_its_policy() {
    let defaults = Policies {
        adoption: AdoptionPolicy::Always,
        reconcile: ReconcilePolicy::Once,
        update: UpdatePolicy::Recreate,
        delete: DeletePolicy::OrphanOnApply,
    };
    let options = ApplyOptions { defaults, reapply_after: Some(Duration::from_secs(5)), ..options() };
    let all = read(&json!({}), &options).unwrap();
    assert_eq!((all.policies, all.reapply_after), (defaults, Some(Duration::from_secs(5))));
    for (annotations, expected) in [
        (json!({"x/adoption-policy": "never"}), Policies { adoption: AdoptionPolicy::Never, ..defaults }),
        (
            json!({"x/reconcile-policy": "on-object-change"}),
            Policies { reconcile: ReconcilePolicy::OnObjectChange, ..defaults },
        ),
        (json!({"x/update-policy": "ssa-merge"}), Policies { update: UpdatePolicy::SsaMerge, ..defaults }),
        (json!({"x/delete-policy": "delete"}), Policies { delete: DeletePolicy::Delete, ..defaults }),
        (json!({"y/delete-policy": "delete"}), defaults),
    ] {
        assert_eq!(read(&annotations, &options).unwrap().policies, expected, "{annotations}");
    }
    let again = read(&json!({"x/reapply-interval": "1h30m"}), &options).unwrap().reapply_after;
    assert_eq!(again, Some(Duration::from_mins(90)));
}

#[test]
fn policies_are_kebab_or_camel_case() {
    for (key, kebab, camel) in [
        ("x/adoption-policy", "if-unowned", "IfUnowned"),
        ("x/reconcile-policy", "on-object-or-component-change", "OnObjectOrComponentChange"),
        ("x/update-policy", "ssa-override", "SsaOverride"),
        ("x/delete-policy", "orphan-on-delete", "OrphanOnDelete"),
    ] {
        let read = |word: &str| policies(&json!({ key: word }));
        assert_eq!(read(kebab), read(camel), "{kebab}");
    }
}

// Row: ENG-56
// Row: ENG-61
#[test]
fn the_word_default_equals_a_missing_annotation() {
    let defaults = Policies {
        update: UpdatePolicy::SsaMerge,
        delete: DeletePolicy::OrphanOnApply,
        ..Policies::default()
    };
    let options = ApplyOptions { defaults, ..options() };
    for word in ["default", "Default"] {
        let annotations = json!({"x/update-policy": word, "x/delete-policy": word});
        assert_eq!(read(&annotations, &options), read(&json!({}), &options), "{word}");
    }
    assert!(read(&json!({"x/adoption-policy": "default"}), &options).is_err());
}

#[test]
fn orphan_as_default_covers_deletions_of_the_set_only() {
    let defaults = Policies { delete: DeletePolicy::Orphan, ..Policies::default() };
    let options = ApplyOptions { defaults, ..options() };
    let delete = |annotations| read(&annotations, &options).unwrap().policies.delete;
    assert_eq!(delete(json!({})), DeletePolicy::OrphanOnDelete);
    assert_eq!(delete(json!({"x/delete-policy": "orphan"})), DeletePolicy::Orphan);
}

// Row: ENG-64
#[test]
fn orders_are_sixteen_bits_wide() {
    let read = |order: &str| read(&json!({"x/apply-order": order}), &options()).map(|read| read.apply_order);
    assert_eq!(read("-32768"), Ok(i16::MIN));
    assert_eq!(read("32767"), Ok(i16::MAX));
    for wrong in ["32768", "-32769", "99999999999999999999"] {
        let problem =
            format!("annotation `x/apply-order`: value {wrong} not in allowed range [-32768,32767]");
        assert_eq!(read(wrong), Err(vec![problem]));
    }
    assert_data_eq!(
        read("1.5").unwrap_err().join("\n"),
        str!["annotation `x/apply-order`: `1.5` is not an integer"]
    );
}

#[test]
fn all_invalid_annotations_are_reported_at_once() {
    let annotations = json!({
        "x/adoption-policy": "if-uowned",
        "x/update-policy": "merge",
        "x/purge-order": "soon",
        "x/delete-order": "",
        "x/reapply-interval": "-5m",
    });
    assert_data_eq!(
        read(&annotations, &options()).unwrap_err().join("\n"),
        str![[r#"
annotation `x/adoption-policy`: `if-uowned` is not one of never, if-unowned, always; did you mean `if-unowned`?
annotation `x/update-policy`: `merge` is not one of recreate, replace, ssa-merge, ssa-override
annotation `x/purge-order`: `soon` is not an integer
annotation `x/delete-order`: `` is not an integer
annotation `x/reapply-interval`: `-5m` is not a duration such as 30m or 1h30m
"#]]
    );
}

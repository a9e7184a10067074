use snapbox::{assert_data_eq, str};

use super::*;

fn read(text: &str) -> Result<(Kustomization, Vec<String>), Vec<String>> {
    let texts = |kinds: Vec<StepError>| kinds.iter().map(ToString::to_string).collect();
    match Kustomization::read(&TreePath::new("/k"), text.as_bytes()) {
        Ok((kustomization, warnings)) => Ok((kustomization, texts(warnings))),
        Err(kinds) => Err(texts(kinds)),
    }
}

#[test]
fn keys_are_case_insensitive_and_null_counts_as_missing() {
    let (read, _) = read("NAMEPREFIX: a-\nresources: null\nimages: [{NewTag: '1'}]").unwrap();
    assert_eq!((read.name_prefix.as_str(), read.resources.len()), ("a-", 0));
    assert_eq!(read.images[0].new_tag, "1");
}

#[test]
fn all_faults_of_a_file_are_reported() {
    let faults = read("resource: []\ncommonLabels: {a: yes}\npatches: [{target: {nmae: x}}]\nreplicas: 3")
        .unwrap_err();
    assert_data_eq!(
        faults.join("\n"),
        str![[r#"
unknown field `patches[0].target.nmae`; did you mean `name`?
`commonLabels.a` must be a string, not a boolean
`replicas` must be a list, not a number
unknown field `resource`; did you mean `resources`?
"#]]
    );
}

// Row: D-229
#[test]
fn an_old_field_becomes_its_successor_with_a_warning() {
    let (read, warnings) = read("bases: [b]\nresources: [a]\nimageTags: [{name: x}]").unwrap();
    assert_eq!(read.resources, ["a", "b"]);
    assert_eq!(read.images.len(), 1);
    assert_data_eq!(
        warnings.join("\n"),
        str![[r#"
`bases` is deprecated: use `resources`
`imageTags` is deprecated: use `images`
"#]]
    );
}

// Row: KUS-01, KUS-02, KUS-03
#[test]
fn a_component_has_its_own_api_version() {
    for text in ["kind: Component", "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1"] {
        assert_eq!(read(text).unwrap().0.kind, KustomizationKind::Component);
    }
    let reported = ["kind: Component\napiVersion: kustomize.config.k8s.io/v1beta1", "kind: Pod"]
        .map(|text| read(text).unwrap_err().join("\n"));
    assert_data_eq!(
        reported.join("\n"),
        str![[r#"
`apiVersion` of a Component must be `kustomize.config.k8s.io/v1alpha1`, not `kustomize.config.k8s.io/v1beta1`
`kind` must be `Kustomization` or `Component`, not `Pod`
"#]]
    );
}

#[test]
fn an_empty_file_is_refused() {
    assert_data_eq!(read("# nothing\n").unwrap_err().join("\n"), str!["cannot read `/k`: the file is empty"]);
}

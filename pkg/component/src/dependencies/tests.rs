use manifest::{YamlLimits, read_stream};
use snapbox::{assert_data_eq, str};

use super::*;
use crate::{ArtifactReference, State, check_component};

/// Makes Components of texts such as `a: b other/c`.
fn components(texts: &[&str]) -> Vec<Component> {
    let one = |text: &&str| {
        let (name, dependencies) = text.split_once(':').unwrap();
        let reference = |text: &str| match text.split_once('/') {
            Some((namespace, name)) => format!("{{namespace: {namespace}, name: {name}}}"),
            None => format!("{{name: {text}}}"),
        };
        let dependencies: Vec<_> = dependencies.split_whitespace().map(reference).collect();
        let text = format!(
            "apiVersion: core.cs.sap.com/v1alpha1\nkind: Component\nmetadata: {{namespace: ns, name: {name}, generation: 1}}\nspec: {{sourceRef: {{fluxBucket: {{name: s}}}}, dependencies: [{}]}}\n",
            dependencies.join(", ")
        );
        let object = read_stream(text.as_bytes(), &YamlLimits::default()).unwrap().objects.remove(0);
        check_component(&object).unwrap().component
    };
    texts.iter().map(one).collect()
}

fn order(texts: &[&str]) -> Result<String, String> {
    let all = components(texts);
    let order = dependency_order(&all).map_err(|error| error.to_string())?;
    Ok(order.into_iter().map(|at| all[at].name()).collect::<Vec<_>>().join(" "))
}

// Row: CMP-72, CMP-73
#[test]
fn components_follow_their_dependencies() {
    assert_eq!(order(&["a: b c", "b: d", "c: d", "d:", "e:"]).unwrap(), "d b c a e");
    assert_eq!(order(&["a: ns/b other/b gone", "b:"]).unwrap(), "b a");
    let long: Vec<String> = (0..5000).map(|at| format!("n{at}: n{}", at + 1)).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert!(order(&long).unwrap().ends_with(" n1 n0"));
}

#[test]
fn a_cycle_is_named() {
    assert_data_eq!(
        [order(&["x: a", "a: b", "b: c", "c: a"]), order(&["a: a"])].map(Result::unwrap_err).join("\n"),
        str![[r#"
Components depend on each other: ns/a -> ns/b -> ns/c -> ns/a
Components depend on each other: ns/a -> ns/a
"#]]
    );
}

// Row: CMP-74
#[test]
fn a_component_waits_until_its_dependencies_are_synced_and_ready() {
    let all = components(&["a: b", "b:"]);
    let (a, mut b) = (&all[0], all[1].clone());
    let artifact =
        ArtifactReference { url: String::new(), digest: "sha256:1".to_owned(), revision: "main".to_owned() };
    let source = SourceState { artifact, digest: String::new(), files: None };
    let check = |live: Option<&Component>| {
        check_dependency(a, &source, &a.spec.dependencies[0], live)
            .err()
            .unwrap_or_else(|| "ready".to_owned())
    };
    let mut seen = vec![check(None), check(Some(&b))];
    b.status.last_attempted_digest = "sha256:1".to_owned();
    b.status.last_attempted_revision = "main".to_owned();
    seen.push(check(Some(&b)));
    b.status.state = Some(State::Ready);
    seen.push(check(Some(&b)));
    b.status.observed_generation = 1;
    seen.push(check(Some(&b)));
    assert_data_eq!(
        seen.join("\n"),
        str![[r#"
dependent component b not found: Component.core.cs.sap.com "b" not found
dependent component b not synced
dependent component b not ready
dependent component b not ready
ready
"#]]
    );
}

// Row: CMP-75
#[test]
fn dependents_block_a_deletion() {
    let all = components(&["a: c", "b: c", "c:"]);
    assert_data_eq!(
        deletion_blocker(&all[2], &all).unwrap(),
        str!["deletion blocked by depending component ns/a (and 1 others)"]
    );
    assert_eq!(deletion_blocker(&all[0], &all), None);
}

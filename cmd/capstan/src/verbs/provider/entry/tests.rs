use snapbox::{assert_data_eq, str};

use super::*;

fn entry() -> ConfigEntry {
    ConfigEntry {
        name: "mine".into(),
        provider_type: ProviderType::Infrastructure,
        url: "/srv/mine/v1.0.0/c.yaml".into(),
        kind: None,
    }
}

fn added(text: &str) -> String {
    match add_entry(text, &entry(), false) {
        Ok(Edit::Added(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn replaced(text: &str) -> String {
    match add_entry(text, &entry(), true) {
        Ok(Edit::Replaced(text)) => text,
        other => panic!("{other:?}"),
    }
}

const LINES: &str = "  - name: mine\n    type: InfrastructureProvider\n    url: /srv/mine/v1.0.0/c.yaml\n";

#[test]
fn an_empty_file_gets_the_list() {
    assert_eq!(added(""), format!("providers:\n{LINES}"));
    assert_eq!(added("# mine"), format!("# mine\nproviders:\n{LINES}"));
}

#[test]
fn a_file_without_the_key_keeps_its_content() {
    let text = "# tokens\ngithub-token: abc   # secret\n\nWHO: \"me\"\n";
    assert_eq!(added(text), format!("{text}providers:\n{LINES}"));
}

#[test]
fn an_empty_list_is_filled() {
    assert_eq!(added("providers:\nA: 1\n"), format!("providers:\n{LINES}A: 1\n"));
    assert_eq!(added("providers: []\nA: 1\n"), format!("providers:\n{LINES}A: 1\n"));
    assert_eq!(added("providers: [] # none yet\n"), format!("providers: # none yet\n{LINES}"));
}

#[test]
fn the_entry_follows_the_last_one_with_its_indentation() {
    let text = "providers:\n- name: a # first\n  url: x\n  type: CoreProvider\n\n# about B\nB: 2\n";
    let expected = "providers:\n- name: a # first\n  url: x\n  type: CoreProvider\n- name: mine\n  type: \
                    InfrastructureProvider\n  url: /srv/mine/v1.0.0/c.yaml\n\n# about B\nB: 2\n";
    assert_eq!(added(text), expected);
    let text = "Providers:\n    # mine\n    - {name: a, url: x, type: CoreProvider}\n";
    assert_eq!(
        added(text),
        format!(
            "{text}    - name: mine\n      type: InfrastructureProvider\n      url: /srv/mine/v1.0.0/c.yaml\n"
        )
    );
}

#[test]
fn windows_line_ends_and_a_missing_last_one_are_kept_in_style() {
    let text = added("A: 1\r\nproviders:\r\n  - name: a\r\n    url: x\r\n    type: CoreProvider");
    assert!(text.ends_with("CoreProvider\r\n  - name: mine\r\n    type: InfrastructureProvider\r\n    url: /srv/mine/v1.0.0/c.yaml\r\n"), "{text:?}");
}

#[test]
fn a_second_time_changes_nothing() {
    let text = added("A: 1\n");
    assert_eq!(add_entry(&text, &entry(), false).unwrap(), Edit::Unchanged);
    assert_eq!(add_entry(&text, &entry(), true).unwrap(), Edit::Unchanged);
}

#[test]
fn another_url_is_replaced_only_on_request() {
    let text = "providers:\n  - name: \"mine\"\n    url: 'old'   # mirror\n    type: InfrastructureProvider\n  - name: b\n    url: y\n    type: CoreProvider\n";
    assert!(matches!(add_entry(text, &entry(), false), Err(EditError::OtherUrl { url, .. }) if url == "old"));
    assert_eq!(replaced(text), text.replace("'old'  ", "/srv/mine/v1.0.0/c.yaml"));
    let dash = "providers:\n- url: old\n  name: mine\n  type: InfrastructureProvider\n";
    assert_eq!(replaced(dash), dash.replace("old", "/srv/mine/v1.0.0/c.yaml"));
}

#[test]
fn an_unsafe_layout_is_refused() {
    let one_line = "providers: [{name: a, url: x, type: CoreProvider}]\n";
    let Err(EditError::Layout { found }) = add_entry(one_line, &entry(), false) else {
        panic!("it was edited")
    };
    assert_data_eq!(found, str!["is on one line"]);
    for text in [
        "{A: 1}\n",
        "providers:\n  name: a\n  url: x\n  type: CoreProvider\n",
        "A: |\n  text\nB: &x [1]\nproviders: *x\n",
        "providers: text\n",
        "- a\n",
        "providers:\n  - name: mine\n    type: InfrastructureProvider\n    url: >-\n      folded\n",
    ] {
        assert!(matches!(add_entry(text, &entry(), true), Err(EditError::Layout { .. })), "{text:?}");
    }
    assert!(matches!(add_entry("a: [", &entry(), false), Err(EditError::Invalid(_))));
}

#[test]
fn a_url_with_special_yaml_characters_is_quoted() {
    let odd = ConfigEntry { url: "a: b #c".into(), ..entry() };
    let Ok(Edit::Added(text)) = add_entry("", &odd, false) else { panic!() };
    assert_eq!(add_entry(&text, &odd, false).unwrap(), Edit::Unchanged);
}

#[test]
fn a_host_kind_is_written_and_never_changed() {
    let entry = ConfigEntry { kind: Some(HostKind::GitLab), ..entry() };
    let Ok(Edit::Added(text)) = add_entry("", &entry, false) else { panic!("it was not added") };
    assert!(text.ends_with("  kind: gitlab\n"), "{text}");
    assert_eq!(add_entry(&text, &entry, false).unwrap(), Edit::Unchanged);
    let other = ConfigEntry { kind: Some(HostKind::Folder), ..entry };
    assert!(matches!(add_entry(&text, &other, true), Err(EditError::OtherKind { .. })));
}

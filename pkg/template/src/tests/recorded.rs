//! Templates with the output that Go and Helm 3.22 gave for them.
//!
//! Each line of `recorded.jsonl` is `[template, mode, "out" or "err", text]`; the values are in `values.json`.

use std::sync::Arc;

use crate::{Functions, MissingKey, Session, Settings, Templates};

fn settings(mode: &str) -> Settings {
    match mode {
        "go" => Settings::default(),
        "strict" => Settings { missing_key: MissingKey::Error, ..Settings::helm() },
        _ => Settings::helm(),
    }
}

#[test]
fn recorded_outputs_and_errors_are_equal() {
    let (go, helm) = (Arc::new(Functions::text()), Arc::new(Functions::helm()));
    let mut differences = Vec::new();
    let mut count = 0;
    for line in include_str!("recorded.jsonl").lines() {
        let [template, mode, kind, expected]: [String; 4] = serde_json::from_str(line).expect("four texts");
        let functions = if mode == "go" { &go } else { &helm };
        let mut templates = Templates::new("gotpl", functions.clone());
        let mut session = Session::new(settings(&mode));
        let result = templates
            .parse("t", &template)
            .and_then(|()| templates.render("t", &super::values(), &mut session))
            .map(|output| String::from_utf8_lossy(&output.bytes).into_owned());
        let (found_kind, found) = match result {
            Ok(text) => ("out", text),
            Err(error) => ("err", error.to_string()),
        };
        count += 1;
        if (found_kind, found.as_str()) != (kind.as_str(), expected.as_str()) {
            differences.push(format!(
                "{template}\n  expected {kind} {expected:?}\n  found    {found_kind} {found:?}"
            ));
        }
    }
    assert!(count > 1_000, "the recorded cases are missing");
    assert!(differences.is_empty(), "{} of {count}:\n{}", differences.len(), differences.join("\n"));
}

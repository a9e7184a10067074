//! Behaviour of whole hierarchies.

use std::fmt::Write as _;
use std::fs;

use manifest::{Value, yaml};
use snapbox::{assert_data_eq, str};

use api::output::ParameterChange;

use super::{Inventory, MissingClasses, Ordered, RenderError};

mod limits;
mod problems;

/// Creates an inventory with the target `t` from lines `NAME: TEXT`; `\n` in a text is a line break.
fn inventory(lines: &[&str]) -> Inventory {
    let mut inventory = Inventory::default();
    for line in lines {
        let (name, text) = line.split_once(": ").unwrap();
        let text = text.replace("\\n", "\n");
        match name {
            "t" => inventory.add_target(name, &text).unwrap(),
            name => inventory.add_class(name, &text).unwrap(),
        }
    }
    inventory
}

/// Returns the parameters of the target `t` as YAML, without those of the target itself.
fn parameters(lines: &[&str]) -> String {
    let node = inventory(lines).render("t").unwrap();
    let Value::Object(mut parameters) = node.parameters else { panic!("no mapping") };
    parameters.remove("_reclass_");
    yaml::write(&Value::Object(parameters))
}

/// Returns the problems of the target `t`, one per line.
fn problems(lines: &[&str]) -> String {
    let error = inventory(lines).render("t").unwrap_err();
    let RenderError::Problems { problems, .. } = error else { panic!("{error}") };
    problems.iter().fold(String::new(), |mut out, problem| {
        let _ = writeln!(out, "{problem}");
        out
    })
}

#[test]
fn keys_keep_the_order_of_their_first_appearance() {
    let lines = [
        "a: parameters: {z: 1, m: {b: 1, a: [{d: 1, c: '${z}'}]}}",
        "t: classes: [a]\\nparameters: {m: {aa: 1, b: 2}}",
    ];
    let inventory = inventory(&lines);
    let (node, order) = (inventory.render("t").unwrap(), inventory.key_order("t"));
    let ordered = Ordered { value: &node.parameters["m"], order: order.field("m") };
    assert_eq!(serde_json::to_string(&ordered).unwrap(), r#"{"b":2,"a":[{"d":1,"c":1}],"aa":1}"#);
}

#[test]
fn sections_may_be_empty_and_names_may_look_like_numbers() {
    let node = inventory(&["a: ---", "1: parameters:", "t: classes: [a, 1]\\napplications:\\nparameters:"]);
    let node = node.render("t").unwrap();
    assert_eq!((node.classes, node.applications), (vec!["a".to_owned(), "1".to_owned()], Vec::new()));
    let node = inventory(&["t: classes:\\napplications: [1, 1.10, yes]"]).render("t").unwrap();
    assert_eq!(node.applications, ["1", "1.10", "yes"]);
}

#[test]
fn texts_in_quotes_continue_at_any_column_and_keep_the_lines_behind_them() {
    assert_eq!(
        problems(&["t: parameters:\\n  a: \"one\\ntwo\"\\n  b: ${a}\\n  c: ${d}"]),
        "targets/t.yml:5: lookup error for reference '${d}' in parameter 'c': key 'd' not found\n"
    );
}

#[test]
fn large_numbers_in_texts_have_exponents_without_a_sign() {
    let lines = ["t: parameters: {a: 'x${b}', b: 1e21, c: 'x${d}', d: [1e21, 1e-7]}"];
    assert_data_eq!(
        parameters(&lines),
        str![[r#"
a: x1e21
b: 1e+21
c: x[1e+21,1e-7]
d:
- 1e+21
- 1e-07

"#]]
    );
}

// Row: CAT-73
#[test]
fn mappings_merge_lists_append_and_scalars_replace() {
    assert_data_eq!(
        parameters(&[
            "a: parameters: {m: {x: 1, y: {z: 1}}, l: [1], s: one, n: null}",
            "b: parameters: {m: {y: {q: 2}}, l: [2, 1], s: two, n: {k: 1}}",
            "t: classes: [a, b]\\nparameters: {m: {x: 3}, extra: true}",
        ]),
        str![[r#"
extra: true
l:
- 1
- 2
- 1
m:
  x: 3
  "y":
    q: 2
    z: 1
"n":
  k: 1
s: two

"#]]
    );
}

#[test]
fn a_tilde_replaces_earlier_values_only() {
    assert_data_eq!(
        parameters(&[
            "a: parameters: {l: [1], m: {k: {a: 1}}, first: [1]}",
            "b: parameters: {~l: {now: map}, m: {~k: [1]}, ~first: [2]}",
            "c: parameters: {first: [3]}",
            "t: classes: [a, b, c]",
        ]),
        str![[r#"
first:
- 2
- 3
l:
  now: map
m:
  k:
  - 1

"#]]
    );
}

#[test]
fn a_reference_keeps_the_type_of_its_value() {
    assert_data_eq!(
        parameters(&["t: parameters: {i: 1, f: 1.0, b: false, n: null, s: '12', l: [1], m: {a: 1}, \
             ri: '${i}', rf: '${f}', rb: '${b}', rn: '${n}', rs: '${s}', rl: '${l}', rm: '${m}'}",]),
        str![[r#"
b: false
f: 1
i: 1
l:
- 1
m:
  a: 1
"n": null
rb: false
rf: 1
ri: 1
rl:
- 1
rm:
  a: 1
rn: null
rs: "12"
s: "12"

"#]]
    );
}

// Row: D-432
#[test]
fn a_value_inside_of_a_text_is_printed_as_by_reclass() {
    assert_data_eq!(
        parameters(&["t: parameters: {t: true, n: null, f: 1.0, m: {only: 1, ref: '${f}'}, l: [1, 2], \
             x: '${t} ${n} ${f} ${m} ${l}'}",])
        .lines()
        .last()
        .unwrap(),
        str![[r#"x: True null 1.0 {"only":1.0,"ref":1.0} [1.0,2.0]"#]]
    );
}

#[test]
fn references_see_the_merged_values_of_all_classes() {
    assert_data_eq!(
        parameters(&[
            "a: parameters: {name: 'x-${v}', v: 1, m: '${base}'}",
            "b: parameters: {v: 2, m: {extra: '${m:x}'}, base: {x: 1}}",
            "t: classes: [a, b]\\nparameters: {base: {y: '${deep:${v}}'}, deep: {2: two}}",
        ]),
        str![[r#"
base:
  x: 1
  "y": two
deep:
  "2": two
m:
  extra: 1
  x: 1
  "y": two
name: x-2
v: 2

"#]]
    );
}

#[test]
fn a_later_scalar_hides_a_missing_reference() {
    let lines = [
        "a: parameters: {k: '${missing}', m: {x: '${missing}'}}",
        "t: classes: [a]\\nparameters: {k: 1, m: {x: 2}}",
    ];
    assert_data_eq!(
        parameters(&lines),
        str![[r#"
k: 1
m:
  x: 2

"#]]
    );
}

#[test]
fn defaults_are_yaml_and_may_have_references() {
    assert_data_eq!(
        parameters(&[
            "t: parameters: {a: 1, b: '${x::${a}}', c: '${x::[1, z]}', d: '${x::}', e: 'a${x:y::text}b', n: null, \
             f: '${n::2}', g: '${x::${y::${z::deep}}}'}",
        ]),
        str![[r#"
a: 1
b: 1
c:
- 1
- z
d: null
e: atextb
f: null
g: deep
"n": null

"#]]
    );
}

#[test]
fn merge_keys_and_aliases_are_resolved() {
    assert_data_eq!(
        parameters(&["t: parameters: {base: &base {a: 1, b: 1}, more: &more {b: 2, c: 2}, \
             own: {<<: *base, b: 3}, both: {<<: [*more, *base]}, again: *base}",]),
        str![[r#"
again:
  a: 1
  b: 1
base:
  a: 1
  b: 1
both:
  a: 1
  b: 2
  c: 2
more:
  b: 2
  c: 2
own:
  a: 1
  b: 3

"#]]
    );
}

// Row: CAT-10
// Row: CAT-11
#[test]
fn classes_are_included_once_and_depth_first() {
    let node = inventory(&[
        "base: parameters: {l: [base]}",
        "d.one: classes: [.two, ..base]\\napplications: [x, y]\\nparameters: {l: [one], next: three}",
        "d.two: classes: [base]\\nparameters: {l: [two]}",
        "d.three: applications: ['~x', 'x as z']\\nparameters: {l: [three]}",
        "t: classes: [d.one, 'd.${next}', d.two]\\nparameters: {l: [t]}",
    ])
    .render("t")
    .unwrap();
    assert_eq!(node.parameters["l"], serde_json::json!(["base", "two", "one", "three", "t"]));
    assert_eq!(node.classes, ["base", "d.two", "d.one", "d.${next}"]);
    assert_eq!(node.applications, ["y", "x as z"]);
}

#[test]
fn missing_classes_can_be_ignored() {
    let inventory = inventory(&["t: classes: [a.b]\\nparameters: {x: 1}"]);
    let node = inventory.render_with("t", MissingClasses::Ignored).unwrap();
    assert_eq!(node.missing_classes, ["a.b"]);
    assert_eq!(node.parameters["x"], 1);
    assert!(inventory.render("t").is_err());
}

#[test]
fn files_on_disk_are_found_through_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("classes/a/init.yml", "parameters: {a: init}"),
        ("classes/a/b.yaml", "classes: [.c]\nparameters: {b: 1}"),
        ("elsewhere/c.yml", "parameters: {c: 1}"),
        ("classes/a/.git/x.yml", "not: [valid"),
        ("targets/deep/t.yml", "classes: [a, a.b]"),
    ] {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../elsewhere/c.yml", path("classes/a/c.yml")).unwrap();
    let inventory = Inventory::read(folder.path()).unwrap();
    assert_eq!(inventory.targets().collect::<Vec<_>>(), ["t"]);
    let node = inventory.render("t").unwrap();
    assert_eq!((&node.parameters["a"], &node.parameters["c"]), (&Value::from("init"), &Value::from(1)));
    assert_eq!(node.parameters["_reclass_"]["name"]["path"], "t");
}

#[test]
fn threads_render_targets_of_one_inventory() {
    let mut inventory = Inventory::default();
    inventory.add_class("a", "parameters: {x: '${name}'}").unwrap();
    for index in 0..8 {
        let text = format!("classes: [a]\nparameters: {{name: n{index}}}");
        inventory.add_target(&format!("t{index}"), &text).unwrap();
    }
    let inventory = &inventory;
    std::thread::scope(|scope| {
        for index in 0..8 {
            scope.spawn(move || {
                let node = inventory.render(&format!("t{index}")).unwrap();
                assert_eq!(node.parameters["x"], format!("n{index}"));
            });
        }
    });
}

#[test]
fn explain_lists_the_classes_that_set_a_parameter() {
    let inventory = inventory(&[
        "a: parameters:\\n  m:\\n    x: 1",
        "b: parameters: {m: {y: 2}}",
        "c: parameters: {m: '${other}'}",
        "t: classes: [a, b, c]\\nparameters:\\n  other: {x: 3}\\n  m: {~x: '${m:y}'}",
    ]);
    let explanation = inventory.explain("t", "m:x").unwrap();
    assert_eq!(explanation.value, Some(Value::from(2)));
    let sources: Vec<_> = explanation
        .sources
        .iter()
        .map(|source| (source.file.as_str(), source.line, source.path.as_str(), source.change))
        .collect();
    assert_eq!(
        sources,
        [
            ("classes/a.yml", 3, "m:x", ParameterChange::Sets),
            ("classes/c.yml", 1, "m", ParameterChange::Refers),
            ("targets/t.yml", 4, "m:x", ParameterChange::Replaces),
        ]
    );
}

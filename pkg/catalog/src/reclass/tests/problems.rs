//! Texts of problems.

use snapbox::{assert_data_eq, str};

use super::{Inventory, inventory, problems};

// Row: D-431
#[test]
fn values_of_different_types_name_both_places() {
    assert_data_eq!(
        problems(&[
            "a: parameters: {m: {t: x, l: [1], n: {a: 1}}, r: '${one}'}",
            "b: parameters:\\n  m:\\n    t: [1]\\n    l: x\\n    n: 1\\n  r: {a: 1}",
            "t: classes: [a, b]\\nparameters: {one: 1}",
        ]),
        str![[r#"
classes/b.yml:3: In m.t: Can't merge Value::Sequence over Value::Literal, which is set at classes/a.yml:1
classes/b.yml:4: In m.l: Can't merge Value::Literal over sequence, which is set at classes/a.yml:1
classes/b.yml:5: In m.n: Can't merge Value::Number over mapping, which is set at classes/a.yml:1
classes/b.yml:6: In r: Can't merge Value::Mapping over Value::Number, which is set at targets/t.yml:2

"#]]
    );
}

// Row: CAT-37
#[test]
fn constants_cannot_change_but_their_parent_can_be_replaced() {
    assert_data_eq!(
        problems(&[
            "a: parameters: {=c: 1, m: {=k: {a: 1}}}",
            "t: classes: [a]\\nparameters:\\n  c: 1\\n  m: {k: {b: 1}}",
        ]),
        str![[r#"
targets/t.yml:3: Can't overwrite constant key "c", which is set at classes/a.yml:1

"#]]
    );
    assert_data_eq!(
        problems(&["a: parameters: {m: {=k: {a: 1}}}", "t: classes: [a]\\nparameters: {m: {~k: 2}}"]),
        str![[r#"
targets/t.yml:2: Can't overwrite constant key "k", which is set at classes/a.yml:1

"#]]
    );
    let lines = ["a: parameters: {m: {=k: 1}}", "t: classes: [a]\\nparameters: {~m: {k: 2}}"];
    assert_eq!(inventory(&lines).render("t").unwrap().parameters["m"]["k"], 2);
}

#[test]
fn lookups_name_the_reference_and_the_parameter() {
    assert_data_eq!(
        problems(&[
            "t: parameters:\\n  l: ['${zz:y}']\\n  list: [1]\\n  null_: null\\n  a: 'x ${list:0}'\\n  b: '${null_:b}'\\n  \
             c: '${}'\\n  d: '${x::{a: 1}}'\\n  e: '${list:x::default}'\\n  f: '${nul_}'",
        ]),
        str![[r#"
targets/t.yml:2: lookup error for reference '${zz:y}' in parameter 'l[0]': key 'zz' not found
targets/t.yml:5: While looking up key '0' in reference '${list:0}' for parameter 'a': Sequence lookups aren't supported for Reclass references!
targets/t.yml:6: While looking up key 'b' in reference '${null_:b}' for parameter 'b': Can't continue lookup, null_ is a Value::Null
targets/t.yml:7: Error while parsing ref: Error parsing reference '${}' in parameter 'c'
targets/t.yml:8: Error parsing default value for reference 'x' in parameter 'd': unclosed bracket '{'
targets/t.yml:9: While looking up key 'x' in reference '${list:x}' for parameter 'e': Sequence lookups aren't supported for Reclass references!
targets/t.yml:10: lookup error for reference '${nul_}' in parameter 'f': key 'nul_' not found

"#]]
    );
}

#[test]
fn loops_list_their_references() {
    assert_data_eq!(
        problems(&[
            "t: parameters: {a: {x: '${b:y}'}, b: {y: '${c:z}'}, c: {z: '${a:x}'}, p: {q: 'v ${p}'}}"
        ]),
        str![[r#"
targets/t.yml:1: Detected reference loop with reference paths ["a:x", "b:y", "c:z"]. (through ${b:y}, ${c:z}, ${a:x})
targets/t.yml:1: Detected reference loop with reference paths ["p"]. (through ${p})

"#]]
    );
}

// Row: D-430
#[test]
fn classes_name_the_classes_that_include_them() {
    assert_data_eq!(
        problems(&[
            "a: classes:\\n- b\\n- b.missing",
            "b: classes: [c]",
            "c: classes: [a]",
            "d: parameters: [",
            "e: '- list'",
            "t: classes: [a, d, e, 'f.${x}']\\nparameters: {x: 1}",
        ]),
        str![[r#"
classes/c.yml:1: Class a includes itself (included through a, b, c)
classes/a.yml:3: Class b.missing not found (included through a)
classes/d.yml:1: Deserializing d: [..]
classes/e.yml:1: Deserializing e: invalid type: string, expected struct Node
targets/t.yml:1: lookup error for reference '${x}' in parameter '': key 'x' not found

"#]]
    );
}

// Row: D-434
#[test]
fn values_that_yaml_readers_reject_name_their_path() {
    for (text, expected) in [
        (
            "parameters: {a: {c: 18446744073709551616}}",
            "targets/t.yml:1: parameters.a.c: invalid type: integer `18446744073709551616` exceeds 64 bits",
        ),
        (
            "parameters: {a: [1, !custom x]}",
            "targets/t.yml:1: parameters.a[1]: not yet implemented: Tagged YAML values are not supported yet",
        ),
        (
            "parameters: {a: 1}\\n---\\nparameters: {}",
            "targets/t.yml:2: deserializing from YAML containing more than one document is not supported",
        ),
        ("parameters:\\n  m: {a: 1}\\n  m: 2", "targets/t.yml:3: parameters: duplicate entry with key \"m\""),
        ("classes: null", "targets/t.yml:1: classes: invalid type: unit value, expected a sequence"),
        ("applications: [[]]", "targets/t.yml:1: applications[0]: invalid type: sequence, expected a string"),
        (
            "parameters: {a: .nan}",
            "targets/t.yml:1: parameters.a: invalid value: `.nan` cannot be represented in JSON",
        ),
        (
            "parameters: {<<: 1}",
            "targets/t.yml:1: parameters: the value of merge key `<<` must be a mapping or a list of mappings",
        ),
    ] {
        assert_eq!(problems(&[&format!("t: {text}")]), format!("{expected}\n"));
    }
}

#[test]
fn two_files_of_one_class_are_an_error() {
    let mut inventory = Inventory::default();
    inventory.add_class("a", "").unwrap();
    assert_data_eq!(
        inventory.add_class("a", "").unwrap_err().to_string(),
        str![
            "Error while discovering classes: Definition of class 'a' in 'classes/a.yml' collides with definition in 'classes/a.yml'. Classes can only be defined once per inventory."
        ]
    );
    assert_eq!(inventory.render("x").unwrap_err().to_string(), "Unknown node x");
}

//! Hostile input ends with an error, in bounded time and memory.

use std::fmt::Write as _;

use super::{Inventory, inventory, problems};

/// Returns parameters `a0` to `a{last}`, each made from the one before.
fn chain(last: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    let mut text = format!("t: parameters:\\n  a0: {first}");
    for index in 1..=last {
        let _ = write!(text, "\\n  a{index}: {}", next(index - 1));
    }
    text
}

#[test]
fn at_most_64_references_lead_to_each_other() {
    let text = chain(64, "1", |before| format!("'${{a{before}}}'"));
    assert_eq!(inventory(&[&text]).render("t").unwrap().parameters["a64"], 1);
    let text = chain(65, "1", |before| format!("'${{a{before}}}'"));
    let problems = problems(&[&text]);
    assert!(
        problems.contains("Token resolution exceeded recursion depth of 64 for parameter 'a65'. We've seen"),
        "{problems}"
    );
}

// Row: D-433
#[test]
fn values_that_multiply_exceed_the_size_limit() {
    for (first, next) in
        [("x", "'${a#}${a#}'"), ("[x]", "['${a#}', '${a#}']"), ("{k: x}", "{k: '${a#}', l: '${a#}'}")]
    {
        let text = chain(60, first, |before| next.replace('#', &before.to_string()));
        let problems = problems(&[&text]);
        assert!(problems.contains("the values exceed the limit of 67108864 bytes"), "{problems}");
    }
}

// Row: D-433
#[test]
fn nesting_is_limited() {
    let nested = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    assert!(inventory(&[&format!("t: parameters: {{a: {}}}", nested(100))]).render("t").is_ok());
    assert!(problems(&[&format!("t: parameters: {{a: {}}}", nested(100_000))]).contains("t.yml:1: "));
    let text = chain(60, &nested(50), |before| format!("[[[[[[[[[['${{a{before}}}']]]]]]]]]]"));
    assert!(problems(&[&text]).contains("lists and mappings are nested deeper than the limit of 384"));
}

#[test]
fn aliases_cannot_nest_or_multiply_without_limit() {
    let mut text = "t: parameters: {}\\nother: [&a0 [x]".to_owned();
    for index in 1..100_000 {
        let _ = write!(text, ", &a{index} [*a{}]", index - 1);
    }
    text.push_str("]\\n");
    assert!(inventory(&[&text]).render("t").is_ok());
    let deep = text.replace("parameters: {}\\nother: [", "parameters: {a: [").replace("]\\n", "]}");
    assert!(problems(&[&deep]).contains("recursion limit exceeded"));
    let mut text = "t: parameters:\\n  m0: &m0 {x: 1}\\n".to_owned();
    for index in 1..40 {
        let _ = write!(text, "  m{index}: &m{index} {{<<: [*m{0}, *m{0}]}}\\n", index - 1);
    }
    assert_eq!(inventory(&[&text]).render("t").unwrap().parameters["m39"]["x"], 1);
}

#[test]
fn classes_cannot_nest_without_limit() {
    let mut inventory = Inventory::default();
    for index in 0..2_000 {
        inventory.add_class(&format!("c{index}"), &format!("classes: [c{}]", index + 1)).unwrap();
    }
    inventory.add_class("c2000", "").unwrap();
    inventory.add_target("t", "classes: [c0]").unwrap();
    inventory.add_target("u", "classes: [c1800]").unwrap();
    assert!(inventory.render("u").is_ok());
    assert_eq!(inventory.render("t").unwrap_err().to_string(), "cannot render target `t`");
}

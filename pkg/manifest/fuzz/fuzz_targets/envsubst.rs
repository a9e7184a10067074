//! Every text renders or fails. The variables listed as required are exactly those reported as missing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manifest::envsubst::{RenderError, Template};

fuzz_target!(|input: (&str, &str)| {
    let (text, value) = input;
    let Ok(template) = Template::parse(text) else { return };
    let variables = template.variables();
    let unset = template.render(&mut |_| None);
    let required = variables.top_level.iter().any(|variable| variable.is_required());
    assert_eq!(matches!(unset, Err(RenderError::Missing(_))), required);
    // Patterns are tried on every prefix, so a long value is slow without covering more cases.
    let value: String = value.chars().take(64).collect();
    let set = template.render(&mut |_| Some(value.as_str().into()));
    assert!(!matches!(set, Err(RenderError::Missing(_))));
});

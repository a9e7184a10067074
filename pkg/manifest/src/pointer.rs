//! Field names as steps of a JSON pointer (RFC 6901), which escapes `~` as `~0` and `/` as `~1`.

/// Returns the step for a field name.
///
/// ```
/// assert_eq!(manifest::pointer::step("example.com/a~b"), "example.com~1a~0b");
/// ```
pub fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the field name of a step.
///
/// ```
/// assert_eq!(manifest::pointer::name("example.com~1a~01"), "example.com/a~1");
/// ```
pub fn name(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

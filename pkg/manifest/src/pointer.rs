//! Names of fields as steps of a JSON pointer (RFC 6901), in which `~` and `/` are written `~0` and `~1`.

/// The step for the field of a name.
///
/// ```
/// assert_eq!(manifest::pointer::step("example.com/a~b"), "example.com~1a~0b");
/// ```
pub fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name of the field a step stands for.
///
/// ```
/// assert_eq!(manifest::pointer::name("example.com~1a~01"), "example.com/a~1");
/// ```
pub fn name(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

use std::ffi::OsString;

/// The value of an environment variable that is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "tasks are programs of their own; this is their one place to ask"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

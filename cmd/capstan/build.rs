//! Options of the linker.

use std::env;

#[expect(clippy::disallowed_methods, reason = "cargo describes the target in the environment")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Linked at a fixed address, like programs of Go, the program starts without changing its 99,000 pointers. That took a
    // quarter of the time of `version`. The price: only libraries, heap and stack have random addresses.
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

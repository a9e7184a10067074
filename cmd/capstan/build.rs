//! Options of the linker.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Linked at a fixed address, like programs of Go, the program starts without changing its 99,000 pointers. That took a
    // quarter of the time of `version`. The price: only libraries, heap and stack have random addresses.
    let is_glibc = target("OS") == "linux" && target("ENV") == "gnu";
    if is_glibc && variable("PROFILE") == "release" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    if is_glibc && target("FEATURE").split(',').any(|feature| feature == "crt-static") {
        println!("cargo::rerun-if-changed=name_services.c");
        // Nothing calls the code by name, so the linker would omit it.
        cc::Build::new()
            .file("name_services.c")
            .link_lib_modifier("+whole-archive")
            .compile("capstan_name_services");
    }
}

/// Returns a property of the target.
fn target(name: &str) -> String {
    variable(&format!("CARGO_CFG_TARGET_{name}"))
}

#[expect(clippy::disallowed_methods, reason = "cargo describes the target in the environment")]
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

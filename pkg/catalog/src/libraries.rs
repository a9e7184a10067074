//! The Jsonnet libraries that every component may import.
//!
//! Each has the functions of the library of the same name in Kapitan 0.36, Commodore 1.35 or kube-libsonnet, written
//! anew.

/// The library of the evaluator.
pub(crate) const KAPITAN: &str = "lib/kapitan.libjsonnet";

const LIBRARIES: [(&str, &str); 5] = [
    (KAPITAN, include_str!("libraries/kapitan.libjsonnet")),
    ("lib/commodore.libjsonnet", include_str!("libraries/commodore.libjsonnet")),
    ("lib/kube.libjsonnet", include_str!("libraries/kube.libjsonnet")),
    ("lib/kube.libsonnet", include_str!("libraries/kube.libjsonnet")),
    ("lib/kube-libsonnet/kube.libsonnet", include_str!("libraries/kube.libjsonnet")),
];

/// Returns the name of a library as it is embedded.
pub(crate) fn embedded_name(name: &str) -> Option<&'static str> {
    LIBRARIES.iter().map(|(library, _)| *library).find(|library| *library == name)
}

/// Returns the text of an embedded library.
pub(crate) fn embedded(name: &str) -> Option<&'static str> {
    LIBRARIES.iter().find(|(library, _)| *library == name).map(|(_, text)| *text)
}

//! Limits of the YAML readers: size, depth, and expansion of aliases.

/// The limits of reading YAML. Exceeding a limit is an error that names the limit.
///
/// Expanded aliases count as text. In addition, as in Go's reader, a large document is rejected if nearly all its
/// values come from aliases. The allowed share falls as the document grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YamlLimits {
    /// The maximum size in bytes of a stream or of one value.
    pub size_bytes: usize,
    /// The maximum nesting of lists and mappings.
    pub depth: usize,
}

impl Default for YamlLimits {
    /// Allows 256 MiB of text and 1,000 levels.
    ///
    /// The deepest real objects are schemas, with about 30 levels. Dropping, copying and comparing values is recursive;
    /// 1,000 levels fit into the stack of a worker thread in every build.
    /// Differs: go.yaml.in/yaml/v2 2.4.3 allows 10,000 levels and has no size limit.
    fn default() -> Self {
        Self { size_bytes: 256 << 20, depth: 1_000 }
    }
}

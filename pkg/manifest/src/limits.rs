//! What a reader accepts before it gives up: size, depth, and growth through aliases.

/// The bounds of reading YAML. Over one of them reading ends with an error that names the limit.
///
/// What aliases repeat counts as text. Beside that, as in Go's reader, a document whose values come almost all from aliases is refused once it
/// is larger than any honest one, and the allowed share falls as the document grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in bytes, of a stream or of one value.
    pub size_bytes: usize,
    /// The deepest nesting of lists and mappings.
    pub depth: usize,
}

impl Default for Limits {
    /// 256 MiB of text, nested up to 1,000 deep.
    ///
    /// The deepest real objects are schemas, nested some 30 deep. Values are dropped, copied and compared by functions
    /// that call themselves; at 1,000 levels those stay within the stack of a worker thread in every build.
    /// differs: go.yaml.in/yaml/v2 2.4.3 nests up to 10,000 deep and has no limit of size.
    fn default() -> Self {
        Self { size_bytes: 256 << 20, depth: 1_000 }
    }
}

//! Limits of rendering, so that no template takes the machine.

/// The limits of one render. Exceeding one is an error at the action that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum nesting of templates that invoke templates.
    pub depth: usize,
    /// The maximum number of actions, loop rounds and function calls.
    pub steps: u64,
    /// The maximum length in bytes of the output and of each string.
    pub output_bytes: usize,
    /// The maximum total length in bytes of all strings and lists that functions create.
    pub created_bytes: u64,
}

impl Default for Limits {
    /// Allows 2,000 nested templates, 50 million steps, 64 MiB of output, and 1 GiB of values.
    fn default() -> Self {
        Self { depth: 2_000, steps: 50_000_000, output_bytes: 64 << 20, created_bytes: 1 << 30 }
    }
}

/// A limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Templates invoke templates too deeply.
    #[error("exceeded maximum template depth ({0})")]
    Depth(usize),
    /// The templates take too many steps.
    #[error("exceeded the limit of {0} steps")]
    Steps(u64),
    /// The output or a string is too long.
    #[error("exceeded the limit of {0} bytes for output")]
    Output(usize),
    /// Functions created too many values.
    #[error("exceeded the limit of {0} bytes for created values")]
    Created(u64),
}

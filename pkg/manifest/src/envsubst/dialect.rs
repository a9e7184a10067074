//! The two dialects of the language.

/// A dialect, named after the texts that use it. Both have the same functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Cluster templates and provider components: a name may have spaces around it, and outside of a substitution only
    /// `$$` is an escape.
    #[default]
    ClusterTemplates,
    /// The substitutions of a Component: a name has no spaces around it, and outside of a substitution `\\` means
    /// `\`, and `\/` means `/`.
    ///
    /// Source: drone/envsubst v1.0.3, as used by component-operator.
    Components,
}

impl Dialect {
    /// True if a byte outside of a substitution makes the next one plain text.
    pub(super) fn escapes(self, byte: u8, next: Option<u8>) -> bool {
        match byte {
            b'$' => next == Some(b'$'),
            b'\\' => self == Self::Components && matches!(next, Some(b'/' | b'\\')),
            _ => false,
        }
    }
}

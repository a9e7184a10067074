use std::{fmt, sync::Arc};

/// A secret that cannot be printed: `Debug` and `Display` show its name, never its value.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    name: Arc<str>,
}

impl Secret {
    /// Creates a secret from its value and its name for users, such as `GITHUB_TOKEN`. None if the value is blank.
    /// Source: for a blank value, clusterctl v1.14 sends an empty `Authorization` header; differs: capstan sends no
    /// header.
    pub fn new(name: impl Into<Arc<str>>, value: impl Into<String>) -> Option<Self> {
        let value: String = value.into();
        let trimmed = value.trim();
        (!trimmed.is_empty()).then(|| Self { value: trimmed.to_owned(), name: name.into() })
    }

    /// True if the value fits into a header. Other characters than visible ASCII indicate a paste error.
    pub fn fits_a_header(&self) -> bool {
        self.value.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Returns the secret value.
    pub fn expose(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (***)", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_prints_its_name_and_never_its_value() {
        let secret = Secret::new("GITHUB_TOKEN", "ghp_abc123").unwrap();
        assert_eq!(format!("{secret} {secret:?}"), "GITHUB_TOKEN (***) Secret(GITHUB_TOKEN (***))");
    }

    // Row: D-08
    #[test]
    fn a_blank_secret_is_none_and_a_line_end_is_removed() {
        assert_eq!(Secret::new("GITHUB_TOKEN", " \n"), None);
        assert_eq!(Secret::new("GITHUB_TOKEN", "abc\n").unwrap().expose(), "abc");
        assert!(!Secret::new("GITHUB_TOKEN", "a\nb").unwrap().fits_a_header());
    }
}

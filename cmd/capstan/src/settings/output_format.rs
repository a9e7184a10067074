use crate::Failure;

/// The forms a result can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// For people; the peer's text where the peer prints.
    Text,
    /// For scripts.
    Yaml,
    /// For scripts.
    Json,
}

impl OutputFormat {
    /// Reads the value of `--output`.
    /// # Errors
    /// Names the forms there are.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "text" => Ok(Self::Text),
            "yaml" => Ok(Self::Yaml),
            "json" => Ok(Self::Json),
            other => Err(Failure::user(format!("invalid output format `{other}`"))
                .hint("take one of text, yaml, json with `--output`")),
        }
    }
}

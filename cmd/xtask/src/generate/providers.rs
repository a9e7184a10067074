use std::fmt::Write as _;

use anyhow::Result;
use provider::config::{Config, Environment};

use super::{Page, REFERENCE, heading};

/// The providers that are there without any configuration.
pub(super) fn page() -> Result<Page> {
    let config = Config::new(None, Environment::default())?;
    let mut text = heading("Built-in providers");
    text.push_str("What `capstan provider list` shows without a configuration file.\n\n| Name | Type | Url |\n|---|---|---|\n");
    for provider in config.providers()? {
        let _ =
            writeln!(text, "| {} | {} | <{}> |", provider.id.name, provider.id.provider_type, provider.url);
    }
    Ok((format!("{REFERENCE}/providers.md"), text))
}

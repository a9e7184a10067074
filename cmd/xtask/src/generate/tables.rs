use std::fmt::Write as _;

use anyhow::Result;
use api::ExitStatus;
use provider::config::{Config, Environment};

use super::{Page, REFERENCE, heading};

/// Renders the exit codes of `api` as a page.
pub(super) fn exit_codes() -> Page {
    let mut text = heading("Exit codes");
    text.push_str("| Code | Meaning |\n|---|---|\n");
    for (status, meaning) in ExitStatus::TABLE {
        let _ = writeln!(text, "| {} | {meaning} |", status.code());
    }
    text.push_str(
        "\nA plugin ends with a code of its own.\n\n\
         | Command | Status 3 with `--exit-status` |\n|---|---|\n\
         | `status` | no providers are installed, a provider is not ready, an object has drifted, an `init`, upgrade or move is \
         unfinished, or one of these cannot be looked for |\n\
         | `describe cluster` | the Cluster is not `Available`, is being deleted, or cannot be read as a whole |\n",
    );
    (format!("{REFERENCE}/exit-codes.md"), text)
}

/// Renders the providers available without configuration.
pub(super) fn built_in_providers() -> Result<Page> {
    let config = Config::new(None, Environment::default())?;
    let mut text = heading("Built-in providers");
    text.push_str("What `capstan provider list` shows without a configuration file.\n\n| Name | Type | Url |\n|---|---|---|\n");
    for provider in config.providers()? {
        let _ =
            writeln!(text, "| {} | {} | <{}> |", provider.id.name, provider.id.provider_type, provider.url);
    }
    Ok((format!("{REFERENCE}/providers.md"), text))
}

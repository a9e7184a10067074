use std::{collections::BTreeSet, fmt::Write as _};

use anyhow::Result;
use api::ExitStatus;
use provider::config::{Config, Environment};

use super::{Page, REFERENCE, heading};
use crate::{rows, workspace::Workspace};

/// Renders the exit codes of `api` as a page.
pub(super) fn exit_codes() -> Page {
    let mut text = heading("Exit codes");
    text.push_str("| Code | Meaning |\n|---|---|\n");
    for (status, meaning) in ExitStatus::TABLE {
        let _ = writeln!(text, "| {} | {meaning} |", status.code());
    }
    text.push_str(
        "\nA plugin exits with its own code.\n\n\
         | Command | Status 3, with `--exit-status` unless noted |\n|---|---|\n\
         | `status` | no providers are installed, a provider is not ready, an object has drifted, an `init`, upgrade, move, save \
         or restore is unfinished, or an object cannot be read |\n\
         | `describe cluster` | the Cluster is not `Available`, is being deleted, or cannot be read completely |\n\
         | `kustomize lint` | there are warnings |\n\
         | `component status` | a Component is not ready |\n\
         | `component diff` | a Component differs from the cluster |\n\
         | `component wait` | without the flag: a Component is not ready in time |\n\
         | `component apply` | without the flag: the controller of the cluster cannot apply a Component, or not in time |\n\
         | `catalog plan` | the catalog differs from its last version |\n",
    );
    (format!("{REFERENCE}/exit-codes.md"), text)
}

/// Renders the tests of each row of the contract and of the compatibility pages.
pub(super) fn tests_of_rows(workspace: &Workspace) -> Page {
    let rust = workspace.rust();
    let marks = rows::marks(&rust);
    let mut text = heading("Tests of each row");
    text.push_str(
        "The tests that verify each row of the [contract](../contract.md) and each difference from \
         [clusterctl](../compatibility.md).\n\n| Id | Tests |\n|---|---|\n",
    );
    let ids: BTreeSet<&str> = rows::rows(workspace).iter().map(|row| row.id).collect();
    for id in ids {
        let of_row = marks.iter().filter(|mark| mark.row == id);
        let tests: Vec<String> =
            of_row.filter_map(|mark| Some(format!("{} `{}`", mark.path, mark.test?))).collect();
        let _ = writeln!(text, "| {id} | {} |", tests.join("<br>"));
    }
    (format!("{REFERENCE}/tests.md"), text)
}

/// Renders the providers available without configuration.
pub(super) fn built_in_providers() -> Result<Page> {
    let config = Config::new(None, Environment::default())?;
    let mut text = heading("Built-in providers");
    text.push_str("The output of `capstan provider list` without a configuration file.\n\n| Name | Type | Url |\n|---|---|---|\n");
    for provider in config.providers()? {
        let _ =
            writeln!(text, "| {} | {} | <{}> |", provider.id.name, provider.id.provider_type, provider.url);
    }
    Ok((format!("{REFERENCE}/providers.md"), text))
}

use std::fmt::Write as _;

use api::ExitStatus;

use super::{Page, REFERENCE, heading};

/// The table of `api` as a page.
pub(super) fn page() -> Page {
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

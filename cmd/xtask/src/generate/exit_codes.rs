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
    text.push_str("\nA plugin ends with a code of its own.\n");
    (format!("{REFERENCE}/exit-codes.md"), text)
}

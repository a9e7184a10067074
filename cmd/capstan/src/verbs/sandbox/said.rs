//! What another run of this program wrote to its stderr, as [`Messages`](crate::ui::Messages) writes it.

use crate::Failure;

/// The texts of its warnings.
pub(super) fn warnings(stderr: &str) -> impl Iterator<Item = String> {
    messages(stderr).into_iter().filter(|(label, _)| *label == "warning").map(|(_, text)| text)
}

/// Adds the failure it ended with: its message and its causes as causes, its hints as hints.
pub(super) fn add_failure(mut failure: Failure, stderr: &str) -> Failure {
    for (label, text) in messages(stderr) {
        failure = match label {
            "error" | "cause" => failure.cause(text),
            "hint" => failure.hint(text),
            _ => failure,
        };
    }
    failure
}

/// Each labelled message with its label, in order. Lines that go on with a message are indented; status lines have no
/// label and are left out.
fn messages(stderr: &str) -> Vec<(&'static str, String)> {
    const LABELS: [(&str, &str); 4] =
        [("error", "error: "), ("cause", "  cause: "), ("hint", "hint: "), ("warning", "warning: ")];
    let mut messages: Vec<(&str, String)> = Vec::new();
    let mut goes_on = false;
    for line in stderr.lines() {
        let labelled =
            LABELS.iter().find_map(|(label, prefix)| Some((*label, line.strip_prefix(prefix)?.to_owned())));
        match (labelled, line.strip_prefix("    "), messages.last_mut()) {
            (Some(message), ..) => {
                messages.push(message);
                goes_on = true;
            }
            (None, Some(rest), Some((_, text))) if goes_on => {
                text.push('\n');
                text.push_str(rest);
            }
            _ => goes_on = false,
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    const STDERR: &str = "sandbox `lab` serves at https://127.0.0.1:1
warning: one
    goes on
a status line
    of two lines
error: cannot use the data directory
  cause: it is damaged
    at byte 3
hint: put a copy back
";

    #[test]
    fn a_failure_of_another_run_becomes_causes_and_hints() {
        let failure = add_failure(Failure::new(Kind::Environment, "cannot start"), STDERR);
        assert_eq!(failure.causes(), ["cannot use the data directory", "it is damaged\nat byte 3"]);
        assert_eq!(failure.distinct_hints().collect::<Vec<_>>(), ["put a copy back"]);
    }

    #[test]
    fn warnings_are_passed_on_whole_and_status_lines_are_not() {
        assert_eq!(warnings(STDERR).collect::<Vec<_>>(), ["one\ngoes on"]);
    }
}

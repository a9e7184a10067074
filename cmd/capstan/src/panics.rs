use std::{
    backtrace::{Backtrace, BacktraceStatus},
    io::Write as _,
    panic::PanicHookInfo,
};

use crate::ui::sanitize;

/// Installs a panic hook that reports a bug in capstan in a few lines. `RUST_BACKTRACE=1` adds a backtrace.
pub fn report_panics() {
    std::panic::set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    if what.starts_with(apply::INVALID_TOKEN) {
        // The error of the connection reports it.
        return;
    }
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let mut text = message(what, &place);
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        text.push_str(&backtrace.to_string());
    }
    // A closed stderr cannot show the error.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn message(what: &str, place: &str) -> String {
    format!(
        "error: this is a bug in capstan {}\n  cause: {} ({place})\n\
         hint: report this bug with the command line and the backtrace that `RUST_BACKTRACE=1` prints\n",
        env!("CARGO_PKG_VERSION"),
        sanitize(what)
    )
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::message;

    // Row: D-75
    #[test]
    fn a_panic_asks_for_a_bug_report() {
        let text = message("no such\u{1b}[2J thing", "a.rs:1:2");
        // The snapshot does not tell a backslash from a slash.
        assert!(text.contains("no such\\u{1b}[2J thing"), "{text}");
        assert_data_eq!(
            text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]"),
            str![[r#"
error: this is a bug in capstan [VERSION]
  cause: no such/u{1b}[2J thing (a.rs:1:2)
hint: report this bug with the command line and the backtrace that `RUST_BACKTRACE=1` prints

"#]]
        );
    }
}

//! Intended differences of a server: a list of `page.md#heading: reason`, and the user documentation that must name
//! them.

use std::collections::BTreeMap;

/// Parses the reasons by `page.md#heading`. Empty lines and lines that start with `# ` are skipped.
///
/// # Errors
/// Fails on a line without a reason.
pub fn read(text: &str) -> Result<BTreeMap<String, String>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines
        .map(|line| {
            let (case, reason) = line.split_once(": ").ok_or_else(|| format!("no reason given: {line}"))?;
            Ok((case.to_owned(), reason.to_owned()))
        })
        .collect()
}

/// The differences whose heading does not appear in the user documentation.
pub fn undocumented<'d>(departures: &'d BTreeMap<String, String>, readers: &str) -> Vec<&'d str> {
    let is_named = |case: &str| case.split_once('#').is_some_and(|(_, heading)| readers.contains(heading));
    departures.keys().map(String::as_str).filter(|case| !is_named(case)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_difference_has_a_case_a_reason_and_a_heading() {
        let found = read("# Comment\n\na.md#It works: not here\nb.md#It fails: never\n").unwrap();
        assert_eq!(found["a.md#It works"], "not here");
        assert_eq!(undocumented(&found, "| It works | … |"), ["b.md#It fails"]);
        assert!(read("a.md#It works").is_err());
    }
}

/// True if a licence expression can be satisfied with the allowed licences.
/// Shape: SPDX (`MIT OR (Apache-2.0 AND Zlib)`), and the older `MIT/Apache-2.0`.
pub(super) fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    parse_or(&mut rest, allowed) && rest.is_empty()
}

fn parse_or(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = parse_and(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        met |= parse_and(words, allowed);
    }
    met
}

fn parse_and(words: &mut &[&str], allowed: &[&str]) -> bool {
    let mut met = parse_term(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        met &= parse_term(words, allowed);
    }
    met
}

fn parse_term(words: &mut &[&str], allowed: &[&str]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let met = parse_or(words, allowed);
            let [")", rest @ ..] = *words else { return false };
            *words = rest;
            met
        }
        [licence, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, rest @ ..] => {
            *words = rest;
            allowed.contains(licence)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn or_needs_one_licence_and_and_needs_all() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        for met in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR X) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(met, &allowed), "{met}");
        }
        for unmet in ["", "GPL-3.0", "MIT AND X", "(MIT", "MIT X", "GPL-3.0 WITH LLVM-exception"] {
            assert!(!is_allowed(unmet, &allowed), "{unmet}");
        }
    }
}

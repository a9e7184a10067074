//! Text of a screen without the parts that vary from run to run.

/// Numbers after these words vary. Numbers of one digit stay: tests use ports that no program listens on.
const BEFORE_NUMBERS: [&str; 4] = ["127.0.0.1:", "localhost:", "process ", "port "];

/// Shapes of times and of names of moves: `0` is a digit, `h` a hexadecimal digit.
const SHAPES: [&str; 3] = ["0000-00-00T00:00:00Z", "00:00:00 UTC", "hhhhhhhhhhhh-hhhhhhhh"];

/// Replaces durations, times, ports, process ids and the counts of interrupted runs by `[..]`.
pub(crate) fn without_varying_parts(text: &str) -> String {
    let lines =
        text.split_inclusive('\n').map(|line| without_shapes(without_numbers(without_duration(line))));
    lines.collect()
}

fn without_duration(line: &str) -> String {
    if let Some((_, result)) = line.strip_prefix("done in ").and_then(|rest| rest.split_once(": ")) {
        return format!("done in [..]: {result}");
    }
    let interrupted = line.split_once(" at least ").filter(|(start, _)| start.contains("interrupted"));
    if let Some((start, _)) = interrupted {
        return format!("{start} at least [..]\n");
    }
    match line.rsplit_once(" in ") {
        Some((objects, _)) if line.starts_with("applied ") => format!("{objects} in [..]\n"),
        _ => line.to_owned(),
    }
}

fn without_numbers(mut line: String) -> String {
    for word in BEFORE_NUMBERS {
        let mut from = 0;
        while let Some(at) = line[from..].find(word) {
            from += at + word.len();
            let digits = line[from..].chars().take_while(char::is_ascii_digit).count();
            if digits > 1 {
                line.replace_range(from..from + digits, "[..]");
            }
        }
    }
    line
}

fn without_shapes(mut line: String) -> String {
    for shape in SHAPES.map(str::as_bytes) {
        let fits = |bytes: &[u8]| {
            bytes.iter().zip(shape).all(|(byte, expected)| match expected {
                b'0' => byte.is_ascii_digit(),
                b'h' => byte.is_ascii_hexdigit(),
                _ => byte == expected,
            })
        };
        while let Some(at) = line.as_bytes().windows(shape.len()).position(fits) {
            line.replace_range(at..at + shape.len(), "[..]");
        }
    }
    line
}

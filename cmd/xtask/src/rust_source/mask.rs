/// Blanks comments, and overwrites literals with quotation marks.
///
/// Shape: the result has the same length and line breaks, so that positions are the same in both texts.
pub(super) fn mask(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let is_comment = bytes[at] == b'/';
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => end_of_line(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => end_of_block_comment(bytes, at),
            b'"' => end_of_string(bytes, at + 1),
            b'\'' => end_of_char(bytes, at),
            b'r' if !is_in_word(bytes, at) => end_of_raw_string(bytes, at).unwrap_or(at),
            _ => at,
        };
        for byte in &mut out[at..end] {
            if *byte != b'\n' {
                *byte = if is_comment { b' ' } else { b'"' };
            }
        }
        at = end.max(at + 1);
    }
    // Comments and literals were replaced completely, so the rest is still UTF-8.
    String::from_utf8_lossy(&out).into_owned()
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn end_of_block_comment(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a character literal. A lifetime is not a literal.
fn end_of_char(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => {
            let closing = bytes[at + 3..].iter().position(|&byte| byte == b'\'');
            closing.map_or(bytes.len(), |length| at + 3 + length + 1)
        }
        Some(_) => {
            let wide = bytes[at + 2..].iter().take_while(|&&byte| byte & 0xC0 == 0x80).count();
            let closing = at + 2 + wide;
            if bytes.get(closing) == Some(&b'\'') { closing + 1 } else { at }
        }
        None => at,
    }
}

fn end_of_raw_string(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|&&byte| byte == b'#').count();
    let start = at + 1 + hashes;
    if bytes.get(start) != Some(&b'"') {
        return None;
    }
    let closing = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let found = bytes[start + 1..].windows(closing.len()).position(|window| window == closing);
    Some(found.map_or(bytes.len(), |length| start + 1 + length + closing.len()))
}

/// True if the byte continues a word. `b` and `c` before a raw string are part of the literal.
fn is_in_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match bytes[..at] {
        [.., before, b'b' | b'c'] => is_word(&before),
        [.., before] => is_word(&before) && !matches!(before, b'b' | b'c'),
        [] => false,
    }
}

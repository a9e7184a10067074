//! The patterns of `#` and `%`: `*`, `?`, `[a-c]`, `[^a]` and `\c`; `*` also matches `/`.
//!
//! Source: path/match.go, applied to every prefix of the value as in funcs.go (trimShortest, trimLongest).

/// A pattern, split into the parts between its stars.
pub(super) struct Pattern<'p> {
    parts: Vec<Part<'p>>,
    /// True if no text makes matching fail.
    well_formed: bool,
    /// The last byte of every match, if the pattern fixes it.
    last: Option<u8>,
}

struct Part<'p> {
    /// True if any text may precede the part.
    star: bool,
    text: &'p [u8],
}

/// The pattern is malformed. Matching detects this only on reaching the malformed part, so not for every text.
struct MalformedPattern;

/// The remaining comparisons for the patterns of a template: several stars cost the square of the text length.
pub(super) struct StepBudget(u64);

/// No comparisons are left.
pub(super) struct TooManySteps;

impl StepBudget {
    pub(super) fn new(limit: u64) -> Self {
        Self(limit)
    }

    fn take(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

impl<'p> Pattern<'p> {
    pub(super) fn new(pattern: &'p [u8]) -> Self {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            let (part, after) = next_part(rest);
            parts.push(part);
            rest = after;
        }
        let well_formed = parts.iter().all(|part| is_well_formed(part.text));
        let last = match pattern {
            [.., b'\\', _] => None,
            [.., last] if !matches!(last, b'*' | b'?' | b']') => Some(*last),
            _ => None,
        };
        Self { parts, well_formed, last }
    }

    /// Returns the number of bytes that the pattern matches at the start of a text; 0 if it matches nothing or is
    /// malformed.
    ///
    /// The empty prefix never matches. A prefix may end inside a character; its bytes then count one by one.
    /// # Errors
    /// `TooManySteps` if no comparisons are left.
    pub(super) fn prefix(
        &self,
        text: &[u8],
        longest: bool,
        steps: &mut StepBudget,
    ) -> Result<usize, TooManySteps> {
        let found = if self.well_formed {
            let matches = |end: &usize| {
                self.last.is_none_or(|last| text[*end - 1] == last)
                    && self.matches(&text[..*end], steps).unwrap_or(false)
            };
            let mut ends = 1..=text.len();
            if longest { ends.rev().find(matches) } else { ends.find(matches) }.unwrap_or(0)
        } else {
            self.prefix_of_malformed(text, longest, steps)
        };
        if steps.0 == 0 { Err(TooManySteps) } else { Ok(found) }
    }

    /// Tries the prefixes from the longest down, like drone/envsubst: the order decides if the malformed part is
    /// reached.
    fn prefix_of_malformed(&self, text: &[u8], longest: bool, steps: &mut StepBudget) -> usize {
        let mut found = 0;
        for end in (1..=text.len()).rev() {
            match self.matches(&text[..end], steps) {
                Ok(true) if longest => return end,
                Ok(true) => found = end,
                Ok(false) => {}
                Err(MalformedPattern) => return 0,
            }
        }
        found
    }

    /// True if the pattern matches a whole text. Without remaining steps, it matches nothing.
    fn matches(&self, mut text: &[u8], steps: &mut StepBudget) -> Result<bool, MalformedPattern> {
        for (index, part) in self.parts.iter().enumerate() {
            if part.star && part.text.is_empty() {
                return Ok(true);
            }
            let last = index + 1 == self.parts.len();
            let furthest = if part.star { text.len() } else { 0 };
            let mut rest = None;
            for skipped in 0..=furthest {
                rest =
                    match_part(part.text, &text[skipped..], steps)?.filter(|rest| !last || rest.is_empty());
                if rest.is_some() || steps.0 == 0 {
                    break;
                }
            }
            let Some(rest) = rest else { return Ok(false) };
            text = rest;
        }
        Ok(text.is_empty())
    }
}

/// Splits off the stars at the start of a pattern and the part up to the next star.
fn next_part(pattern: &[u8]) -> (Part<'_>, &[u8]) {
    let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
    let text = &pattern[stars..];
    let mut in_class = false;
    let mut end = 0;
    while end < text.len() {
        match text[end] {
            // The last byte of a pattern escapes nothing; matching rejects it.
            b'\\' if end + 1 < text.len() => end += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'*' if !in_class => break,
            _ => {}
        }
        end += 1;
    }
    (Part { star: stars > 0, text: &text[..end] }, &text[end..])
}

/// Matches a part at the start of a text. Returns the rest of the text.
fn match_part<'t>(
    mut part: &[u8],
    mut text: &'t [u8],
    steps: &mut StepBudget,
) -> Result<Option<&'t [u8]>, MalformedPattern> {
    while let Some(byte) = part.first() {
        steps.take();
        // Checked first: at the end of the text, a malformed part stays undetected.
        if text.is_empty() {
            return Ok(None);
        }
        match byte {
            b'[' => {
                let (c, width) = decode(text);
                text = &text[width..];
                let (class, after) = Class::read(&part[1..], c)?;
                part = after;
                if class.matched == class.negated {
                    return Ok(None);
                }
            }
            b'?' => {
                text = &text[decode(text).1..];
                part = &part[1..];
            }
            _ => {
                if *byte == b'\\' {
                    part = &part[1..];
                }
                if *part.first().ok_or(MalformedPattern)? != text[0] {
                    return Ok(None);
                }
                part = &part[1..];
                text = &text[1..];
            }
        }
    }
    Ok(Some(text))
}

/// The result of a bracket for one character.
struct Class {
    negated: bool,
    matched: bool,
}

impl Class {
    /// Parses a bracket behind its `[`. Returns the pattern behind its `]`.
    fn read(mut part: &[u8], c: char) -> Result<(Self, &[u8]), MalformedPattern> {
        let negated = part.first() == Some(&b'^');
        if negated {
            part = &part[1..];
        }
        let mut matched = false;
        let mut ranges = 0;
        loop {
            if part.first() == Some(&b']') && ranges > 0 {
                return Ok((Self { negated, matched }, &part[1..]));
            }
            let (low, after) = class_character(part)?;
            part = after;
            let mut high = low;
            if part.first() == Some(&b'-') {
                (high, part) = class_character(&part[1..])?;
            }
            matched |= (low..=high).contains(&c);
            ranges += 1;
        }
    }
}

/// Parses a character of a bracket, which must not be the last of the pattern.
fn class_character(part: &[u8]) -> Result<(char, &[u8]), MalformedPattern> {
    let text = match part {
        [] | [b'-' | b']', ..] => return Err(MalformedPattern),
        [b'\\', rest @ ..] => rest,
        _ => part,
    };
    if text.is_empty() {
        return Err(MalformedPattern);
    }
    let (c, width) = decode(text);
    let broken = c == char::REPLACEMENT_CHARACTER && width == 1;
    if broken || width == text.len() { Err(MalformedPattern) } else { Ok((c, &text[width..])) }
}

/// True if no text makes matching the part fail.
fn is_well_formed(mut part: &[u8]) -> bool {
    while let Some(byte) = part.first() {
        part = match (byte, part.get(1)) {
            (b'[', _) => match Class::read(&part[1..], ' ') {
                Ok((_, after)) => after,
                Err(MalformedPattern) => return false,
            },
            (b'\\', Some(_)) => &part[2..],
            (b'\\', None) => return false,
            _ => &part[1..],
        };
    }
    true
}

/// Decodes the first character of a text that is not empty, with its length; an invalid byte is U+FFFD, of length 1.
fn decode(text: &[u8]) -> (char, usize) {
    let head = &text[..text.len().min(4)];
    let first = head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    first.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8()))
}

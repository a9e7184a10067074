//! The order of keys in printed YAML.

use std::cmp::Ordering;

/// Sorts the entries of a mapping from byte order into print order.
///
/// The comparison is no total order: `12:`, `1c` and `9` form a cycle. The standard sort may panic on a cycle, and the
/// result of Go's sort is arbitrary. This function always returns the same one of the orders possible in Go.
pub(super) fn sort<V: Copy>(entries: &mut [(&str, V)]) {
    if entries.is_sorted_by(|(a, _), (b, _)| compare(a, b) != Ordering::Greater) {
        return;
    }
    entries.reverse();
    merge_sort(entries, &mut Vec::with_capacity(entries.len()));
}

fn merge_sort<'a, V: Copy>(entries: &mut [(&'a str, V)], scratch: &mut Vec<(&'a str, V)>) {
    if entries.len() < 2 {
        return;
    }
    let (left, right) = entries.split_at_mut(entries.len() / 2);
    merge_sort(left, scratch);
    merge_sort(right, scratch);
    scratch.clear();
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if compare(a.0, b.0) == Ordering::Greater { right.next() } else { left.next() };
        scratch.extend(next);
    }
    scratch.extend(left);
    scratch.extend(right);
    entries.copy_from_slice(scratch);
}

/// Compares two keys in print order: numbers by value, other signs before digits, both before letters, letters by code
/// point.
///
/// Source: go.yaml.in/yaml/v2 2.4.3 sorter.go (keyList.Less), including its overflow for numbers of 19 or more digits.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let same = a.as_bytes().iter().zip(b.as_bytes()).take_while(|(left, right)| left == right).count();
    // Back to the start of the first different character.
    let mut at = same;
    while !a.is_char_boundary(at) || !b.is_char_boundary(at) {
        at -= 1;
    }
    let (Some(left), Some(right)) = (a[at..].chars().next(), b[at..].chars().next()) else {
        return a.len().cmp(&b.len());
    };
    match (left.is_alphabetic(), right.is_alphabetic()) {
        (true, true) => left.cmp(&right),
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare_numbers(a.as_bytes(), b.as_bytes(), at).then(left.cmp(&right)),
    }
}

/// Compares the digits at a position; missing digits count as zero, with length zero.
fn compare_numbers(a: &[u8], b: &[u8], at: usize) -> Ordering {
    let (left, right) = (digits(&a[at..]), digits(&b[at..]));
    // A zero inside a number is no leading zero.
    let continues = (a[at] == b'0' || b[at] == b'0')
        && a[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).any(|digit| *digit != b'0');
    let size = |digits: &[u8]| {
        digits.iter().fold(i64::from(continues), |sum, digit| {
            sum.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'))
        })
    };
    size(left).cmp(&size(right)).then(left.len().cmp(&right.len()))
}

fn digits(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_usual_kubernetes_order() {
        let mut keys = ["ab", "aB", "a10", "a_b", "a9", "a/b", "a.b", "a-b", "A", "1", "_u", "a", "a1"];
        keys.sort_by(|a, b| compare(a, b));
        assert_eq!(keys, ["_u", "1", "A", "a", "a-b", "a.b", "a/b", "a_b", "a1", "a9", "a10", "aB", "ab"]);
    }

    // Row: D-48
    #[test]
    fn sorting_keys_never_panics_and_loses_none() {
        let keys = short_keys();
        let mut entries: Vec<(&str, ())> = keys.iter().map(|key| (key.as_str(), ())).collect();
        sort(&mut entries);
        let mut sorted: Vec<&str> = entries.iter().map(|(key, ())| *key).collect();
        sorted.sort_unstable();
        let mut expected: Vec<&str> = keys.iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(sorted, expected);
    }

    // Row: D-48
    #[test]
    fn key_comparison_is_antisymmetric() {
        let keys = short_keys();
        for (index, left) in keys.iter().enumerate() {
            for right in &keys[index + 1..] {
                assert_eq!(compare(left, right), compare(right, left).reverse(), "{left} {right}");
                assert_ne!(compare(left, right), Ordering::Equal, "{left} {right}");
            }
        }
    }

    /// All keys of up to three of these characters, and some with numbers that overflow.
    fn short_keys() -> Vec<String> {
        let letters = ["0", "1", "2", "-", "_", "a", "B", "é"];
        let mut keys = vec![String::new()];
        for length in 0..3 {
            let longer: Vec<String> = keys
                .iter()
                .filter(|key| key.chars().count() == length)
                .flat_map(|key| letters.iter().map(move |letter| format!("{key}{letter}")))
                .collect();
            keys.extend(longer);
        }
        keys.extend((1..200_u64).map(|seed| format!("k{seed}{}", seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
        keys
    }
}

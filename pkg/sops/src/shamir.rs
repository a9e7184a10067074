//! Shamir's secret sharing over the field of 256 elements, with the polynomial of AES.
//!
//! A share has one byte for each byte of the secret, and its own coordinate at the end. No operation branches on, or
//! indexes with, a secret byte.

use zeroize::Zeroizing;

use crate::SopsError;
use crate::tree::Secret;

/// Combines shares to the secret, which is the value of each polynomial at zero.
///
/// # Errors
/// `Shares` if there are less than two, or if they do not fit together. Wrong shares give a wrong secret.
pub(crate) fn combine(shares: &[Secret]) -> Result<Secret, SopsError> {
    let length = shares.first().map_or(0, |share| share.len());
    if shares.len() < 2 || length < 2 {
        return Err(SopsError::Shares("its parts need at least two shares of two bytes"));
    }
    if shares.iter().any(|share| share.len() != length) {
        return Err(SopsError::Shares("its parts have different lengths"));
    }
    let coordinates: Vec<u8> = shares.iter().map(|share| share[length - 1]).collect();
    let is_repeated = |(index, one)| coordinates[..index].contains(one);
    if coordinates.contains(&0) || coordinates.iter().enumerate().any(is_repeated) {
        return Err(SopsError::Shares("two of its parts have the same coordinate, or one has none"));
    }
    let mut secret = Zeroizing::new(vec![0; length - 1]);
    for (index, share) in shares.iter().enumerate() {
        let weight = weight_at_zero(index, &coordinates);
        for (byte, part) in secret.iter_mut().zip(share.iter()) {
            *byte ^= multiply(*part, weight);
        }
    }
    Ok(secret)
}

/// Returns the Lagrange basis polynomial of one coordinate at zero.
fn weight_at_zero(index: usize, coordinates: &[u8]) -> u8 {
    let own = coordinates[index];
    let others = coordinates.iter().enumerate().filter(|(other, _)| *other != index);
    others.fold(1, |weight, (_, other)| multiply(weight, multiply(*other, inverse(*other ^ own))))
}

/// Multiplies without branches.
fn multiply(left: u8, right: u8) -> u8 {
    let (mut sum, mut term) = (0, left);
    for bit in 0..8 {
        sum ^= term & (right >> bit & 1).wrapping_neg();
        term = (term << 1) ^ (0x1B & (term >> 7).wrapping_neg());
    }
    sum
}

/// Returns the inverse of an element other than zero, its 254th power.
fn inverse(element: u8) -> u8 {
    (0..6).fold(multiply(element, element), |power, _| {
        let next = multiply(power, element);
        multiply(next, next)
    })
}

#[cfg(test)]
mod tests {
    use super::{inverse, multiply};

    #[test]
    fn every_element_times_its_inverse_is_one() {
        for element in 1..=255 {
            assert_eq!(multiply(element, inverse(element)), 1, "{element}");
        }
        assert_eq!(multiply(0x57, 0x83), 0xC1);
    }
}

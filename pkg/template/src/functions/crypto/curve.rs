//! A key on the curve P-256 from a seed. Such keys are repeatable on purpose, so the arithmetic need not hide them.

use num_bigint::{BigInt, BigUint, Sign};

use crate::random::Random;

const PRIME: &[u8] = b"ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
const ORDER: &[u8] = b"ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const X: &[u8] = b"6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
const Y: &[u8] = b"4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";

fn number(digits: &[u8]) -> BigInt {
    BigInt::parse_bytes(digits, 16).unwrap_or_default()
}

/// A point; `None` is the point at infinity.
type Point = Option<(BigInt, BigInt)>;

/// Returns the secret and the uncompressed public point of a new key.
pub(super) fn key(random: &mut Random) -> Result<(Vec<u8>, Vec<u8>), String> {
    let order = number(ORDER);
    let secret = loop {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        let secret = BigInt::from_bytes_be(Sign::Plus, &bytes);
        if secret != BigInt::ZERO && secret < order {
            break secret;
        }
    };
    let prime = number(PRIME);
    let mut result: Point = None;
    let mut power: Point = Some((number(X), number(Y)));
    for bit in 0..256 {
        if secret.bit(bit) {
            result = add(&result, &power, &prime);
        }
        power = add(&power, &power, &prime);
    }
    let (x, y) = result.ok_or("the secret is zero")?;
    let padded = |number: &BigInt| {
        let bytes = number.to_biguint().unwrap_or_else(|| BigUint::from(0_u32)).to_bytes_be();
        [vec![0; 32 - bytes.len()], bytes].concat()
    };
    Ok((padded(&secret), [vec![4], padded(&x), padded(&y)].concat()))
}

fn add(left: &Point, right: &Point, prime: &BigInt) -> Point {
    let (Some((x1, y1)), Some((x2, y2))) = (left, right) else {
        return left.clone().or_else(|| right.clone());
    };
    let slope = if x1 == x2 {
        if y1 != y2 {
            return None;
        }
        (BigInt::from(3) * x1 * x1 - 3) * (BigInt::from(2) * y1).modinv(prime)?
    } else {
        (y2 - y1) * (x2 - x1).modinv(prime)?
    };
    let x = positive(&(&slope * &slope - x1 - x2), prime);
    let y = positive(&(slope * (x1 - &x) - y1), prime);
    Some((x, y))
}

fn positive(number: &BigInt, prime: &BigInt) -> BigInt {
    (number % prime + prime) % prime
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};

    #[test]
    fn the_public_point_belongs_to_the_secret() {
        let (secret, point) = super::key(&mut crate::random::Random::new(Some(1))).expect("a key");
        let random = ring::rand::SystemRandom::new();
        let pair = EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_ASN1_SIGNING,
            &secret,
            &point,
            &random,
        );
        assert!(pair.is_ok(), "ring compares the two");
    }
}

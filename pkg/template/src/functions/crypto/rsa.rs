//! New RSA keys. The crate `ring` checks them and signs with them, but cannot make them.

use crypto_bigint::{U1024, U2048, Uint};
use num_bigint::BigUint;

use super::keys;
use super::prime::prime;
use crate::random::Random;

/// A private key as the numbers of PKCS#1.
pub(super) struct PrivateKey {
    numbers: [BigUint; 8],
}

/// Makes a key of 2048 bits.
pub(super) fn generate_2048(random: &mut Random) -> Result<PrivateKey, String> {
    generate::<{ U1024::LIMBS }>(random)
}

/// Makes a key of 4096 bits.
pub(super) fn generate_4096(random: &mut Random) -> Result<PrivateKey, String> {
    generate::<{ U2048::LIMBS }>(random)
}

/// Makes a key of two primes with this many limbs, with the exponent 65537.
fn generate<const LIMBS: usize>(random: &mut Random) -> Result<PrivateKey, String> {
    let bits = u64::from(Uint::<LIMBS>::BITS) * 2;
    let one = BigUint::from(1_u32);
    let exponent = BigUint::from(65_537_u32);
    loop {
        let (mut p, mut q) = (prime::<LIMBS>(random)?, prime::<LIMBS>(random)?);
        if p < q {
            std::mem::swap(&mut p, &mut q);
        }
        let modulus = &p * &q;
        let (before_p, before_q) = (&p - &one, &q - &one);
        // Keys whose primes are close are weak; they practically do not occur.
        if (&p - &q).bits() < bits / 2 - 100 || modulus.bits() != bits {
            continue;
        }
        let totient = &before_p * &before_q;
        let (Some(private), Some(inverse)) = (exponent.modinv(&totient), q.modinv(&p)) else {
            continue;
        };
        let numbers =
            [modulus, exponent, private.clone(), p, q, &private % &before_p, &private % &before_q, inverse];
        return Ok(PrivateKey { numbers });
    }
}

impl PrivateKey {
    /// Returns the key in the form of PKCS#1.
    pub(super) fn der(&self) -> Vec<u8> {
        yasna::construct_der(|writer| {
            writer.write_sequence(|writer| {
                writer.next().write_u8(0);
                for number in &self.numbers {
                    writer.next().write_bigint_bytes(&number.to_bytes_be(), true);
                }
            });
        })
    }

    pub(super) fn pem(&self) -> String {
        keys::pem("RSA PRIVATE KEY", &self.der())
    }
}

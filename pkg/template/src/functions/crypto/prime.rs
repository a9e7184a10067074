//! Random prime numbers.

use core::num::NonZeroU32;

use crypto_bigint::modular::{FixedMontyForm, FixedMontyParams};
use crypto_bigint::{Odd, Uint};
use crypto_primes::Flavor;
use crypto_primes::hazmat::SmallFactorsSieve;
use num_bigint::BigUint;

use crate::random::Random;

/// Returns a random prime number that fills all limbs, the two highest bits set.
///
/// Numbers are tested by Fermat with base 2, which finds nearly all composite numbers in three quarters of the time. The
/// others are tested by Miller and Rabin with base 2, then by Lucas (Baillie-PSW); no composite number is known that passes
/// both.
pub(super) fn prime<const LIMBS: usize>(random: &mut Random) -> Result<BigUint, String> {
    let bits = Uint::<LIMBS>::BITS;
    let length = NonZeroU32::new(bits).ok_or("a prime number has at least two bits")?;
    let mut bytes = vec![0; Uint::<LIMBS>::BYTES];
    loop {
        random.fill(&mut bytes)?;
        bytes[0] |= 0b1100_0000;
        let start = Uint::<LIMBS>::from_be_slice(&bytes);
        let mut numbers = SmallFactorsSieve::new(start, length, false).map_err(|error| error.to_string())?;
        let is_prime =
            |number: &Uint<LIMBS>| passes_fermat(number) && crypto_primes::is_prime(Flavor::Any, number);
        if let Some(prime) = numbers.find(is_prime) {
            return Ok(BigUint::from_bytes_be(prime.to_be_bytes().as_ref()));
        }
    }
}

/// True for prime numbers and very few composite ones, given an odd number: 2 to the power of its predecessor leaves 1.
fn passes_fermat<const LIMBS: usize>(number: &Uint<LIMBS>) -> bool {
    let Some(odd) = Odd::new(*number).into_option() else { return false };
    let one = FixedMontyForm::one(&FixedMontyParams::new_vartime(odd));
    let exponent = number.wrapping_sub(&Uint::ONE);
    let power = (0..Uint::<LIMBS>::BITS).rev().fold(one, |power, bit| {
        let square = power.square();
        if exponent.bit_vartime(bit) { square.double() } else { square }
    });
    power == one
}

#[cfg(test)]
mod tests {
    use crypto_bigint::{U128, U1024};
    use num_bigint::BigUint;

    use super::prime;
    use crate::random::Random;

    #[test]
    fn numbers_are_prime_and_as_long_as_asked() {
        for seed in 0..20 {
            let number = prime::<{ U128::LIMBS }>(&mut Random::new(Some(seed))).expect("a prime number");
            assert_eq!(number.bits(), 128);
            // Fermat's test with other bases than those of the search.
            for base in [3_u32, 5, 7, 11, 13] {
                let power = BigUint::from(base).modpow(&(&number - 1_u32), &number);
                assert_eq!(power, BigUint::from(1_u32), "{number}");
            }
        }
        let number = prime::<{ U1024::LIMBS }>(&mut Random::new(Some(1))).expect("a prime number");
        assert_eq!((number.bits(), number >> 1022_u32), (1024, BigUint::from(3_u32)));
    }
}

//! Random prime numbers.

use num_bigint::BigUint;

use crate::random::Random;

/// The rounds of the test, each of which misses at most a quarter of the composite numbers.
const ROUNDS: usize = 20;
/// The numbers that a candidate is divided by first.
const SMALL: u32 = 4_000;

/// Returns a random number with exactly this many bits, the two highest ones set.
fn candidate(random: &mut Random, bits: u64) -> Result<BigUint, String> {
    let mut bytes = vec![0; usize::try_from(bits / 8).unwrap_or_default()];
    random.fill(&mut bytes)?;
    let mut number = BigUint::from_bytes_be(&bytes);
    number.set_bit(bits - 1, true);
    number.set_bit(bits - 2, true);
    number.set_bit(0, true);
    Ok(number)
}

/// Returns a random prime number with this many bits, a multiple of eight.
pub(super) fn prime(random: &mut Random, bits: u64) -> Result<BigUint, String> {
    let small: Vec<u32> =
        (3..SMALL).step_by(2).filter(|n| (3..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
    loop {
        let start = candidate(random, bits)?;
        let remainders: Vec<u32> = small.iter().map(|prime| remainder(&start, *prime)).collect();
        for step in (0..4_096_u32).step_by(2) {
            let has_factor = small.iter().zip(&remainders).any(|(prime, rest)| (rest + step) % prime == 0);
            if has_factor {
                continue;
            }
            let number = &start + step;
            if number.bits() == bits && is_prime(random, &number)? {
                return Ok(number);
            }
        }
    }
}

fn remainder(number: &BigUint, divisor: u32) -> u32 {
    (number % divisor).iter_u32_digits().next().unwrap_or(0)
}

/// Tests a number by Miller and Rabin, with random bases.
fn is_prime(random: &mut Random, number: &BigUint) -> Result<bool, String> {
    let one = BigUint::from(1_u32);
    let before = number - &one;
    let twos = before.trailing_zeros().unwrap_or(0);
    let odd = &before >> twos;
    for _ in 0..ROUNDS {
        let base = candidate(random, number.bits() - 8)?;
        let mut power = base.modpow(&odd, number);
        if power == one || power == before {
            continue;
        }
        let mut is_witness = true;
        for _ in 1..twos {
            power = &power * &power % number;
            if power == before {
                is_witness = false;
                break;
            }
        }
        if is_witness {
            return Ok(false);
        }
    }
    Ok(true)
}

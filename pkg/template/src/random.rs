//! Random bytes, from the system or from a seed.

use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};

/// A source of random bytes: SHA-256 over a key and a counter.
pub(crate) struct Random {
    /// `None` until the first use without a seed.
    key: Option<[u8; 32]>,
    is_seeded: bool,
    counter: u64,
    block: [u8; 32],
    /// The number of bytes of the block that were used.
    used: usize,
}

impl Random {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        let key = seed.map(|seed| sha256(&[b"capstan template seed", &seed.to_be_bytes()]));
        Self { is_seeded: seed.is_some(), key, counter: 0, block: [0; 32], used: 32 }
    }

    /// True for a source whose bytes are repeatable.
    pub(crate) fn is_seeded(&self) -> bool {
        self.is_seeded
    }

    /// Fills a buffer. An error means that the system has no random numbers.
    pub(crate) fn fill(&mut self, out: &mut [u8]) -> Result<(), String> {
        let key = match self.key {
            Some(key) => key,
            None => *self.key.insert(system_key()?),
        };
        for byte in out {
            if self.used == self.block.len() {
                self.block = sha256(&[&key, &self.counter.to_be_bytes()]);
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
        Ok(())
    }

    /// Returns a number below a bound, each with the same probability.
    pub(crate) fn below(&mut self, bound: u64) -> Result<u64, String> {
        let zone = u64::MAX - u64::MAX % bound.max(1);
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes)?;
            let number = u64::from_be_bytes(bytes);
            if number < zone {
                return Ok(number % bound.max(1));
            }
        }
    }
}

fn system_key() -> Result<[u8; 32], String> {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| "the system has no random numbers".to_owned())?;
    Ok(key)
}

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part);
    }
    let mut out = [0; 32];
    out.copy_from_slice(context.finish().as_ref());
    out
}

#[cfg(test)]
mod tests {
    use super::Random;

    fn bytes(seed: Option<u64>) -> Vec<u8> {
        let mut out = vec![0; 100];
        Random::new(seed).fill(&mut out).expect("random bytes");
        out
    }

    #[test]
    fn a_seed_repeats_and_the_system_does_not() {
        assert_eq!(bytes(Some(1)), bytes(Some(1)));
        assert_ne!(bytes(Some(1)), bytes(Some(2)));
        assert_ne!(bytes(None), bytes(None));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(Some(7));
        let numbers: Vec<u64> = (0..1000).map(|_| random.below(10).expect("a number")).collect();
        assert!((0..10).all(|digit| numbers.contains(&digit)), "every digit occurs");
        assert!(numbers.iter().all(|number| *number < 10));
    }
}

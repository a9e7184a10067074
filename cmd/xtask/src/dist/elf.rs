//! The facts of an ELF file that decide on which machines it runs.

use anyhow::{Context as _, Result, bail};

use super::target::Architecture;

const MAGIC: &[u8] = b"\x7fELF";
/// 64 bits, little-endian.
const CLASS_AND_ORDER: [u8; 2] = [2, 1];
/// The type of the program header that names the dynamic loader.
const INTERPRETER: u32 = 3;

/// Checks that a program is for this architecture and needs no shared libraries.
///
/// # Errors
/// Fails with the reason.
pub(super) fn check(binary: &[u8], architecture: Architecture) -> Result<()> {
    if !binary.starts_with(MAGIC) || binary.get(4..6) != Some(&CLASS_AND_ORDER) {
        bail!("it is not an ELF file with 64 bits");
    }
    let truncated = || "its header is truncated";
    let machine = u16::from_le_bytes(field(binary, 18).with_context(truncated)?);
    if machine != architecture.elf_machine {
        bail!("it is for another architecture than {}", architecture.rust);
    }
    let start = usize::try_from(u64::from_le_bytes(field(binary, 32).with_context(truncated)?))?;
    let size = usize::from(u16::from_le_bytes(field(binary, 54).with_context(truncated)?));
    let count = usize::from(u16::from_le_bytes(field(binary, 56).with_context(truncated)?));
    for index in 0..count {
        let at = start.checked_add(index * size).with_context(truncated)?;
        if u32::from_le_bytes(field(binary, at).with_context(truncated)?) == INTERPRETER {
            bail!("it needs shared libraries; build it with `-C target-feature=+crt-static`");
        }
    }
    Ok(())
}

fn field<const N: usize>(binary: &[u8], at: usize) -> Option<[u8; N]> {
    binary.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::dist::target::Target;

    /// A header with one program header of this type.
    pub(in crate::dist) fn program(machine: u16, header: u32) -> Vec<u8> {
        let mut binary = vec![0; 120];
        binary[..4].copy_from_slice(MAGIC);
        binary[4..6].copy_from_slice(&CLASS_AND_ORDER);
        binary[18..20].copy_from_slice(&machine.to_le_bytes());
        binary[32..40].copy_from_slice(&64u64.to_le_bytes());
        binary[54..56].copy_from_slice(&56u16.to_le_bytes());
        binary[56..58].copy_from_slice(&1u16.to_le_bytes());
        binary[64..68].copy_from_slice(&header.to_le_bytes());
        binary
    }

    #[test]
    fn a_static_program_of_the_architecture_is_accepted() {
        let architecture = Target::parse("x86_64-unknown-linux-musl").unwrap().architecture;
        check(&program(62, 1), architecture).unwrap();
        let error = |binary: &[u8]| check(binary, architecture).unwrap_err().to_string();
        assert_eq!(error(&program(183, 1)), "it is for another architecture than x86_64");
        assert!(error(&program(62, INTERPRETER)).starts_with("it needs shared libraries"));
        assert_eq!(error(b"#!/bin/sh"), "it is not an ELF file with 64 bits");
        let whole = program(62, 1);
        for length in 0..64 {
            check(&whole[..length], architecture).unwrap_err();
        }
    }
}

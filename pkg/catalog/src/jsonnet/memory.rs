//! The memory of this process, which programs must not fill.

use std::fs;

/// The limit of the memory of the process while programs run.
pub(super) const MAX_BYTES: u64 = 4 << 30;

/// True if the process has more memory than programs may fill. Only Linux tells the size of a process in a file.
pub(super) fn is_full() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    resident_bytes(&status).is_some_and(|bytes| bytes > MAX_BYTES)
}

fn resident_bytes(status: &str) -> Option<u64> {
    let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(size.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_process_is_read_from_its_status() {
        let status = "Name:\tcapstan\nVmPeak:\t    9000 kB\nVmRSS:\t    2048 kB\nThreads:\t1\n";
        assert_eq!(resident_bytes(status), Some(2 << 20));
        assert_eq!(resident_bytes("Name:\tcapstan\n"), None);
    }
}

//! The most memory that this process has had, as the system reports it.

use std::fs;

/// Begins a new measurement. Without this, the measurement begins with the process. Returns whether the system supports it.
pub fn reset() -> bool {
    // Writing 5 resets the peak, as proc(5) says.
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The peak of the resident memory in bytes; `None` if the system does not report it.
pub fn bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

//! Runs a command, and prints microseconds of wall time, microseconds of processor time, and the peak memory in KiB.
//!
//! The system counts the peak memory of all children of a process together, and the memory of a process until it starts
//! another program. So each run has a process of its own, which is small.

use std::{
    env,
    error::Error,
    io::{Write as _, stdout},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let program = arguments.next().ok_or("no command")?;
    let start = Instant::now();
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let wall = start.elapsed();
    let (cpu, memory) = used_by_children()?;
    writeln!(stdout(), "{} {} {memory}", wall.as_micros(), cpu.as_micros())?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(unix)]
fn used_by_children() -> Result<(Duration, u64), Box<dyn Error>> {
    use nix::sys::{
        resource::{UsageWho, getrusage},
        time::TimeValLike as _,
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts KiB, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    Ok((Duration::from_micros(u64::try_from(micros)?), u64::try_from(usage.max_rss())? / unit))
}

#[cfg(not(unix))]
fn used_by_children() -> Result<(Duration, u64), Box<dyn Error>> {
    Err("this system does not report the figures of a child process".into())
}

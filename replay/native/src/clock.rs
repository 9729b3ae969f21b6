//! CLOCK_MONOTONIC in nanoseconds, and waiting for an instant of it.

use std::hint;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

const NS_PER_S: i64 = 1_000_000_000;

/// Longest sleep at a time, so that who waits can be stopped.
const SLICE_NS: i64 = 50_000_000;

/// Now.
///
/// # Errors
/// When the kernel has no such clock.
pub fn monotonic_ns() -> Result<i64, Errno> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec().saturating_mul(NS_PER_S).saturating_add(now.tv_nsec()))
}

/// Has sleeps of this thread end when asked to: a thread's timers may else fire 50 us later.
pub fn sleep_precisely() {
    // Without it frames may be late by as much, which the log tells: no reason to give up.
    let _ = prctl::set_timerslack(1);
}

/// Waits until `deadline_ns`: asleep until `spin_ns` before it, then by looking at the clock, since
/// waking up takes a time that nobody knows. Returns the time, which is earlier when `stopped` says
/// that waiting is over.
///
/// # Errors
/// When the kernel has no such clock.
pub fn wait_until(
    deadline_ns: i64,
    spin_ns: i64,
    stopped: impl Fn() -> bool,
) -> Result<i64, Errno> {
    loop {
        let now_ns = monotonic_ns()?;
        if now_ns >= deadline_ns {
            return Ok(now_ns);
        }
        if deadline_ns.saturating_sub(now_ns) <= spin_ns {
            hint::spin_loop();
            continue;
        }
        if stopped() {
            return Ok(now_ns);
        }
        let wake_ns = deadline_ns.saturating_sub(spin_ns).min(now_ns.saturating_add(SLICE_NS));
        sleep_until(wake_ns)?;
    }
}

fn sleep_until(wake_ns: i64) -> Result<(), Errno> {
    let wake = TimeSpec::new(wake_ns / NS_PER_S, wake_ns % NS_PER_S);
    match clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &wake) {
        // A signal's handler ran: the caller looks at the clock anyway.
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(other) => Err(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_early() {
        for (ahead_ns, spin_ns) in [(0, 0), (3_000_000, 0), (300_000, 100_000), (50_000, 100_000)] {
            let deadline_ns = monotonic_ns().unwrap() + ahead_ns;
            assert!(wait_until(deadline_ns, spin_ns, || false).unwrap() >= deadline_ns);
        }
    }

    #[test]
    fn a_long_wait_is_stopped() {
        let start_ns = monotonic_ns().unwrap();
        let deadline_ns = start_ns + 3600 * NS_PER_S;
        let woken_ns = wait_until(deadline_ns, 0, || {
            monotonic_ns().is_ok_and(|now_ns| now_ns > start_ns + 1_000_000)
        });
        assert!(woken_ns.unwrap() < deadline_ns);
    }
}

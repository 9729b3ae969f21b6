//! What is odd about packets: how often, and where first and last.

use super::script::{HANDSHAKE, Scene, established, ms, play};
use crate::ledger::{Ledger, OddityRow};

fn of<'l>(ledger: &'l Ledger, kind: &str) -> Vec<&'l OddityRow> {
    ledger.oddities.iter().filter(|row| row.kind == kind).collect()
}

/// Three SACKs on path 1, and the first chunk comes again on the other path: a had none of them.
const IN_VAIN: &str = "
      100  a1 -> b1  DATA 1
      101  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2
      201  a1 <- b1  SACK 2
      300  a1 -> b1  DATA 3
      301  a1 <- b1  SACK 3";

#[test]
fn sacks_that_a_path_swallows() {
    let ledger = established(&format!("{IN_VAIN}\n1100  a2 -> b2  DATA 1\n2100  a2 -> b2  DATA 1"));
    let rows = of(&ledger, "unheeded-sack");
    let [row] = rows[..] else { panic!("{:?}", ledger.oddities) };
    assert_eq!((row.sender, row.path, row.count), ("b", Some(0), 2));
    assert_eq!((row.first_ns, row.last_ns), (ms(1100), ms(2100)));
}

#[test]
fn one_sack_can_be_lost() {
    let ledger = established(&format!("{IN_VAIN}\n1100  a2 -> b2  DATA 2-3"));
    assert_eq!(of(&ledger, "unheeded-sack").len(), 0);
}

#[test]
fn on_the_same_path_it_may_have_been_the_timer_alone() {
    let ledger = established(&format!("{IN_VAIN}\n1100  a1 -> b1  DATA 1"));
    assert_eq!(of(&ledger, "unheeded-sack").len(), 0);
}

#[test]
fn what_was_not_acknowledged_was_needed() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-4
      101  a1 <- b1  SACK 0 gaps=2-2
      102  a1 <- b1  SACK 0 gaps=2-3
      103  a1 <- b1  SACK 0 gaps=2-4
     1100  a2 -> b2  DATA 1",
    );
    assert_eq!(of(&ledger, "unheeded-sack").len(), 0);
}

#[test]
fn gap_blocks_that_do_not_rise() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    scene.play(
        "
      100  a1 -> b1  DATA 1-9
      110  a2 <- b2  SACK 0 gaps=2-4,3-5
      120  a1 <- b1  SACK 0 gaps=2-4,6-7
      130  a1 <- b1  SACK 0 gaps=6-7,2-4",
    );
    assert_eq!(scene.problems.len(), 2);
    let ledger = scene.finish();
    let rows = of(&ledger, "disordered-gap-blocks");
    let [row] = rows[..] else { panic!("{:?}", ledger.oddities) };
    assert_eq!((row.sender, row.path, row.count), ("b", Some(1), 2));
    assert_eq!((row.first_ns, row.last_ns), (ms(110), ms(130)));
}

#[test]
fn a_clock_that_is_set_back_is_noted_once_a_step() {
    let ledger = play(
        "
   100000  a1 -> b1  DATA 1
   100010  a1 <- b1  SACK 1
    39999  a1 -> b1  DATA 2
    40010  a1 <- b1  SACK 2
    40020  a1 -> b1  DATA 3",
    );
    let rows = of(&ledger, "clock-step");
    let [row] = rows[..] else { panic!("{:?}", ledger.oddities) };
    assert_eq!((row.sender, row.count, row.first_frame), ("a", 1, 3));
}

#[test]
fn a_minute_back_is_no_step() {
    let ledger = play("100000  a1 -> b1  DATA 1\n40000  a1 -> b1  DATA 2");
    assert_eq!(of(&ledger, "clock-step").len(), 0);
}

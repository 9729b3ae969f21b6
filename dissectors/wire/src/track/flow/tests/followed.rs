//! What following its flow tells about each segment.

use super::ladder::{HANDSHAKE, Scene};
use crate::track::End;
use crate::track::flow::Followed;

fn followed(ladder: &str) -> Vec<Followed> {
    let mut scene = Scene::new(100);
    scene.play(ladder);
    scene.followed
}

fn sent_as(ladder: &str) -> Vec<&'static str> {
    followed(ladder).iter().map(|one| one.sent_as.unwrap_or("-")).collect()
}

#[test]
fn new_late_and_repeated_segments() {
    let words = sent_as(&format!(
        "{HANDSHAKE}
         30  a A  seq=100 ack=500 len=100
         31  a A  seq=300 ack=500 len=100
         32  a A  seq=200 ack=500 len=100
         50  b A  seq=500 ack=400
         60  a A  seq=400 ack=500 len=100
         400 a A  seq=400 ack=500 len=100
         420 b A  seq=500 ack=500
         430 a FA seq=500 ack=500
         440 b R  seq=500"
    ));
    let expected =
        ["new", "new", "-", "new", "new", "out-of-order", "-", "new", "timeout", "-", "new", "-"];
    assert_eq!(words, expected);
}

#[test]
fn a_syn_again_is_a_time_out() {
    assert_eq!(sent_as("0 a S seq=99\n1000 a S seq=99"), ["new", "timeout"]);
}

#[test]
fn probes() {
    let words = sent_as(&format!(
        "{HANDSHAKE}
         30   a A seq=100 ack=500 len=100
         40   b A seq=500 ack=200
         9000 a A seq=199 ack=500
         9010 b A seq=500 ack=200 win=0
         9300 a A seq=200 ack=500 len=1
         9310 b A seq=500 ack=200 win=0"
    ));
    assert_eq!(words[5..], ["keep-alive", "-", "window-probe", "-"]);
}

#[test]
fn windows_are_scaled_once_the_handshake_is_known() {
    let windows =
        |ladder: &str| -> Vec<_> { followed(ladder).iter().map(|one| one.window_bytes).collect() };
    let whole = windows(&format!("{HANDSHAKE}\n30 b A seq=500 ack=100 win=100"));
    assert_eq!(whole, [Some(512), Some(512), Some(512 << 7), Some(100 << 2)]);
    assert_eq!(windows("30 a A seq=100 ack=500"), [None]);
}

#[test]
fn a_copy_has_its_flow_and_was_not_sent() {
    let found = followed(&format!(
        "{HANDSHAKE}
         30   a A seq=100 ack=500 len=100 id=7
         30.1 a A seq=100 ack=500 len=100 id=7"
    ));
    assert_eq!(found[3].sent_as, Some("new"));
    let window_bytes = Some(512 << 7);
    assert_eq!(found[4], Followed { window_bytes, ..Followed::copy_in(0, End::A) });
}

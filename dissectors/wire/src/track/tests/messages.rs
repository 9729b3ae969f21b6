//! User messages out of fragments (RFC 9260 section 6.9, RFC 8260 section 2.1).

use super::script::{HANDSHAKE, Scene, established};
use crate::ledger::{Ledger, MessageRow, StreamRow};
use crate::sctp::build::chunk;
use crate::sctp::chunk::DATA;
use crate::track::End;

/// Messages of a ladder after the handshake (frame 5 is the first), and what was odd.
fn messages(ladder: &str) -> (Vec<MessageRow>, Vec<&'static str>, Ledger) {
    let mut scene = Scene::new();
    scene.tracker.ledger.messages = Some(Vec::new());
    scene.play(&format!("{HANDSHAKE}\n{ladder}"));
    let problems = std::mem::take(&mut scene.problems);
    let mut ledger = scene.tracker.finish().0;
    (ledger.messages.take().unwrap(), problems, ledger)
}

/// Outcome, fragments, first and last TSN of every message of a ladder that nothing is odd about.
fn outcomes(ladder: &str) -> Vec<(&'static str, u32, u32, u32)> {
    let (rows, problems, _) = messages(ladder);
    assert_eq!(problems, [""; 0]);
    short(&rows)
}

fn short(rows: &[MessageRow]) -> Vec<(&'static str, u32, u32, u32)> {
    rows.iter().map(|row| (row.outcome, row.fragments, row.first_tsn, row.last_tsn)).collect()
}

#[test]
fn a_message_is_what_its_fragments_say() {
    let (rows, _, _) = messages(
        "
      100  a1 -> b1  DATA 1 B stream=3 ssn=7 ppid=46 bytes=1000
      101  a2 -> b2  DATA 2 M stream=3 ssn=7 ppid=46 bytes=1000
      102  a1 -> b1  DATA 3 E stream=3 ssn=7 ppid=46 bytes=10",
    );
    let expected = MessageRow {
        association: 0,
        sender: "a",
        stream: 3,
        ordered: true,
        sequence: 7,
        interleaved: false,
        ppid: Some(46),
        ppid_name: "Diameter",
        fragments: 3,
        user_bytes: 2010,
        first_tsn: 1,
        last_tsn: 3,
        first_ns: 100_000_000,
        first_frame: 5,
        last_ns: 102_000_000,
        last_frame: 7,
        paths: "0,1".to_string(),
        outcome: "complete",
    };
    assert_eq!(rows, [expected]);
}

#[test]
fn a_chunk_may_be_a_message() {
    assert_eq!(
        outcomes("100  a1 -> b1  DATA 1-3\n101  a1 -> b1  I-DATA 4 mid=9"),
        [
            ("complete", 1, 1, 1),
            ("complete", 1, 2, 2),
            ("complete", 1, 3, 3),
            ("complete", 1, 4, 4)
        ]
    );
}

/// Overtaken on the way to the tap, or lost before it and sent again.
#[test]
fn fragments_wait_for_each_other() {
    let (rows, problems, _) = messages(
        "
      100  a1 -> b1  DATA 3 M
      101  a1 -> b1  DATA 5 E
      102  a1 -> b1  DATA 1 B
      103  a1 -> b1  DATA 6
      104  a1 -> b1  DATA 4 M
      900  a1 -> b1  DATA 2 M",
    );
    assert_eq!(problems, [""; 0]);
    assert_eq!(short(&rows), [("complete", 1, 6, 6), ("complete", 5, 1, 5)]);
    assert_eq!((rows[1].first_frame, rows[1].last_frame), (5, 10));
}

#[test]
fn retransmissions_count_once() {
    let (rows, _, ledger) = messages(
        "
      100  a1 -> b1  DATA 1 B bytes=100
     1100  a2 -> b2  DATA 1 B bytes=100
     1101  a1 -> b1  DATA 2 E bytes=100
     2200  a2 -> b2  DATA 2 E bytes=100",
    );
    assert_eq!(short(&rows), [("complete", 2, 1, 2)]);
    assert_eq!((rows[0].user_bytes, rows[0].paths.as_str()), (200, "0"));
    let [stream] = &ledger.streams[..] else { panic!("{:?}", ledger.streams) };
    assert_eq!((stream.messages, stream.chunks, stream.user_bytes), (1, 2, 200));
}

#[test]
fn interleaved_messages_have_fragments_of_their_own() {
    let (rows, problems, _) = messages(
        "
      100  a1 -> b1  I-DATA 1 B stream=1 mid=0 ppid=51
      101  a1 -> b1  I-DATA 2 B stream=2 mid=0 ppid=53
      102  a1 -> b1  I-DATA 3 B stream=1 mid=0 U ppid=50
      103  a1 -> b1  I-DATA 4 M stream=1 mid=0 fsn=1
      104  a1 -> b1  I-DATA 5 E stream=2 mid=0 fsn=1
      105  a1 -> b1  I-DATA 6 E stream=1 mid=0 fsn=2
      106  a1 -> b1  I-DATA 7 E stream=1 mid=0 fsn=1 U",
    );
    assert_eq!(problems, [""; 0]);
    assert_eq!(short(&rows), [("complete", 2, 2, 5), ("complete", 3, 1, 6), ("complete", 2, 3, 7)]);
    let names: Vec<_> = rows.iter().map(|row| (row.ppid_name, row.ordered)).collect();
    let expected = [("WebRTC Binary", true), ("WebRTC String", true), ("WebRTC DCEP", false)];
    assert_eq!(names, expected);
    assert!(rows.iter().all(|row| row.interleaved));
}

#[test]
fn every_number_wraps() {
    let mut scene = Scene::new();
    scene.tracker.ledger.messages = Some(Vec::new());
    scene.play(
        "
       0  a1 -> b1  INIT tag=10 tsn=4294967293
      10  a1 <- b1  INIT-ACK
      99  a1 -> b1  DATA 4294967293 ssn=65534
     100  a1 -> b1  DATA 4294967295 M ssn=65535
     101  a1 -> b1  DATA 4294967294 B ssn=65535
     102  a1 -> b1  DATA 1 E ssn=65535
     103  a1 -> b1  DATA 0 M ssn=65535
     104  a1 -> b1  DATA 2 ssn=0
     105  a1 -> b1  I-DATA 3 M stream=1 mid=4294967295 fsn=4294967295
     106  a1 -> b1  I-DATA 5 E stream=1 mid=4294967295 fsn=1
     107  a1 -> b1  I-DATA 4 M stream=1 mid=4294967295 fsn=0
     108  a1 -> b1  I-DATA 6 stream=1 mid=0",
    );
    assert_eq!(scene.problems, [""; 0]);
    let rows = scene.tracker.finish().0.messages.unwrap();
    assert_eq!(
        short(&rows),
        [
            ("complete", 1, 4_294_967_293, 4_294_967_293),
            ("complete", 4, 4_294_967_294, 1),
            ("complete", 1, 2, 2),
            ("complete", 1, 6, 6),
            ("open", 3, 3, 5),
        ]
    );
}

#[test]
fn what_forward_tsn_passes_is_given_up() {
    assert_eq!(
        outcomes(
            "
          100  a1 -> b1  DATA 1
          101  a1 -> b1  DATA 2 B
          102  a1 -> b1  DATA 3 M
          103  a1 -> b1  DATA 5 E
          104  a1 -> b1  FORWARD-TSN 5
          105  a1 -> b1  DATA 6 B
          106  a1 -> b1  DATA 7 E"
        ),
        [("complete", 1, 1, 1), ("abandoned", 3, 2, 5), ("complete", 2, 6, 7)]
    );
}

/// A message whose last fragments had no TSN yet ends without an end (RFC 3758 section 3.5).
#[test]
fn a_message_given_up_early_is_no_mistake_where_both_ends_take_forward_tsn() {
    let ladder = "
      100  a1 -> b1  DATA 1 B
      101  a1 -> b1  DATA 2 B
      102  a1 -> b1  FORWARD-TSN 1
      103  a1 -> b1  DATA 3 E";
    let (rows, problems, _) = messages(ladder);
    assert_eq!(short(&rows), [("abandoned", 1, 1, 1), ("complete", 2, 2, 3)]);
    assert_eq!(problems, ["a user message begins before the one before it has ended"]);
    let mut scene = Scene::new();
    scene.play(
        "
        0  a1 -> b1  INIT tag=10 forward
       10  a1 <- b1  INIT-ACK tag=20 forward",
    );
    scene.play(ladder);
    assert_eq!(scene.problems, [""; 0]);
}

#[test]
fn i_forward_tsn_names_messages() {
    assert_eq!(
        outcomes(
            "
          100  a1 -> b1  I-DATA 1 B stream=1 mid=4294967295
          101  a1 -> b1  I-DATA 2 B stream=1 mid=0
          102  a1 -> b1  I-DATA 3 B stream=1 mid=1
          103  a1 -> b1  I-DATA 4 B stream=1 mid=0 U
          104  a1 -> b1  I-DATA 5 B stream=2 mid=0
          105  a1 -> b1  I-FORWARD-TSN 2 skip=1:0
          106  a1 -> b1  I-FORWARD-TSN 4 skip=1u:0
          107  a1 -> b1  I-DATA 6-7 M stream=1 mid=1 fsn=1"
        ),
        [
            ("abandoned", 1, 1, 1),
            ("abandoned", 1, 2, 2),
            ("abandoned", 1, 4, 4),
            ("open", 3, 3, 7),
            ("open", 1, 5, 5),
        ]
    );
}

#[test]
fn a_capture_from_the_middle_begins_inside_a_message() {
    let mut scene = Scene::new();
    scene.tracker.ledger.messages = Some(Vec::new());
    scene.play(
        "
      100  a1 -> b1  DATA 70 M ppid=46
      101  a1 -> b1  DATA 71 E ppid=46
      102  a1 -> b1  DATA 72 ppid=46
      103  a1 -> b1  DATA 73 B ppid=46",
    );
    assert_eq!(scene.problems, [""; 0]);
    let rows = scene.tracker.finish().0.messages.unwrap();
    assert_eq!(
        short(&rows),
        [("partial", 2, 70, 71), ("complete", 1, 72, 72), ("open", 1, 73, 73)]
    );
}

/// A fragment that was acknowledged and is not in the capture does not come any more. Of one
/// message is what has one stream and sequence number; of unordered DATA nobody knows.
#[test]
fn what_the_capture_missed() {
    assert_eq!(
        outcomes(
            "
          100  a1 -> b1  DATA 1 B ssn=4
          101  a1 -> b1  DATA 3 M ssn=4
          102  a1 -> b1  DATA 5 E ssn=4
          103  a1 -> b1  DATA 6 B U
          104  a1 -> b1  DATA 8 E U
          105  a1 <- b1  SACK 9"
        ),
        [("partial", 3, 1, 5), ("partial", 1, 6, 6), ("partial", 1, 8, 8)]
    );
    assert_eq!(
        outcomes("100  a1 -> b1  DATA 1 B ssn=4\n101  a1 -> b1  DATA 3 E ssn=4"),
        [("open", 2, 1, 3)]
    );
}

#[test]
fn contradictions_are_reported_and_nothing_is_made_of_them() {
    let (rows, problems, _) = messages(
        "
      100  a1 -> b1  DATA 1 B ssn=1
      101  a1 -> b1  DATA 2 B ssn=2
      102  a1 -> b1  DATA 3 E ssn=2
      103  a1 -> b1  DATA 4 E ssn=2
      104  a1 -> b1  DATA 5 B ssn=3
      105  a1 -> b1  DATA 6 E ssn=4
      106  a1 -> b1  DATA 7 B stream=1 ssn=1 ppid=1
      107  a1 -> b1  DATA 8 E stream=1 ssn=1 ppid=2
      108  a1 -> b1  I-DATA 9 B stream=2
      109  a1 -> b1  I-DATA 10 M stream=2 fsn=1
      110  a1 -> b1  I-DATA 11 M stream=2 fsn=1
      111  a1 -> b1  I-DATA 12 E stream=2 fsn=2",
    );
    assert_eq!(
        problems,
        [
            "a user message begins before the one before it has ended",
            "a user message goes on after its last fragment",
            "fragments of a user message differ in stream or sequence number",
            "fragments of a user message name different payload protocols",
            "two fragments of a user message have one number",
        ]
    );
    assert_eq!(
        short(&rows),
        [
            ("complete", 2, 2, 3),
            ("partial", 1, 4, 4),
            ("partial", 1, 6, 6),
            ("complete", 2, 7, 8),
            ("partial", 1, 11, 11),
            ("complete", 3, 9, 12),
            ("partial", 1, 1, 1),
            ("partial", 1, 5, 5),
        ]
    );
    assert_eq!(rows[3].ppid, Some(1));
}

fn stream_rows(ladder: &str) -> Vec<StreamRow> {
    established(ladder).streams
}

#[test]
fn streams_add_up_their_messages() {
    let rows = stream_rows(
        "
      100  a1 -> b1  DATA 1-2 stream=1 ppid=60 bytes=10
      101  a1 -> b1  DATA 3 B stream=1 ppid=60 bytes=500
      102  a1 -> b1  DATA 4 E stream=1 ppid=60 bytes=500
      103  a1 -> b1  DATA 5 stream=1 ppid=1006632960 U bytes=1
      104  a1 <- b1  DATA 1 stream=1 ppid=60 bytes=20
      105  a1 -> b1  I-DATA 6 E stream=1 mid=5 fsn=3
      106  a1 -> b1  I-DATA 7 B stream=2 mid=0 ppid=60",
    );
    let keys: Vec<_> =
        rows.iter().map(|row| (row.sender, row.stream, row.ppid, row.ppid_name)).collect();
    assert_eq!(
        keys,
        [
            ("a", Some(1), Some(60), "NGAP"),
            ("a", Some(1), Some(1_006_632_960), "unknown"),
            ("b", Some(1), Some(60), "NGAP"),
            ("a", Some(1), None, "not seen"),
            ("a", Some(2), Some(60), "NGAP"),
        ]
    );
    let first = &rows[0];
    assert_eq!((first.messages, first.complete, first.fragmented, first.ordered), (3, 3, 1, 3));
    assert_eq!(
        (first.chunks, first.user_bytes, first.largest_message_bytes),
        (4, 1020, Some(1000))
    );
    assert_eq!((first.first_frame, first.last_frame), (5, 7));
    assert_eq!((rows[1].ordered, rows[3].open, rows[3].fragmented), (0, 1, 1));
    assert_eq!(rows[4].largest_message_bytes, None);
}

/// A user that counts in the PPID does not push out the other streams.
#[test]
fn protocols_of_a_stream_are_bounded() {
    let mut lines = String::new();
    for tsn in 1..=70 {
        lines += &format!("{}  a1 -> b1  DATA {tsn} stream=1 ppid={}\n", 100 + tsn, tsn * 1000);
    }
    lines += "300  a1 -> b1  DATA 71 stream=2 ppid=60\n301  a1 -> b1  DATA 72 stream=1 ppid=1000";
    let rows = stream_rows(&lines);
    assert_eq!(rows.len(), 66);
    let other = &rows[64];
    assert_eq!(
        (other.stream, other.ppid, other.ppid_name, other.messages),
        (Some(1), None, "other", 6)
    );
    assert_eq!((rows[65].stream, rows[65].ppid_name), (Some(2), "NGAP"));
    assert_eq!(rows[0].messages, 2);
}

#[test]
fn streams_are_bounded() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    let envelope = |time_ns| super::script::Envelope {
        time_ns,
        sender: End::A,
        source: super::script::address("a1"),
        destination: super::script::address("b1"),
        tag: 20,
        ip_id: None,
    };
    for number in 0..66_000_u32 {
        let (tsn, stream) = ((number + 1).to_be_bytes(), ((number % 65_000) as u16).to_be_bytes());
        let ppid = (number / 65_000).to_be_bytes();
        let fields = [&tsn[..], &stream, &[0, 0], &ppid, b"x"].concat();
        scene.send(envelope(i64::from(number) * 1000), &[chunk(DATA, 3, &fields)]);
    }
    let rows = scene.tracker.finish().0.streams;
    assert_eq!(rows.len(), 65_537);
    let last = &rows[65_536];
    assert_eq!((last.stream, last.ppid_name, last.messages), (None, "other", 66_000 - 65_536));
}

/// Messages that begin and never end are settled as they are when there are too many.
#[test]
fn incomplete_messages_are_bounded() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    for number in 0..10_000_u32 {
        let tsn = number + 1;
        scene.play(&format!("{}  a1 -> b1  I-DATA {tsn} B stream=1 mid={number}", 100 + number));
    }
    let too_many = "more incomplete user messages than are remembered";
    assert_eq!(scene.problems, [too_many; 3]);
    let ledger = scene.tracker.finish().0;
    assert_eq!((ledger.streams[0].messages, ledger.streams[0].open), (10_000, 10_000));
}

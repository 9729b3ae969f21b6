//! Beginning, windows and end of a connection.

use super::ladder::{HANDSHAKE, MS, established, flow, play, way};

#[test]
fn the_handshake_gives_three_round_trips_and_the_options() {
    let ledger = established("");
    let row = flow(&ledger);
    assert!(row.seen_handshake);
    let ms = |ms| Some(ms * MS as u64);
    assert_eq!(
        (row.syn_rtt_ns, row.syn_ack_rtt_ns, row.handshake_rtt_ns),
        (ms(10), ms(10), ms(20))
    );
    assert_eq!((row.end, row.end_ns, row.end_frame), ("open", 20 * MS, 3));
    assert_eq!((row.established_ns, row.established_frame), (Some(20 * MS), Some(3)));
    assert_eq!((row.closed_ns, row.closed_frame), (None, None));
    let (a, b) = (way(&ledger, "a"), way(&ledger, "b"));
    assert_eq!((a.mss, a.window_scale, a.sack_permitted), (Some(1460), Some(7), true));
    assert_eq!((a.start_ns, a.end_ns, a.packets, a.segments), (0, 20 * MS, 2, 1));
    assert_eq!((b.mss, b.window_scale, b.packets), (Some(1400), Some(2), 1));
    assert_eq!(a.window_max_bytes, Some(512 << 7));
}

/// RFC 6298 section 3: which SYN the answer is for is not known.
#[test]
fn a_repeated_syn_gives_no_round_trip() {
    let ledger = play(
        "0    a S  seq=99
         1000 a S  seq=99
         1010 b SA seq=499 ack=100
         1020 a A  seq=100 ack=500",
    );
    let row = flow(&ledger);
    assert_eq!((row.syn_rtt_ns, row.handshake_rtt_ns), (None, None));
    assert_eq!(row.established_ns, Some(1020 * MS));
    assert_eq!(row.syn_ack_rtt_ns, Some(10 * MS as u64));
    let a = way(&ledger, "a");
    assert_eq!((a.retransmitted_packets, a.timeout_retransmissions, a.new_bytes), (1, 1, 0));
}

#[test]
fn a_syn_ack_seen_first_comes_from_b() {
    let ledger = play("0 a SA seq=499 ack=100");
    assert_eq!((flow(&ledger).a_port, flow(&ledger).seen_handshake), (2002, false));
}

#[test]
fn ends() {
    let end = |ladder: &str| {
        let ledger = established(ladder);
        let row = flow(&ledger);
        assert_eq!((row.closed_ns, row.closed_frame), (Some(30 * MS), Some(4)));
        (row.end, row.ended_by)
    };
    let fin = "30 b FA seq=500 ack=100\n40 a FA seq=100 ack=501\n50 b A seq=501 ack=101";
    assert_eq!(end(fin), ("fin", Some("b")));
    assert_eq!(end("30 b FA seq=500 ack=100"), ("half-closed", Some("b")));
    assert_eq!(end("30 b R seq=500"), ("rst", Some("b")));
    // An RST after both FINs tidies up, it does not end.
    assert_eq!(end(&format!("{fin}\n60 a R seq=101")), ("fin", Some("b")));
}

#[test]
fn a_fin_takes_a_number_but_is_no_byte() {
    let ledger = established(
        "30 a FA seq=100 ack=500 len=10
         40 b FA seq=500 ack=111
         50 a A  seq=111 ack=501
         400 a FA seq=100 ack=501 len=10",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.new_bytes, a.acked_bytes, a.retransmitted_bytes), (10, 10, 10));
    assert_eq!((a.retransmitted_packets, a.unseen_bytes), (1, 0));
    assert!(ledger.of_flows().tcp_retransmissions[0].acknowledged);
}

#[test]
fn the_same_ports_again_are_another_flow() {
    let ledger = play(&format!(
        "{HANDSHAKE}
         30   b R  seq=500
         1000 a S  seq=70099
         1010 b SA seq=80499 ack=70100"
    ));
    let rows: Vec<_> =
        ledger.of_flows().flows.iter().map(|row| (row.flow, row.end, row.restart_of)).collect();
    assert_eq!(rows, [(0, "rst", None), (1, "open", Some(0))]);
}

#[test]
fn a_zero_window_and_how_long() {
    let ledger = established(
        "30  a A seq=100 ack=500 len=400
         40  b A seq=500 ack=500 win=0
         240 a A seq=499 ack=500
         250 b A seq=500 ack=500 win=0
         340 b A seq=500 ack=500 win=80
         350 a A seq=500 ack=500 len=400",
    );
    let (a, b) = (way(&ledger, "a"), way(&ledger, "b"));
    assert_eq!((b.zero_windows, b.zero_window_ns), (1, 300 * MS as u64));
    assert_eq!((a.zero_window_frame, b.zero_window_frame), (None, Some(5)));
    assert_eq!((b.window_min_bytes, b.window_max_bytes), (Some(0), Some(320)));
    assert_eq!((a.window_probes, a.keep_alives, a.retransmitted_packets), (1, 0, 0));
    assert_eq!((a.new_bytes, b.duplicate_acks), (800, 0));
}

#[test]
fn keep_alives_are_no_retransmissions() {
    let ledger = established(
        "30    a A seq=100 ack=500 len=400
         40    b A seq=500 ack=500
         60000 a A seq=499 ack=500 len=1
         60010 b A seq=500 ack=500",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.keep_alives, a.retransmitted_packets, a.new_bytes), (1, 0, 400));
}

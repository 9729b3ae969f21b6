//! One thread and two: the same, whatever the capture.

use super::*;
use crate::error::Error;

/// All that a pass says, in words.
fn told(file: Vec<u8>, two_threads: bool, flows: bool) -> Vec<String> {
    let options = Options { two_threads: Some(two_threads), flows, ..Options::default() };
    let mut pass = open(file, options).unwrap();
    assert_eq!(matches!(pass.reading, Reading::Ahead(_)), two_threads);
    while pass.step(5).unwrap() {}
    let last = pass.progress();
    let (capture, mut summary) = pass.finish();
    let mut told: Vec<String> =
        summary.ledger.take_batches().into_iter().map(|batch| format!("{batch:?}")).collect();
    let Summary { frames, problems, damage, .. } = &summary;
    told.push(format!("{frames:?} {problems:?} {damage:?} {:?}", capture.facts()));
    let Summary { sctp_packets, first_ns, last_ns, dropped_fragments, .. } = &summary;
    told.push(format!("{sctp_packets} {first_ns:?} {last_ns:?} {dropped_fragments}"));
    told.push(format!("{:?} {:?} {:?}", summary.associations, summary.flows, last.first_ns));
    told
}

fn assert_same(file: &[u8]) {
    for flows in [false, true] {
        assert_eq!(told(file.to_vec(), true, flows), told(file.to_vec(), false, flows));
    }
}

#[test]
fn user_data_is_not_handed_over_but_its_length_is() {
    let mut fields = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    fields.resize(12 + 9000, 7);
    let record = ipv4(SCTP, &packet(&[chunk(DATA, 3, &fields)]));
    let file = pcap(RAW, &vec![record; 3]);
    assert_same(&file);
    assert_eq!(read(file).ledger.runs[0].user_bytes, 9000);
}

/// A batch is full by its bytes, too.
#[test]
fn large_chunks() {
    let record = ipv4(SCTP, &packet(&[chunk(HEARTBEAT, 0, &[1; 60_000]), data(1)]));
    assert_same(&pcap(RAW, &vec![record; 20]));
}

/// Both ends accept zero checksums, which do not make a COOKIE ECHO right.
#[test]
fn a_zero_checksum_where_there_has_to_be_one() {
    let setup = [1, 2, 3, 4, 0, 0, 9, 9, 0, 1, 0, 1, 0, 0, 0, 1, 0x80, 1, 0, 8, 0, 0, 0, 1];
    let mut records: Vec<_> =
        [1, 2, 10].map(|kind| ipv4(SCTP, &packet(&[chunk(kind, 0, &setup)]))).into();
    // INIT ACK goes the other way.
    records[1][12..20].rotate_left(4);
    records[1][20..24].rotate_left(2);
    records[2][28..32].fill(0);
    let file = pcap(RAW, &records);
    assert_same(&file);
    let row = &read(file).ledger.associations[0];
    assert_eq!((row.zero_checksums, row.b_zero_checksum_method), (1, Some(1)));
    assert_eq!(row.a_uncovered_zero_checksums, 1);
}

#[test]
fn a_damaged_file() {
    let mut file = pcap(RAW, &vec![ipv4(SCTP, &packet(&[data(1)])); 9]);
    file.truncate(file.len() - 3);
    assert_same(&file);
}

#[test]
fn what_the_filter_says_comes_in_its_place() {
    let file = pcap(RAW, &vec![ipv4(SCTP, &packet(&[data(1)])); 9]);
    let mut calls = 0;
    let filter: Filter = Box::new(move |_, _, _| {
        calls += 1;
        if calls == 8 { Err(Error::Usage("no more".into())) } else { Ok(calls % 2 == 0) }
    });
    let options = Options { filter: Some(filter), two_threads: Some(true), ..Options::default() };
    let mut pass = open(file, options).unwrap();
    let mut steps = (0..20).map(|_| pass.step(1));
    assert!(steps.any(|step| step.is_err_and(|error| error.to_string() == "no more")));
    let frames = pass.finish().1.frames;
    assert_eq!((frames.read, skipped(&frames)), (7, vec![("excluded by the filter", 4)]));
}

/// What was read counts as tracked: the capture and the frames agree.
#[test]
fn a_pass_that_is_ended_early() {
    let file = pcap(RAW, &vec![ipv4(SCTP, &packet(&[data(1)])); 500]);
    for steps in 0..3 {
        let options = Options { two_threads: Some(true), ..Options::default() };
        let mut pass = open(file.clone(), options).unwrap();
        for _ in 0..steps {
            assert!(pass.step(1).unwrap());
        }
        let (capture, summary) = pass.finish();
        assert_eq!(capture.facts().interfaces[0].packets, summary.frames.read);
        assert!(summary.frames.read < 500 && (summary.frames.read > 0) == (steps > 0));
    }
}

#[test]
fn a_pass_that_is_given_up_leaves_no_thread() {
    let file = pcap(RAW, &vec![ipv4(SCTP, &packet(&[data(1)])); 500]);
    let options = Options { two_threads: Some(true), ..Options::default() };
    let mut pass = open(file, options).unwrap();
    assert!(pass.step(1).unwrap());
    drop(pass);
}

#[test]
#[should_panic(expected = "the filter is broken")]
fn a_panic_of_the_reading_thread_is_that_of_the_pass() {
    let filter: Filter = Box::new(|_, _, _| panic!("the filter is broken"));
    let options = Options { filter: Some(filter), two_threads: Some(true), ..Options::default() };
    let mut pass = open(pcap(RAW, &[vec![0; 20]]), options).unwrap();
    while pass.step(1).unwrap() {}
}

proptest! {
    #[test]
    fn one_thread_and_two_say_the_same(
        records in prop::collection::vec(records(), 0..40),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut file = pcap(RAW, &records);
        if cut {
            file.truncate(24 + end.index(file.len() - 23));
        }
        assert_same(&file);
    }
}

/// Rows of sightings are made beside the ledger, and by a thread as without one.
#[test]
fn sightings() {
    let mut syn = vec![0; 20];
    syn[12] = 0x50;
    syn[13] = 2;
    let udp = [&[0, 7, 0, 8, 0, 12, 0, 0][..], b"data"].concat();
    let records = [
        ipv4(SCTP, &packet(&[data(1)])),
        ipv4(6, &syn),
        ipv4(17, &udp),
        ipv4(SCTP, &packet(&[chunk(HEARTBEAT, 0, &[0, 1, 0, 8, 9, 9, 9, 9]), data(2)])),
        ipv4(SCTP, &packet(&[data(1)])),
    ];
    let file = pcap(RAW, &records);
    let rows = |two_threads| {
        let stream = Streamed::of("sightings");
        let options = Options { stream, two_threads: Some(two_threads), ..with_flows() };
        let mut pass = open(file.clone(), options).unwrap();
        assert_eq!(matches!(pass.reading, Reading::Ahead(_)), two_threads);
        while pass.step(2).unwrap() {}
        let Some(Streamed::Sightings(rows)) = pass.streamed() else { panic!() };
        let rows = std::mem::take(rows);
        let (_, summary) = pass.finish();
        assert!(conserved(&summary.frames));
        rows
    };
    let seen = rows(true);
    assert_eq!(seen, rows(false));
    let protocols: Vec<_> = seen.iter().map(|row| row.protocol).collect();
    assert_eq!(protocols, [132, 6, 17, 132, 132]);
    let numbers: Vec<_> = seen.iter().map(|row| (row.association, row.flow)).collect();
    assert_eq!(numbers[..3], [(Some(0), None), (None, Some(0)), (None, Some(1))]);
    let sent: Vec<_> = seen.iter().map(|row| (row.tsn, row.transmission)).collect();
    assert_eq!(sent[3..], [(Some(2), Some(1)), (Some(1), None)]);
    assert_eq!(seen[0].digest, seen[4].digest);
    assert!(seen[4].duplicate_frame);
}

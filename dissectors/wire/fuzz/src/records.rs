//! Records of a container: the same however the file is cut into blocks, all accounted for.

use std::io::Cursor;

use pathscope_wire::container::{Capture, CaptureSet, Options as CaptureOptions, Record};
use pathscope_wire::error::Error;
use pathscope_wire::ledger::Streamed;
use pathscope_wire::pass::{Options, Pass};

use crate::ledger;

/// The most records looked at of one input: a compressed one may hold very many.
const MOST_RECORDS: usize = 4096;
/// Blocks so small that nearly every record spans some.
const SMALL_BLOCK: usize = 29;
const LARGE_BLOCK: usize = 64 << 10;
/// libpcap's MAXIMUM_SNAPLEN.
const MOST_CAPTURED: usize = 262_144;

/// A capture that is read without a thread of its own: the fuzzer watches this one.
pub fn open(bytes: &[u8], block_size: usize, window_ns: Option<i64>) -> Result<Capture, Error> {
    let options = CaptureOptions { reorder_window_ns: window_ns, prefetch: Some(false) };
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    Capture::with_block_size("input", reader, &options, Some(block_size))
}

/// Everything that reading records can tell, in words that can be compared.
#[derive(Default, PartialEq, Eq, Debug)]
struct Told {
    records: Vec<(u64, u64, i64, u32, u32, Vec<u8>)>,
    error: Option<String>,
    frames_of_interfaces: u64,
    dropped: Option<u64>,
}

fn tell(bytes: &[u8], block_size: usize, window_ns: Option<i64>) -> Told {
    let mut told = Told::default();
    let mut capture = match open(bytes, block_size, window_ns) {
        Ok(capture) => capture,
        Err(error) => return Told { error: Some(error.to_string()), ..told },
    };
    while told.records.len() < MOST_RECORDS {
        match capture.next() {
            Ok(Some(record)) => told.records.push(of(&record)),
            Ok(None) => break,
            Err(error @ Error::Damaged { .. }) => {
                told.error = Some(error.to_string());
                assert!(matches!(capture.next(), Ok(None)), "damage is told once, at the end");
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let interfaces = capture.interfaces();
    told.frames_of_interfaces = interfaces.iter().map(|interface| interface.packets).sum();
    told.dropped = capture.dropped();
    told
}

fn of(record: &Record<'_>) -> (u64, u64, i64, u32, u32, Vec<u8>) {
    assert!(record.data.len() <= MOST_CAPTURED);
    let data = record.data.to_vec();
    (record.frame, record.offset, record.time_ns, record.interface, record.wire_length, data)
}

/// Reads the file in small and in large blocks, in file order and in time order.
///
/// # Panics
/// Where two ways of reading differ in more than order, or a record is not accounted for.
pub fn check(bytes: &[u8]) {
    check_by(bytes, |one, other| assert_eq!(one, other));
}

/// As [`check`], of a compressed file. How much a decoder gives of a piece in which the file goes
/// wrong may depend on how much it is asked for at a time: then one way may read further.
///
/// # Panics
/// As [`check`].
pub fn check_compressed(bytes: &[u8]) {
    check_by(bytes, |one, other| {
        if one.error.is_none() || other.error.is_none() {
            assert_eq!(one, other);
        }
        let common = one.records.len().min(other.records.len());
        assert_eq!(one.records[..common], other.records[..common]);
    });
}

fn check_by(bytes: &[u8], agree: impl Fn(&Told, &Told)) {
    let told = tell(bytes, SMALL_BLOCK, Some(0));
    agree(&told, &tell(bytes, LARGE_BLOCK, Some(0)));
    if told.records.len() < MOST_RECORDS {
        assert_eq!(told.frames_of_interfaces, told.records.len() as u64);
        let mut ordered = tell(bytes, SMALL_BLOCK, Some(i64::MAX));
        ordered.records.sort_unstable_by_key(|record| record.0);
        assert_eq!(told, ordered, "order is all that the window changes");
    }
    for (number, record) in (1..).zip(&told.records) {
        assert_eq!(record.0, number, "frames count from 1 in the order of the file");
    }
    // Offsets only grow; equal ones would be one record given out twice.
    assert!(told.records.is_sorted_by(|one, next| one.1 < next.1));
    pass(bytes);
}

/// A pass over the file, with everything on that can be.
fn pass(bytes: &[u8]) {
    let Ok(capture) = open(bytes, LARGE_BLOCK, None) else { return };
    let options =
        Options { flows: true, stream: Streamed::all().into_iter().next(), ..Options::default() };
    run(CaptureSet::from(capture), options);
}

/// Runs a pass to its end, at most so many records, and checks its ledger.
///
/// # Panics
/// Where the ledger contradicts itself or the pass.
pub fn run(capture: CaptureSet, options: Options) {
    let mut pass = Pass::over(capture, options);
    pass.step(MOST_RECORDS).unwrap_or_else(|error| panic!("{error}"));
    let rows = pass.streamed().map(Streamed::take);
    let (capture, mut summary) = pass.finish();
    ledger::check(&capture, &mut summary, rows);
}

//! Several files as one capture.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::super::set::FRAMES_APART;
use super::*;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pathscope-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes files and opens them as one capture, the last one named first.
    fn open(&self, files: &[Vec<u8>]) -> Result<CaptureSet> {
        let mut paths = Vec::new();
        for (number, bytes) in files.iter().enumerate() {
            paths.push(self.0.join(number.to_string()));
            fs::write(&paths[number], bytes).unwrap();
        }
        paths.reverse();
        CaptureSet::open(&paths, &Options { prefetch: Some(false), ..Options::default() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Second, frame and interface of all records; where a file went wrong, nothing.
fn drain_set(set: &mut CaptureSet) -> Vec<Option<(i64, u64, u32)>> {
    let mut seen = Vec::new();
    loop {
        match set.next() {
            Ok(Some(record)) => {
                let second = record.time_ns / 1_000_000_000;
                assert_eq!(record.data, [second as u8]);
                seen.push(Some((second, record.frame, record.interface)));
            }
            Ok(None) => return seen,
            Err(Error::Damaged { .. }) => seen.push(None),
            Err(error) => panic!("{error}"),
        }
    }
}

fn pcap_of(seconds: &[u32]) -> Vec<u8> {
    let mut file = Builder::pcap(ByteOrder::Little, false);
    for &second in seconds {
        file.pcap_record(second, 0, &[second as u8]);
    }
    file.bytes
}

fn pcapng_of(name: &str, seconds: &[u32]) -> Vec<u8> {
    let mut file = Builder::new(ByteOrder::Big);
    file.section(&[name]).interface(1, |options| {
        options.option(2, name.as_bytes());
    });
    for &second in seconds {
        file.packet(0, u64::from(second) * 1_000_000, &[second as u8], &[]);
    }
    file.bytes
}

#[test]
fn a_rotated_file_is_numbered_through() {
    let folder = Folder::new("rotated");
    let files = [pcap_of(&[1, 2]), pcap_of(&[]), gzip(&pcap_of(&[3, 4, 5])), pcap_of(&[6])];
    let length = files.iter().map(|bytes| bytes.len() as u64).sum();
    let mut set = folder.open(&files).unwrap();
    let seen: Vec<_> = drain_set(&mut set).into_iter().flatten().collect();
    assert_eq!(seen, (1..=6).map(|n| (n, n as u64, 0)).collect::<Vec<_>>());
    let facts = set.facts();
    let files: Vec<_> = facts.files.iter().map(|file| (file.first_frame, file.frames)).collect();
    assert_eq!(files, [(1, 0), (1, 2), (3, 3), (6, 1)]);
    assert_eq!(facts.interfaces.len(), 1);
    assert_eq!(facts.interfaces[0].packets, 6);
    assert_eq!(facts.compression().as_deref(), Some("gzip"));
    assert_eq!(facts.format(), "pcap (microsecond, little-endian)");
    assert_eq!((set.bytes_read(), set.file_length()), (length, Some(length)));
}

#[test]
fn files_of_the_same_time_are_merged() {
    let folder = Folder::new("merged");
    let files = [pcapng_of("wlan", &[1, 3, 5]), pcapng_of("wwan", &[2, 3, 4]), pcap_of(&[9])];
    let mut set = folder.open(&files).unwrap();
    let seen: Vec<_> = drain_set(&mut set).into_iter().flatten().collect();
    assert_eq!(seen, [(1, 1, 0), (2, 4, 1), (3, 2, 0), (3, 5, 1), (4, 6, 1), (5, 3, 0), (9, 7, 2)]);
    let facts = set.facts();
    let files: Vec<_> = facts.files.iter().map(|file| (file.first_frame, file.frames)).collect();
    assert_eq!(files, [(1, 3), (4, 3), (7, 1)]);
    let packets: Vec<_> = facts.interfaces.iter().map(|one| one.packets).collect();
    assert_eq!(packets, [3, 3, 1]);
    assert_eq!(facts.comments.len(), 2);
    assert_eq!(facts.format(), "pcapng, pcap (microsecond, little-endian)");
}

#[test]
fn long_files_of_the_same_time_leave_room_for_each_others_frames() {
    let folder = Folder::new("long");
    let long = pcap_of(&[7; 70_000]);
    let mut set = folder.open(&[pcap_of(&[6]), long.clone(), long]).unwrap();
    assert_eq!(drain_set(&mut set).len(), 140_001);
    let facts = set.facts();
    let files: Vec<_> = facts.files.iter().map(|file| (file.first_frame, file.frames)).collect();
    assert_eq!(files, [(1, 1), (2, 70_000), (70_002, 70_000)]);
    let staggered =
        [pcap_of(&(0..140_000).map(|n| n / 70_000).collect::<Vec<_>>()), pcap_of(&[0, 1])];
    let mut set = folder.open(&staggered).unwrap();
    assert_eq!(drain_set(&mut set).len(), 140_002);
    let facts = set.facts();
    let files: Vec<_> = facts.files.iter().map(|file| (file.first_frame, file.frames)).collect();
    assert_eq!(files, [(1, 2), (3, 140_000)]);
    let staggered = [pcap_of(&[[0].repeat(9), [2].repeat(70_000)].concat()), pcap_of(&[1])];
    let mut set = folder.open(&staggered).unwrap();
    assert_eq!(drain_set(&mut set).len(), 70_010);
    let files: Vec<_> = set.facts().files.iter().map(|file| file.first_frame).collect();
    assert_eq!(files, [1, FRAMES_APART + 1]);
}

#[test]
fn damage_in_one_file_leaves_the_others() {
    let folder = Folder::new("damaged");
    let mut cut = pcap_of(&[1, 2]);
    cut.pop();
    let headless = pcap_of(&[1])[..30].to_vec();
    let mut set = folder.open(&[cut, pcap_of(&[3]), headless]).unwrap();
    assert_eq!(drain_set(&mut set), [None, Some((1, 1, 0)), None, Some((3, 2, 0))]);
    assert!(set.next().unwrap().is_none());
}

#[test]
fn what_cannot_be_part_of_a_set() {
    let folder = Folder::new("refused");
    let error = folder.open(&[pcap_of(&[1]), b"no capture".to_vec()]).err().unwrap();
    assert!(matches!(error, Error::NotACapture { .. }), "{error}");
    let paths = [folder.0.join("0"), PathBuf::from("/dev/null")];
    assert!(CaptureSet::open(&paths, &Options::default()).is_err());
    assert!(matches!(CaptureSet::open(&[], &Options::default()), Err(Error::Usage(_))));
}

proptest! {
    #[test]
    fn records_of_sorted_files_come_sorted_and_once(
        times in prop::collection::vec(prop::collection::vec(0..200_u32, 0..12), 1..6),
    ) {
        let folder = Folder::new("any");
        let files: Vec<Vec<u8>> = times
            .iter()
            .map(|times| {
                let mut sorted = times.clone();
                sorted.sort_unstable();
                pcap_of(&sorted)
            })
            .collect();
        let seen: Vec<_> = drain_set(&mut folder.open(&files).unwrap()).into_iter().flatten().collect();
        let mut all: Vec<i64> = times.concat().into_iter().map(i64::from).collect();
        all.sort_unstable();
        prop_assert_eq!(seen.iter().map(|one| one.0).collect::<Vec<_>>(), all);
        let frames: std::collections::HashSet<u64> = seen.iter().map(|one| one.1).collect();
        prop_assert_eq!(frames.len(), seen.len());
    }
}

//! Small traces for tests.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// Of `10.0.1.1` (a) and `10.0.1.2` (b), one path, one outlet each way.
pub fn orders_json(paths: &[&str]) -> String {
    let trace = serde_json::to_string(paths).unwrap();
    let outlet = |direction: &str| {
        format!(r#"{{"path":"p","direction":"{direction}","device":"v","netns":null,"mtu":1500}}"#)
    };
    format!(
        r#"{{"trace":{trace},"from_ns":null,"to_ns":null,"loops":1,"loop_gap_ns":0,"filter":null,
        "udp_ports":[9899],"pace":{{"mode":"original","speed":1.0}},
        "pairs":[{{"a":"10.0.1.1","b":"10.0.1.2","path":"p"}}],
        "mapping":{{"addresses":[],"ports":[],"macs":[]}},
        "keep_bad_checksums":false,"above_mtu":"refuse","truncated":"refuse",
        "outlets":[{},{}],"late":{{"policy":"send","limit_ns":1000000}},"spin_ns":100000}}"#,
        outlet("to_server"),
        outlet("to_client"),
    )
}

/// A UDP packet in Ethernet between two hosts of 10.0.1.0/24.
pub fn frame(source: u8, destination: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, source], [2, 0, 0, 0, 0, destination])
        .ipv4([10, 0, 1, source], [10, 0, 1, destination], 64)
        .udp(5000, 6000)
        .write(&mut bytes, payload)
        .unwrap();
    bytes
}

/// A pcap file, removed when it goes out of scope.
pub struct Trace(PathBuf);

impl Trace {
    /// Frames with their times in nanoseconds.
    pub fn new(name: &str, frames: &[(u64, Vec<u8>)]) -> Trace {
        const NANOSECONDS: u32 = 0xa1b2_3c4d;
        let mut bytes = Vec::new();
        for word in [NANOSECONDS, 0x0004_0002, 0, 0, 65_535, 1] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        for (time_ns, frame) in frames {
            let length = u32::try_from(frame.len()).unwrap();
            let (seconds, rest) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            for word in [seconds as u32, rest as u32, length, length] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            bytes.extend_from_slice(frame);
        }
        let path = env::temp_dir().join(format!("pathscope-{}-{name}.pcap", process::id()));
        fs::write(&path, bytes).unwrap();
        Trace(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn orders(&self) -> String {
        orders_json(&[self.0.to_str().unwrap()])
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

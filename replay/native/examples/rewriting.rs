//! How many frames a second are rewritten, on one core: a large SCTP packet and a small one, as
//! they are and mapped.
//!
//!     cargo run --release --package pathscope-replay --example rewriting

use std::time::Instant;

use pathscope_replay::rewrite::{Captured, Direction, Frames, Options, Rewriter};

const ROUNDS: usize = 500;
/// As many as are ready ahead of the sender.
const BATCH: usize = 4096;
const ETHERNET: u16 = 1;

const MAPPING: &str = r#"{"mapping": {"ports": [[5000, 5001]], "addresses": [
    ["10.0.1.0/24", "10.9.1.0/24"], ["10.0.2.0/24", "10.9.2.0/24"]]}}"#;

/// DATA of `user` bytes from 10.0.2.1 to 10.0.2.2, port 5000 to 6000.
fn frame(user: u16) -> Vec<u8> {
    let [high, low] = (user + 48).to_be_bytes();
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    bytes.extend([0x45, 0, high, low, 0, 7, 0x40, 0, 64, 132, 0, 0, 10, 0, 2, 1, 10, 0, 2, 2]);
    let [high, low] = (user + 16).to_be_bytes();
    bytes.extend([0x13, 0x88, 0x17, 0x70, 1, 2, 3, 4, 0, 0, 0, 0]);
    bytes.extend([0, 3, high, low, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + usize::from(user), 7);
    bytes
}

/// Millions of frames a second.
fn rate(rewriter: &mut Rewriter, frame: &[u8]) -> f64 {
    let wire_length = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let record = Captured { link_type: ETHERNET, data: frame, wire_length };
    let (mut out, mut made) = (Frames::new(), 0_usize);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        out.clear();
        for _ in 0..BATCH {
            let done = rewriter.rewrite(record, Direction::ToServer, 1500, &mut out);
            made += usize::from(done.is_ok());
        }
    }
    made as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, json) in [("as it is", "{}"), ("mapped", MAPPING)] {
        let options: Options = serde_json::from_str(json)?;
        let mut rewriter = Rewriter::new(options)?;
        for user_bytes in [16, 1452] {
            let frame = right(&frame(user_bytes))?;
            let rate = rate(&mut rewriter, &frame);
            println!("{name:8} {:4} bytes: {rate:.2} M frames/s", frame.len());
        }
    }
    Ok(())
}

/// With its checksums, as most frames of a trace are.
fn right(frame: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Frames::new();
    let wire_length = u32::try_from(frame.len())?;
    let record = Captured { link_type: ETHERNET, data: frame, wire_length };
    let done =
        Rewriter::new(Options::default())?.rewrite(record, Direction::ToServer, 1500, &mut out);
    done.map_err(|reason| reason.name())?;
    Ok(out.bytes().to_vec())
}

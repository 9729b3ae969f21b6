//! What a sender is told: the same words as `replay/packets/orders.py` writes.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::rewrite::{AboveMtu, Direction, Mapping, Options, Truncated};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Files whose frames are merged by time.
    pub trace: Vec<PathBuf>,
    /// Of each file the direction that is taken from it, where the files are captures of both ends
    /// on one clock: what the end sent itself. Empty: all is taken from every file.
    #[serde(default)]
    pub taken: Vec<Way>,
    /// What `from_ns` and `to_ns` count from, since 1970; the trace's first frame when absent.
    #[serde(default)]
    pub epoch_ns: Option<i64>,
    /// Since the trace's first frame, which is replay time 0 when this is absent.
    pub from_ns: Option<i64>,
    pub to_ns: Option<i64>,
    pub loops: u32,
    /// Between the end of one loop and the beginning of the next.
    pub loop_gap_ns: i64,
    /// A libpcap expression over the frames of the trace.
    pub filter: Option<String>,
    /// UDP ports that carry SCTP (RFC 6951).
    pub udp_ports: Vec<u16>,
    pub pace: Pace,
    pub pairs: Vec<Pair>,
    pub mapping: Mapping,
    pub keep_bad_checksums: bool,
    pub above_mtu: AboveMtu,
    pub truncated: Truncated,
    pub outlets: Vec<Outlet>,
    pub late: Late,
    /// How long before a deadline sleeping ends and looking at the clock begins.
    pub spin_ns: i64,
}

/// When frames are due.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase", deny_unknown_fields)]
pub enum Pace {
    /// As captured, `speed` times as fast.
    Original { speed: f64 },
    /// So many frames a second.
    Pps { pps: f64 },
    /// So many bits of frames a second.
    Rate { bps: f64 },
    /// At once.
    Top {},
}

/// Two addresses of the trace between which a path runs; what `a` sent goes to the server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    pub a: IpAddr,
    pub b: IpAddr,
    pub path: String,
}

/// The interface that one direction of a path goes out of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlet {
    pub path: String,
    pub direction: Way,
    pub device: String,
    /// By its name under /run/netns; absent for the namespace of the process.
    pub netns: Option<String>,
    /// Largest IP packet, in bytes.
    pub mtu: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    ToServer,
    ToClient,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Direction {
        match way {
            Way::ToServer => Direction::ToServer,
            Way::ToClient => Direction::ToClient,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    pub policy: LatePolicy,
    /// A frame sent later than this after its deadline counts as late.
    pub limit_ns: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatePolicy {
    /// Frames that are late go out at once; the deadlines of those after them stay.
    Send,
    /// Frames beyond the limit are left out, and counted.
    Drop,
}

impl Orders {
    /// Reads orders and checks what their types do not.
    ///
    /// # Errors
    /// [`Error::Orders`] for what is no orders, [`Error::Usage`] for a value that makes no sense.
    pub fn parse(json: &str) -> Result<Orders> {
        let orders: Orders = serde_json::from_str(json)?;
        orders.check()?;
        Ok(orders)
    }

    /// What of the orders is about the frames themselves.
    pub fn rewriting(&self) -> Options {
        Options {
            mapping: self.mapping.clone(),
            keep_bad_checksums: self.keep_bad_checksums,
            above_mtu: self.above_mtu,
            truncated: self.truncated,
            udp_ports: self.udp_ports.clone(),
        }
    }

    fn check(&self) -> Result<()> {
        let positive = |what: &str, value: f64| {
            let fits = value.is_finite() && value > 0.0;
            fits.then_some(())
                .ok_or_else(|| Error::usage(format!("{what} must be above 0, not {value}")))
        };
        match self.pace {
            Pace::Original { speed } => positive("the speed", speed)?,
            Pace::Pps { pps } => positive("packets a second", pps)?,
            Pace::Rate { bps } => positive("bits a second", bps)?,
            Pace::Top {} if self.loop_gap_ns > 0 => {
                let what = "at top speed nothing waits: a gap between loops needs another pace";
                return Err(Error::usage(what));
            }
            Pace::Top {} => {}
        }
        if !self.taken.is_empty() && self.taken.len() != self.trace.len() {
            return Err(Error::usage("a direction is taken of every file, or of none"));
        }
        if self.loops == 0 {
            return Err(Error::usage("loops must be at least 1"));
        }
        if self.loops > 1 && self.trace.iter().any(|path| path.as_os_str() == "-") {
            return Err(Error::usage("standard input can be read only once: loops need a file"));
        }
        for (what, value) in [
            ("from_ns", self.from_ns.unwrap_or(0)),
            ("loop_gap_ns", self.loop_gap_ns),
            ("late.limit_ns", self.late.limit_ns),
            ("spin_ns", self.spin_ns),
        ] {
            if value < 0 {
                return Err(Error::usage(format!("{what} must not be negative, as {value} is")));
            }
        }
        match self.to_ns {
            Some(to_ns) if to_ns < self.from_ns.unwrap_or(0) => {
                Err(Error::usage("the window ends before it begins"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::orders_json;

    #[test]
    fn what_makes_no_sense_is_told() {
        let cases = [
            (r#""loops":1"#, r#""loops":0"#, "loops must be at least 1"),
            (r#""speed":1.0"#, r#""speed":0.0"#, "the speed must be above 0"),
            (r#""from_ns":null"#, r#""from_ns":-1"#, "from_ns must not be negative"),
            (r#""to_ns":null"#, r#""to_ns":-1"#, "the window ends before it begins"),
            (r#""loops":1"#, r#""loops":1,"lops":2"#, "unknown field `lops`"),
            (r#""speed":1.0"#, r#""speed":1.0,"pps":2"#, "unknown field `pps`"),
        ];
        let json = orders_json(&["x.pcap"]);
        assert!(Orders::parse(&json).is_ok());
        for (good, bad, told) in cases {
            assert!(json.contains(good), "{good}");
            let error = Orders::parse(&json.replace(good, bad)).unwrap_err().to_string();
            assert!(error.contains(told), "{bad}: {error}");
        }
    }

    #[test]
    fn standard_input_is_read_once() {
        let json = orders_json(&["-"]).replace(r#""loops":1"#, r#""loops":2"#);
        let error = Orders::parse(&json).unwrap_err().to_string();
        assert!(error.contains("only once"), "{error}");
    }

    #[test]
    fn top_speed_has_no_gaps() {
        let top = orders_json(&["x.pcap"])
            .replace(r#"{"mode":"original","speed":1.0}"#, r#"{"mode":"top"}"#);
        assert!(Orders::parse(&top).is_ok());
        let gap = top.replace(r#""loop_gap_ns":0"#, r#""loop_gap_ns":5"#);
        assert!(Orders::parse(&gap).is_err());
    }
}

//! Payload Protocol Identifiers: which protocol a user message belongs to (RFC
//! 9260 section 3.3.1). SCTP hands the number through as it is, so a user that
//! forgets the byte order shows up here with a number that nobody registered.

/// The name of a number in IANA's registry "SCTP Payload Protocol Identifiers";
/// "unknown" if it lists none.
pub fn name(ppid: u32) -> &'static str {
    match ppid {
        0 => "unspecified",
        1 => "IUA",
        2 => "M2UA",
        3 => "M3UA",
        4 => "SUA",
        5 => "M2PA",
        6 => "V5UA",
        7 => "H.248",
        8 => "BICC",
        9 => "TALI",
        10 => "DUA",
        11 => "ASAP",
        12 => "ENRP",
        13 => "H.323",
        14 => "Q.IPC",
        15 => "SIMCO",
        16 => "DDP Segment",
        17 => "DDP Stream Session Control",
        18 => "S1AP",
        19 => "RUA",
        20 => "HNBAP",
        21 => "ForCES-HP",
        22 => "ForCES-MP",
        23 => "ForCES-LP",
        24 => "SBc-AP",
        25 => "NBAP",
        27 => "X2AP",
        28 => "IRCP",
        29 => "LCS-AP",
        30 => "MPICH2",
        31 => "SABP",
        32 => "Fractal Generator Protocol",
        33 => "Ping Pong Protocol",
        34 => "CalcApp Protocol",
        35 => "Scripting Service Protocol",
        36 => "NetPerfMeter Control",
        37 => "NetPerfMeter Data",
        38 => "Echo",
        39 => "Discard",
        40 => "Daytime",
        41 => "Character Generator",
        42 => "RNA",
        43 => "M2AP",
        44 => "M3AP",
        45 => "SSH",
        46 => "Diameter",
        47 => "Diameter over DTLS",
        48 => "R14P",
        49 => "Generic Data Transfer",
        50 => "WebRTC DCEP",
        51 => "WebRTC String",
        52 => "WebRTC Binary Partial",
        53 => "WebRTC Binary",
        54 => "WebRTC String Partial",
        55 => "PUA",
        56 => "WebRTC String Empty",
        57 => "WebRTC Binary Empty",
        58 => "XwAP",
        59 => "Xw Control Plane",
        60 => "NGAP",
        61 => "XnAP",
        62 => "F1AP",
        64 => "E1AP",
        65 => "ELE2 Lawful Interception",
        66 => "NGAP over DTLS",
        67 => "XnAP over DTLS",
        68 => "F1AP over DTLS",
        69 => "E1AP over DTLS",
        70 => "E2-CP",
        71 => "E2-UP",
        72 => "E2-DU",
        73 => "W1AP",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_name_stands_for_one_number() {
        let named: Vec<_> = (0..1000).map(name).filter(|name| *name != "unknown").collect();
        assert_eq!(named.len(), 72);
        assert_eq!(named.iter().collect::<HashSet<_>>().len(), 72);
        assert_eq!((name(46), name(46_u32.swap_bytes())), ("Diameter", "unknown"));
    }
}

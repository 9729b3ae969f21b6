//! One record of any link type: the decoder, and every view of what it found.
//!
//! Two bytes of link type, one of flags, two of what the capture cut, then the record.

use pathscope_wire::packet::{Datagram, Decoder, DecoderOptions, Found, Packet};
use pathscope_wire::problem::{Kind, Problem};
use pathscope_wire::sctp::{self, Chunk};
use pathscope_wire::{icmp, tcp, udp};

/// # Panics
/// Where a view reaches beyond the record, or a problem contradicts itself.
pub fn check(bytes: &[u8]) {
    let Some((&[low, high, flags, cut_high, cut_low], record)) = bytes.split_first_chunk() else {
        return;
    };
    let cut = u32::from(u16::from_be_bytes([cut_high, cut_low]));
    let length = u32::try_from(record.len()).unwrap_or(u32::MAX).saturating_add(cut);
    let options = DecoderOptions { flows: flags & 1 == 0, ..DecoderOptions::default() };
    let mut decoder = Decoder::new(options);
    match decoder.decode(u16::from_le_bytes([low, high]), 0, record, length) {
        Found::Sctp(packet) => walk(&packet, record),
        Found::Tcp(datagram) => segment(within(datagram, record)),
        Found::Udp(datagram) => payload(within(datagram, record)),
        Found::Icmp(datagram) => message(within(datagram, record)),
        Found::Skip(skip) => assert!(!skip.name().is_empty()),
        Found::Problem(problem) => said(&problem, length),
    }
}

/// Truncated means that the wire had more than the capture kept.
fn said(problem: &Problem, length: u32) {
    assert!(!problem.what.is_empty());
    assert!(problem.offset <= length, "{problem}");
    if problem.kind == Kind::Truncated {
        assert!(problem.needed > problem.available, "{problem}");
    }
}

fn within<'a>(datagram: Datagram<'a>, record: &[u8]) -> Datagram<'a> {
    assert!(datagram.bytes.len() <= datagram.length as usize);
    let place = datagram.offset as usize;
    assert_eq!(Some(datagram.bytes), record.get(place..place + datagram.bytes.len()));
    datagram
}

fn walk(packet: &Packet<'_>, record: &[u8]) {
    assert!(packet.sctp.len() >= 12 && packet.sctp.len() <= packet.sctp_length as usize);
    let place = packet.sctp_offset as usize;
    assert_eq!(Some(packet.sctp), record.get(place..place + packet.sctp.len()));
    let Ok((header, chunks)) = sctp::parse(packet.sctp, packet.sctp_length) else {
        panic!("the decoder has seen the common header")
    };
    sctp::verify(packet.sctp, &header, packet.sctp_length);
    let mut next = 12;
    for chunk in chunks {
        match chunk {
            Ok(chunk) => {
                assert_eq!(chunk.offset, next, "chunks follow each other");
                next += u32::from(chunk.length).next_multiple_of(4);
                views(&chunk, packet.sctp_length);
            }
            Err(problem) => said(&problem, packet.sctp_length),
        }
    }
}

/// Every view of a chunk: at most one knows the chunk's type.
fn views(chunk: &Chunk<'_>, length: u32) {
    let value = chunk.value_length() as usize;
    assert!(chunk.value.len() <= value);
    let mut said_of = |problem: &Problem| said(problem, length);
    let _ = chunk.data().inspect_err(&mut said_of).inspect(|data| {
        assert!(data.user.len() <= data.user_length as usize);
        assert!((data.user_length as usize) < value);
    });
    let _ = chunk.sack().inspect_err(&mut said_of).inspect(|sack| {
        let entries = sack.gaps().count() + sack.nr_gaps().count() + sack.duplicates().count();
        assert!(entries * 4 < value);
    });
    let _ = chunk.forward_tsn().inspect_err(&mut said_of).inspect(|forward| {
        assert!(forward.skipped().count() * 4 < value);
    });
    let _ = chunk.init().inspect_err(&mut said_of).inspect(|init| {
        for parameter in init.params.clone() {
            let _ = parameter.inspect_err(|problem| said(problem, length)).map(|one| {
                assert!(one.value.len() + 4 <= usize::from(one.length));
                (one.address(), one.name())
            });
        }
    });
    let _ = chunk.asconf().inspect_err(&mut said_of).inspect(|asconf| {
        asconf.requests.clone().flatten().for_each(drop);
    });
    let _ = chunk.asconf_ack().inspect_err(&mut said_of).inspect(|ack| {
        for response in ack.responses.clone().flatten() {
            assert_eq!(response.cause.is_some(), response.causes.count() > 0);
        }
    });
    for cause in chunk.causes() {
        let _ = cause.inspect_err(&mut said_of).inspect(|cause| assert!(!cause.name().is_empty()));
    }
    for parameter in chunk.re_config() {
        let _ = parameter.inspect_err(&mut said_of).map(|parameter| parameter.reconfig());
    }
    let fields = [chunk.heartbeat_info().err(), chunk.auth().err()];
    fields.iter().flatten().for_each(&mut said_of);
    [chunk.shutdown().err(), chunk.ecn_tsn().err()].iter().flatten().for_each(&mut said_of);
    assert!(chunk.cookie().len() <= value && !chunk.name().is_empty());
}

fn segment(datagram: Datagram<'_>) {
    match tcp::parse(datagram.bytes, datagram.length) {
        Ok(segment) => {
            assert!(segment.payload.len() <= segment.payload_length as usize);
            for option in segment.options {
                let _ = option.inspect_err(|problem| said(problem, 60));
            }
        }
        Err(problem) => said(&problem, datagram.length),
    }
}

fn payload(datagram: Datagram<'_>) {
    match udp::parse(datagram.bytes, datagram.length) {
        Ok(found) => {
            assert!(found.payload.len() <= found.payload_length as usize);
            assert_eq!(udp::Rtp::read(&[]), None);
            udp::Rtp::read(found.payload);
            udp::Ditg::read(found.payload);
        }
        Err(problem) => said(&problem, datagram.length),
    }
}

fn message(datagram: Datagram<'_>) {
    match icmp::parse(!datagram.source.is_v4(), datagram.bytes, datagram.length) {
        Ok(message) => {
            assert!(!message.name().is_empty());
            message.mtu();
            let _ = message.quoted().inspect_err(|problem| assert!(!problem.what.is_empty()));
        }
        Err(problem) => said(&problem, datagram.length),
    }
}

//! ICMP errors, tied to the flow or association whose packet they quote.

use etherparse::ip_number;

use super::budget::ICMP_ROWS;
use super::{Flows, Key, Protocol, Sight};
use crate::icmp::{Message, Quoted};
use crate::ledger::{IcmpRow, Ledger};
use crate::track::End;

impl Flows {
    /// One ICMP error. `association` is the SCTP association that it quotes, the end that
    /// sent the quoted packet, and that packet's verification tag.
    pub fn icmp(
        &mut self,
        sight: &Sight<'_>,
        message: &Message<'_>,
        quoted: Option<&Quoted>,
        association: Option<(u32, End, u32)>,
        ledger: &mut Ledger,
    ) {
        let flow = quoted.and_then(|quoted| self.quoted(quoted));
        if ledger.of_flows().icmp.len() >= ICMP_ROWS {
            self.budget.census.unlisted_icmp += 1;
            return;
        }
        let sender = flow.map(|(_, end)| end).or(association.map(|(_, end, _)| end));
        ledger.of_flows_mut().icmp.push(IcmpRow {
            frame: sight.moment.frame,
            time_ns: sight.moment.time_ns,
            source: sight.datagram.source,
            destination: sight.datagram.destination,
            version: if message.v6 { 6 } else { 4 },
            icmp_type: message.kind,
            code: message.code,
            name: message.name(),
            mtu_bytes: message.mtu(),
            quoted_source: quoted.map(|quoted| quoted.source),
            quoted_destination: quoted.map(|quoted| quoted.destination),
            quoted_protocol: quoted.map(|quoted| quoted.protocol),
            quoted_source_port: quoted.and_then(|quoted| quoted.ports).map(|ports| ports.0),
            quoted_destination_port: quoted.and_then(|quoted| quoted.ports).map(|ports| ports.1),
            quoted_tag: association
                .map(|(.., tag)| tag)
                .or(quoted.and_then(|quoted| quoted.verification_tag)),
            flow: flow.map(|(flow, _)| flow),
            association: association.map(|(association, ..)| association),
            sender: sender.map(End::name),
        });
    }

    /// The flow that a quoted packet belongs to, and the end that sent it.
    fn quoted(&mut self, quoted: &Quoted) -> Option<(u32, End)> {
        let ports = quoted.ports?;
        let protocol = if quoted.protocol == ip_number::TCP.0 {
            Protocol::Tcp
        } else if quoted.protocol == ip_number::UDP.0 {
            Protocol::Udp
        } else {
            return None;
        };
        let source = (quoted.source, ports.0);
        let key = Key::new(protocol, source, (quoted.destination, ports.1));
        let flow = self.by_key.get(&key).and_then(|&index| self.slots.get_mut(index))?;
        flow.row.icmp_errors += 1;
        Some((flow.row.flow, flow.sender(source)))
    }
}

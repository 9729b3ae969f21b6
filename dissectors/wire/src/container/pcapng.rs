//! The pcapng format: draft-ietf-opsawg-pcapng, section 3 (blocks and options) and
//! section 4 (block types). Blocks without use here (names, secrets, journals,
//! custom and unknown ones) are checked as blocks and passed over.

use pcap_parser::PcapError;
use pcap_parser::pcapng::{
    Block, EPB_MAGIC, IDB_MAGIC, ISB_MAGIC, InterfaceDescriptionBlock, InterfaceStatisticsBlock,
    OptionCode, SHB_MAGIC, SPB_MAGIC, SectionHeaderBlock, parse_block_be, parse_block_le,
    parse_option_be, parse_option_le,
};
use pcap_parser::traits::PcapNGPacketBlock;

use super::clock::{Clock, DEFAULT_RESOLUTION};
use super::seek::Descriptions;
use super::stream::{ByteOrder, Fault, Stream};
use super::{Comments, Found, Interface, MAX_CAPTURED};

pub(super) const MAGIC: [u8; 4] = SHB_MAGIC.to_be_bytes();

/// The obsolete Packet Block, appendix A.
const PACKET: u32 = 2;

/// Type and length before the body of a block, length after it.
const BLOCK_FRAME: usize = 12;
/// Where a packet's bytes begin in its block.
const PACKET_DATA: usize = 28;
const SIMPLE_PACKET_DATA: usize = 12;

const MAX_BLOCK: u32 = 16 << 20;
/// Of a block whose options are read: far more than writers write, and few
/// enough that a list of its options cannot fill the memory.
const MAX_READ_BLOCK: u32 = 2 << 20;

/// Both far beyond real files; without a limit a hostile one could fill the memory.
const MAX_INTERFACES: usize = 65_536;
const MAX_COMMENTS: usize = 65_536;

/// What the blocks read so far say about those to come.
pub(super) struct Pcapng {
    order: ByteOrder,
    sections: u32,
    /// Index of the current section's first interface.
    first: usize,
    devices: Vec<Device>,
    pub comments: Vec<String>,
    pub descriptions: Descriptions,
}

/// What reading the packets of an interface takes, beside what [`Interface`] shows.
struct Device {
    clock: Clock,
    /// A Simple Packet Block has no time of its own: it gets the last one seen on its interface.
    last_ns: i64,
    dropped: Option<u64>,
}

impl Pcapng {
    /// Reads the first section header, whose magic has been seen.
    pub fn open(stream: &mut Stream) -> Result<Self, Fault> {
        let mut pcapng = Pcapng {
            order: ByteOrder::Little,
            sections: 0,
            first: 0,
            devices: Vec::new(),
            comments: Vec::new(),
            descriptions: Descriptions::default(),
        };
        if let Some((_, length)) = pcapng.block(stream)? {
            let offset = stream.offset();
            let bytes = stream.peek(length).get(..length).unwrap_or_default();
            pcapng.describe(offset, bytes, &mut Vec::new())?;
            stream.take(length);
        }
        Ok(pcapng)
    }

    /// Packets the capturing host lost: of each interface the last statistics count.
    pub fn dropped(&self) -> Option<u64> {
        self.devices.iter().filter_map(|device| device.dropped).reduce(u64::saturating_add)
    }

    /// The next packet, or `None` at the end of the file. Blocks between packets are read on the way.
    pub fn find(
        &mut self,
        stream: &mut Stream,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Found>, Fault> {
        while let Some((kind, length)) = self.block(stream)? {
            let offset = stream.offset();
            let bytes = stream.peek(length).get(..length).unwrap_or_default();
            match kind {
                EPB_MAGIC | PACKET => return self.packet(offset, bytes, kind).map(Some),
                SPB_MAGIC => return self.simple_packet(offset, bytes, interfaces).map(Some),
                SHB_MAGIC | IDB_MAGIC | ISB_MAGIC => self.describe(offset, bytes, interfaces)?,
                _ => {}
            }
            stream.take(length);
        }
        Ok(None)
    }

    /// Type and total length of the coming block, all of which is there and whose lengths agree.
    #[inline]
    fn block(&mut self, stream: &mut Stream) -> Result<Option<(u32, usize)>, Fault> {
        let offset = stream.offset();
        let view = stream.peek(BLOCK_FRAME);
        if view.is_empty() {
            return stream.finish().map(|()| None);
        }
        if view.starts_with(&MAGIC) {
            self.order = match view.get(8..BLOCK_FRAME) {
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => ByteOrder::Little,
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => ByteOrder::Big,
                Some(other) => {
                    let found = other.escape_ascii().to_string();
                    return Err(Fault::new(offset, "the byte-order magic 0x1a2b3c4d", found));
                }
                None => return Err(stream.cut(format!("a block of at least {BLOCK_FRAME} bytes"))),
            };
        }
        let (Some(kind), Some(total), true) =
            (self.order.u32(view, 0), self.order.u32(view, 4), view.len() >= BLOCK_FRAME)
        else {
            return Err(stream.cut(format!("a block of at least {BLOCK_FRAME} bytes")));
        };
        let most = match kind {
            SHB_MAGIC | IDB_MAGIC | EPB_MAGIC | SPB_MAGIC | ISB_MAGIC | PACKET => MAX_READ_BLOCK,
            _ => MAX_BLOCK,
        };
        let length = total as usize;
        if length < BLOCK_FRAME || total > most || total % 4 != 0 {
            let expected =
                format!("a block length of {BLOCK_FRAME} to {most} bytes, a multiple of 4");
            return Err(Fault::new(offset, expected, total.to_string()));
        }
        let view = stream.peek(length);
        let Some(trailer) = self.order.u32(view, length - 4) else {
            return Err(stream.cut(format!("a block of {length} bytes")));
        };
        if trailer != total {
            let expected = format!("the block length {total} again at the block's end");
            return Err(Fault::new(offset, expected, trailer.to_string()));
        }
        Ok(Some((kind, length)))
    }

    /// An Enhanced Packet Block, or a Packet Block, which differs in the size of
    /// the interface number alone. Read without the parsing crate, which does not
    /// know the latter and gathers the options of every packet in a vector.
    #[inline]
    fn packet(&mut self, offset: u64, bytes: &[u8], kind: u32) -> Result<Found, Fault> {
        let length = bytes.len();
        let view = bytes.get(..length - 4).unwrap_or_default();
        let order = self.order;
        let (Some(high), Some(low), Some(captured), Some(wire_length)) =
            (order.u32(view, 12), order.u32(view, 16), order.u32(view, 20), order.u32(view, 24))
        else {
            let expected = format!("a packet block of at least {} bytes", PACKET_DATA + 4);
            return Err(Fault::new(offset, expected, format!("{length} bytes")));
        };
        let number = match kind {
            PACKET => order.u16(view, 8).map(u32::from),
            _ => order.u32(view, 8),
        };
        let interface = self.interface(offset, number.unwrap_or(u32::MAX))?;
        if captured > MAX_CAPTURED {
            return Err(Fault::new(offset, super::captured_limit(), captured.to_string()));
        }
        let end = PACKET_DATA + captured as usize;
        let Some(options) = view.get(end.next_multiple_of(4)..) else {
            let room = view.len().saturating_sub(PACKET_DATA);
            let expected = format!("a captured length of at most the {room} bytes in its block");
            return Err(Fault::new(offset, expected, captured.to_string()));
        };
        let mut comments = Comments::default();
        if !options.is_empty() {
            each_option(offset, order, options, |code, value| {
                if code == OptionCode::Comment {
                    comments.push(text(value));
                }
            })?;
        }
        let units = u64::from(high) << 32 | u64::from(low);
        let time_ns = self.time(offset, interface, units)?;
        let data = PACKET_DATA..end;
        Ok(Found { time_ns, interface, wire_length, length, data, comments })
    }

    #[inline]
    fn time(&mut self, offset: u64, interface: u32, units: u64) -> Result<i64, Fault> {
        let device = self.devices.get_mut(interface as usize);
        let time_ns = device.and_then(|device| {
            device.last_ns = device.clock.time_ns(units)?;
            Some(device.last_ns)
        });
        time_ns.ok_or_else(|| {
            let expected = "a time between the years 1677 and 2262";
            Fault::new(offset, expected, format!("{units} units on interface {interface}"))
        })
    }

    fn simple_packet(
        &self,
        offset: u64,
        bytes: &[u8],
        interfaces: &[Interface],
    ) -> Result<Found, Fault> {
        let interface = self.interface(offset, 0)?;
        let Block::SimplePacket(block) = self.parse(offset, bytes)? else {
            return Err(malformed(offset, bytes));
        };
        // The captured length is not told: it follows from the two others, 0 meaning no limit.
        let snap_length = match interfaces.get(interface as usize) {
            Some(it) if it.snap_length > 0 => it.snap_length as usize,
            _ => usize::MAX,
        };
        let captured = block.packet_data().len().min(snap_length);
        if captured > MAX_CAPTURED as usize {
            return Err(Fault::new(offset, super::captured_limit(), captured.to_string()));
        }
        Ok(Found {
            time_ns: self.devices.get(interface as usize).map_or(0, |device| device.last_ns),
            interface,
            wire_length: block.orig_len(),
            length: bytes.len(),
            data: SIMPLE_PACKET_DATA..SIMPLE_PACKET_DATA + captured,
            comments: Comments::default(),
        })
    }

    /// A block that says something about packets to come or past.
    fn describe(
        &mut self,
        offset: u64,
        bytes: &[u8],
        interfaces: &mut Vec<Interface>,
    ) -> Result<(), Fault> {
        let options = |start: usize| bytes.get(start..bytes.len() - 4).unwrap_or_default();
        match self.parse(offset, bytes)? {
            Block::SectionHeader(block) => {
                self.descriptions.section(offset, bytes.len());
                self.section(offset, &block, options(24))
            }
            Block::InterfaceDescription(block) => {
                self.descriptions.interface(offset, bytes.len());
                self.device(offset, &block, options(16), interfaces)
            }
            Block::InterfaceStatistics(block) => self.statistics(offset, &block, options(20)),
            _ => Err(malformed(offset, bytes)),
        }
    }

    fn section(
        &mut self,
        offset: u64,
        block: &SectionHeaderBlock,
        options: &[u8],
    ) -> Result<(), Fault> {
        if block.major_version != 1 {
            let found = format!("version {}.{}", block.major_version, block.minor_version);
            return Err(Fault::new(offset, "pcapng version 1", found));
        }
        self.sections = self.sections.saturating_add(1);
        self.first = self.devices.len();
        each_option(offset, self.order, options, |code, value| {
            if code == OptionCode::Comment {
                self.comments.push(text(value));
            }
        })?;
        within(offset, self.comments.len(), MAX_COMMENTS, "section comments")
    }

    fn device(
        &mut self,
        offset: u64,
        block: &InterfaceDescriptionBlock,
        options: &[u8],
        interfaces: &mut Vec<Interface>,
    ) -> Result<(), Fault> {
        let (mut name, mut description) = (None, None);
        let (mut resolution, mut offset_s) = (DEFAULT_RESOLUTION, 0);
        let order = self.order;
        each_option(offset, order, options, |code, value| match (code, value) {
            (OptionCode::IfName, _) => name = Some(text(value)),
            (OptionCode::IfDescription, _) => description = Some(text(value)),
            (OptionCode::IfTsresol, [told]) => resolution = *told,
            // The same bits, read as signed.
            (OptionCode::IfTsoffset, _) => {
                offset_s = order.u64(value).map_or(offset_s, u64::cast_signed);
            }
            _ => {}
        })?;
        let clock = Clock::new(resolution, offset_s);
        interfaces.push(Interface {
            section: self.sections.saturating_sub(1),
            number: count(self.devices.len() - self.first),
            // The crate has widened a field of 16 bits.
            link_type: (block.linktype.0 & 0xffff) as u16,
            name,
            description,
            snap_length: block.snaplen,
            time_unit: clock.unit(),
            packets: 0,
        });
        self.devices.push(Device { clock, last_ns: 0, dropped: None });
        within(offset, self.devices.len(), MAX_INTERFACES, "interfaces")
    }

    fn statistics(
        &mut self,
        offset: u64,
        block: &InterfaceStatisticsBlock,
        options: &[u8],
    ) -> Result<(), Fault> {
        let interface = self.interface(offset, block.if_id)?;
        let (mut by_interface, mut by_system) = (None, None);
        let order = self.order;
        each_option(offset, order, options, |code, value| match code {
            OptionCode::IsbIfDrop => by_interface = order.u64(value),
            OptionCode::IsbOsDrop => by_system = order.u64(value),
            _ => {}
        })?;
        if let Some(device) = self.devices.get_mut(interface as usize) {
            // Counts since the capture began: a later block replaces an earlier one.
            device.dropped = by_interface.or(by_system).or(device.dropped);
        }
        Ok(())
    }

    /// The index across sections of an interface that its section has declared.
    #[inline]
    fn interface(&self, offset: u64, number: u32) -> Result<u32, Fault> {
        let declared = self.devices.len() - self.first;
        if (number as usize) < declared {
            return Ok(count(self.first + number as usize));
        }
        let expected = format!("one of the {declared} interfaces its section declares before");
        Err(Fault::new(offset, expected, format!("interface {number}")))
    }

    fn parse<'a>(&self, offset: u64, bytes: &'a [u8]) -> Result<Block<'a>, Fault> {
        let parsed = match self.order {
            ByteOrder::Little => parse_block_le(bytes),
            ByteOrder::Big => parse_block_be(bytes),
        };
        parsed.map(|(_, block)| block).map_err(|_| malformed(offset, bytes))
    }
}

/// Never out of range: there are at most [`MAX_INTERFACES`].
fn count(interfaces: usize) -> u32 {
    u32::try_from(interfaces).unwrap_or(u32::MAX)
}

fn within(offset: u64, count: usize, most: usize, what: &str) -> Result<(), Fault> {
    if count <= most {
        return Ok(());
    }
    Err(Fault::new(offset, format!("at most {most} {what}"), format!("{count}")))
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

#[cold]
fn malformed(offset: u64, bytes: &[u8]) -> Fault {
    let found = format!("a block of {} bytes that its fields do not fit", bytes.len());
    Fault::new(offset, "a well-formed block", found)
}

/// Options up to the mark that ends them, or to the end of their block.
fn each_option(
    offset: u64,
    order: ByteOrder,
    mut rest: &[u8],
    mut each: impl FnMut(OptionCode, &[u8]),
) -> Result<(), Fault> {
    while !rest.is_empty() {
        let parsed = match order {
            ByteOrder::Little => parse_option_le::<PcapError<&[u8]>>(rest),
            ByteOrder::Big => parse_option_be::<PcapError<&[u8]>>(rest),
        };
        let Ok((after, option)) = parsed else {
            let found = format!("one longer than the {} bytes left", rest.len());
            return Err(Fault::new(offset, "options that end within their block", found));
        };
        if option.code == OptionCode::EndOfOpt {
            break;
        }
        // The crate has taken the value with its padding, never less than its length.
        each(option.code, option.as_bytes().unwrap_or_default());
        rest = after;
    }
    Ok(())
}

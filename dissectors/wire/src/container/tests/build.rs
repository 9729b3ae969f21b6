//! Builds capture files for tests, byte by byte, in either byte order.

use crate::container::stream::ByteOrder;

/// A file under construction.
pub(super) struct Builder {
    pub order: ByteOrder,
    pub bytes: Vec<u8>,
}

impl Builder {
    pub fn new(order: ByteOrder) -> Self {
        Builder { order, bytes: Vec::new() }
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes.extend(match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
        self
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes.extend(match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
        self
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes.extend(match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        });
        self
    }

    fn padded(&mut self, data: &[u8]) -> &mut Self {
        self.bytes.extend(data);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    pub fn pcap(order: ByteOrder, nanosecond: bool) -> Self {
        let mut file = Builder::new(order);
        file.u32(if nanosecond { 0xa1b2_3c4d } else { 0xa1b2_c3d4 });
        // The link type is Ethernet, with the bits that announce a 4-byte frame check sequence.
        file.u16(2).u16(4).u32(0).u32(0).u32(65_535).u32(0x5000_0001);
        file
    }

    pub fn pcap_record(&mut self, seconds: u32, fraction: u32, data: &[u8]) -> &mut Self {
        self.u32(seconds).u32(fraction).u32(data.len() as u32).u32(data.len() as u32 + 7);
        self.bytes.extend(data);
        self
    }

    pub fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Builder)) -> &mut Self {
        let mut body = Builder::new(self.order);
        fill(&mut body);
        let length = body.bytes.len() as u32 + 12;
        self.u32(kind).u32(length).bytes.extend(&body.bytes);
        self.u32(length)
    }

    pub fn option(&mut self, code: u16, value: &[u8]) -> &mut Self {
        self.u16(code).u16(value.len() as u16).padded(value)
    }

    pub fn option_u64(&mut self, code: u16, value: u64) -> &mut Self {
        self.u16(code).u16(8).u64(value)
    }

    pub fn section(&mut self, comments: &[&str]) -> &mut Self {
        self.block(0x0a0d_0d0a, |block| {
            block.u32(0x1a2b_3c4d).u16(1).u16(0).u64(u64::MAX);
            block.comments(comments);
        })
    }

    /// An interface whose options are what `options` writes, and their end.
    pub fn interface(&mut self, link_type: u16, options: impl FnOnce(&mut Builder)) -> &mut Self {
        self.block(1, |block| {
            block.u16(link_type).u16(0).u32(96);
            options(block);
            block.option(0, &[]);
        })
    }

    pub fn packet(&mut self, number: u32, units: u64, data: &[u8], comments: &[&str]) -> &mut Self {
        self.block(6, |block| {
            block.u32(number).u32((units >> 32) as u32).u32(units as u32);
            block.u32(data.len() as u32).u32(data.len() as u32 + 7).padded(data);
            block.comments(comments);
        })
    }

    /// The obsolete Packet Block.
    pub fn old_packet(&mut self, number: u16, units: u64, data: &[u8]) -> &mut Self {
        self.block(2, |block| {
            block.u16(number).u16(0xffff).u32((units >> 32) as u32).u32(units as u32);
            block.u32(data.len() as u32).u32(data.len() as u32 + 7).padded(data);
        })
    }

    pub fn simple_packet(&mut self, wire_length: u32, data: &[u8]) -> &mut Self {
        self.block(3, |block| {
            block.u32(wire_length).padded(data);
        })
    }

    /// Nothing to say is said without options at all, as writers do.
    fn comments(&mut self, comments: &[&str]) {
        for comment in comments {
            self.option(1, comment.as_bytes());
        }
        if !comments.is_empty() {
            self.option(0, &[]);
        }
    }
}

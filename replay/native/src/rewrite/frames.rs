//! Frames one after the other in one piece of memory, which is used again.

/// Ethernet frames, without their frame check sequences.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// Where each frame ends in `bytes`.
    ends: Vec<usize>,
}

/// How much there was at some time.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    bytes: usize,
    frames: usize,
}

impl Frames {
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the frames, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All frames without what parts them: [`Frames::ends`] does.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { bytes: self.bytes.len(), frames: self.ends.len() }
    }

    /// Drops what came after `mark`.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        self.ends.truncate(mark.frames);
    }

    /// Where the frame that is being written grows: what was there before belongs to others.
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The frame that is being written, from its first byte on.
    pub(super) fn open(&mut self) -> &mut [u8] {
        let start = self.ends.last().copied().unwrap_or(0);
        self.bytes.get_mut(start..).unwrap_or_default()
    }

    /// Ends the frame that is being written.
    pub(super) fn close(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stand_apart_and_can_be_taken_back() {
        let mut frames = Frames::new();
        for frame in [&[1, 2, 3][..], &[], &[4]] {
            frames.tail().extend(frame);
            assert_eq!(frames.open(), frame);
            frames.close();
        }
        let mark = frames.mark();
        frames.tail().extend([9; 4]);
        frames.close();
        frames.tail().push(9);
        frames.back_to(mark);
        assert_eq!(frames.iter().collect::<Vec<_>>(), [&[1, 2, 3][..], &[], &[4]]);
        assert_eq!((frames.len(), frames.get(3), frames.bytes().len()), (3, None, 4));
        frames.clear();
        assert!(frames.is_empty() && frames.get(0).is_none());
    }
}

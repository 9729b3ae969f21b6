//! The RTO that a sender calculates for one path (RFC 9260 section 6.3.1), before RTO.Min and
//! RTO.Max clamp it.

/// SRTT and RTTVAR after the samples so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Model {
    srtt: f64,
    rttvar: f64,
}

impl Model {
    /// C2: the first sample R makes SRTT = R and RTTVAR = R/2.
    fn first(rtt_ns: u64) -> Self {
        let rtt = rtt_ns as f64;
        Model { srtt: rtt, rttvar: rtt / 2.0 }
    }

    /// C3, with RTO.Beta 1/4 and RTO.Alpha 1/8; RTTVAR takes the SRTT before.
    fn updated(self, rtt_ns: u64) -> Self {
        let rtt = rtt_ns as f64;
        Model {
            rttvar: self.rttvar + ((self.srtt - rtt).abs() - self.rttvar) / 4.0,
            srtt: self.srtt + (rtt - self.srtt) / 8.0,
        }
    }

    pub fn srtt_ns(self) -> u64 {
        self.srtt.round() as u64
    }

    pub fn rttvar_ns(self) -> u64 {
        self.rttvar.round() as u64
    }

    pub fn rto_ns(self) -> u64 {
        (self.srtt + 4.0 * self.rttvar).round() as u64
    }
}

/// The model of one path, and which chunk is being timed for it.
#[derive(Default)]
pub struct Rto {
    model: Option<Model>,
    /// C4: one measurement a round trip. The chunk sent first since the last one is timed.
    timed: Option<u64>,
    /// Expiries of T3-rtx since the last sample: each doubles the RTO (6.3.3, E2).
    pub doublings: u32,
}

impl Rto {
    /// None before the first sample.
    pub fn model(&self) -> Option<Model> {
        self.model
    }

    /// A chunk is sent for the first time.
    pub fn sent(&mut self, tsn: u64) {
        self.timed.get_or_insert(tsn);
    }

    /// A chunk is sent again, or forgotten: it gives no sample any more (C5, Karn's rule).
    pub fn spoil(&mut self, tsn: u64) {
        if self.timed == Some(tsn) {
            self.timed = None;
        }
    }

    /// A chunk is acknowledged; whether it was the one being timed.
    pub fn acknowledged(&mut self, tsn: u64) -> bool {
        let timed = self.timed == Some(tsn);
        self.spoil(tsn);
        timed
    }

    /// A chunk's or a HEARTBEAT's round trip (section 8.3).
    pub fn sample(&mut self, rtt_ns: u64) {
        self.model = Some(self.model.map_or(Model::first(rtt_ns), |model| model.updated(rtt_ns)));
        self.doublings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_sample_makes_three_round_trips() {
        let mut rto = Rto::default();
        assert_eq!(rto.model(), None);
        rto.sample(100);
        let model = rto.model().unwrap();
        assert_eq!((model.srtt_ns(), model.rttvar_ns(), model.rto_ns()), (100, 50, 300));
    }

    /// RTTVAR = 3/4 x 50 + 1/4 x |100 - 180|, SRTT = 7/8 x 100 + 1/8 x 180.
    #[test]
    fn the_second_sample_counts_an_eighth() {
        let mut rto = Rto::default();
        rto.sample(100);
        rto.sample(180);
        let model = rto.model().unwrap();
        assert_eq!((model.srtt, model.rttvar), (110.0, 57.5));
        assert_eq!(model.rto_ns(), 340);
    }

    #[test]
    fn one_chunk_is_timed_at_a_time_and_only_when_sent_once() {
        let mut rto = Rto::default();
        rto.sent(1);
        rto.sent(2);
        assert!(!rto.acknowledged(2));
        assert!(rto.acknowledged(1));
        rto.sent(3);
        rto.spoil(3);
        assert!(!rto.acknowledged(3));
        rto.sent(4);
        assert!(rto.acknowledged(4));
    }

    #[test]
    fn a_sample_undoes_the_doubling() {
        let mut rto = Rto { doublings: 3, ..Default::default() };
        rto.sample(1);
        assert_eq!(rto.doublings, 0);
    }

    proptest! {
        #[test]
        fn the_rto_is_never_below_srtt_nor_srtt_beyond_the_samples(samples in proptest::collection::vec(any::<u32>(), 1..100)) {
            let mut rto = Rto::default();
            for &sample in &samples {
                rto.sample(u64::from(sample));
            }
            let model = rto.model().unwrap();
            let (least, most) = (samples.iter().min().unwrap(), samples.iter().max().unwrap());
            prop_assert!(model.rto_ns() >= model.srtt_ns());
            prop_assert!((u64::from(*least)..=u64::from(*most)).contains(&model.srtt_ns()));
        }
    }
}

//! Count, mean, spread and extremes of durations, in constant space.

#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    pub count: u64,
    mean: f64,
    squares: f64,
    extremes: Option<(u64, u64)>,
    /// SRTT of RFC 6298 section 2 and RFC 9260 section 6.3.1 (alpha 1/8).
    smoothed: f64,
}

impl Moments {
    /// Takes one sample; a negative one, of a clock that stepped back, is left out.
    pub fn sample(&mut self, ns: i64) -> Option<u64> {
        let ns = u64::try_from(ns).ok()?;
        self.add(ns);
        Some(ns)
    }

    pub fn add(&mut self, ns: u64) {
        let value = ns as f64;
        self.smoothed =
            if self.count == 0 { value } else { self.smoothed + (value - self.smoothed) / 8.0 };
        self.count += 1;
        // Welford's update: no sum of squares that loses its low digits.
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
        let (min, max) = self.extremes.unwrap_or((ns, ns));
        self.extremes = Some((min.min(ns), max.max(ns)));
    }

    pub fn min(&self) -> Option<u64> {
        self.extremes.map(|(min, _)| min)
    }

    pub fn max(&self) -> Option<u64> {
        self.extremes.map(|(_, max)| max)
    }

    pub fn mean(&self) -> Option<u64> {
        (self.count > 0).then_some(self.mean.round() as u64)
    }

    /// Mean and standard deviation unrounded; both 0 without a sample.
    pub fn exact(&self) -> (f64, f64) {
        let freedom = self.count.saturating_sub(1).max(1) as f64;
        (self.mean, (self.squares / freedom).sqrt())
    }

    /// Standard deviation (n - 1); 0 for one sample.
    pub fn sd(&self) -> Option<u64> {
        (self.count > 0).then(|| self.exact().1.round() as u64)
    }

    pub fn smoothed(&self) -> Option<i64> {
        (self.count > 0).then_some(self.smoothed as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_samples() {
        let mut moments = Moments::default();
        assert_eq!((moments.mean(), moments.sd(), moments.min()), (None, None, None));
        assert_eq!(moments.sample(-1), None);
        for ns in [10, 20, 60] {
            moments.sample(ns);
        }
        assert_eq!((moments.count, moments.mean()), (3, Some(30)));
        assert_eq!((moments.min(), moments.max(), moments.sd()), (Some(10), Some(60), Some(26)));
        assert_eq!(moments.smoothed(), Some(17));
    }
}

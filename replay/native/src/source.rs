//! The trace as frames to send: read, routed, rewritten, each with its deadline.

use std::sync::atomic::{AtomicBool, Ordering};

use pathscope_wire::container::{CaptureSet, Record};
use pathscope_wire::error::Error as TraceError;
use pathscope_wire::pass::Filter;

use crate::batch::{Batch, Place};
use crate::error::Result;
use crate::fingerprint;
use crate::orders::{Orders, Way};
use crate::pace::Pacer;
use crate::rewrite::{Captured, Direction, Frames, Note, Rewriter};
use crate::routes::Routes;
use crate::tally::{Plan, RoutePlan, count};

/// Records between two looks at whether reading is still wanted.
const STEP_RECORDS: usize = 4096;

/// A trace that is being read.
pub struct Source {
    capture: CaptureSet,
    /// What of it is sent, and when.
    planner: Planner,
    orders: Orders,
}

/// All but the file itself.
struct Planner {
    window: Window,
    filter: Option<Filter>,
    routes: Routes,
    /// By file.
    taken: Vec<Way>,
    epoch_ns: Option<i64>,
    rewriter: Rewriter,
    pacer: Pacer,
    /// Of each outlet.
    mtus: Vec<u32>,
    plan: Plan,
    /// Frames made of one record.
    made: Frames,
}

/// The part of the trace that is sent, since its first frame in time.
struct Window {
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    /// Of the last record inside, since `from_ns`.
    span_ns: i64,
}

impl Source {
    /// Opens the trace.
    ///
    /// # Errors
    /// When a file cannot be opened or is no capture of frames, or orders contradict themselves.
    pub fn open(orders: Orders, filter: Option<Filter>) -> Result<Source> {
        let capture = fingerprint::open(&orders.trace)?;
        let routes = Routes::new(&orders.pairs, &orders.outlets)?;
        let of_outlets = orders.outlets.iter().map(|outlet| RoutePlan {
            path: outlet.path.clone(),
            direction: match outlet.direction {
                Way::ToServer => "to_server",
                Way::ToClient => "to_client",
            },
            ..RoutePlan::default()
        });
        let planner = Planner {
            window: Window { from_ns: orders.from_ns, to_ns: orders.to_ns, span_ns: 0 },
            filter,
            routes,
            taken: orders.taken.clone(),
            epoch_ns: orders.epoch_ns,
            rewriter: Rewriter::new(orders.rewriting())?,
            pacer: Pacer::new(orders.pace, orders.loop_gap_ns),
            mtus: orders.outlets.iter().map(|outlet| outlet.mtu).collect(),
            plan: Plan { loops: 1, routes: of_outlets.collect(), ..Plan::default() },
            made: Frames::default(),
        };
        Ok(Source { capture, planner, orders })
    }

    /// Adds frames to a batch until it is full, the trace has ended, or reading is `stopped`.
    /// Whether there may be more.
    ///
    /// # Errors
    /// When a file is no longer what it was, or the filter fails. Damage in a file ends the
    /// replay, too, but what was read before is sent: it is in [`Plan::damage`].
    pub fn fill(&mut self, batch: &mut Batch, stopped: &AtomicBool) -> Result<bool> {
        for turn in 1_usize.. {
            if batch.is_full() {
                return Ok(true);
            }
            if turn.is_multiple_of(STEP_RECORDS) && stopped.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if !self.step(batch)? {
                break;
            }
        }
        Ok(false)
    }

    /// What was found so far.
    pub fn plan(&self) -> &Plan {
        &self.planner.plan
    }

    fn step(&mut self, batch: &mut Batch) -> Result<bool> {
        let planner = &mut self.planner;
        let (file, record) = match self.capture.next_from() {
            Ok(Some(found)) => found,
            Ok(None) => return self.again(),
            Err(damage @ TraceError::Damaged { .. }) => {
                planner.plan.damage = Some(damage.to_string());
                return Ok(false);
            }
            Err(other) => return Err(other.into()),
        };
        planner.take(file, &record, batch)?;
        Ok(true)
    }

    /// Begins the next loop, if there is one.
    fn again(&mut self) -> Result<bool> {
        let Planner { plan, pacer, window, .. } = &mut self.planner;
        if plan.loops >= self.orders.loops || plan.frames.planned == 0 {
            return Ok(false);
        }
        plan.loops += 1;
        pacer.next_loop(window.span_ns);
        self.capture = fingerprint::open(&self.orders.trace)?;
        Ok(true)
    }
}

impl Planner {
    /// Plans the frames of one record, or counts why there are none.
    fn take(&mut self, file: usize, record: &Record<'_>, batch: &mut Batch) -> Result<()> {
        let frames = &mut self.plan.frames;
        frames.read += 1;
        let first_ns = self.epoch_ns.unwrap_or(record.time_ns);
        let first_ns = *self.plan.first_frame_ns.get_or_insert(first_ns);
        let Some(at_ns) = self.window.place(record.time_ns.saturating_sub(first_ns)) else {
            frames.outside_window += 1;
            return Ok(());
        };
        if let Some(filter) = &mut self.filter
            && !filter(record.link_type, record.data, record.wire_length)?
        {
            frames.filtered += 1;
            return Ok(());
        }
        match self.routes.of(Rewriter::addresses(record.link_type, record.data)) {
            Ok((way, _)) if self.taken.get(file).is_some_and(|taken| *taken != way) => {
                count(&mut frames.not_sent, "sent by the other end");
            }
            Ok((way, route)) => self.send(record, way.into(), route, at_ns, batch),
            Err(stray) => count(&mut frames.not_sent, stray.name()),
        }
        Ok(())
    }

    fn send(
        &mut self,
        record: &Record<'_>,
        direction: Direction,
        route: u16,
        at_ns: i64,
        batch: &mut Batch,
    ) {
        let Record { link_type, data, wire_length, .. } = *record;
        let captured = Captured { link_type, data, wire_length };
        let mtu = self.mtus.get(usize::from(route)).copied().unwrap_or(0);
        self.made.clear();
        match self.rewriter.rewrite(captured, direction, mtu, &mut self.made) {
            Err(reason) => {
                count(&mut self.plan.frames.not_sent, reason.name());
                return;
            }
            Ok(done) => done.notes.iter().for_each(|note| self.plan.note(note)),
        }
        self.plan.frames.planned += 1;
        let (frame, loop_number) = (record.frame, self.plan.loops.saturating_sub(1));
        for made in self.made.iter() {
            let due_ns = self.pacer.due_ns(at_ns, made.len());
            if let Some(of_route) = self.plan.routes.get_mut(usize::from(route)) {
                of_route.count(due_ns, made.len());
            }
            self.plan.duration_ns = Some(due_ns);
            batch.push(Place { frame, loop_number, route, due_ns }, made);
        }
        self.plan.disordered = self.pacer.disordered();
    }
}

impl Plan {
    fn note(&mut self, note: Note) {
        let counts = if note.is_warning() { &mut self.warnings } else { &mut self.rewriting };
        count(counts, note.name());
    }
}

impl Window {
    /// From a time since the trace's first frame to one since the window's beginning; `None` for
    /// what is outside. A clock that was set back puts no frame before a window that is not asked.
    fn place(&mut self, since_first_ns: i64) -> Option<i64> {
        let inside = self.from_ns.is_none_or(|from_ns| since_first_ns >= from_ns)
            && self.to_ns.is_none_or(|to_ns| since_first_ns <= to_ns);
        let at_ns = since_first_ns.saturating_sub(self.from_ns.unwrap_or(0));
        if inside {
            self.span_ns = self.span_ns.max(at_ns);
        }
        inside.then_some(at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::trace::{Trace, frame};

    static NEVER: AtomicBool = AtomicBool::new(false);

    /// Three frames to the server, one back, one of strangers; 1 ms apart.
    fn trace(name: &str) -> Trace {
        let ends = [(1, 2), (2, 1), (1, 2), (9, 8), (1, 2)];
        let frames = (0..).zip(ends).map(|(number, (from, to))| {
            (1_000_000_000_000 + number * 1_000_000, frame(from, to, &[number as u8; 40]))
        });
        Trace::new(name, &frames.collect::<Vec<_>>())
    }

    fn read(json: &str, filter: Option<Filter>) -> (Batch, Plan) {
        let mut source = Source::open(Orders::parse(json).unwrap(), filter).unwrap();
        let mut batch = Batch::default();
        assert!(!source.fill(&mut batch, &NEVER).unwrap());
        (batch, source.plan().clone())
    }

    fn dues(batch: &Batch) -> Vec<(u16, i64)> {
        batch.planned().iter().map(|planned| (planned.route, planned.due_ns / 1_000_000)).collect()
    }

    #[test]
    fn routes_times_and_what_is_left_out() {
        let (batch, plan) = read(&trace("routes").orders(), None);
        assert_eq!(dues(&batch), [(0, 0), (1, 1), (0, 2), (0, 4)]);
        assert_eq!((plan.frames.read, plan.frames.planned), (5, 4));
        assert_eq!(plan.frames.not_sent, [("addresses of no path", 1)].into());
        assert_eq!((plan.routes[0].frames, plan.routes[1].frames), (3, 1));
        assert_eq!(plan.routes[0].last_due_ns, Some(4_000_000));
        assert_eq!(plan.first_frame_ns, Some(1_000_000_000_000));
    }

    #[test]
    fn loops_go_on_where_the_trace_ends() {
        let trace = trace("loops");
        let orders = trace
            .orders()
            .replace(r#""loops":1"#, r#""loops":2"#)
            .replace(r#""loop_gap_ns":0"#, r#""loop_gap_ns":3000000"#);
        let (batch, plan) = read(&orders, None);
        assert_eq!(dues(&batch)[4..], [(0, 7), (1, 8), (0, 9), (0, 11)]);
        assert_eq!((plan.loops, plan.frames.read), (2, 10));
        assert_eq!(batch.planned()[4].loop_number, 1);
    }

    #[test]
    fn of_both_ends_each_gives_what_it_sent() {
        // The server's: every frame 300 us later, or earlier what it sent itself.
        let frames = [(1, 2, 300), (2, 1, 700), (1, 2, 2_300)].map(|(from, to, at_us)| {
            (1_000_000_000_000 + at_us * 1_000, frame(from, to, &[from; 40]))
        });
        let (client, server) = (trace("client"), Trace::new("server", &frames));
        let paths = [&client, &server].map(|one| one.path().to_str().unwrap());
        let orders = crate::trace::orders_json(&paths)
            .replace("{\"trace\"", "{\"taken\":[\"to_server\",\"to_client\"],\"trace\"")
            .replace("\"from_ns\":null", "\"from_ns\":0,\"epoch_ns\":999999900000");
        let (batch, plan) = read(&orders, None);
        let dues: Vec<_> =
            batch.planned().iter().map(|one| (one.route, one.due_ns / 1_000)).collect();
        assert_eq!(dues, [(0, 100), (1, 800), (0, 2_100), (0, 4_100)]);
        assert_eq!(plan.frames.not_sent["sent by the other end"], 3);
        assert_eq!(plan.first_frame_ns, Some(999_999_900_000));
    }

    #[test]
    fn a_direction_is_taken_of_every_file() {
        let orders = trace("taken")
            .orders()
            .replace("{\"trace\"", "{\"taken\":[\"to_server\",\"to_client\"],\"trace\"");
        assert!(Orders::parse(&orders).unwrap_err().to_string().contains("every file"));
    }

    #[test]
    fn a_window_is_counted_from_the_first_frame_and_becomes_time_0() {
        let trace = trace("window");
        let orders = trace
            .orders()
            .replace(r#""from_ns":null"#, r#""from_ns":500000"#)
            .replace(r#""to_ns":null"#, r#""to_ns":2000000"#);
        let (batch, plan) = read(&orders, None);
        let dues: Vec<_> = batch.planned().iter().map(|planned| planned.due_ns).collect();
        assert_eq!(dues, [500_000, 1_500_000]);
        assert_eq!(plan.frames.outside_window, 3);
    }

    #[test]
    fn a_filter_sees_the_frames_of_the_trace() {
        let trace = trace("filter");
        let filter: Filter = Box::new(|_, data, _| Ok(data.last() != Some(&2)));
        let (batch, plan) = read(&trace.orders(), Some(filter));
        assert_eq!(batch.planned().iter().map(|one| one.frame).collect::<Vec<_>>(), [1, 2, 5]);
        assert_eq!(plan.frames.filtered, 1);
    }

    #[test]
    fn what_was_read_before_damage_is_planned() {
        let trace = trace("damage");
        let whole = std::fs::read(trace.path()).unwrap();
        std::fs::write(trace.path(), &whole[..whole.len() - 5]).unwrap();
        let (batch, plan) = read(&trace.orders(), None);
        assert_eq!(batch.planned().len(), 3);
        assert!(plan.damage.unwrap().contains("at byte"));
    }

    #[test]
    fn a_simulators_trace_has_no_frames() {
        let name = std::env::temp_dir().join(format!("pathscope-{}.tr", std::process::id()));
        std::fs::write(&name, "+ 0.1 0 1 tcp 40 ------- 1 0.0 1.0 0 0\n").unwrap();
        let orders = crate::trace::orders_json(&[name.to_str().unwrap()]);
        let error = Source::open(Orders::parse(&orders).unwrap(), None).err().unwrap();
        std::fs::remove_file(&name).unwrap();
        assert!(matches!(error, Error::Trace(_)) && error.to_string().contains("no frames"));
    }
}

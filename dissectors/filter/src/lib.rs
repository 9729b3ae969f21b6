//! Capture filters, compiled and run by libpcap itself, which is loaded when
//! the first filter asks for it: without one, pathscope does not need libpcap.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::Arc;

use libloading::Library;
use pathscope_wire::error::{Error, Result};
use pathscope_wire::pass::Filter;

const LIBRARIES: [&str; 3] = ["libpcap.so.1", "libpcap.so.0.8", "libpcap.dylib"];
/// pcap's own ceiling; it only matters to filters that look at the snap length.
const SNAP_LENGTH: c_int = 262_144;
/// What libpcap says of `ip` on a link that carries IPv6 only.
const REJECTS_ALL: &str = "expression rejects all packets";
/// PCAP_NETMASK_UNKNOWN: `ip broadcast` is refused rather than guessed.
const NETMASK_UNKNOWN: c_uint = 0xffff_ffff;

/// `struct bpf_program` of pcap/bpf.h.
#[repr(C)]
struct Program {
    length: c_uint,
    instructions: *mut c_void,
}

/// `struct pcap_pkthdr` of pcap/pcap.h.
#[repr(C)]
struct PacketHeader {
    seconds: libc_time,
    microseconds: libc_time,
    captured: c_uint,
    length: c_uint,
}

/// `time_t` and `suseconds_t` are `long` on every system that libpcap.so.1 is found on.
#[allow(non_camel_case_types, reason = "named like the C type it stands for")]
type libc_time = std::ffi::c_long;

type OpenDead = unsafe extern "C" fn(c_int, c_int) -> *mut c_void;
type Compile =
    unsafe extern "C" fn(*mut c_void, *mut Program, *const c_char, c_int, c_uint) -> c_int;
type OfflineFilter = unsafe extern "C" fn(*const Program, *const PacketHeader, *const u8) -> c_int;
type FreeCode = unsafe extern "C" fn(*mut Program);
type GetError = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type Close = unsafe extern "C" fn(*mut c_void);

/// libpcap's functions, valid as long as the library is held.
struct Pcap {
    open_dead: OpenDead,
    compile: Compile,
    offline_filter: OfflineFilter,
    free_code: FreeCode,
    get_error: GetError,
    close: Close,
    _library: Library,
}

impl Pcap {
    fn load() -> Result<Pcap> {
        let failed = |error: libloading::Error| {
            Error::Filter(format!("libpcap is needed for filters and cannot be loaded: {error}"))
        };
        let mut last = None;
        for name in LIBRARIES {
            // SAFETY: loading libpcap runs no initialiser that has requirements on its caller.
            match unsafe { Library::new(name) } {
                Ok(library) => return Self::bind(library).map_err(failed),
                Err(error) => last = last.or(Some(error)),
            }
        }
        Err(last.map_or_else(|| Error::Filter("no libpcap name to try".to_string()), failed))
    }

    fn bind(library: Library) -> std::result::Result<Pcap, libloading::Error> {
        // SAFETY: the types above are those of libpcap's documented functions.
        unsafe {
            Ok(Pcap {
                open_dead: *library.get::<OpenDead>(b"pcap_open_dead\0")?,
                compile: *library.get::<Compile>(b"pcap_compile\0")?,
                offline_filter: *library.get::<OfflineFilter>(b"pcap_offline_filter\0")?,
                free_code: *library.get::<FreeCode>(b"pcap_freecode\0")?,
                get_error: *library.get::<GetError>(b"pcap_geterr\0")?,
                close: *library.get::<Close>(b"pcap_close\0")?,
                _library: library,
            })
        }
    }
}

/// An expression compiled for one link type.
struct Compiled {
    program: Program,
    pcap: Arc<Pcap>,
}

// SAFETY: a compiled program is read-only data that this value alone owns.
unsafe impl Send for Compiled {}

impl Compiled {
    /// None when the expression cannot be true for any packet of the link type.
    fn new(pcap: Arc<Pcap>, expression: &CStr, link_type: u16) -> Result<Option<Compiled>> {
        let mut program = Program { length: 0, instructions: std::ptr::null_mut() };
        // SAFETY: the handle is checked before use and closed once; `program` outlives the calls;
        // the error text is copied before the handle is closed.
        unsafe {
            let handle = (pcap.open_dead)(dlt_of(link_type), SNAP_LENGTH);
            if handle.is_null() {
                return Err(Error::Filter("libpcap has no memory for a filter".to_string()));
            }
            let optimize = 1;
            let status = (pcap.compile)(
                handle,
                &mut program,
                expression.as_ptr(),
                optimize,
                NETMASK_UNKNOWN,
            );
            let message = (status != 0)
                .then(|| CStr::from_ptr((pcap.get_error)(handle)).to_string_lossy().into_owned());
            (pcap.close)(handle);
            match message {
                None => Ok(Some(Compiled { program, pcap })),
                Some(message) if message == REJECTS_ALL => Ok(None),
                Some(message) => {
                    Err(Error::Filter(format!("{}: {message}", expression.to_string_lossy())))
                }
            }
        }
    }

    fn accepts(&self, data: &[u8], wire_length: u32) -> bool {
        let header = PacketHeader {
            seconds: 0,
            microseconds: 0,
            // A record is at most 262,144 bytes long.
            captured: data.len() as c_uint,
            length: wire_length,
        };
        // SAFETY: the program was compiled by this libpcap, whose interpreter checks every
        // access against `captured`, which is the length of `data`.
        unsafe { (self.pcap.offline_filter)(&self.program, &header, data.as_ptr()) != 0 }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: compiled by this libpcap and freed once.
        unsafe { (self.pcap.free_code)(&mut self.program) }
    }
}

/// LINKTYPE_ values are DLT_ values, but for a few whose DLT_ differs between systems.
fn dlt_of(link_type: u16) -> c_int {
    const LINKTYPE_RAW: u16 = 101;
    const DLT_RAW_LINUX: c_int = 12;
    match link_type {
        LINKTYPE_RAW => DLT_RAW_LINUX,
        other => c_int::from(other),
    }
}

/// A filter for captures of any link types: the expression is compiled for
/// each as it first appears. Compiles it for Ethernet at once, so that a wrong
/// expression is told before anything is read.
pub fn compile(expression: &str) -> Result<Filter> {
    const LINKTYPE_ETHERNET: u16 = 1;
    let text = CString::new(expression)
        .map_err(|_| Error::Filter("a filter cannot hold a zero byte".to_string()))?;
    let pcap = Arc::new(Pcap::load()?);
    let ethernet = Compiled::new(pcap.clone(), &text, LINKTYPE_ETHERNET)?;
    let mut compiled = HashMap::from([(LINKTYPE_ETHERNET, ethernet)]);
    Ok(Box::new(move |link_type, data, wire_length| {
        let filter = match compiled.entry(link_type) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Compiled::new(pcap.clone(), &text, link_type)?)
            }
        };
        Ok(filter.as_ref().is_some_and(|filter| filter.accepts(data, wire_length)))
    }))
}

//! Addresses that come and go: RFC 9260 section 3.3.2.1, RFC 5061.

use super::script::{address, established, ms, play};
use crate::ledger::Ledger;

/// Whose, which, how it became known, and when it left in ms.
fn known(ledger: &Ledger) -> Vec<(&'static str, String, &'static str, Option<i64>)> {
    let row = |row: &crate::ledger::AddressRow| {
        let left_ms = row.left_ns.map(|left_ns| left_ns / ms(1));
        (row.endpoint, row.address.to_string(), row.source, left_ms)
    };
    ledger.addresses.iter().map(row).collect()
}

fn entry(
    endpoint: &'static str,
    name: &str,
    source: &'static str,
    left_ms: Option<i64>,
) -> (&'static str, String, &'static str, Option<i64>) {
    (endpoint, address(name).to_string(), source, left_ms)
}

/// What became of each request, with its error cause.
fn outcomes(ledger: &Ledger) -> Vec<(&str, &'static str, Option<u16>)> {
    ledger.asconf.iter().map(|row| (row.request.as_str(), row.outcome, row.cause)).collect()
}

#[test]
fn init_and_init_ack_list_addresses() {
    let ledger = play(
        "
        0  a1 -> b1  INIT addresses=a1,a2
       10  a1 <- b1  INIT-ACK addresses=b1,b2",
    );
    let expected = [
        entry("a", "a1", "init", None),
        entry("a", "a2", "init", None),
        entry("b", "b1", "packet", None),
        entry("b", "b2", "init-ack", None),
    ];
    assert_eq!(known(&ledger), expected);
}

#[test]
fn an_added_address_is_known_from_its_acknowledgement() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2
      150  a1 <- b1  ASCONF-ACK 1 ok=1",
    );
    let [row] = &ledger.asconf[..] else { panic!("{:?}", ledger.asconf) };
    assert_eq!((row.request.as_str(), row.serial, row.correlation), ("add", 1, 1));
    assert_eq!((row.sender, row.address, row.transmissions), ("a", Some(address("a2")), 1));
    assert_eq!((row.time_ns, row.ack_ns, row.outcome), (ms(100), Some(ms(150)), "success"));
    assert_eq!(known(&ledger)[2..], [entry("a", "a2", "asconf-add", None)]);
    assert_eq!(ledger.addresses[2].first_ns, ms(150));
}

#[test]
fn a_deleted_address_leaves_with_the_acknowledgement() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2
      150  a1 <- b1  ASCONF-ACK 1
      200  a2 -> b1  ASCONF 2 primary=a2 delete=a1
      250  a2 <- b1  ASCONF-ACK 2",
    );
    let expected =
        [("add", "success", None), ("set-primary", "success", None), ("delete", "success", None)];
    assert_eq!(outcomes(&ledger), expected);
    assert_eq!(known(&ledger)[0], entry("a", "a1", "init", Some(250)));
    assert_eq!(known(&ledger)[2], entry("a", "a2", "asconf-add", None));
}

/// RFC 5061 section 4.2.1: a wildcard adds the packet's source address.
#[test]
fn a_wildcard_adds_the_source() {
    let ledger = established(
        "
      100  n5 -> b1  ASCONF 1 add=x0
      150  n5 <- b1  ASCONF-ACK 1",
    );
    assert_eq!(ledger.asconf[0].address, Some(address("n5")));
    assert_eq!(known(&ledger)[2], entry("a", "n5", "packet", None));
}

/// RFC 5061 section 4.2.2: a wildcard deletes every address but the packet's source.
#[test]
fn a_wildcard_deletes_all_but_the_source() {
    let ledger = play(
        "
        0  a1 -> b1  INIT addresses=a1,a2,a3
       10  a1 <- b1  INIT-ACK addresses=b1,b2
       20  a1 -> b1  COOKIE-ECHO
       30  a1 <- b1  COOKIE-ACK
      100  a2 -> b1  ASCONF 1 delete=x0
      150  a2 <- b1  ASCONF-ACK 1",
    );
    assert_eq!(ledger.asconf[0].address, Some(address("x0")));
    let expected = [
        entry("a", "a1", "init", Some(150)),
        entry("a", "a2", "init", None),
        entry("a", "a3", "init", Some(150)),
        entry("b", "b1", "packet", None),
        entry("b", "b2", "init-ack", None),
    ];
    assert_eq!(known(&ledger), expected);
}

#[test]
fn a_refused_request_changes_nothing() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 delete=a1
      150  a1 <- b1  ASCONF-ACK 1 error=1:162",
    );
    let [row] = &ledger.asconf[..] else { panic!("{:?}", ledger.asconf) };
    assert_eq!((row.outcome, row.cause), ("error", Some(162)));
    assert_eq!(row.cause_name, Some(crate::sctp::cause::name(162)));
    assert_eq!(known(&ledger)[0], entry("a", "a1", "init", None));
}

/// RFC 5061 section 5.1, A7: what is not reported before an error has succeeded, what
/// is not reported after it has not.
#[test]
fn silence_means_success_before_an_error_and_failure_after_it() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2 delete=a9 add=a3 add=a4
      150  a1 <- b1  ASCONF-ACK 1 error=2:161 ok=4",
    );
    let expected = [
        ("add", "success", None),
        ("delete", "error", Some(161)),
        ("add", "error", None),
        ("add", "success", None),
    ];
    assert_eq!(outcomes(&ledger), expected);
    let added: Vec<_> = known(&ledger).into_iter().skip(2).map(|row| row.1).collect();
    assert_eq!(added, [address("a2").to_string(), address("a4").to_string()]);
}

#[test]
fn an_asconf_without_answer_is_pending() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2
     1100  a1 -> b1  ASCONF 1 add=a2
      150  a1 <- b1  ASCONF-ACK 9 ok=1",
    );
    let [row] = &ledger.asconf[..] else { panic!("{:?}", ledger.asconf) };
    assert_eq!((row.outcome, row.transmissions, row.ack_ns), ("pending", 2, None));
    assert_eq!(ledger.addresses.len(), 2);
}

/// The ASCONF-ACK may be lost behind the tap: RFC 5061 section 5.1 has the ASCONF sent again, and
/// section 5.2 has the same ASCONF-ACK returned.
#[test]
fn an_asconf_sent_again_after_its_answer_is_the_same_request() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2
      150  a1 <- b1  ASCONF-ACK 1
     1100  a1 -> b1  ASCONF 1 add=a2
     1150  a1 <- b1  ASCONF-ACK 1
     2000  a1 -> b1  ASCONF 2 delete=a2
     2050  a1 <- b1  ASCONF-ACK 2
     2060  a1 <- b1  ASCONF-ACK 1",
    );
    let rows: Vec<_> =
        ledger.asconf.iter().map(|row| (row.serial, row.transmissions, row.ack_ns)).collect();
    assert_eq!(rows, [(1, 2, Some(ms(150))), (2, 1, Some(ms(2050)))]);
    assert_eq!(known(&ledger)[2..], [entry("a", "a2", "asconf-add", Some(2050))]);
}

#[test]
fn both_ends_may_ask_with_the_same_serial_number() {
    let ledger = established(
        "
      100  a1 -> b1  ASCONF 1 add=a2
      110  a1 <- b1  ASCONF 1 add=b2
      150  a1 <- b1  ASCONF-ACK 1 error=1:160
      160  a1 -> b1  ASCONF-ACK 1",
    );
    let rows: Vec<_> = ledger.asconf.iter().map(|row| (row.sender, row.outcome)).collect();
    assert_eq!(rows, [("a", "error"), ("b", "success")]);
    assert_eq!(known(&ledger)[2..], [entry("b", "b2", "asconf-add", None)]);
}

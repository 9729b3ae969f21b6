//! Which way a frame goes: by its addresses to a path and a direction, by these to an outlet.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::error::{Error, Result};
use crate::orders::{Outlet, Pair, Way};

/// Why a frame has no way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray {
    NotIp,
    NoPath,
    NoOutlet,
}

impl Stray {
    pub fn name(self) -> &'static str {
        match self {
            Stray::NotIp => "not IP",
            Stray::NoPath => "addresses of no path",
            Stray::NoOutlet => "no interface for this direction of its path",
        }
    }
}

/// The outlet of every pair of addresses.
pub struct Routes {
    /// By source and destination; `None` where a path has no outlet for this direction.
    outlets: HashMap<(IpAddr, IpAddr), (Way, Option<u16>)>,
}

impl Routes {
    /// # Errors
    /// [`Error::Usage`] when two pairs or two outlets contradict each other, or none is named.
    pub fn new(pairs: &[Pair], outlets: &[Outlet]) -> Result<Self> {
        let mut numbers: HashMap<(&str, Way), u16> = HashMap::new();
        for (number, outlet) in outlets.iter().enumerate() {
            let number = u16::try_from(number)
                .map_err(|_| Error::usage("there are more than 65,536 outlets"))?;
            if numbers.insert((&outlet.path, outlet.direction), number).is_some() {
                let what = "has two outlets for one direction";
                return Err(Error::usage(format!("path {} {what}", outlet.path)));
            }
        }
        let mut routes = HashMap::new();
        for Pair { a, b, path } in pairs {
            let ends = [((*a, *b), Way::ToServer), ((*b, *a), Way::ToClient)];
            for (addresses, way) in ends {
                let route = (way, numbers.get(&(path.as_str(), way)).copied());
                if routes.insert(addresses, route).is_some_and(|before| before != route) {
                    let what = "belong to two paths, or to both directions of one";
                    return Err(Error::usage(format!("the addresses {a} and {b} {what}")));
                }
            }
        }
        if routes.values().all(|(_, outlet)| outlet.is_none()) {
            return Err(Error::usage("no path has both addresses in the trace and an outlet"));
        }
        Ok(Routes { outlets: routes })
    }

    /// The way of a packet with these addresses, and the number of its outlet.
    pub fn of(
        &self,
        addresses: Option<(IpAddr, IpAddr)>,
    ) -> std::result::Result<(Way, u16), Stray> {
        let addresses = addresses.ok_or(Stray::NotIp)?;
        let (way, outlet) = self.outlets.get(&addresses).ok_or(Stray::NoPath)?;
        Ok((*way, outlet.ok_or(Stray::NoOutlet)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn pair(a: &str, b: &str, path: &str) -> Pair {
        Pair { a: ip(a), b: ip(b), path: path.into() }
    }

    fn outlet(path: &str, direction: Way) -> Outlet {
        Outlet { path: path.into(), direction, device: "v0".into(), netns: None, mtu: 1500 }
    }

    #[test]
    fn both_directions_of_a_pair() {
        let pairs = [pair("10.0.0.1", "10.0.0.2", "wlan"), pair("fd00::1", "fd00::2", "lte")];
        let outlets = [
            outlet("lte", Way::ToServer),
            outlet("wlan", Way::ToClient),
            outlet("wlan", Way::ToServer),
        ];
        let routes = Routes::new(&pairs, &outlets).unwrap();
        let of = |a, b| routes.of(Some((ip(a), ip(b))));
        assert_eq!(of("10.0.0.1", "10.0.0.2"), Ok((Way::ToServer, 2)));
        assert_eq!(of("10.0.0.2", "10.0.0.1"), Ok((Way::ToClient, 1)));
        assert_eq!(of("fd00::1", "fd00::2"), Ok((Way::ToServer, 0)));
        assert_eq!(of("fd00::2", "fd00::1"), Err(Stray::NoOutlet));
        assert_eq!(of("10.0.0.1", "10.0.0.3"), Err(Stray::NoPath));
        assert_eq!(routes.of(None), Err(Stray::NotIp));
    }

    #[test]
    fn contradictions_are_refused() {
        let wlan = [outlet("wlan", Way::ToServer)];
        let twice = [pair("10.0.0.1", "10.0.0.2", "wlan"), pair("10.0.0.2", "10.0.0.1", "wlan")];
        assert!(Routes::new(&twice, &wlan).is_err());
        assert!(Routes::new(&twice[..1], &[wlan[0].clone(), wlan[0].clone()]).is_err());
        assert!(Routes::new(&twice[..1], &[outlet("lte", Way::ToServer)]).is_err());
        let same = [twice[0].clone(), twice[0].clone()];
        assert!(Routes::new(&same, &wlan).is_ok());
    }
}

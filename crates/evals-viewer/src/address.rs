//! The addresses under which a browser may ask the server.

use std::net::Ipv4Addr;

use axum::http::header::HOST;
use axum::http::request::Parts;

/// The only names of this machine that requests may use. A page of another site that has its name point to this machine uses its own
/// name, and so do requests that its scripts send.
const NAMES: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The port for which browsers leave the port out.
const DEFAULT_PORT: u16 = 80;

/// The address of the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    port: u16,
}

impl Address {
    pub(super) fn new(port: u16) -> Self {
        Self { port }
    }

    /// The address of a page, as users open it.
    pub(super) fn url(self, path: &str) -> String {
        format!("http://{}:{}{path}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// The host that a request names, if it names exactly one and that one is ours.
    pub(super) fn host(self, request: &Parts) -> Option<&str> {
        let mut hosts = request.headers.get_all(HOST).iter();
        let host = hosts.next()?.to_str().ok()?;
        let is_only = hosts.next().is_none();
        // A request for a proxy names the host in its first line, too.
        let authority = request.uri.authority();
        let agrees = authority.is_none_or(|named| named.as_str() == host);
        (is_only && agrees && self.is_ours(host)).then_some(host)
    }

    fn is_ours(self, host: &str) -> bool {
        let port = format!(":{}", self.port);
        let name = host.strip_suffix(&port);
        let name = name.or_else(|| (self.port == DEFAULT_PORT).then_some(host));
        name.is_some_and(|name| NAMES.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn request(uri: &str, hosts: &[&str]) -> Parts {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn is_ours(port: u16, host: &str) -> bool {
        let request = request("/", &[host]);
        Address::new(port).host(&request) == Some(host)
    }

    #[test]
    fn names_of_this_machine_with_our_port_are_ours() {
        for host in ["127.0.0.1:8123", "localhost:8123", "[::1]:8123"] {
            assert!(is_ours(8123, host), "{host}");
        }
    }

    #[test]
    fn any_other_host_is_refused() {
        let others = [
            "evil.example",
            "evil.example:8123",
            "localhost",
            "localhost:81234",
            "localhost:8124",
            "localhost.evil.example:8123",
            "evil-localhost:8123",
            "127.0.0.1.evil.example:8123",
            "127.0.0.1:8123.evil.example",
            "127.0.0.1:8123:8123",
            "user@localhost:8123",
            "localhost:8123/",
            "LOCALHOST.:8123",
            "0.0.0.0:8123",
            "[::]:8123",
            ":8123",
            "",
        ];
        for host in others {
            assert!(!is_ours(8123, host), "{host}");
        }
    }

    #[test]
    fn the_host_is_named_exactly_once() {
        let address = Address::new(8123);
        let host = |uri: &str, hosts: &[&str]| address.host(&request(uri, hosts)).is_some();
        assert!(!host("/", &[]));
        assert!(!host("/", &["localhost:8123", "localhost:8123"]));
        assert!(!host("/", &["localhost:8123", "evil.example"]));
        assert!(host("http://localhost:8123/", &["localhost:8123"]));
        assert!(!host("http://evil.example/", &["localhost:8123"]));
    }

    #[test]
    fn browsers_leave_out_the_port_of_http() {
        assert!(is_ours(80, "localhost") && is_ours(80, "localhost:80"));
        assert!(!is_ours(80, "evil.example") && !is_ours(8123, "localhost"));
    }
}

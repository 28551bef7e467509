//! The secret that tells the user's browser from other programs and other users of the machine.

use std::fmt;

use anyhow::{Result, anyhow};
use axum::http::header::COOKIE;
use axum::http::request::Parts;

use super::address::Address;

/// 128 random bits.
const BYTES: usize = 16;

/// The parameter of an address that holds the token.
const PARAMETER: &str = "token";

/// A random token. The printed address contains it, and the first answer moves it into a cookie.
#[derive(Clone)]
pub(super) struct Token(String);

/// What a request proves.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// Its cookie holds the token.
    Cookie,
    /// Its address holds the token; the address without it.
    Address(String),
    /// It does not hold the token.
    None,
}

impl Token {
    /// A new token from the operating system's randomness.
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            anyhow!("cannot make a token, because the system has no random numbers: {error}")
        })?;
        Ok(Self(hex::encode(bytes)))
    }

    /// The path of a page with the token.
    pub(super) fn in_address(&self, path: &str) -> String {
        format!("{path}?{PARAMETER}={}", self.0)
    }

    /// The cookie with the token. Cookies are shared by all ports of a host, so its name contains the port: two servers do not take
    /// each other's.
    pub(super) fn cookie(&self, address: Address) -> String {
        let name = cookie_name(address);
        format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.0)
    }

    /// How a request proves that it may see the pages.
    pub(super) fn proof(&self, request: &Parts, address: Address) -> Proof {
        let query = request.uri.query().unwrap_or_default();
        let (tokens, others): (Vec<&str>, Vec<&str>) =
            query.split('&').partition(|pair| value_of(pair).is_some());
        if !tokens.is_empty() {
            let is_ours = tokens
                .iter()
                .all(|pair| value_of(pair).is_some_and(|it| self.is(it)));
            return if is_ours {
                Proof::Address(local(request.uri.path(), &others.join("&")))
            } else {
                Proof::None
            };
        }
        let name = cookie_name(address);
        let headers = request.headers.get_all(COOKIE).iter();
        let texts = headers.filter_map(|header| header.to_str().ok());
        let mut cookies = texts.flat_map(|text| text.split(';'));
        let has_token = cookies.any(|cookie| {
            let pair = cookie.trim().split_once('=');
            pair.is_some_and(|(found, value)| found == name && self.is(value))
        });
        if has_token {
            Proof::Cookie
        } else {
            Proof::None
        }
    }

    /// Whether a text is the token. The time that this takes does not depend on where they differ.
    fn is(&self, text: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), text.as_bytes());
        let differences = ours
            .iter()
            .zip(theirs)
            .fold(0, |all, (our, their)| all | (our ^ their));
        ours.len() == theirs.len() && differences == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

fn cookie_name(address: Address) -> String {
    format!("evaluations-{}", address.port())
}

fn value_of(pair: &str) -> Option<&str> {
    pair.strip_prefix(PARAMETER)?.strip_prefix('=')
}

/// An address on this server. Two slashes at its start would name another host.
fn local(path: &str, query: &str) -> String {
    let path = path.trim_start_matches(['/', '\\']);
    if query.is_empty() {
        format!("/{path}")
    } else {
        format!("/{path}?{query}")
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    const ADDRESS: u16 = 8123;

    fn token() -> Token {
        Token("0123456789abcdef0123456789abcdef".to_owned())
    }

    fn proof(uri: &str, cookies: &[&str]) -> Proof {
        let mut request = Request::builder().uri(uri);
        for cookie in cookies {
            request = request.header(COOKIE, *cookie);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        token().proof(&parts, Address::new(ADDRESS))
    }

    #[test]
    fn a_token_has_128_random_bits() {
        let [one, other] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_eq!(one.0.len(), 32);
        assert!(one.0.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_ne!(one.0, other.0);
        assert!(!format!("{one:?}").contains(&one.0));
    }

    #[test]
    fn the_cookie_of_this_port_proves_it() {
        let ours = format!("evaluations-8123={}", token().0);
        assert_eq!(proof("/", &[&ours]), Proof::Cookie);
        let among_others = format!("theme=dark; {ours}; x=1");
        assert_eq!(proof("/", &[&among_others]), Proof::Cookie);
        assert_eq!(proof("/", &["theme=dark", &ours]), Proof::Cookie);
        assert!(token().cookie(Address::new(8123)).starts_with(&ours));
    }

    #[test]
    fn another_cookie_proves_nothing() {
        let token = token().0;
        let others = [
            format!("evaluations-8124={token}"),
            format!("evaluations={token}"),
            format!("xevaluations-8123={token}"),
            format!("evaluations-8123={}", &token[1..]),
            format!("evaluations-8123={token}0"),
            format!("evaluations-8123={}", token.to_uppercase()),
            "evaluations-8123=".to_owned(),
            "evaluations-8123".to_owned(),
        ];
        for cookie in others {
            assert_eq!(proof("/", &[&cookie]), Proof::None, "{cookie}");
        }
        assert_eq!(proof("/", &[]), Proof::None);
    }

    #[test]
    fn a_token_in_the_address_is_taken_out_of_it() {
        let token = token().0;
        let at = |uri: String, to: &str| {
            assert_eq!(proof(&uri, &[]), Proof::Address(to.to_owned()), "{uri}");
        };
        at(format!("/?token={token}"), "/");
        at(format!("/run/a%20b?token={token}"), "/run/a%20b");
        at(format!("/trend?a=1&token={token}&b=2"), "/trend?a=1&b=2");
        at(format!("//evil.example/?token={token}"), "/evil.example/");
    }

    #[test]
    fn a_wrong_token_in_the_address_is_refused_even_with_the_cookie() {
        let token = token().0;
        let cookie = format!("evaluations-8123={token}");
        assert_eq!(proof("/?token=0123", &[&cookie]), Proof::None);
        assert_eq!(proof("/?token=", &[&cookie]), Proof::None);
        let both = format!("/?token={token}&token=0123");
        assert_eq!(proof(&both, &[&cookie]), Proof::None);
        assert_eq!(proof("/?xtoken=1", &[&cookie]), Proof::Cookie);
    }
}

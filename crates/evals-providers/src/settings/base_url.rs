//! The address of a server.

use std::fmt;

use reqwest::Url;

use super::SettingsError;

/// The address of a server, to which the paths of endpoints are appended: `http://localhost:11434`, `https://api.openai.com/v1`.
///
/// It is shown and compared without a trailing slash. A user name and a password in it are sent, but never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Parses an absolute `http` or `https` URL without query and fragment. Errors do not repeat it, because it may hold a password.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let mut url = Url::parse(text.trim()).map_err(|error| SettingsError::BaseUrl {
            source: Box::new(error),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(SettingsError::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(SettingsError::UrlQuery);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The address of an endpoint. `path` begins with a slash.
    pub(crate) fn endpoint(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
        url
    }

    /// Whether the path ends in `/v1`, as `OpenAI`'s does.
    pub(crate) fn ends_in_v1(&self) -> bool {
        self.0.path().ends_with("/v1")
    }

    /// Whether both have the same scheme, host and port, so that a key for one may be sent to the other.
    pub fn has_origin_of(&self, other: &Self) -> bool {
        self.0.origin() == other.0.origin()
    }

    /// Whether the address carries a user name or a password.
    pub(crate) fn has_userinfo(&self) -> bool {
        !self.0.username().is_empty() || self.0.password().is_some()
    }

    /// The user name and the password, as the address writes them.
    pub(crate) fn userinfo(&self) -> (&str, Option<&str>) {
        (self.0.username(), self.0.password())
    }

    /// Whether the server runs on this machine, where no proxy is needed.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.0.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || address
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.0.host_str().unwrap_or_default();
        write!(formatter, "{}://{host}", self.0.scheme())?;
        if let Some(port) = self.0.port() {
            write!(formatter, ":{port}")?;
        }
        formatter.write_str(self.0.path().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailing_slash_makes_no_difference() {
        let url = BaseUrl::parse("http://localhost:8000/v1/").unwrap();
        assert_eq!(url.to_string(), "http://localhost:8000/v1");
        assert_eq!(url, BaseUrl::parse(" http://localhost:8000/v1").unwrap());
        assert_eq!(
            url.endpoint("/models").as_str(),
            "http://localhost:8000/v1/models"
        );
        let root = BaseUrl::parse("https://models.example/").unwrap();
        assert_eq!(root.to_string(), "https://models.example");
        assert_eq!(
            root.endpoint("/api/tags").as_str(),
            "https://models.example/api/tags"
        );
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = BaseUrl::parse("http://me:hunter2@models.example:81").unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "http://models.example:81 BaseUrl(http://models.example:81)"
        );
        let error = BaseUrl::parse("http://me:hunter2@:99999").unwrap_err();
        assert!(!format!("{error:?} {error}").contains("hunter2"));
    }

    #[test]
    fn says_what_an_address_looks_like() {
        let message = |text| BaseUrl::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("localhost:11434"),
            "`base_url` has to begin with `http://` or `https://`, not with `localhost:`"
        );
        assert_eq!(message("models.example"), "`base_url` is not an address");
        assert_eq!(
            message("http://models.example/v1?key=1"),
            "`base_url` may not have a query or a fragment"
        );
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let url = |text| BaseUrl::parse(text).unwrap();
        let openai = url("https://api.openai.com/v1");
        assert!(url("https://API.openai.com:443/v2").has_origin_of(&openai));
        assert!(!url("http://api.openai.com/v1").has_origin_of(&openai));
        assert!(!url("https://api.openai.com:8443/v1").has_origin_of(&openai));
        assert!(!url("https://api.openai.com.evil.example/v1").has_origin_of(&openai));
    }

    #[test]
    fn knows_this_machine() {
        let loopback = |text| BaseUrl::parse(text).unwrap().is_loopback();
        assert!(loopback("http://localhost:1"));
        assert!(loopback("http://127.0.0.1:1"));
        assert!(loopback("http://[::1]:1"));
        assert!(!loopback("http://192.168.0.1:1"));
        assert!(!loopback("https://api.openai.com/v1"));
    }
}

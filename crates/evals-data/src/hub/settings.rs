//! How to reach the hub: the environment variables of the official clients, and how requests are retried.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{DownloadEvent, DownloadObserver, HubError};

/// How to reach the hub and where its cache is.
///
/// [`from_env`](Self::from_env) follows the variables of the official clients, so that a machine that is set up for them needs nothing
/// more, and all clients share one cache.
#[derive(Debug, Clone)]
pub struct HubSettings {
    /// The hub's address, `https://huggingface.co` or a mirror's (`HF_ENDPOINT`), without a slash at the end.
    pub endpoint: String,
    /// The access token, which private and gated repositories need.
    pub token: Option<Token>,
    /// The hub cache, `~/.cache/huggingface/hub` by default. `None` without a home folder: then nothing is downloaded, because models and
    /// data must not come from a folder that others can write to.
    pub cache_dir: Option<PathBuf>,
    /// Never touches the network (`HF_HUB_OFFLINE`).
    pub offline: bool,
    /// Time limit for making a connection; 10 s by default.
    pub connect_timeout: Duration,
    /// How long a server may stay silent, also in the middle of a file; 60 s by default.
    pub read_timeout: Duration,
    /// How to retry after a temporary failure.
    pub retry: RetryPolicy,
}

/// When to retry a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, including the first; 5 by default.
    pub attempts: u32,
    /// The pause after the first failure, doubled after each further one; 500 ms by default.
    pub base_delay: Duration,
    /// The longest pause; 60 s by default. If the server's `Retry-After` asks for more, there is no further attempt.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_mins(1),
        }
    }
}

impl RetryPolicy {
    /// The pause after `failures` failures, unless the server asks for another one.
    pub(super) fn backoff(&self, failures: u32) -> Duration {
        self.base_delay
            .saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)))
            .min(self.max_delay)
    }
}

/// An access token; never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token, without the white space that a file may have around it; `None` if nothing is left.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl HubSettings {
    /// The settings from the environment of the process.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `HF_ENDPOINT` | the hub or a mirror |
    /// | `HF_TOKEN`, else the file `HF_TOKEN_PATH`, else `$HF_HOME/token` | the token, unless `HF_HUB_DISABLE_IMPLICIT_TOKEN` is set |
    /// | `HF_HUB_CACHE`, else `HUGGINGFACE_HUB_CACHE`, else `$HF_HOME/hub` | the cache |
    /// | `HF_HOME`, else `$XDG_CACHE_HOME/huggingface`, else `~/.cache/huggingface` | the home of both; `~` is `HOME`, else the system's home folder of the user |
    /// | `HF_HUB_OFFLINE` | `1`, `true`, `yes` or `on`: read the cache only |
    pub fn from_env() -> Self {
        Self::from_variables(|name| {
            match (
                std::env::var(name).ok().filter(|value| !value.is_empty()),
                name,
            ) {
                (None, "HOME") => std::env::home_dir()?.into_os_string().into_string().ok(),
                (value, _) => value,
            }
        })
    }

    /// The settings from variables. `variable` returns a variable's value by its name.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = home(&variable);
        let endpoint =
            variable("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            token: token(&variable, home.as_deref()),
            cache_dir: variable("HF_HUB_CACHE")
                .or_else(|| variable("HUGGINGFACE_HUB_CACHE"))
                .map(PathBuf::from)
                .or_else(|| Some(home?.join("hub"))),
            offline: variable("HF_HUB_OFFLINE").is_some_and(|value| is_true(&value)),
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_mins(1),
            retry: RetryPolicy::default(),
        }
    }
}

fn home(variable: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if let Some(home) = variable("HF_HOME") {
        return Some(PathBuf::from(home));
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"))?;
        Some(PathBuf::from(home).join(".cache"))
    });
    Some(cache?.join("huggingface"))
}

fn token(
    variable: &impl Fn(&str) -> Option<String>,
    home: Option<&std::path::Path>,
) -> Option<Token> {
    if variable("HF_HUB_DISABLE_IMPLICIT_TOKEN").is_some_and(|value| is_true(&value)) {
        return None;
    }
    let from_file = |path: PathBuf| Token::new(&std::fs::read_to_string(path).ok()?);
    variable("HF_TOKEN")
        .and_then(|text| Token::new(&text))
        .or_else(|| from_file(variable("HF_TOKEN_PATH")?.into()))
        .or_else(|| from_file(home?.join("token")))
}

fn is_true(value: &str) -> bool {
    ["1", "on", "yes", "true"].contains(&value.to_lowercase().as_str())
}

/// Counts the failures of one request and pauses between its attempts.
///
/// A loop around the request uses it, rather than a function that takes the request as a closure: futures of async
/// closures cannot be shown to be `Send`.
#[derive(Debug)]
pub(super) struct Retry {
    policy: RetryPolicy,
    failures: u32,
    /// The most attempts without a connection.
    unconnected: u32,
}

/// The most attempts without a connection if the cache has the files: somebody without a network should not wait at every start.
const UNCONNECTED: u32 = 2;

impl Retry {
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            failures: 0,
            unconnected: policy.attempts,
        }
    }

    /// Gives up soon without a connection, because the cache can serve instead.
    pub(super) fn with_fallback(self) -> Self {
        Self {
            unconnected: UNCONNECTED.min(self.policy.attempts),
            ..self
        }
    }

    /// Pauses and returns if the request should be retried, else returns the error. If the server asks for a longer pause than the policy
    /// allows, there is no retry, because the server would refuse an earlier one.
    pub(super) async fn after(
        &mut self,
        error: HubError,
        url: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<(), HubError> {
        self.failures += 1;
        let asked = error.retry_after();
        let is_too_long = asked.is_some_and(|pause| pause > self.policy.max_delay);
        let attempts = match error {
            HubError::NoConnection { .. } => self.unconnected,
            _ => self.policy.attempts,
        };
        if !error.is_transient() || is_too_long || self.failures >= attempts {
            return Err(error);
        }
        let delay = asked.unwrap_or_else(|| self.policy.backoff(self.failures));
        observer.on_event(&DownloadEvent::Retrying {
            url,
            reason: &error.reason(),
            delay,
        });
        tokio::time::sleep(delay).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> HubSettings {
        HubSettings::from_variables(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_cache_is_found_as_the_official_clients_do() {
        let cache = |variables| settings(variables).cache_dir.unwrap();
        assert_eq!(
            cache(&[("HOME", "/h")]),
            PathBuf::from("/h/.cache/huggingface/hub")
        );
        assert_eq!(
            cache(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]),
            PathBuf::from("/x/huggingface/hub")
        );
        assert_eq!(
            cache(&[("HF_HOME", "/hf"), ("XDG_CACHE_HOME", "/x")]),
            PathBuf::from("/hf/hub")
        );
        assert_eq!(
            cache(&[("HF_HOME", "/hf"), ("HUGGINGFACE_HUB_CACHE", "/old")]),
            PathBuf::from("/old")
        );
        assert_eq!(
            cache(&[("HF_HUB_CACHE", "/c"), ("HUGGINGFACE_HUB_CACHE", "/old")]),
            PathBuf::from("/c")
        );
    }

    #[test]
    fn without_a_home_there_is_no_cache_and_no_token() {
        assert_eq!(settings(&[]).cache_dir, None);
        assert_eq!(settings(&[("HOME", "")]).cache_dir, None);
        assert_eq!(settings(&[]).token, None);
        assert_eq!(
            settings(&[("HF_HUB_CACHE", "/c")]).cache_dir,
            Some(PathBuf::from("/c"))
        );
    }

    #[test]
    fn the_token_comes_from_the_variable_then_from_files_and_is_never_shown() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().to_str().unwrap();
        std::fs::write(home.path().join("token"), "stored\n").unwrap();
        std::fs::write(home.path().join("other"), "other\n").unwrap();
        let other = home.path().join("other");
        let secret = |variables: &[(&str, &str)]| settings(variables).token.map(|token| token.0);
        assert_eq!(secret(&[("HF_HOME", path)]).as_deref(), Some("stored"));
        let both = [
            ("HF_HOME", path),
            ("HF_TOKEN_PATH", other.to_str().unwrap()),
        ];
        assert_eq!(secret(&both).as_deref(), Some("other"));
        assert_eq!(
            secret(&[both[0], both[1], ("HF_TOKEN", "mine")]).as_deref(),
            Some("mine")
        );
        assert_eq!(
            secret(&[both[0], ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]),
            None
        );
        assert!(!format!("{:?}", settings(&[("HF_HOME", path)])).contains("stored"));
    }

    #[test]
    fn offline_and_endpoint() {
        assert!(settings(&[("HF_HUB_OFFLINE", "TRUE")]).offline);
        assert!(!settings(&[("HF_HUB_OFFLINE", "0")]).offline);
        assert_eq!(
            settings(&[("HF_ENDPOINT", "http://mirror/")]).endpoint,
            "http://mirror"
        );
        assert_eq!(settings(&[]).endpoint, "https://huggingface.co");
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = RetryPolicy {
            attempts: 9,
            base_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(5),
        };
        let backoff: Vec<u64> = (1..=4)
            .map(|failures| policy.backoff(failures).as_secs())
            .collect();
        assert_eq!(backoff, [1, 2, 4, 5]);
    }
}

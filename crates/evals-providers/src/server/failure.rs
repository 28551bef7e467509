//! Classifies a failed attempt: a refusal, a lost connection or an unexpected answer. Says how the user can mend it.

use std::error::Error;
use std::time::SystemTime;

use evals_messages::visible;
use evals_models::Failure;
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;

use super::body::Expected;
use super::error::{ServerError, hint, pull_advice};
use super::{Protocol, Server};
use crate::classify::{self, Complaint, ErrorBody, Refusal, Remedy};
use crate::traffic::{AttemptError, Contact, Reach};

impl Server {
    /// The failure of an attempt that the server answered with the status of an error.
    pub(super) fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> AttemptError {
        let now = SystemTime::now();
        if self.protocol != Protocol::Target {
            return self.failed(classify::classify(status, headers, body, now), None);
        }
        let refusal = classify::classify_status(status, headers, body, now);
        let location = headers
            .get(LOCATION)
            .filter(|_| (300..400).contains(&status));
        let location = location.and_then(|location| location.to_str().ok());
        let redirection = location.map(|location| {
            let location = visible::single_line(&self.redacted(location));
            format!("it redirects to `{location}`; set that address")
        });
        self.failed(refusal, redirection)
    }

    /// The failure of an attempt whose answer is a success by its status and an error by its body. `json` is the object around
    /// the key `error`.
    pub(crate) fn refused_inside(&self, json: &Value) -> AttemptError {
        self.failed(
            classify::classify_embedded(ErrorBody::from_json(json)),
            None,
        )
    }

    /// The failure of a request in a batch, whose answer has the status of an error.
    pub(crate) fn refused_as(&self, status: u16, body: &Value) -> AttemptError {
        let body = body.to_string();
        self.refused(status, &HeaderMap::new(), body.as_bytes())
    }

    /// The failure of a refused attempt, with advice that is better than the usual one if there is any. The refusal is classified before credentials are removed from its message, because that
    /// may change the words that classification looks for.
    fn failed(&self, refusal: Refusal, better_advice: Option<String>) -> AttemptError {
        let refusal = Refusal {
            body: refusal.body.redacted(|text| self.redacted(text)),
            ..refusal
        };
        let for_account = refusal.remedy.is_some_and(Remedy::is_for_account);
        AttemptError {
            retry_after: refusal.retry_after,
            overloaded: refusal.overloaded,
            reach: if for_account {
                Reach::Account
            } else {
                Reach::Model
            },
            away: refusal.loading,
            unknown_status: (refusal.complaint == Some(Complaint::Unknown))
                .then_some(refusal.status),
            ..AttemptError::new(
                refusal.failure,
                ServerError::Refused {
                    server: self.name(),
                    advice: better_advice
                        .or_else(|| refusal.remedy.map(|remedy| self.advice(remedy))),
                    refusal: Box::new(refusal),
                },
            )
        }
    }

    /// The failure of an attempt that got no complete answer.
    pub(crate) fn lost(&self, error: reqwest::Error) -> AttemptError {
        let (builder, timeout) = (error.is_builder(), error.is_timeout());
        let (server, connect) = (self.name(), error.is_connect());
        let source: Box<dyn Error + Send + Sync> = Box::new(error.without_url());
        let error = if connect {
            ServerError::Unreachable {
                advice: self.start_advice(),
                server,
                source,
            }
        } else if timeout {
            ServerError::TimedOut {
                server,
                after: self.settings.timeout,
            }
        } else {
            ServerError::Lost { server, source }
        };
        let failure = if builder {
            Failure::Terminal
        } else {
            Failure::Transient
        };
        AttemptError {
            overloaded: timeout && !connect,
            away: connect,
            unanswered: !connect && !builder,
            contact: if connect || timeout {
                Contact::Silent
            } else {
                Contact::Heard
            },
            ..AttemptError::new(failure, error)
        }
    }

    /// The failure of an attempt whose answer began and did not end.
    pub(super) fn lost_midway(&self, error: reqwest::Error) -> AttemptError {
        AttemptError {
            contact: Contact::Heard,
            ..self.lost(error)
        }
    }

    /// The failure of an attempt whose answer exceeds its limit. The server charges for each answer, so there is no other attempt.
    pub(super) fn too_large(&self, expected: Expected) -> AttemptError {
        let server = self.name();
        AttemptError::new(Failure::Content, ServerError::TooLarge { server, expected })
    }

    /// The failure of an attempt whose answer does not follow the protocol.
    ///
    /// A web page, an empty body or a truncated one may be different at another attempt. A complete JSON object is the server's
    /// answer to this request and was charged for, so there is no other attempt.
    pub(crate) fn malformed(
        &self,
        expected: &'static str,
        body: &str,
        source: Option<serde_json::Error>,
    ) -> AttemptError {
        let body = &self.redacted(body);
        let found = if classify::looks_like_html(body) {
            let page = ErrorBody::parse(body.as_bytes()).message;
            format!("{page} (check `base_url`)")
        } else if body.trim().is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{}`", classify::one_line(body))
        };
        let is_whole = source.as_ref().is_some_and(|error| !error.is_eof());
        let is_json = body.trim_start().starts_with(['{', '[']);
        let error = self.unexpected(expected, &found, source);
        AttemptError {
            failure: if is_whole && is_json {
                Failure::Content
            } else {
                error.failure
            },
            ..error
        }
    }

    /// The failure of an attempt whose answer can be read but lacks what was asked for. Another attempt may bring it.
    pub(crate) fn unexpected(
        &self,
        expected: &'static str,
        found: &str,
        source: Option<serde_json::Error>,
    ) -> AttemptError {
        let error = ServerError::Malformed {
            server: self.name(),
            expected,
            found: self.redacted(found),
            // The parser's error quotes the answer, which may repeat a credential.
            source: source.map(|error| self.redacted(&error.to_string()).into()),
        };
        AttemptError::new(Failure::Transient, error)
    }

    /// The failure of a model that returns a vector for each token instead of one for each text.
    pub(crate) fn unpooled(&self) -> AttemptError {
        let (server, advice) = (self.name(), self.advice(Remedy::Embeddings));
        let error = format!(
            "{server} answered with a vector for each token instead of one for each text{}",
            hint(&advice)
        );
        AttemptError::new(Failure::Terminal, ServerError::Told(error))
    }
}

impl Server {
    pub(super) fn advice(&self, remedy: Remedy) -> String {
        let advice = match (remedy, self.protocol) {
            (Remedy::Key | Remedy::Quota, Protocol::Target) => {
                "check the credentials in `headers` or `query` of the target, and whether they may read what it searches"
            }
            (Remedy::Address, Protocol::Target) => {
                "check the `address` and the `method` of the target"
            }
            (Remedy::Key, _) => match &self.settings.api_key {
                Some(key) => {
                    let variable = key.variable();
                    return format!("check the key in `{variable}`, which `api_key_env` names");
                }
                None => "name the environment variable that holds a key in `api_key_env`",
            },
            (Remedy::Quota, _) => {
                "the account has no credit left: top it up, or set a different model"
            }
            (Remedy::Model, Protocol::Ollama) => return pull_advice(&self.model),
            (Remedy::Model, _) => {
                let model = &self.model;
                return format!("set the model's `name` to one that the server has, not `{model}`");
            }
            (Remedy::Address, Protocol::Ollama) => "check `base_url`: Ollama's has no path",
            (Remedy::Address, Protocol::OpenAi) if self.settings.base_url.ends_in_v1() => {
                "check `base_url`: some servers have no `/v1` in theirs"
            }
            (Remedy::Address, Protocol::OpenAi) => "check `base_url`: it usually ends in `/v1`",
            (Remedy::Address, Protocol::Rerank) => "check `base_url`: `/rerank` is appended to it",
            (Remedy::Setting, _) => {
                "change or remove the setting of the model that the server names"
            }
            (Remedy::Memory, _) => {
                "set a smaller model, or a smaller `num_ctx` where the server takes one"
            }
            (Remedy::Embeddings, _) => {
                "set a model that embeds, or start the server with embeddings enabled"
            }
            (Remedy::Reranking, _) => {
                "set a model that reranks, or start the server with reranking enabled"
            }
            (Remedy::Conversations, _) => {
                "set a chat model: one that the server offers at `/chat/completions`"
            }
            (Remedy::SystemRole, _) => "set a model whose chat template has the role `system`",
            (Remedy::Firewall, _) => {
                "a firewall in front of the server refused this; have it let such requests pass"
            }
        };
        advice.to_owned()
    }

    pub(crate) fn start_advice(&self) -> String {
        match self.protocol {
            Protocol::Ollama => "start it with `ollama serve`, or check `base_url`".to_owned(),
            Protocol::Target => "start it, or check its address".to_owned(),
            Protocol::OpenAi | Protocol::Rerank => {
                "start the server, or check `base_url`".to_owned()
            }
        }
    }
}

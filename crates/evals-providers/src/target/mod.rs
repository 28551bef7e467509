//! Targets behind a server: systems under test that are asked over HTTP.

mod request;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals_models::Failure;
use evals_targets::{
    Body, EventDecoder, Mapping, MappingError, Reply, Request, SettingsProblem, StreamReader,
    StreamState, Target, TargetAddress, TargetError, TargetIdentity, TargetSettings,
};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};
use serde_json::Value;

use crate::classify::looks_like_html;
use crate::server::{Expected, Protocol, Server};
use crate::settings::{BaseUrl, ServerSettings};
use crate::traffic::{AttemptError, Lane, Traffic};
use request::RequestBuilder;

const EXPECTED: Expected = Expected::reply("a reply");

/// A service that is asked over HTTP.
///
/// Each question is a request. It passes through the [`Traffic`] with the service: its limits, retries and deadlines. By its status a
/// refusal ends the run (401, 403, 404 and redirections among them), is tried again (429, 5xx, timeouts), or costs its case. Five that cost
/// their cases, errors that replies report among them, end the run if nothing was answered.
///
/// Replies and messages never hold the values of headers.
#[derive(Debug)]
pub struct HttpTarget {
    identity: TargetIdentity,
    server: Server,
    lane: Lane,
    request: RequestBuilder,
    mapping: Mapping,
    stream: Option<StreamReader>,
}

/// A reply, and when its first text arrived.
struct Arrived {
    reply: Reply,
    first_token: Option<Duration>,
}

impl HttpTarget {
    /// The service of these settings. `variable` gives the value of an environment variable. Nothing is sent.
    ///
    /// # Errors
    ///
    /// A setting cannot be used, or an environment variable is not set.
    pub fn new(
        settings: &TargetSettings,
        traffic: Arc<Traffic>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsProblem> {
        settings.check()?;
        let Some(TargetAddress::Http(url)) = &settings.address else {
            return Err(SettingsProblem::new(
                "address",
                "is not the address of a service",
            ));
        };
        let url = &settings.url(url)?;
        let address = |error: &dyn fmt::Display| SettingsProblem::new("address", error.to_string());
        // The parameters are sent, but they are no part of the service's name in messages.
        let place = url.split(['?', '#']).next().unwrap_or(url);
        let base_url = BaseUrl::parse(place).map_err(|error| address(&error))?;
        let mut server = ServerSettings::new(base_url);
        if let Some(timeout) = settings.timeout {
            server.timeout = Duration::from_secs_f64(timeout);
        }
        let (request, secrets) = RequestBuilder::new(url, settings, variable)?;
        let lane = Lane::new(traffic, &server, "");
        let server = Server::new(Protocol::Target, server, "").map_err(|error| address(&error))?;
        let mut server = server.with_secrets(secrets.iter().map(String::as_str));
        if let Some(Body::Mapping(fields)) = &settings.body {
            server = server.with_fields(fields);
        }
        let stream = settings.stream.as_ref().map(StreamReader::new);
        Ok(Self {
            identity: TargetIdentity {
                version: settings.version.clone(),
                parameters: settings.parameters(),
                ..TargetIdentity::new("http", url)
            },
            server,
            lane,
            request,
            mapping: Mapping::new(&settings.response)?,
            stream: stream.transpose()?,
        })
    }

    async fn attempt(&self, request: &Request) -> Result<Arrived, AttemptError> {
        let built = self.request.build(self.server.client(), request);
        let built = built.map_err(|error| AttemptError::new(Failure::Content, error))?;
        let built = built.build().map_err(|error| self.server.lost(error))?;
        let started = Instant::now();
        let mut response = self.server.start(built).await?;
        let is_stream = is_event_stream(&response);
        match &self.stream {
            Some(reader) if is_stream => self.read_stream(reader, &mut response, started).await,
            None if is_stream => {
                let problem = "the service streams events; set `stream: true` for the target";
                Err(self.unreadable(problem))
            }
            _ => {
                let body = self.server.read(&mut response, EXPECTED).await?;
                let text = String::from_utf8_lossy(&body);
                let reply = self.read_whole(&text, &request.id)?;
                Ok(Arrived {
                    reply,
                    first_token: None,
                })
            }
        }
    }

    fn read_whole(&self, text: &str, asked: &str) -> Result<Reply, AttemptError> {
        let failed = |error: MappingError| self.unread(false, &error);
        let json = self.parse(text).map_err(|error| {
            // A page of a proxy, or half of a reply, may be different at another attempt.
            let is_cut = serde_json::from_str::<serde::de::IgnoredAny>(text)
                .is_err_and(|error| error.is_eof());
            self.unread(is_cut || looks_like_html(text), &error)
        })?;
        self.mapping.check_id(&json, asked).map_err(failed)?;
        self.mapping.read(&json).map_err(failed)
    }

    /// The JSON of a reply without credentials. Names of fields stay as they are until the mapping has read them.
    fn parse(&self, text: &str) -> Result<Value, MappingError> {
        match Mapping::parse(text) {
            Ok(json) => Ok(self.server.redacted_values(json)),
            // The message shows the beginning of the text.
            Err(_) => Mapping::parse(&self.server.redacted(text)),
        }
    }

    /// The data of an event without credentials.
    fn redacted_event(&self, data: String) -> String {
        match Mapping::parse(&data) {
            // Escapes may hide a credential from a search in the text.
            Ok(json @ Value::Object(_)) => {
                let redacted = self.server.redacted_values(json.clone());
                if redacted == json {
                    data
                } else {
                    redacted.to_string()
                }
            }
            _ => self.server.redacted(&data),
        }
    }

    async fn read_stream(
        &self,
        reader: &StreamReader,
        response: &mut Response,
        started: Instant,
    ) -> Result<Arrived, AttemptError> {
        let mut decoder = EventDecoder::default();
        let mut state = StreamState::default();
        let (mut read, mut first_token) = (0, None);
        loop {
            let piece = self.server.next(response, read, EXPECTED).await?;
            let is_end = piece.is_none();
            let events = match piece {
                Some(piece) => {
                    read += piece.len();
                    decoder.push(&piece)
                }
                None => std::mem::take(&mut decoder).finish().into_iter().collect(),
            };
            for mut event in events {
                event.data = self.redacted_event(event.data);
                let brought_text = reader.take(&mut state, &event).map_err(|error| {
                    // The rest of an event that was cut off is what another attempt may bring.
                    self.unread(is_end, &error)
                })?;
                if brought_text && first_token.is_none() {
                    first_token = Some(started.elapsed());
                }
            }
            if is_end || state.is_done() {
                break;
            }
        }
        let is_done = state.is_done();
        let mut reply = reader
            .finish(state, &self.mapping)
            .map_err(|error| self.unread(!is_done, &error))?;
        // A credential may have arrived in pieces.
        if let Some(Value::String(text)) = &mut reply.answer {
            *text = self.server.redacted(text);
        }
        Ok(Arrived { reply, first_token })
    }

    fn unreadable(&self, problem: &str) -> AttemptError {
        let message = format!(
            "{} sent a reply that cannot be read: {problem}",
            self.server.name()
        );
        AttemptError::new(Failure::Terminal, message)
    }

    /// The failure of a reply that cannot be read. Another attempt may bring one that is not cut off.
    fn unread(&self, is_cut: bool, error: &MappingError) -> AttemptError {
        let failure = if is_cut {
            Failure::Transient
        } else {
            Failure::Content
        };
        // A missing permission, for example, is an error of every question.
        let unknown_status = error.is_reported.then_some(StatusCode::OK.as_u16());
        // It may quote a name that the target chose.
        let error = self.server.redacted(&error.to_string());
        AttemptError {
            unknown_status,
            ..AttemptError::new(failure, format!("{}: {error}", self.server.name()))
        }
    }
}

#[async_trait]
impl Target for HttpTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let delivered = self.lane.call(0, || self.attempt(request)).await;
        let delivered =
            delivered.map_err(|error| TargetError::of_call(error.failure, error.source))?;
        let Arrived {
            mut reply,
            first_token,
        } = delivered.value;
        // Only now: before, a name may be one that the mapping looks for.
        reply.rename(&|name| self.server.redacted(name));
        reply.timings = vec![Reply::timing(Reply::STAGE, delivered.service_time)];
        reply
            .timings
            .extend(first_token.map(|first| Reply::timing(Reply::FIRST_TOKEN_STAGE, first)));
        Ok(reply)
    }
}

fn is_event_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start()
        .to_ascii_lowercase()
        .starts_with("text/event-stream")
}

//! The transport below `async-openai`'s client.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::Response;
use reqwest::header::AUTHORIZATION;

use crate::server::{Expected, Server};
use crate::settings::ApiKey;
use crate::traffic::AttemptError;
use evals_models::Failure;

/// The transport below the client of `async-openai`. It keeps the parts of a failure that the client drops (status, pause, body),
/// limits the size of answers, and leaves retries to the traffic.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    server: Server,
    expected: Expected,
}

impl Transport {
    /// The client of `async-openai` for a server. The client knows addresses, headers and types; the transport does the rest.
    pub(super) fn client(server: &Server, expected: Expected) -> Client<OpenAIConfig> {
        let settings = server.settings();
        let key = settings.api_key.as_ref();
        let config = OpenAIConfig::new()
            .with_api_base(settings.base_url.to_string())
            .with_api_key(key.map_or("", ApiKey::expose))
            // The client reads these from the environment, and sends them to any server.
            .with_org_id("")
            .with_project_id("");
        let transport = Self {
            server: server.clone(),
            expected,
        };
        Client::build(server.client().clone(), config).with_http_service(transport)
    }
}

impl tower::Service<HttpRequestFactory> for Transport {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let Self { server, expected } = self.clone();
        Box::pin(async move {
            let mut request = factory.build().await?;
            if server.settings().api_key.is_none() {
                // The client sends `Bearer` without a key, which some proxies refuse.
                request.headers_mut().remove(AUTHORIZATION);
            } else if let Some(header) = request.headers_mut().get_mut(AUTHORIZATION) {
                header.set_sensitive(true);
            }
            let answer = server.send(request, expected).await;
            let answer = answer.map_err(|error| OpenAIError::Boxed(Box::new(error)))?;
            Ok(Response::from(answer))
        })
    }
}

/// The failed attempt behind an error of the client, or the body that the client could not read as the JSON asked for.
pub(super) fn failure(server: &Server, error: OpenAIError) -> Result<Unreadable, AttemptError> {
    match error {
        OpenAIError::JSONDeserialize(source, text) => Ok(Unreadable { text, source }),
        OpenAIError::Reqwest(error) => Err(server.lost(error)),
        OpenAIError::Boxed(error) => match error.downcast::<AttemptError>() {
            Ok(attempt) => Err(*attempt),
            Err(error) => Err(terminal(error)),
        },
        other => Err(terminal(Box::new(other))),
    }
}

/// A body that is not the JSON asked for.
#[derive(Debug)]
pub(super) struct Unreadable {
    pub(super) text: String,
    pub(super) source: serde_json::Error,
}

/// A request that could not be built, and cannot be built at another attempt either.
fn terminal(source: Box<dyn std::error::Error + Send + Sync>) -> AttemptError {
    AttemptError::new(Failure::Terminal, source)
}

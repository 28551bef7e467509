use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::Response;
use reqwest::header::AUTHORIZATION;

use crate::AttemptError;
use crate::body::Expected;
use crate::server::Server;
use evals_models::Failure;

/// The transport below the client of `async-openai`: it keeps what that client drops of a failure (status, pause asked for, body
/// in whatever shape), reads no more of an answer than is expected, and leaves retries to the traffic.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    pub(super) server: Server,
    pub(super) expected: Expected,
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
                // The client sends `Bearer` and nothing after it, which some proxies refuse.
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

/// What a failed call of the client was: ours, put into a box on the way up, or the reading of a body.
///
/// Gives the text of the body where it arrived, but is not the JSON that was asked for.
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

/// Only a request that could not be made ends here, and it cannot be made the next time either.
fn terminal(source: Box<dyn std::error::Error + Send + Sync>) -> AttemptError {
    AttemptError::new(Failure::Terminal, source)
}

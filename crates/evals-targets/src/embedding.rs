//! A target in front of another one that embeds the question, for templates that use its vector.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use evals::{FailureClass, Timing};
use evals_models::{EmbedError, Embedder, TextKind, check_direction};
use serde_json::json;

use crate::{Reply, Request, Target, TargetError, TargetIdentity};

/// Embeds the question of each request, as a query, and passes the request on with its vector.
///
/// A reply has the time of the model under [`Reply::EMBED_STAGE`], apart from the target's. The identity names the model, because replies depend on
/// it.
#[derive(Debug)]
pub struct EmbeddingTarget {
    inner: Arc<dyn Target>,
    embedder: Arc<dyn Embedder>,
    identity: TargetIdentity,
}

impl EmbeddingTarget {
    /// The parameter of the identity that names the embedding model.
    pub const EMBEDDER: &str = "embedder";

    /// Puts `embedder` in front of `inner`.
    pub fn new(inner: Arc<dyn Target>, embedder: Arc<dyn Embedder>) -> Self {
        let mut identity = inner.identity().clone();
        let model = json!({"model": embedder.identity(), "dimension": embedder.dimension()});
        identity.parameters.insert(Self::EMBEDDER.to_owned(), model);
        Self {
            inner,
            embedder,
            identity,
        }
    }

    /// The vector of a question, and how long the model took for it.
    async fn embed(&self, question: &str) -> Result<(Arc<[f32]>, Timing), TargetError> {
        let started = Instant::now();
        let embeddings = self.embedder.embed(&[question], TextKind::Query).await;
        let embeddings = embeddings.map_err(failed)?;
        let elapsed = started.elapsed();
        let content = |error| TargetError::new(FailureClass::Content, error);
        let vector = embeddings.row(0).unwrap_or_default();
        check_direction(vector)
            .map_err(|error| content(format!("the question has no usable vector: {error}")))?;
        let timing = Timing {
            stage: Reply::EMBED_STAGE.to_owned(),
            duration: embeddings.took().unwrap_or(elapsed),
            cached: embeddings.is_cached(),
        };
        Ok((vector.into(), timing))
    }
}

fn failed(error: EmbedError) -> TargetError {
    let class = match &error {
        EmbedError::Model { failure, .. } => return TargetError::of_call(*failure, error),
        _ => FailureClass::Terminal,
    };
    TargetError::new(class, error)
}

#[async_trait]
impl Target for EmbeddingTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let question = request.question_text().unwrap_or_default();
        if question.trim().is_empty() {
            let message = "the request of the target needs the question's vector, and the case has no `question`";
            return Err(TargetError::new(FailureClass::Content, message));
        }
        let (vector, timing) = self.embed(question).await?;
        let request = Request {
            vector: Some(vector),
            ..request.clone()
        };
        let mut reply = self.inner.ask(&request).await?;
        reply.timings.insert(0, timing);
        Ok(reply)
    }

    fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
        self.inner.warnings(cases)
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evals_models::{Embeddings, ModelIdentity, RowOrigin};
    use serde_json::json;

    use super::*;
    use crate::FnTarget;

    /// Embeds a text as its length, and a query as twice as much. A text of 4 letters is stored, one without letters has no direction.
    #[derive(Debug)]
    struct Lengths(ModelIdentity);

    #[async_trait]
    impl Embedder for Lengths {
        fn identity(&self) -> &ModelIdentity {
            &self.0
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> Option<usize> {
            None
        }

        async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
            let factor = if kind == TextKind::Query { 2.0 } else { 1.0 };
            let embeddings = Embeddings::of_each(2, texts, |text| {
                let letters = text.chars().filter(|it| it.is_alphabetic()).count();
                [f32::from(u8::try_from(letters).unwrap()) * factor, 0.0]
            })?;
            let stored = usize::from(texts[0].len() == 4);
            let took = Duration::from_millis(30);
            Ok(embeddings.with_origin(RowOrigin { stored, took }))
        }
    }

    fn target() -> EmbeddingTarget {
        let inner = FnTarget::new("engine", |request: Request| async move {
            let vector = request.vector.map(|vector| vector.to_vec());
            Ok(Reply {
                answer: Some(json!(vector)),
                timings: vec![Reply::timing(Reply::STAGE, Duration::from_millis(10))],
                ..Reply::default()
            })
        });
        let embedder = Lengths(ModelIdentity::new("test", "lengths"));
        EmbeddingTarget::new(Arc::new(inner), Arc::new(embedder))
    }

    #[tokio::test]
    async fn a_question_arrives_with_its_vector_as_a_query_and_the_time_is_apart() {
        let reply = target().ask(&Request::question("q", "why?")).await.unwrap();
        assert_eq!(reply.answer, Some(json!([6.0, 0.0])));
        let stages = reply.timings.iter();
        let stages: Vec<_> = stages
            .map(|it| (it.stage.as_str(), it.duration.as_millis(), it.cached))
            .collect();
        assert_eq!(stages, [("embed", 30, true), ("target", 10, false)]);
        assert_eq!(reply.duration(), Some(Duration::from_millis(40)));
        let inputs = json!({"question": "whys?", "lang": "en"});
        let reply = target().ask(&Request::inputs("c", inputs)).await.unwrap();
        assert_eq!(reply.answer, Some(json!([8.0, 0.0])));
        assert!(!reply.timings[0].cached);
    }

    #[tokio::test]
    async fn a_question_without_a_direction_or_text_fails_its_case() {
        for request in [
            Request::question("q", "??"),
            Request::question("q", " "),
            Request::inputs("c", json!({"text": "why?"})),
        ] {
            let error = target().ask(&request).await.unwrap_err();
            assert_eq!(error.class(), FailureClass::Content, "{error}");
        }
    }

    #[test]
    fn the_identity_names_the_model_and_its_dimension() {
        let identity = target().identity().clone();
        let embedder = &identity.parameters[EmbeddingTarget::EMBEDDER];
        assert_eq!(embedder["model"]["name"], "lengths");
        assert_eq!(embedder["dimension"], 2);
        assert_eq!(identity.to_string(), "fn:engine");
    }
}

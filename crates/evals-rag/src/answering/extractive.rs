//! The extractive answerer: sentences of the passages, without a language model.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use evals_models::{EmbedError, Embedder, Finish, ModelIdentity, TextKind};

use super::idf::Idf;
use super::query_recorder::QueryRecorder;
use super::{AnswerError, AnswerFailure, Answered, Answerer, Citations, Refusals};
use crate::text::{sentences, words};
use crate::{Call, Passage};

/// Answers without a language model, with the sentences of the passages that are most similar to the question.
///
/// ```text
/// score = ½ · overlap + ½ · max(0, cosine)
/// overlap = share of the question's words in the sentence, weighted by their idf over the passages
/// cosine  = of the embeddings of question and sentence
/// ```
///
/// The answer lists the best sentences in the order of the passages, each with a citation of its passage. Brackets in the
/// passages that look like citations, such as the notes of an encyclopedia, are removed first. If the best sentence scores
/// below the threshold, the answer is a refusal. Ties go to the earlier sentence, so equal passages give equal answers. This
/// answerer is a baseline that a language model has to beat.
#[derive(Debug, Clone)]
pub struct ExtractiveAnswerer {
    identity: ModelIdentity,
    embedder: Arc<dyn Embedder>,
    /// Vectors of questions that the search computed.
    recorder: Option<Arc<QueryRecorder>>,
    refusals: Refusals,
    sentences: NonZeroUsize,
    threshold: f64,
}

/// A sentence and its position.
#[derive(Debug)]
struct Candidate<'t> {
    passage: usize,
    /// The sentence's number within its passage.
    place: usize,
    text: &'t str,
    score: f64,
}

/// The passages without brackets that look like citations.
fn without_markers(passages: &[Passage]) -> Vec<String> {
    let texts = passages.iter();
    texts
        .map(|passage| Citations::plain(&passage.text, usize::MAX))
        .collect()
}

impl ExtractiveAnswerer {
    /// The default threshold, which is low: the answerer refuses only if hardly any word matches.
    ///
    /// On the bundled news stories, it then refuses 10 % of the answerable questions and none of the unanswerable ones. A
    /// higher threshold is no better: the unanswerable questions use the stories' own words, so similarity does not separate
    /// them from the answerable ones.
    pub const THRESHOLD: f64 = 0.3;

    /// Answers with one sentence, and refuses below [`THRESHOLD`](Self::THRESHOLD).
    pub fn new(embedder: Arc<dyn Embedder>, refusals: Refusals) -> Self {
        Self {
            identity: ModelIdentity::new("embedded", "extractive"),
            embedder,
            recorder: None,
            refusals,
            sentences: NonZeroUsize::MIN,
            threshold: Self::THRESHOLD,
        }
        .identified()
    }

    /// Takes the vector of a question from `recorder`, which the search uses, where both embed with the same model.
    ///
    /// This saves time and does not change answers.
    #[must_use]
    pub fn reusing(self, recorder: Arc<QueryRecorder>) -> Self {
        Self {
            recorder: Some(recorder),
            ..self
        }
    }

    /// Answers with up to this many sentences.
    #[must_use]
    pub fn sentences(self, sentences: NonZeroUsize) -> Self {
        Self { sentences, ..self }.identified()
    }

    /// Refuses below this score, from 0 to 1.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold, ..self }.identified()
    }

    /// Adds a digest of every setting that answers depend on.
    fn identified(mut self) -> Self {
        let embedder = self.embedder.identity();
        let weights = embedder.digest.as_deref().unwrap_or("unknown");
        let digest = format!(
            "sentences={};threshold={};embedder={embedder}@{weights}",
            self.sentences, self.threshold
        );
        self.identity = self.identity.with_digest(digest);
        self
    }

    async fn text(
        &self,
        question: &str,
        passages: &[Passage],
    ) -> Result<Option<String>, EmbedError> {
        let passages = without_markers(passages);
        let mut candidates = candidates(&passages);
        if candidates.is_empty() {
            return Ok(None);
        }
        self.score(question, &passages, &mut candidates).await?;
        // A stable sort: equal scores stay in the order of the passages.
        candidates.sort_by(|left, right| right.score.total_cmp(&left.score));
        if candidates[0].score < self.threshold {
            return Ok(None);
        }
        candidates.truncate(self.sentences.get());
        candidates.sort_by_key(|candidate| (candidate.passage, candidate.place));
        let cited = candidates
            .iter()
            .map(|candidate| format!("{} [{}]", candidate.text, candidate.passage + 1));
        Ok(Some(cited.collect::<Vec<_>>().join(" ")))
    }

    async fn score(
        &self,
        question: &str,
        passages: &[String],
        candidates: &mut [Candidate<'_>],
    ) -> Result<(), EmbedError> {
        let asked = self.question_vector(question).await?;
        let texts: Vec<&str> = candidates.iter().map(|candidate| candidate.text).collect();
        let rows = self.embedder.embed(&texts, TextKind::Document).await?;
        if rows.len() != texts.len() {
            return Err(EmbedError::Count {
                model: self.embedder.identity().clone(),
                texts: texts.len(),
                vectors: rows.len(),
            });
        }
        let idf = Idf::of(passages.iter().map(String::as_str));
        let question = words(question);
        for (candidate, row) in candidates.iter_mut().zip(rows.rows()) {
            let overlap = idf.overlap(&question, candidate.text);
            candidate.score = 0.5 * overlap + 0.5 * cosine(&asked, row).max(0.0);
        }
        Ok(())
    }

    async fn question_vector(&self, question: &str) -> Result<Arc<[f32]>, EmbedError> {
        let recorder = self.recorder.as_deref();
        let recorded =
            recorder.and_then(|recorder| recorder.recorded(question, self.embedder.as_ref()));
        if let Some(vector) = recorded {
            return Ok(vector);
        }
        let embedded = self.embedder.embed(&[question], TextKind::Query).await?;
        let vector = embedded.row(0).ok_or_else(|| EmbedError::Count {
            model: self.embedder.identity().clone(),
            texts: 1,
            vectors: 0,
        })?;
        Ok(vector.into())
    }
}

/// The sentences of the passages; repeated sentences count once, at their first place.
fn candidates(passages: &[String]) -> Vec<Candidate<'_>> {
    let mut seen = BTreeSet::new();
    let all = passages.iter().enumerate().flat_map(|(passage, chunk)| {
        let sentences = sentences(chunk).into_iter().enumerate();
        sentences.map(move |(place, text)| Candidate {
            passage,
            place,
            text,
            score: 0.0,
        })
    });
    all.filter(|candidate| seen.insert(candidate.text))
        .collect()
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let product = |left: &[f32], right: &[f32]| -> f64 {
        let pairs = left.iter().zip(right);
        pairs
            .map(|(left, right)| f64::from(*left) * f64::from(*right))
            .sum()
    };
    let lengths = (product(left, left) * product(right, right)).sqrt();
    if lengths > 0.0 {
        product(left, right) / lengths
    } else {
        0.0
    }
}

#[async_trait]
impl Answerer for ExtractiveAnswerer {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    async fn answer(
        &self,
        question: &str,
        passages: &[Passage],
        _repeat: u32,
    ) -> Result<Answered, AnswerError> {
        let started = Instant::now();
        let text = self.text(question, passages).await;
        let text = text.map_err(AnswerFailure::from)?;
        Ok(Answered {
            refused: text.is_none(),
            text: text.unwrap_or_else(|| self.refusals.sentence().to_owned()),
            finish: Finish::Stop,
            calls: vec![Call {
                usage: None,
                service_time: started.elapsed(),
                cached: false,
                batched: false,
                verdict_is_signed: None,
            }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fakes::{Letters, passage};

    async fn answer(
        answerer: ExtractiveAnswerer,
        question: &str,
        texts: &[(&str, &str)],
    ) -> Answered {
        let passages: Vec<_> = texts
            .iter()
            .map(|(document, text)| passage(document, text))
            .collect();
        answerer.answer(question, &passages, 1).await.unwrap()
    }

    fn answerer() -> ExtractiveAnswerer {
        answerer_by(&Letters::new())
    }

    fn answerer_by(embedder: &Arc<Letters>) -> ExtractiveAnswerer {
        ExtractiveAnswerer::new(embedder.clone(), Refusals::new(["Not there."]))
    }

    const TEXTS: [(&str, &str); 2] = [
        ("a", "The owl sleeps. It is a bird."),
        ("b", "The cat eats fish xy. The dog eats meat."),
    ];

    #[tokio::test]
    async fn the_best_sentence_answers_and_cites_its_passage() {
        // All words and the same letters: score 1.
        let answered = answer(answerer().threshold(1.0), "cat eats xy?", &TEXTS).await;
        assert_eq!(answered.text, "The cat eats fish xy. [2]");
        assert!(!answered.refused);
        assert_eq!(answered.calls[0].usage, None);
    }

    #[tokio::test]
    async fn several_sentences_are_in_the_order_of_the_passages() {
        let two = NonZeroUsize::new(2).unwrap();
        let answered = answer(
            answerer().sentences(two),
            "Which bird eats fish xy?",
            &TEXTS,
        )
        .await;
        assert_eq!(answered.text, "It is a bird. [1] The cat eats fish xy. [2]");
    }

    #[tokio::test]
    async fn it_refuses_below_the_threshold() {
        let answered = answer(answerer(), "Who invented zips?", &TEXTS).await;
        assert!(answered.refused);
        assert_eq!(answered.text, "Not there.");
        assert!(answer(answerer(), "Which?", &[]).await.refused);
        assert!(
            answer(answerer().threshold(0.0), "?", &[("a", "\n")])
                .await
                .refused
        );
    }

    #[tokio::test]
    async fn ties_go_to_the_first_sentence() {
        let texts = [("a", "Box one. Box two."), ("b", "Box three.")];
        let answered = answer(answerer(), "box", &texts).await;
        assert_eq!(answered.text, "Box one. [1]");
    }

    #[tokio::test]
    async fn brackets_of_the_passages_are_not_citations() {
        let texts = [
            (
                "a",
                "It is cold [1]. The cat eats fish xy.[2] The code is [404].",
            ),
            ("b", "[1]"),
        ];
        let answered = answer(answerer(), "cat eats xy?", &texts).await;
        assert_eq!(answered.text, "The cat eats fish xy. [1]");
    }

    #[tokio::test]
    async fn the_search_and_the_answerer_embed_a_question_once() {
        let question = "cat eats xy?";
        let embedder = Letters::with_digest("1");
        let expected = answer(answerer_by(&embedder), question, &TEXTS).await;
        assert_eq!(embedder.queries(), [question]);

        let embedder = Letters::with_digest("1");
        let recorder = Arc::new(QueryRecorder::new(embedder.clone()));
        recorder.embed(&[question], TextKind::Query).await.unwrap();
        let reusing = answerer_by(&embedder).reusing(recorder);
        assert_eq!(reusing.identity, answerer_by(&embedder).identity);
        assert_eq!(answer(reusing, question, &TEXTS).await.text, expected.text);
        assert_eq!(embedder.queries(), [question]);
    }

    #[tokio::test]
    async fn a_vector_of_another_model_is_not_used() {
        let question = "cat eats xy?";
        let searching = Letters::with_digest("2");
        let recorder = Arc::new(QueryRecorder::new(searching.clone()));
        recorder.embed(&[question], TextKind::Query).await.unwrap();
        let answering = Letters::with_digest("1");
        let answerer = answerer_by(&answering).reusing(recorder);
        answer(answerer, question, &TEXTS).await;
        assert_eq!(answering.queries(), [question]);
    }

    #[test]
    fn the_digest_covers_all_settings() {
        assert_eq!(
            answerer().threshold(0.25).identity().digest.as_deref(),
            Some("sentences=1;threshold=0.25;embedder=test:letters@unknown")
        );
    }
}

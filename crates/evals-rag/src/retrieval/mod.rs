//! The retrieval experiment: the task ranks documents for a question, and rank measures compare the ranking with the
//! judgements.

mod span_measures;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, CaseField, CaseOutcome, CaseReport, Concern, Context, Dataset, DatasetError, Direction,
    Domain, Evaluator, EvaluatorError, EvaluatorOrigin, Gist, Outcome, Report, TaskError,
    TaskScope,
};
use evals_metrics::{Judgements, Measure, Ranking, RankingError, Undefined, score_all};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::case_fields;
use crate::conversation::{rewritten, said_before};
use crate::question::derived;
use crate::{EvidenceSpan, Missing, Question, Retrieved, SearchError, Searcher};

pub use span_measures::SpanMeasures;

/// Evaluations of rankings: the input is a question's text, the expectation its judged documents.
#[derive(Debug, Clone, Copy)]
pub struct Retrieval;

impl Domain for Retrieval {
    type Input = String;
    type Output = Retrieved;
    type Expected = Judgements;
    type Metadata = QuestionFacts;

    fn mean_title(measure: &str) -> Option<String> {
        mean_title(measure)
    }

    fn group_facts(case: &CaseReport<Self>) -> Vec<(&'static str, Value)> {
        let judged = case.expected.iter();
        let facts =
            judged.flat_map(|judged| derived(&case.input, case.metadata.answerable, judged));
        facts.collect()
    }

    fn documents(judged: Option<&Judgements>, _facts: &QuestionFacts) -> Vec<String> {
        let relevant = judged.into_iter().flat_map(Judgements::relevant);
        relevant.map(str::to_owned).collect()
    }

    fn gist(case: &CaseReport<Self>) -> Gist {
        let unjudged = Judgements::new();
        let judged = case.expected.as_ref().filter(|_| case.metadata.answerable);
        let relevant = judged.unwrap_or(&unjudged);
        let found = case.result.output();
        let found = found.filter(|found| !found.missing.contains(&Missing::Documents));
        let ids = found.and_then(|found| case_fields::marked(&found.ranking, relevant));
        Gist {
            expected: case_fields::judged(relevant).map(|ids| CaseField::new("relevant", ids)),
            returned: ids.map(|ids| CaseField::new("found", ids)),
            first_relevant: found
                .and_then(|found| case_fields::first_relevant(&found.ranking, relevant)),
        }
    }

    fn case_fields(case: &CaseReport<Self>) -> Vec<CaseField> {
        let found = case.result.output();
        let relevant = case.expected.as_ref().and_then(case_fields::judged);
        let ranking = found.and_then(|found| case_fields::ranked(&found.ranking));
        let passages = found.and_then(|found| case_fields::passages(&found.passages));
        let question = CaseField::new("question", case.input.clone());
        let said = said_before(&case.attributes);
        std::iter::once(question)
            .chain(said.map(|text| CaseField::long("conversation", text)))
            .chain(rewritten(&case.attributes))
            .chain(relevant.map(|text| CaseField::new("relevant", text)))
            .chain(ranking.map(|text| CaseField::new("found", text)))
            .chain(passages.map(|text| CaseField::long("passages", text)))
            .collect()
    }
}

/// A dataset's facts about a question, besides its judgements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Option<WrittenFacts>")]
pub struct QuestionFacts {
    /// Whether the corpus contains the answer; see [`Question::answerable`](crate::Question::answerable).
    pub answerable: bool,
    /// The question's further facts, beside `answerable` in JSON.
    #[serde(flatten)]
    pub metadata: Map<String, Value>,
    /// The parts of documents that answer the question. A task returns passages for it if there are any. Reports do not have them, because the
    /// dataset does.
    #[serde(skip)]
    pub evidence: Vec<EvidenceSpan>,
}

impl Default for QuestionFacts {
    fn default() -> Self {
        Self {
            answerable: true,
            metadata: Map::new(),
            evidence: Vec::new(),
        }
    }
}

/// The facts as reports hold them; `null` in reports without facts.
#[derive(Deserialize)]
struct WrittenFacts {
    answerable: bool,
    #[serde(flatten)]
    metadata: Map<String, Value>,
}

impl From<Option<WrittenFacts>> for QuestionFacts {
    fn from(written: Option<WrittenFacts>) -> Self {
        written.map_or_else(Self::default, |written| Self {
            answerable: written.answerable,
            metadata: written.metadata,
            evidence: Vec::new(),
        })
    }
}

/// The name of a rank measure's mean, if it differs from the measure's own: `MRR@5` for `RR@5`. `None` for any text that is
/// not the canonical name of such a measure.
pub fn mean_title(measure: &str) -> Option<String> {
    let parsed: Measure = measure.parse().ok()?;
    let title = parsed.mean_title();
    (parsed.to_string() == measure && title != measure).then_some(title)
}

/// Makes one case from each question, with `measures` as evaluators. The task searches for unanswerable questions too, but
/// all their measures are undefined.
///
/// # Errors
///
/// Two questions have the same id.
pub fn dataset(
    name: &str,
    questions: impl IntoIterator<Item = Question>,
    measures: Vec<Measure>,
) -> Result<Dataset<Retrieval>, DatasetError> {
    let cases = questions.into_iter().map(|mut question| {
        let judgements = question.take_judgements();
        let facts = QuestionFacts {
            answerable: question.answerable,
            metadata: question.metadata,
            evidence: question.evidence,
        };
        Case {
            metadata: facts,
            cluster: question.cluster,
            ..Case::new(question.id, question.text).expecting(judgements)
        }
    });
    Ok(Dataset::new(name, cases)?.evaluator(RankMeasures::new(measures)))
}

/// The treatment of a document that has the question's own id.
///
/// In collections such as Arguana, questions are themselves documents of the corpus. A search would find them first, and
/// they are never judged relevant, so published figures leave them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdenticalIds {
    /// Treats it like any other document.
    Keep,
    /// Drops it from the ranking; the next document takes its place.
    LeaveOut,
}

/// Makes the task that asks `searcher` for the `k` best documents and records its stage timings.
///
/// The timings move from the output to the report, because outputs repeat to the byte and timings do not.
pub fn task(
    searcher: Arc<dyn Searcher>,
    k: NonZeroUsize,
    identical: IdenticalIds,
) -> impl Fn(Arc<Case<Retrieval>>, TaskScope) -> BoxFuture<'static, Result<Retrieved, TaskError>> {
    move |case, scope| {
        let searcher = Arc::clone(&searcher);
        Box::pin(async move {
            let depth = match identical {
                IdenticalIds::Keep => k.get(),
                IdenticalIds::LeaveOut => k.get().saturating_add(1),
            };
            let searched = searcher.search_again(&case.input, depth, scope.repeat());
            let mut retrieved = searched.await.map_err(SearchError::of_task)?;
            // Recorded before anything can fail: the stages are done even if their result is rejected.
            retrieved.record(&scope);
            match identical {
                IdenticalIds::Keep => Ok(retrieved),
                IdenticalIds::LeaveOut => Ok(without(retrieved, case.id.as_str(), k.get())?),
            }
        })
    }
}

/// The first `k` documents other than `id`, and the passages of those.
fn without(retrieved: Retrieved, id: &str, k: usize) -> Result<Retrieved, RankingError> {
    let others = retrieved.ranking.into_iter();
    let ranking = Ranking::new(others.filter(|document| document.id != id).take(k))?;
    let kept: HashSet<&str> = ranking
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    let mut passages = retrieved.passages;
    passages.retain(|passage| kept.contains(passage.document.as_str()));
    Ok(Retrieved {
        ranking,
        passages,
        ..retrieved
    })
}

/// The outcomes of rank measures, one for each. Without judgements no document is relevant.
pub fn rank_outcomes(
    measures: &[Measure],
    judgements: Option<&Judgements>,
    ranking: &Ranking,
) -> Vec<Outcome> {
    let unjudged = Judgements::new();
    let scores = score_all(measures, judgements.unwrap_or(&unjudged), ranking);
    let outcome = |(measure, score): (&Measure, Result<f64, Undefined>)| match score {
        Ok(score) => Outcome::score(measure.to_string(), score),
        Err(undefined) => Outcome::undefined(measure.to_string(), undefined.to_string()),
    };
    measures.iter().zip(scores).map(outcome).collect()
}

/// Scores a ranking by rank measures, one outcome for each.
///
/// A case without judgements, or without the relevant documents that a measure needs, has undefined outcomes with the
/// measure's reason. For an unanswerable question all outcomes are undefined, with [`Question::UNANSWERABLE`],
/// and for a target's reply without documents of the corpus with the reason of [`Retrieved::unranked`].
#[derive(Debug, Clone)]
pub struct RankMeasures {
    measures: Vec<Measure>,
}

impl RankMeasures {
    const NAME: &'static str = "rank measures";

    /// Makes an evaluator with one outcome for each measure, in the same order and with the same names.
    pub fn new(measures: Vec<Measure>) -> Self {
        Self { measures }
    }

    /// Scores a case that has been searched.
    fn outcomes(
        &self,
        facts: &QuestionFacts,
        judgements: Option<&Judgements>,
        found: &Retrieved,
    ) -> Vec<Outcome> {
        let unmeasured = if facts.answerable {
            found.unranked()
        } else {
            Some(Question::UNANSWERABLE)
        };
        if let Some(reason) = unmeasured {
            let undefined = |measure: &Measure| Outcome::undefined(measure.to_string(), reason);
            return self.measures.iter().map(undefined).collect();
        }
        rank_outcomes(&self.measures, judgements, &found.ranking)
    }

    /// Measures a case again whose output has changed.
    pub(crate) fn measure_again(case: &mut CaseReport<Retrieval>) {
        let Some(found) = case.result.output() else {
            return;
        };
        let own = |outcome: &&mut CaseOutcome| outcome.evaluator == Self::NAME;
        for outcome in case.outcomes.iter_mut().filter(own) {
            let measures = outcome.name.parse().into_iter().collect();
            let again = Self::new(measures);
            let again = again.outcomes(&case.metadata, case.expected.as_ref(), found);
            for again in again {
                outcome.value = again.value;
                outcome.reason = again.reason;
                outcome.evidence = again.evidence;
            }
        }
    }

    /// Adds the measures to a report that lacks them, from the rankings that it holds: the values that a run with these measures would have.
    pub fn add_to(&self, report: &mut Report<Retrieval>) {
        let mut outcomes = report.cases.iter().flat_map(|case| &case.outcomes);
        let own = outcomes.find(|outcome| outcome.evaluator == Self::NAME);
        let origin = own.map_or_else(EvaluatorOrigin::default, |outcome| outcome.origin);
        for case in &mut report.cases {
            let Some(found) = case.result.output() else {
                continue;
            };
            let added = self.outcomes(&case.metadata, case.expected.as_ref(), found);
            let added = added.into_iter().map(|outcome| CaseOutcome {
                name: outcome.name,
                given_name: None,
                evaluator: Self::NAME.to_owned(),
                origin,
                better: Direction::Higher,
                value: outcome.value,
                reason: outcome.reason,
                evidence: outcome.evidence,
            });
            case.outcomes.extend(added);
        }
    }
}

#[async_trait]
impl Evaluator<Retrieval> for RankMeasures {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Retrieval>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let case = context.case;
        Ok(self.outcomes(&case.metadata, case.expected.as_ref(), context.output))
    }

    fn concerns(&self, case: &Case<Retrieval>) -> Option<Vec<Concern>> {
        (!case.metadata.answerable).then(Vec::new)
    }
}

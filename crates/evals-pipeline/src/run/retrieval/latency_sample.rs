//! Which questions the retrieval benchmark searches one by one, to measure how long that takes. The others are searched all at once.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use evals_index::{Profile, QuestionBatch};
use evals_rag::retrieval::IdenticalIds;
use sha2::{Digest, Sha256};

use crate::rankings::TimedQuestions;
use crate::run::preparation::Run;
use crate::search_profile::SearchProfile;

/// Size of the sample, unless the settings have one.
const USUAL_SIZE: usize = 100;

/// The questions of a benchmark as a batch, with a sample that is timed.
#[derive(Debug)]
pub(super) struct LatencySample {
    batch: QuestionBatch,
    seed: u64,
}

impl LatencySample {
    /// `None` if every question is searched one by one: because the sample has every question, because a repetition has to search again,
    /// because the ranking is the same for all questions, because the search is approximate, and the search of all questions at once is
    /// exact, or because a model writes each query.
    pub(super) fn of(run: Run<'_>, profile: SearchProfile) -> Option<Self> {
        let Run {
            arguments,
            plan,
            prepared,
            ..
        } = run;
        let is_approximate = prepared.ready.index.approximation().is_some();
        let one_by_one = match profile.base {
            Profile::Unranked => true,
            Profile::Bm25 => false,
            Profile::Semantic | Profile::Hybrid(_) => is_approximate,
        };
        if arguments.control.repeat.get() > 1 || one_by_one || prepared.rewriting.is_some() {
            return None;
        }
        let size = plan.resolved.settings.search.latency_sample;
        let size = size.map_or(USUAL_SIZE, NonZeroUsize::get);
        let questions = prepared.questions.iter();
        let turns = plan.resolved.settings.turns_read();
        let questions: Vec<_> = questions.map(|question| question.query(turns)).collect();
        let seed = arguments.control.seed;
        let timed = match &prepared.all_questions {
            None => sample(&questions, size, seed)?,
            // All shards together time the sample that one machine would time.
            Some(all) => {
                let all: Vec<_> = all.iter().map(|it| it.query(turns)).collect();
                let mut timed = sample(&all, size, seed)?;
                let own: HashSet<&str> = questions.iter().map(String::as_str).collect();
                timed.retain(|question| own.contains(question.as_str()));
                timed
            }
        };
        if questions.iter().all(|question| timed.contains(question)) {
            return None;
        }
        let asked = match plan.identical_ids {
            IdenticalIds::Keep => plan.k.get(),
            IdenticalIds::LeaveOut => plan.k.get().saturating_add(1),
        };
        let reranking = prepared.reranking.as_ref().filter(|_| profile.rerank);
        let candidates = reranking.map_or(0, |reranking| reranking.candidates.get());
        let batch = QuestionBatch {
            questions,
            k: asked.max(candidates),
            timed,
            concurrency: plan.concurrency,
        };
        Some(Self { batch, seed })
    }

    pub(super) fn batch(&self) -> &QuestionBatch {
        &self.batch
    }

    /// What the report says about its latencies.
    pub(super) fn fact(&self) -> (String, String) {
        let questions = TimedQuestions {
            timed: self.batch.timed.len(),
            of: self.batch.questions.len(),
            seed: self.seed,
        };
        questions.fact()
    }
}

/// Draws `size` of the distinct questions, independently of their order. `None` if there are no more than that.
fn sample(questions: &[String], size: usize, seed: u64) -> Option<HashSet<String>> {
    let distinct: HashSet<&str> = questions.iter().map(String::as_str).collect();
    if distinct.len() <= size {
        return None;
    }
    let mut drawn: Vec<_> = distinct
        .into_iter()
        .map(|it| (order(seed, it), it))
        .collect();
    drawn.sort_unstable();
    let drawn = drawn.into_iter().take(size);
    Some(drawn.map(|(_, question)| question.to_owned()).collect())
}

fn order(seed: u64, question: &str) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(seed.to_le_bytes());
    hash.update(question);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(count: usize) -> Vec<String> {
        (0..count)
            .map(|number| format!("question {number}"))
            .collect()
    }

    #[test]
    fn a_sample_depends_on_the_seed_and_not_on_the_order() {
        let mut texts = questions(50);
        let drawn = sample(&texts, 10, 7).unwrap();
        assert_eq!(drawn.len(), 10);
        texts.reverse();
        assert_eq!(sample(&texts, 10, 7).unwrap(), drawn);
        assert_ne!(sample(&texts, 10, 8).unwrap(), drawn);
    }

    #[test]
    fn as_many_questions_as_the_sample_need_none() {
        let mut texts = questions(10);
        texts.push("question 3".to_owned());
        assert_eq!(sample(&texts, 10, 7), None);
        assert!(sample(&questions(11), 10, 7).is_some());
    }
}

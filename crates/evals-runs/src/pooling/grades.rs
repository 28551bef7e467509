//! The grades that count, of all judgements of a pool.

use std::collections::BTreeMap;

use evals_metrics::Judgements;

use super::judgement::{Assessor, Judgement};
use super::pool::{PooledPair, PooledQuestion};
use super::store::StoredJudgements;

/// A question with the digests of its text and of a passage.
pub(super) type Pair<'j> = (&'j str, &'j str, &'j str);

/// The grades of one model, and those of people.
///
/// A model's first grade of a pair counts, so that a second one, by a process that judged at the same time, changes no number. Of a person the
/// last one counts, because people correct themselves; of several people the median, and the lower one of two in the middle.
#[derive(Debug, Default)]
pub struct Grades<'j> {
    model: BTreeMap<Pair<'j>, u8>,
    people: BTreeMap<Pair<'j>, u8>,
}

/// Whose grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Graders {
    /// Those of the model.
    Model,
    /// Those of people.
    People,
}

impl<'j> Grades<'j> {
    /// The grades of `model` and of all people.
    pub fn of(stored: &'j StoredJudgements, model: Option<&Assessor>) -> Self {
        let mut grades = Self::default();
        let mut people: BTreeMap<Pair<'_>, BTreeMap<&str, u8>> = BTreeMap::new();
        for judgement in stored.all() {
            let pair = pair(judgement);
            match &judgement.assessor {
                Assessor::Person(name) => {
                    people
                        .entry(pair)
                        .or_default()
                        .insert(name, judgement.grade);
                }
                assessor if Some(assessor) == model => {
                    grades.model.entry(pair).or_insert(judgement.grade);
                }
                Assessor::Model { .. } => {}
            }
        }
        grades.people = people
            .into_iter()
            .map(|(pair, of)| (pair, median(of)))
            .collect();
        grades
    }

    /// The grade of a pair, if there is one.
    pub fn by(&self, graders: Graders, question: &PooledQuestion, pair: &PooledPair) -> Option<u8> {
        let grades = match graders {
            Graders::Model => &self.model,
            Graders::People => &self.people,
        };
        grades.get(&key(question, pair)).copied()
    }

    /// The judgements of a question's documents, and whether all of its pairs have one.
    pub(super) fn judgements(
        &self,
        graders: Graders,
        question: &PooledQuestion,
    ) -> (Judgements, bool) {
        let pairs = question.pairs.iter();
        let grades = pairs.filter_map(|pair| {
            let grade = self.by(graders, question, pair)?;
            Some((pair.document.clone(), i32::from(grade)))
        });
        let judgements: Judgements = grades.collect();
        let is_complete = judgements.len() == question.pairs.len();
        (judgements, is_complete)
    }
}

/// What a judgement of a pair is about.
pub(super) fn key<'p>(question: &'p PooledQuestion, pair: &'p PooledPair) -> Pair<'p> {
    (&question.id, &question.digest, &pair.digest)
}

/// What a judgement is about.
pub(super) fn pair(judgement: &Judgement) -> Pair<'_> {
    (
        &judgement.question,
        &judgement.question_digest,
        &judgement.passage_digest,
    )
}

/// The lower median of at least one grade.
fn median(grades: BTreeMap<&str, u8>) -> u8 {
    let mut grades: Vec<u8> = grades.into_values().collect();
    grades.sort_unstable();
    grades[(grades.len() - 1) / 2]
}

//! The grades that count, of all judgements.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::Judgements;

use super::judgement::{Assessor, Judgement};
use super::pool::{PooledPair, PooledQuestion};

/// The digests of the texts of a question and of a passage: what a judgement is about.
pub(super) type Texts<'t> = (&'t str, &'t str);

/// The grades of one model, or those of people.
#[derive(Debug, Default)]
pub struct Grades<'j>(BTreeMap<Texts<'j>, u8>);

impl<'j> Grades<'j> {
    /// The grades of a model. The first one of a pair counts.
    pub fn of_model(stored: &'j [Judgement], model: &Assessor) -> Self {
        let mut grades = BTreeMap::new();
        for judgement in stored.iter().filter(|it| it.assessor == *model) {
            grades.entry(judgement.texts()).or_insert(judgement.grade);
        }
        Self(grades)
    }

    /// The grades of people. Of one person the last one counts, because people correct themselves. Of several people the median does, and the
    /// lower one of two in the middle.
    pub fn of_people(stored: impl IntoIterator<Item = &'j Judgement>) -> Self {
        let mut people: BTreeMap<Texts<'_>, BTreeMap<&str, u8>> = BTreeMap::new();
        for judgement in stored {
            if let Assessor::Person(name) = &judgement.assessor {
                let given = people.entry(judgement.texts()).or_default();
                given.insert(name, judgement.grade);
            }
        }
        let grades = people.into_iter().map(|(texts, given)| {
            let mut grades: Vec<u8> = given.into_values().collect();
            grades.sort_unstable();
            (texts, grades[(grades.len() - 1) / 2])
        });
        Self(grades.collect())
    }

    /// The grade of a pair, if there is one.
    pub fn get(&self, question: &PooledQuestion, pair: &PooledPair) -> Option<u8> {
        self.0.get(&(&*question.digest, &*pair.digest)).copied()
    }

    /// The pairs of a question without a grade. Documents with one text need one grade.
    pub fn open<'p>(&self, question: &'p PooledQuestion) -> Vec<&'p PooledPair> {
        let mut seen = BTreeSet::new();
        let pairs = question.pairs.iter();
        let open =
            pairs.filter(|pair| self.get(question, pair).is_none() && seen.insert(&*pair.digest));
        open.collect()
    }

    /// The judgements of a question's documents, if all have a grade.
    pub(super) fn judgements(&self, question: &PooledQuestion) -> Option<Judgements> {
        let grades = question.pairs.iter().map(|pair| {
            let grade = self.get(question, pair)?;
            Some((pair.document.clone(), i32::from(grade)))
        });
        grades.collect()
    }
}

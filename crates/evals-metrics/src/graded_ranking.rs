//! A query's ranking as a list of grades, the input of all measures.

use std::num::NonZeroUsize;

use crate::arithmetic::as_f64;
use crate::measures::{Gains, MinimumGrade};
use crate::{Judgements, Ranking, Undefined};

/// A ranking as grades, with the grades of the ideal ranking. Measures know nothing else about a
/// query.
///
/// Looking up the documents costs more than any measure, so all measures share one lookup.
#[derive(Debug, Default)]
pub(crate) struct GradedRanking {
    /// The grade at each rank, best rank first; `None` where the document is unjudged.
    pub(crate) grades: Vec<Option<i32>>,
    /// The positive grades of the query's judgements, best first, retrieved or not.
    ideal: Vec<i32>,
    /// How many judgements have the grade 0.
    zeros: usize,
    version: TrecEval,
}

impl GradedRanking {
    pub(crate) fn new(judgements: &Judgements, ranking: &Ranking) -> Self {
        let mut graded = Self::default();
        let grades = ranking.iter();
        let grades = grades.map(|document| judgements.grade(&document.id));
        graded.grades.extend(grades);
        graded.judge(judgements.iter().map(|(_, grade)| grade));
        graded
    }

    /// A ranking without documents.
    pub(crate) fn of_version(version: TrecEval) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// Which version of `trec_eval` decides where versions differ.
    pub(crate) fn version(&self) -> TrecEval {
        self.version
    }

    /// Replaces the grades of the query's judgements.
    pub(crate) fn judge(&mut self, grades: impl Iterator<Item = i32>) {
        self.ideal.clear();
        self.zeros = 0;
        for grade in grades {
            if grade > 0 {
                self.ideal.push(grade);
            } else if grade == 0 {
                self.zeros += 1;
            }
        }
        self.ideal.sort_unstable_by(|left, right| right.cmp(left));
    }

    /// The grades down to the cutoff, or all; fewer where less was retrieved.
    pub(crate) fn top(&self, cutoff: Option<NonZeroUsize>) -> &[Option<i32>] {
        cut(&self.grades, cutoff)
    }

    /// The number of retrieved documents; an error if there is none.
    pub(crate) fn retrieved(&self) -> Result<NonZeroUsize, Undefined> {
        NonZeroUsize::new(self.grades.len()).ok_or(Undefined::EmptyRanking)
    }

    /// The grades of the best possible ranking down to the cutoff, or all of them.
    pub(crate) fn ideal(&self, cutoff: Option<NonZeroUsize>) -> &[i32] {
        cut(&self.ideal, cutoff)
    }

    /// The positive gains of the best possible ranking, best first; an error if there is none.
    pub(crate) fn ideal_gains(&self, gains: &Gains) -> Result<Vec<f64>, Undefined> {
        let zeros = std::iter::repeat_n(0, self.zeros);
        let grades = self.ideal.iter().copied().chain(zeros);
        let mut ideal: Vec<f64> = grades
            .map(|grade| gains.of(grade))
            .filter(|&gain| gain > 0.0)
            .collect();
        if ideal.is_empty() {
            return Err(Undefined::NoRelevantDocuments);
        }
        ideal.sort_unstable_by(|left, right| right.total_cmp(left));
        Ok(ideal)
    }

    /// The gains of the retrieved documents down to a cutoff.
    pub(crate) fn gains(
        &self,
        gains: &Gains,
        cutoff: Option<NonZeroUsize>,
    ) -> impl Iterator<Item = f64> {
        let grades = self.top(cutoff).iter();
        grades.map(|grade| grade.map_or(0.0, |grade| gains.of(grade)))
    }

    /// How many documents down to the cutoff are relevant.
    pub(crate) fn relevant_retrieved(
        &self,
        rel: MinimumGrade,
        cutoff: Option<NonZeroUsize>,
    ) -> usize {
        let top = self.top(cutoff).iter();
        top.filter(|&&grade| rel.admits(grade)).count()
    }

    /// How many documents are relevant, retrieved or not. If there are none, measures that divide
    /// by the number are undefined.
    pub(crate) fn relevant(&self, rel: MinimumGrade) -> Result<NonZeroUsize, Undefined> {
        let relevant = self.ideal.partition_point(|&grade| rel.admits(Some(grade)));
        NonZeroUsize::new(relevant).ok_or(Undefined::NoRelevantDocuments)
    }

    /// How many documents are judged and not relevant, retrieved or not. Negative grades do not count: `trec_eval` takes
    /// them for documents that were pooled and not judged.
    pub(crate) fn not_relevant(&self, rel: MinimumGrade) -> usize {
        let relevant = self.ideal.partition_point(|&grade| rel.admits(Some(grade)));
        self.ideal.len() - relevant + self.zeros
    }

    /// The ranks of the relevant documents, counted from 1.
    pub(crate) fn relevant_ranks(&self, rel: MinimumGrade) -> impl Iterator<Item = usize> {
        let ranks = (1..).zip(&self.grades);
        ranks.filter_map(move |(rank, &grade)| rel.admits(grade).then_some(rank))
    }

    /// The highest precision at the rank of the n-th relevant document or at any later rank, for n = 1, 2 … Empty if nothing
    /// relevant was retrieved.
    pub(crate) fn interpolated(&self, rel: MinimumGrade) -> Vec<f64> {
        let ranks = self.relevant_ranks(rel);
        let mut best: Vec<f64> = (1..)
            .zip(ranks)
            .map(|(found, rank)| crate::arithmetic::share(found, rank))
            .collect();
        for found in (1..best.len()).rev() {
            best[found - 1] = best[found].max(best[found - 1]);
        }
        best
    }
}

fn cut<T>(ranked: &[T], cutoff: Option<NonZeroUsize>) -> &[T] {
    match cutoff {
        Some(k) if k.get() < ranked.len() => &ranked[..k.get()],
        _ => ranked,
    }
}

/// The version of `trec_eval` whose rules decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrecEval {
    /// Version 9, and pytrec\_eval and ir-measures, which contain it. Document scores are held in single precision. A recall
    /// level asks for `floor(level * relevant + 0.9)` documents.
    V9,
    /// Version 10, of June 2026. Document scores are held in double precision. A recall level asks for
    /// `round(level * relevant)` documents.
    #[default]
    V10,
}

impl TrecEval {
    /// How many relevant documents reach a level of recall.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of documents: small, and a negative level saturates at 0"
    )]
    pub(crate) fn documents_at(self, level: f64, relevant: usize) -> usize {
        let documents = level * as_f64(relevant);
        match self {
            Self::V9 => (documents + 0.9) as usize,
            Self::V10 => documents.round() as usize,
        }
    }

    /// The score that decides the order: rounded to single precision by version 9.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the rounding of version 9, which decides what ties"
    )]
    pub fn score(self, score: f64) -> f64 {
        match self {
            Self::V9 => f64::from(score as f32),
            Self::V10 => score,
        }
    }
}

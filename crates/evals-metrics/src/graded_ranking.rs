//! A query's ranking as a list of grades, the input of all measures.

use std::num::NonZeroUsize;

use crate::measures::MinimumGrade;
use crate::{Judgements, Ranking, Undefined};

/// A ranking as grades, with the grades of the ideal ranking. Measures know nothing else about a
/// query.
///
/// Looking up the documents costs more than any measure, so all measures share one lookup.
#[derive(Debug)]
pub(crate) struct GradedRanking {
    /// The grade at each rank, best rank first; `None` where the document is unjudged.
    grades: Vec<Option<i32>>,
    /// The positive grades of the query's judgements, best first, retrieved or not.
    ideal: Vec<i32>,
}

impl GradedRanking {
    pub(crate) fn new(judgements: &Judgements, ranking: &Ranking) -> Self {
        let grades = ranking
            .iter()
            .map(|document| judgements.grade(&document.id))
            .collect();
        let mut ideal: Vec<i32> = judgements
            .iter()
            .map(|(_, grade)| grade)
            .filter(|&grade| grade > 0)
            .collect();
        ideal.sort_unstable_by(|left, right| right.cmp(left));
        Self { grades, ideal }
    }

    /// The grades down to the cutoff, or all; fewer where less was retrieved.
    pub(crate) fn top(&self, cutoff: Option<NonZeroUsize>) -> &[Option<i32>] {
        cut(&self.grades, cutoff)
    }

    /// The grades of the best possible ranking down to the cutoff, or all of them.
    pub(crate) fn ideal(&self, cutoff: Option<NonZeroUsize>) -> &[i32] {
        cut(&self.ideal, cutoff)
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
}

fn cut<T>(ranked: &[T], cutoff: Option<NonZeroUsize>) -> &[T] {
    match cutoff {
        Some(k) if k.get() < ranked.len() => &ranked[..k.get()],
        _ => ranked,
    }
}

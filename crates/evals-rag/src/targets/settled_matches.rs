//! Whether any document that a target returned in a whole run is in the corpus.

use evals::{Report, TaskResult};

use super::matching::MatchCounts;
use crate::retrieval::RankMeasures;
use crate::{Missing, Retrieval};

/// Makes the rank measures of a report undefined if the target returned documents and none of them is in the corpus: then its ids are of
/// another kind, and a value of 0 would be one of the search. A report that is joined of others is measured anew if this is different for
/// the whole.
pub fn settle_matches(report: &mut Report<Retrieval>) {
    let attributes = report.cases.iter().map(|case| &case.attributes);
    let none_matched = MatchCounts::of(attributes).none_matched();
    for case in &mut report.cases {
        let TaskResult::Output(found) = &mut case.result else {
            continue;
        };
        let lacks = none_matched && !found.missing.contains(&Missing::Documents);
        if lacks == found.missing.contains(&Missing::Matches) {
            continue;
        }
        found.missing.retain(|it| *it != Missing::Matches);
        found.missing.extend(lacks.then_some(Missing::Matches));
        RankMeasures::measure_again(case);
    }
}

//! Whether any document that a target returned in a whole run is in the corpus.

use evals::{Report, TaskResult};

use super::matching::MatchCounts;
use crate::retrieval::RankMeasures;
use crate::{Missing, Retrieval};

/// Makes the rank measures of a report undefined if the target returned documents and none of them is in the corpus. Its ids are then of
/// a different kind, and a 0 would wrongly blame its search.
///
/// Merged reports need it once more: if a document of one part is in the corpus, this restores the values of the other parts.
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

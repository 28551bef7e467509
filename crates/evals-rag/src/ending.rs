//! How a case ended: right, or the stage at which it broke.

use std::fmt;

use evals::{CaseReport, Value};
use evals_metrics::Judgements;

use crate::qa::{Answer, Equivalence, Qa, Refusal};
use crate::retrieval::Retrieval;
use crate::{Missing, Passage};

/// How a case ended: right, or the first stage at which it broke. A stored report is enough to decide it.
///
/// A document counts as relevant if its grade is 1 or more. One relevant document is enough to pass a stage, even for a question that
/// needs several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// The task failed, so there is no answer and no ranking.
    TaskFailed,
    /// The answer is wrong, and the search found no relevant document.
    NotRetrieved,
    /// The answer is wrong. The search found a relevant document, and the answerer was shown none.
    NotShown,
    /// The answer is wrong, although the answerer was shown a relevant document; also where it is not known what it was shown.
    AnsweredWrongly,
    /// An answerable question was refused, although the answerer was shown a relevant document; also where it is not known what it
    /// was shown.
    RefusedWrongly,
    /// An unanswerable question was answered.
    NotRefused,
    /// The judge failed, so it is unknown whether the answer is right.
    JudgeFailed,
    /// Nothing says whether the case is right: there is no reference, no answer, or no relevant document.
    NotJudged,
    /// Of a ranking: it has a relevant document.
    Retrieved,
    /// The answer is right, or an unanswerable question was refused.
    Right,
}

impl Ending {
    /// How answers end, in the order of the stages.
    pub const OF_ANSWERS: [Self; 9] = [
        Self::TaskFailed,
        Self::NotRetrieved,
        Self::NotShown,
        Self::AnsweredWrongly,
        Self::RefusedWrongly,
        Self::NotRefused,
        Self::JudgeFailed,
        Self::NotJudged,
        Self::Right,
    ];

    /// How rankings end, in the order of the stages.
    pub const OF_RANKINGS: [Self; 4] = [
        Self::TaskFailed,
        Self::NotRetrieved,
        Self::NotJudged,
        Self::Retrieved,
    ];

    /// Its name, such as `not retrieved`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskFailed => "task failed",
            Self::NotRetrieved => "not retrieved",
            Self::NotShown => "retrieved, not shown",
            Self::AnsweredWrongly => "answered wrongly",
            Self::RefusedWrongly => "refused wrongly",
            Self::NotRefused => "should have refused",
            Self::JudgeFailed => "judge failed",
            Self::NotJudged => "not judged",
            Self::Retrieved => "retrieved",
            Self::Right => "right",
        }
    }

    /// How one run of a question ended.
    ///
    /// An answer is right if the judge calls it equivalent to the reference. A refusal of an unanswerable question is right,
    /// whatever the judge says of its wording.
    pub fn of_answer(case: &CaseReport<Qa>) -> Self {
        let Some(answer) = case.result.output() else {
            return Self::TaskFailed;
        };
        let is_answerable = case.expected.as_ref().is_none_or(|it| it.answerable);
        let is_equivalent = assertion(case, Equivalence::OUTCOME);
        let refused = has_refused(case, answer);
        if is_equivalent == Some(true) || (refused && !is_answerable) {
            return Self::Right;
        }
        let is_wrong = is_equivalent == Some(false) || (refused && is_answerable);
        let is_unanswered = answer.missing.contains(&Missing::Answer);
        // A wrong answer to an unanswerable question may still turn out to be a refusal.
        if has_failed_judge(case) && !(is_wrong && is_answerable) {
            return Self::JudgeFailed;
        }
        match (is_answerable, is_wrong) {
            (true, false) => Self::NotJudged,
            (true, true) => wrong_at(case, answer, refused),
            (false, _) if is_unanswered => Self::NotJudged,
            (false, _) => Self::NotRefused,
        }
    }

    /// How one search ended.
    ///
    /// An unanswerable question, a question without relevant documents, and a target's reply without documents of the corpus are not judged.
    pub fn of_ranking(case: &CaseReport<Retrieval>) -> Self {
        let Some(found) = case.result.output() else {
            return Self::TaskFailed;
        };
        let judged = case.expected.iter();
        let relevant: Vec<&str> = judged.flat_map(Judgements::relevant).collect();
        let is_measured = case.metadata.answerable && found.unranked().is_none();
        if relevant.is_empty() || !is_measured {
            return Self::NotJudged;
        }
        let mut documents = found.ranking.iter();
        if documents.any(|document| relevant.contains(&document.id.as_str())) {
            Self::Retrieved
        } else {
            Self::NotRetrieved
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// The stage at which a wrong answer to an answerable question broke.
fn wrong_at(case: &CaseReport<Qa>, answer: &Answer, refused: bool) -> Ending {
    let expected = case.expected.iter();
    let relevant: Vec<&str> = expected.flat_map(|it| it.relevant.relevant()).collect();
    let is_ranked = !answer.missing.contains(&Missing::Documents);
    if is_ranked && !relevant.is_empty() {
        let is_relevant = |document: &str| relevant.contains(&document);
        let is_shown = |passage: &Passage| is_relevant(&passage.document);
        if !answer.ranking.iter().any(|it| is_relevant(&it.id)) {
            return Ending::NotRetrieved;
        }
        // A target may name its documents without their texts. What its model read is then not known.
        if !answer.passages.is_empty() && !answer.passages.iter().any(is_shown) {
            return Ending::NotShown;
        }
    }
    if refused {
        Ending::RefusedWrongly
    } else {
        Ending::AnsweredWrongly
    }
}

/// Whether the answer refuses: by a known sentence, or by the judge of refusals.
fn has_refused(case: &CaseReport<Qa>, answer: &Answer) -> bool {
    // Its precision is defined for refusals only.
    answer.refused
        || assertion(case, Refusal::PRECISION).is_some()
        || assertion(case, Refusal::RECALL) == Some(true)
}

fn has_failed_judge(case: &CaseReport<Qa>) -> bool {
    let mut failures = case.evaluator_failures.iter();
    failures.any(|it| [Equivalence::OUTCOME, Refusal::EVALUATOR].contains(&it.evaluator.as_str()))
}

fn assertion(case: &CaseReport<Qa>, name: &str) -> Option<bool> {
    match case.outcome(name)?.value {
        Value::Assertion(passed) => Some(passed),
        Value::Score(_) | Value::Label(_) | Value::Undefined => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// A question whose relevant document is `b`. The search found `a` and `b`, and the answerer was shown both.
    fn answered(changes: &Json) -> Ending {
        let passage = |document: &str| json!({"document": document, "ordinal": 0, "text": "a text", "score": 1.0});
        let mut case = json!({
            "id": "q1", "repeat": 1, "input": "Which city?", "metadata": null, "seconds": 0.1,
            "expected": {"answer": "Paris", "answerable": true, "relevant": {"b": 1, "a": 0}},
            "result": {"output": {
                "text": "Rome", "refused": false, "citations": [], "finish": "stop",
                "passages": [passage("a"), passage("b")],
                "ranking": [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}],
            }},
            "outcomes": [], "evaluator_failures": [], "timings": [], "metrics": {}, "attributes": {},
        });
        for (pointer, value) in changes.as_object().unwrap() {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            case.pointer_mut(parent).unwrap()[key] = value.clone();
        }
        Ending::of_answer(&serde_json::from_value(case).unwrap())
    }

    fn outcome(name: &str, passed: bool) -> Json {
        json!([{"name": name, "evaluator": name, "value": {"assertion": passed}}])
    }

    fn failure(evaluator: &str) -> Json {
        json!([{"evaluator": evaluator, "kind": "error", "message": "no verdict"}])
    }

    #[test]
    fn an_answer_is_right_if_the_judge_says_so_whatever_was_retrieved() {
        let right = outcome("equivalent", true);
        assert_eq!(answered(&json!({"/outcomes": right})), Ending::Right);
        let nothing = json!({"/outcomes": right, "/result/output/ranking": []});
        assert_eq!(answered(&nothing), Ending::Right);
    }

    #[test]
    fn a_wrong_answer_breaks_at_the_first_stage_that_failed() {
        let mut changes = json!({"/outcomes": outcome("equivalent", false)});
        assert_eq!(answered(&changes), Ending::AnsweredWrongly);
        changes["/result/output/passages"] =
            json!([{"document": "a", "ordinal": 0, "text": "a text", "score": 1.0}]);
        assert_eq!(answered(&changes), Ending::NotShown);
        changes["/result/output/ranking"] = json!([{"id": "a", "score": 2.0}]);
        assert_eq!(answered(&changes), Ending::NotRetrieved);
        changes["/result/output/refused"] = json!(true);
        assert_eq!(
            answered(&changes),
            Ending::NotRetrieved,
            "a refusal is right to do there"
        );
    }

    #[test]
    fn a_refusal_of_an_answerable_question_is_wrong_once_a_relevant_document_was_shown() {
        let refused =
            json!({"/result/output/refused": true, "/outcomes": outcome("equivalent", false)});
        assert_eq!(answered(&refused), Ending::RefusedWrongly);
        let without_reference = json!({"/result/output/refused": true, "/expected/answer": null});
        assert_eq!(answered(&without_reference), Ending::RefusedWrongly);
        let judged = json!({"/outcomes": outcome("refusal precision", false)});
        assert_eq!(answered(&judged), Ending::RefusedWrongly);
    }

    #[test]
    fn unknown_documents_are_no_stage() {
        let wrong = outcome("equivalent", false);
        let silent = json!({"/outcomes": wrong, "/result/output/ranking": [], "/result/output/passages": [],
            "/result/output/missing": ["documents"]});
        assert_eq!(answered(&silent), Ending::AnsweredWrongly);
        let without_texts = json!({"/outcomes": wrong, "/result/output/passages": []});
        assert_eq!(answered(&without_texts), Ending::AnsweredWrongly);
        let unjudged =
            json!({"/outcomes": wrong, "/expected/relevant": {}, "/result/output/ranking": []});
        assert_eq!(answered(&unjudged), Ending::AnsweredWrongly);
    }

    #[test]
    fn an_unanswerable_question_is_right_if_it_is_refused() {
        let mut changes = json!({"/expected/answerable": false, "/result/output/refused": true,
            "/outcomes": outcome("equivalent", false)});
        assert_eq!(answered(&changes), Ending::Right);
        changes["/result/output/refused"] = json!(false);
        assert_eq!(answered(&changes), Ending::NotRefused);
        changes["/outcomes"] = outcome("refusal recall", true);
        assert_eq!(answered(&changes), Ending::Right);
        changes["/outcomes"] = json!([]);
        changes["/result/output/missing"] = json!(["answer"]);
        assert_eq!(answered(&changes), Ending::NotJudged);
    }

    #[test]
    fn failures_are_stages_of_their_own() {
        let failed = json!({"/result": {"failure": {"kind": "error", "message": "gone"}}});
        assert_eq!(answered(&failed), Ending::TaskFailed);
        let judge = json!({"/evaluator_failures": failure("equivalent")});
        assert_eq!(answered(&judge), Ending::JudgeFailed);
        let refusal =
            json!({"/evaluator_failures": failure("refusal"), "/expected/answerable": false});
        assert_eq!(answered(&refusal), Ending::JudgeFailed);
        let undecided = json!({"/evaluator_failures": failure("refusal"), "/expected/answerable": false,
            "/outcomes": outcome("equivalent", false)});
        assert_eq!(answered(&undecided), Ending::JudgeFailed);
        let another = json!({"/evaluator_failures": failure("rouge"), "/outcomes": outcome("equivalent", true)});
        assert_eq!(answered(&another), Ending::Right);
        let unjudged = json!({"/evaluator_failures": failure("rouge"), "/expected/answer": null});
        assert_eq!(answered(&unjudged), Ending::NotJudged);
    }

    fn searched(answerable: bool, judged: &Json, found: &Json) -> Ending {
        let case = json!({
            "id": "q1", "repeat": 1, "input": "Which city?", "metadata": {"answerable": answerable}, "seconds": 0.1,
            "expected": judged, "result": {"output": found},
            "outcomes": [], "evaluator_failures": [], "timings": [], "metrics": {}, "attributes": {},
        });
        Ending::of_ranking(&serde_json::from_value(case).unwrap())
    }

    #[test]
    fn a_search_ends_with_or_without_a_relevant_document() {
        let judged = json!({"a": 0, "b": 1});
        let found = |id: &str| json!({"ranking": [{"id": id, "score": 1.0}], "passages": []});
        assert_eq!(searched(true, &judged, &found("b")), Ending::Retrieved);
        assert_eq!(searched(true, &judged, &found("a")), Ending::NotRetrieved);
        assert_eq!(searched(false, &judged, &found("b")), Ending::NotJudged);
        assert_eq!(
            searched(true, &json!({"a": 0}), &found("a")),
            Ending::NotJudged
        );
        let silent = json!({"ranking": [], "passages": [], "missing": ["documents"]});
        assert_eq!(searched(true, &judged, &silent), Ending::NotJudged);
    }
}

//! The judge of a run, and its verdicts on answers.

use std::collections::BTreeMap;

use anyhow::Result;
use evals::{CaseReport, Domain, EvaluatorIdentity, Report, Value};
use evals_models::ModelIdentity;
use evals_rag::rag_judges::JudgedMeasure;
use evals_rag::{Prompt, messages_before};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use sha2::{Digest as _, Sha256};

use super::judge::{criterion, evaluator};
use super::texts::{Answers, Digests, JudgedAnswer, Texts};
use crate::judged_by::{JudgeRecord, JudgeRecords};
use crate::run_record::RunRecord;

/// The judge of a run.
pub(super) struct RunJudge<'r, D: Domain> {
    report: &'r Report<D>,
    measure: Option<&'r str>,
    /// Who judged; `None` if the report does not say it.
    pub(super) record: Option<JudgeRecord>,
    /// What a report without the record says about its judge.
    unrecorded: Unrecorded,
}

/// The judge in a report of a version that did not record judges: its labels record these facts. The facts are empty if `rejudge` kept
/// verdicts of such a report.
#[derive(Default)]
struct Unrecorded {
    judges: Option<RecordedJudges>,
    /// Digest of the prompt template in question answering.
    prompt: Option<String>,
}

/// The judges of a record by role.
#[derive(Serialize)]
struct RecordedJudges {
    models: BTreeMap<String, ModelIdentity>,
    parameters: BTreeMap<String, Map<String, Json>>,
}

impl Unrecorded {
    fn of<D: Answers>(record: &RunRecord) -> Self {
        let mut judges = RecordedJudges {
            models: record.models.clone(),
            parameters: record.parameters.clone().flatten().unwrap_or_default(),
        };
        judges.models.retain(|role, _| is_judge(role));
        judges.parameters.retain(|role, _| is_judge(role));
        let prompt = record.prompts.get(Prompt::judge().name());
        Self {
            judges: Some(judges),
            prompt: prompt.filter(|_| D::JUDGED.is_some()).cloned(),
        }
    }
}

impl<'r, D: Answers> RunJudge<'r, D> {
    /// The judge of `measure`, by the report and the record of its run.
    pub(super) fn of(
        report: &'r Report<D>,
        run: &RunRecord,
        measure: Option<&'r str>,
    ) -> Result<Self> {
        let records = JudgeRecords::read(&report.metadata)?;
        let record = records.as_ref().zip(measure);
        let record = record.and_then(|(records, measure)| records.by(measure));
        let unrecorded = match records {
            None => Unrecorded::of::<D>(run),
            // The record names the judge that `rejudge` asked, but not the judges of verdicts that it kept.
            Some(_) => Unrecorded::default(),
        };
        Ok(Self {
            report,
            measure,
            record,
            unrecorded,
        })
    }

    /// The models, such as `openai:gpt-5-mini`.
    pub(super) fn name(&self) -> Option<String> {
        if let Some(record) = &self.record {
            return record.name();
        }
        let models = self.unrecorded.judges.as_ref()?.models.values();
        let names: Vec<String> = models.map(ToString::to_string).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The digests of the judge's prompts, and of the judge with what it is asked.
    fn digests(&self, evaluator: Option<&EvaluatorIdentity>) -> [Option<String>; 2] {
        let version = evaluator.and_then(|it| it.version.as_deref());
        let spec = evaluator.and_then(|it| it.spec.as_ref());
        let version = || version.map(|version| digest(&version));
        match (&self.record, self.measure) {
            (_, None) => [None, None],
            (Some(record), Some(measure)) => [
                record.digest_of_prompts().or_else(version),
                Some(digest(&(measure, record.digest_of_panel(), spec))),
            ],
            (None, Some(measure)) => {
                let Unrecorded { judges, prompt } = &self.unrecorded;
                [
                    prompt.clone().or_else(version),
                    Some(digest(&(measure, judges, spec))),
                ]
            }
        }
    }

    /// What to decide for a measure of a benchmark whose texts speak of the verdict of its own judge.
    fn other_criterion(&self) -> Option<String> {
        let measure = self.measure?;
        // Verdicts of a former judge are called `equivalent (the judge)`.
        let is_other = D::JUDGED.is_some_and(|own| !measure.starts_with(own));
        is_other.then(|| format!("Does the answer pass `{measure}`?"))
    }

    /// The answer of a case with the verdict on it.
    pub(super) fn answer(&self, case: &CaseReport<D>, texts: Texts) -> JudgedAnswer {
        let outcome = self.measure.and_then(|measure| case.outcome(measure));
        let evaluator =
            outcome.and_then(|it| evaluator(self.report, case, it.origin, &it.evaluator));
        let verdict = outcome.and_then(|outcome| match outcome.value {
            Value::Assertion(passed) => Some(passed),
            Value::Score(_) | Value::Label(_) | Value::Undefined => None,
        });
        let [prompt, judge] = self.digests(evaluator);
        let of_conversation = self.measure.and_then(JudgedMeasure::of_conversation);
        let said = messages_before(&case.attributes);
        JudgedAnswer {
            id: case.id.clone(),
            repeat: case.repeat,
            cluster: case.cluster.clone(),
            digests: Digests {
                case: digest(&(&texts.question, &texts.reference, texts.answerable)),
                answer: match of_conversation {
                    Some(_) => digest(&(&said, &texts.answer)),
                    None => digest(&texts.answer),
                },
                prompt,
                judge,
            },
            criterion: evaluator
                .and_then(criterion)
                .or_else(|| of_conversation.map(str::to_owned))
                .or_else(|| self.other_criterion())
                .unwrap_or_else(|| texts.criterion.to_owned()),
            said,
            question: texts.question,
            reference: texts.reference,
            answer: texts.answer,
            passages: texts.passages,
            reason: verdict.and_then(|_| outcome?.reason.clone()),
            verdict,
        }
    }
}

/// Whether a role of a record is a judge's: `judge`, or `judge PROVIDER:NAME` beside the first.
fn is_judge(role: &str) -> bool {
    role == "judge" || role.starts_with("judge ")
}

/// SHA-256 of a value as JSON with sorted keys, in hexadecimal.
fn digest(value: &impl Serialize) -> String {
    let mut json = serde_json::to_value(value).expect("texts and JSON values serialise");
    json.sort_all_objects();
    hex::encode(Sha256::digest(json.to_string()))
}

#[cfg(test)]
mod tests {
    use evals_rag::qa::Qa;
    use serde_json::json;

    use super::*;

    /// The second turn of a conversation whose first answer was this.
    fn turn(before: &str) -> CaseReport<Qa> {
        let history = json!([{"role": "user", "content": "Which tower?"}, {"role": "assistant", "content": before}]);
        let output = json!({"text": "From 1412.", "refused": false, "citations": [], "finish": "stop", "passages": [], "ranking": []});
        let case = json!({
            "id": "c-2", "repeat": 1, "input": "How old is it?", "expected": null, "metadata": {}, "result": {"output": output},
            "outcomes": [], "evaluator_failures": [], "seconds": 0.0, "timings": [], "metrics": {}, "attributes": {"history": history},
        });
        serde_json::from_value(case).unwrap()
    }

    #[test]
    fn a_label_of_a_whole_conversation_is_about_every_answer_in_it() {
        let report = Report::<Qa>::running("run", "talks", 1, 0);
        let cases = ["The north one.", "The south one."].map(turn);
        let judged = |measure| {
            let judge = RunJudge::of(&report, &RunRecord::default(), Some(measure)).unwrap();
            cases
                .each_ref()
                .map(|case| judge.answer(case, Qa::texts(case).unwrap()))
        };
        let [north, south] = judged("conversation complete");
        assert_ne!(north.digests.answer, south.digests.answer);
        assert_eq!(north.digests.case, south.digests.case);
        assert!(north.criterion.starts_with("Every question of the user"));
        let said = [("User", "Which tower?"), ("Assistant", "The south one.")];
        assert_eq!(south.said, said.map(|(who, text)| (who, text.to_owned())));
        let [north, south] = judged("equivalent");
        assert_eq!(north.digests, south.digests, "a turn by itself");
        assert!(north.criterion.starts_with("Does the answer say what"));
        let [passed, _] = judged("brevity pass");
        assert_eq!(passed.criterion, "Does the answer pass `brevity pass`?");
    }

    /// Labels of earlier versions hold these digests.
    #[test]
    fn the_digest_of_an_unrecorded_judge_stays_the_same() {
        let measure = "faithfulness";
        let mut report = Report::<Qa>::running("run", "sample", 1, 0);
        let run = RunRecord {
            models: BTreeMap::from([("judge".to_owned(), ModelIdentity::new("openai", "m"))]),
            parameters: serde_json::from_value(json!({"judge": {"temperature": 0}})).unwrap(),
            ..RunRecord::default()
        };
        let digest_of = |report: &Report<Qa>| {
            let judge = RunJudge::of(report, &run, Some(measure)).unwrap();
            judge.digests(None)[1].clone().unwrap()
        };
        assert_eq!(
            digest_of(&report),
            "7e98fd916e43e98bd802d5efc357b5fdb32f9ac3cf06dcbabb0e44ddfe72e1f2"
        );
        let mut kept = JudgeRecords::default();
        kept.enter_unknown(measure);
        report
            .metadata
            .insert(JudgeRecords::KEY.to_owned(), json!(kept));
        assert_eq!(
            digest_of(&report),
            "7990033f82671fff808bfe1a24f14677bc6b23cacef1ddc5498716e0abcf4c76"
        );
    }
}

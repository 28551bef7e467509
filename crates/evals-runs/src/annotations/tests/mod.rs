//! Tests of labels of a small run.

mod counting;
mod lines;
mod spreadsheet;

use evals::CaseId;
use evals_models::ModelIdentity;
use evals_rag::Prompt;

use super::answers::RunAnswers;
use super::current::CurrentLabels;
use super::export::Export;
use super::file::StoredLabels;
use super::import::Import;
use super::label::{Label, LabelVerdict};
use super::sample::{Method, Sample, Sampling};
use super::texts::{Digests, JudgedAnswer, ShownPassage};
use crate::judged_by::{JudgeRecord, PanelMember};

fn answer(id: &str, verdict: Option<bool>) -> JudgedAnswer {
    JudgedAnswer {
        id: CaseId::from(id),
        repeat: 1,
        cluster: None,
        criterion: "Is it right?".to_owned(),
        said: vec![
            ("User", "=first".to_owned()),
            ("Assistant", "yes".to_owned()),
        ],
        question: format!("=question \"{id}\""),
        reference: Some("one,\r\ntwo".to_owned()),
        answer: format!("answer to {id}"),
        passages: vec![ShownPassage {
            document: "d1".to_owned(),
            text: "text".to_owned(),
        }],
        verdict,
        reason: Some("because".to_owned()),
        digests: Digests {
            case: format!("case {id}"),
            answer: format!("answer {id}"),
            prompt: Some("prompt".to_owned()),
            judge: Some("judge".to_owned()),
        },
    }
}

/// A run of `n` answers, of which the judge failed every third and has no verdict about the last.
pub(crate) fn run(n: usize) -> RunAnswers {
    let verdict = |number: usize| (number + 1 < n).then(|| !number.is_multiple_of(3));
    RunAnswers {
        run: "the-run".to_owned(),
        measure: Some("equivalent".to_owned()),
        judges: Vec::new(),
        judge: Some("openai:m".to_owned()),
        judged_by: Some(JudgeRecord::new(
            [(
                "judge".to_owned(),
                PanelMember::plain(&ModelIdentity::new("openai", "m")),
            )],
            [&Prompt::judge()],
        )),
        answers: (0..n)
            .map(|number| answer(&format!("q{number}"), verdict(number)))
            .collect(),
        failed: 0,
    }
}

pub(crate) fn label(
    run: &RunAnswers,
    place: usize,
    labeller: &str,
    verdict: LabelVerdict,
) -> Label {
    let answer = &run.answers[place];
    Label {
        case: answer.id.clone(),
        repeat: answer.repeat,
        measure: run.measure.clone(),
        verdict,
        note: String::new(),
        labeller: labeller.to_owned(),
        time: "2026-05-01T12:00:00.000Z".to_owned(),
        blind: true,
        revealed: false,
        sampling: Sampling {
            method: Method::Random,
            size: None,
            probability: Some(1.0),
            seed: Some(0),
        },
        digests: answer.digests.clone(),
    }
}

pub(crate) fn stored(labels: Vec<Label>) -> StoredLabels {
    StoredLabels { labels, damaged: 0 }
}

fn sample(method: Method, size: Option<usize>, seed: u64) -> Sample {
    Sample { method, size, seed }
}

pub(super) fn exported(run: &RunAnswers, labels: &StoredLabels, sample: Sample) -> String {
    let current = CurrentLabels::of(run, labels);
    let export = Export {
        run,
        current: &current,
        sample,
        with_labels: true,
        with_verdicts: false,
    };
    let mut csv = Vec::new();
    export.write(&mut csv).unwrap();
    String::from_utf8(csv).unwrap()
}

pub(super) fn import(run: &RunAnswers) -> Import<'_> {
    Import {
        run,
        file: "labels.csv".to_owned(),
        labeller: Some("ada".to_owned()),
        time: "2026-05-02T12:00:00.000Z".to_owned(),
    }
}

//! The other run of a pairwise comparison.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use anyhow::{Result, bail};
use evals::{CaseId, TaskResult};
use evals_rag::estimate::Calls;
use evals_rag::qa::Reference;
use evals_runs::run_record::StoredSource;

use super::source::{self, Source};
use super::stored::Stored;
use crate::question_answering::JudgingPlan;
use crate::session::Session;

/// The answers of another run, to compare with.
#[derive(Debug)]
pub(super) struct Against {
    pub(super) source: StoredSource,
    /// The answers without citation markers, by case and repetition.
    pub(super) answers: BTreeMap<(CaseId, u32), String>,
}

impl Against {
    /// Reads the run that `wanted` names. Fails if it has no question in common with `source`, or asks another question under the same id.
    pub(super) fn read(session: &Session<'_>, wanted: &OsStr, source: &Source) -> Result<Self> {
        let other = source::find(session, wanted)?;
        let (this, that) = (source.run.name(), other.run.name());
        if this == that {
            bail!("`--against` names the run itself, `{this}`");
        }
        let questions: BTreeMap<&CaseId, &String> = source
            .report
            .cases
            .iter()
            .map(|case| (&case.id, &case.input))
            .collect();
        let mut answers = BTreeMap::new();
        for case in &other.report.cases {
            let Some(question) = questions.get(&case.id) else {
                continue;
            };
            if **question != case.input {
                bail!(
                    "question `{}` differs between `{that}` and `{this}`; compare runs of the same dataset",
                    case.id
                );
            }
            if let TaskResult::Output(answer) = &case.result {
                answers.insert((case.id.clone(), case.repeat), answer.plain());
            }
        }
        if answers.is_empty() {
            bail!("run `{that}` has no answer to a question of `{this}`");
        }
        let known = questions.len();
        let both: std::collections::BTreeSet<&CaseId> = answers.keys().map(|(id, _)| id).collect();
        if both.len() < known {
            session.printer.warn(&format!(
                "`{that}` has answers to {} of {known} questions; only these are compared",
                both.len()
            ));
        }
        Ok(Self {
            source: other.entry(),
            answers,
        })
    }

    /// The calls of each judge: two for each pair of different answers.
    pub(super) fn calls(
        &self,
        stored: &Stored,
        plan: &JudgingPlan,
        count: &dyn Fn(&str) -> u64,
    ) -> Calls {
        let prompt = count(plan.prompts.judges.pair.text());
        let most = plan.judge.settings.max_tokens();
        let mut calls = Calls::NONE;
        for (case, answer) in stored.answered() {
            let this = answer.plain();
            let other = self.answers.get(&(case.id.clone(), case.repeat));
            let Some(other) = other.filter(|other| **other != this) else {
                continue;
            };
            let reference = Reference::for_judge(case.expected.as_ref()).unwrap_or_default();
            let texts = [&case.input, reference, &this, other];
            let read: u64 = texts.iter().map(|text| count(text)).sum();
            let pair = Calls {
                calls: 2,
                input_tokens: 2 * (prompt + read),
                output_tokens: most.map(|most| 2 * u64::from(most.get())),
            };
            calls = calls.plus(&pair);
        }
        calls.times(plan.further.repeats.get().into())
    }
}

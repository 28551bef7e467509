//! The facts of a question answering report beside its cases.

use anyhow::Result;
use evals::Report;
use evals_rag::TURNS_JUDGED;
use evals_rag::judging::{Judge as _, OverlapJudge};
use evals_rag::qa::Qa;
use evals_runs::judged_by::enter_unsigned;

use super::costs::Costs;
use super::model_set::ModelRecord;
use crate::case_selection::ChosenCases;

/// The facts of a question answering report beside its cases.
#[derive(Debug)]
pub struct QaFacts {
    /// The models of the run.
    pub models: ModelRecord,
    /// What their calls cost.
    pub costs: Costs,
    /// The seed of the order of questions and of resampling.
    pub seed: u64,
    /// Which questions were asked.
    pub chosen: ChosenCases,
    /// Further lines below the title, before the others.
    pub further: Vec<(String, String)>,
}

impl QaFacts {
    /// Adds models, parameters, prompts, seed and costs to a report, each under its own key for programs, and as lines under `facts`, which
    /// renderers print below the title.
    pub fn enter(self, report: &mut Report<Qa>) -> Result<()> {
        let Self {
            models,
            costs,
            seed,
            chosen,
            further,
        } = self;
        let mut facts = further;
        facts.extend(chosen.lines("questions"));
        chosen.enter(&mut report.metadata)?;
        facts.extend(costs.lines());
        let overlap = OverlapJudge::default();
        if models.models.get("judge") == Some(overlap.identity()) {
            let errors = format!(
                "{}; measured on quotations, paraphrases fail more often",
                OverlapJudge::ERRORS
            );
            facts.push(("judge's errors".to_owned(), errors));
        }
        facts.extend(enter_unsigned(report));
        facts.extend(cut_histories(report));
        let warning = models.self_preference.iter();
        facts.extend(warning.map(|warning| ("warning".to_owned(), warning.clone())));
        facts.extend(models.notes.iter().cloned());
        if seed != 0 {
            facts.push(("seed".to_owned(), seed.to_string()));
        }
        let metadata = &mut report.metadata;
        metadata.insert("seed".to_owned(), seed.into());
        models.enter(metadata)?;
        metadata.insert("costs".to_owned(), serde_json::to_value(costs)?);
        let key = Report::<Qa>::FACTS.to_owned();
        metadata.insert(key, serde_json::to_value(facts)?);
        Ok(())
    }
}

/// How many answers were judged without the oldest turns of their conversations; `None` if none was.
fn cut_histories(report: &Report<Qa>) -> Option<(String, String)> {
    let cases = report.cases.iter();
    let cut = cases.filter(|case| case.attributes.contains_key(TURNS_JUDGED));
    let cut = cut.count();
    let line = format!(
        "{cut} read without the oldest turns before them (`evaluations.judge_context_tokens`)"
    );
    (cut > 0).then(|| ("judged answers".to_owned(), line))
}

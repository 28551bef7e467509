//! The facts of a dataset file's report beside its cases.

use anyhow::Result;
use evals::Report;
use evals_evaluators::Untyped;
use evals_runs::depth::Depth;
use evals_runs::judged_by::{JudgeRecords, enter_unsigned};
use evals_targets::TargetIdentity;
use serde_json::{Map, Value, json};

use super::costs::Costs;
use crate::case_selection::ChosenCases;
use crate::targets::DEPTH;

/// The facts of a dataset file's report beside its cases.
#[derive(Debug)]
pub struct EvalFacts {
    /// Which target answered.
    pub target: TargetIdentity,
    /// `None` if no evaluator asks a model.
    pub costs: Option<Costs>,
    /// The models that judged, by role.
    pub models: Map<String, Value>,
    /// Their parameters, by role.
    pub parameters: Map<String, Value>,
    /// Who judges each measure.
    pub judges: JudgeRecords,
    /// Notes on parameters that servers rejected, by role.
    pub notes: Vec<(String, String)>,
    /// Which cases ran.
    pub chosen: ChosenCases,
    /// The seed of the order of cases and of resampling.
    pub seed: u64,
}

impl EvalFacts {
    /// The key of a report's metadata with the models that judged.
    pub const MODELS: &str = "models";
    /// The key of their parameters.
    pub const PARAMETERS: &str = "parameters";
    /// The key of the notes.
    pub const NOTES: &str = "notes";

    /// Adds target, judges, seed and selection to a report, each under its own key for programs and as a line for people.
    pub fn enter(self, report: &mut Report<Untyped>) -> Result<()> {
        let Self {
            target,
            costs,
            models,
            parameters,
            judges,
            notes,
            chosen,
            seed,
        } = self;
        let mut facts = vec![("target".to_owned(), target.to_string())];
        let depth = Depth::of_eval(report);
        facts.extend(depth.iter().flat_map(Depth::facts));
        facts.extend(costs.as_ref().map(Costs::fact));
        facts.extend(enter_unsigned(report));
        facts.extend(notes.iter().cloned());
        facts.extend(chosen.lines("cases"));
        if seed != 0 {
            facts.push(("seed".to_owned(), seed.to_string()));
        }
        let metadata = &mut report.metadata;
        metadata.insert("benchmark".to_owned(), "eval".into());
        metadata.insert("profile".to_owned(), target.kind.clone().into());
        metadata.insert("target".to_owned(), serde_json::to_value(target)?);
        metadata.insert("seed".to_owned(), seed.into());
        metadata.insert(Self::MODELS.to_owned(), models.into());
        metadata.insert(Self::PARAMETERS.to_owned(), parameters.into());
        let judges = serde_json::to_value(judges)?;
        metadata.insert(JudgeRecords::KEY.to_owned(), judges);
        metadata.insert(Self::NOTES.to_owned(), serde_json::to_value(notes)?);
        if let Some(depth) = depth {
            metadata.insert(DEPTH.to_owned(), serde_json::to_value(depth)?);
        }
        if let Some(costs) = costs {
            metadata.insert("costs".to_owned(), serde_json::to_value(costs)?);
        }
        chosen.enter(metadata)?;
        metadata.insert(Report::<Untyped>::FACTS.to_owned(), json!(facts));
        Ok(())
    }
}

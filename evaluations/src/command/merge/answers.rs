//! Writes the merged runs of question answering and of dataset files, whose cases are in journals.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals::{Domain, Journal as _, Report, ReportEvaluator};
use evals_evaluators::{DatasetFile, FileFormat, Registry, Resources, Untyped};
use evals_models::ModelIdentity;
use evals_pages::page::HasPage;
use evals_pipeline::eval_report::{self, Costs as JudgeCosts, EvalFacts};
use evals_pipeline::finished_run::FinishedRun;
use evals_pipeline::question_answering::{Costs, ModelRecord, QaFacts};
use evals_pipeline::resumption;
use evals_pipeline::run_ending::Reached;
use evals_pipeline::targets::with_price;
use evals_pipeline::vector_search;
use evals_rag::qa::{Qa, WholeConversations};
use evals_rag::rag_judges::JudgeAgreement;
use evals_runs::annotations::Answers;
use evals_runs::clock;
use evals_runs::judged_by::JudgeRecords;
use evals_targets::TargetIdentity;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::joining::{Joined, Joining, Merged, TARGET_KEYS, target_facts};

/// The entries of a question answering report's metadata that are made again.
const OF_QA: &[&str] = &[
    "seed",
    "models",
    "parameters",
    "prompts",
    JudgeRecords::KEY,
    "self_preference",
    "notes",
    "costs",
];

pub(super) async fn write_qa(joining: &Joining<'_>) -> Result<Merged> {
    let own = [TARGET_KEYS, OF_QA].concat();
    let Joined {
        mut report,
        parts,
        is_analysed,
        group_by,
    } = joining.join::<Qa>(&own)?;
    if is_analysed {
        let conversations = WholeConversations::without(joining.chosen(&parts[0])?.cut);
        report
            .analyse(&[Arc::new(JudgeAgreement), Arc::new(conversations)])
            .await;
    }
    let mut prices = joining.prices()?;
    let mut further = Vec::from_iter(vector_search::fact_of_run(&joining.record));
    if let Some(target) = joining.record.target() {
        let facts = target_facts(&report, &parts);
        facts.enter(&mut report, target)?;
        further.extend(facts.lines());
        prices = with_price(prices, target, facts.model.as_deref());
    }
    let mut models: ModelRecord = entries(joining, &parts[0])?;
    models.notes = notes(joining, &parts)?;
    let facts = QaFacts {
        costs: Costs::of(&report.cases, &models.models, &prices),
        models,
        seed: joining.seed(),
        chosen: joining.chosen(&parts[0])?,
        further,
    };
    facts.enter(&mut report)?;
    write(joining, report, &group_by).await
}

/// The entries of a dataset file's report that are made again.
const OF_EVAL: &[&str] = &[
    "benchmark",
    "profile",
    "target",
    "seed",
    EvalFacts::MODELS,
    EvalFacts::PARAMETERS,
    JudgeRecords::KEY,
    EvalFacts::NOTES,
    "costs",
];

/// The entries of a dataset file's report that its shards share.
#[derive(serde::Deserialize)]
struct OfEval {
    target: TargetIdentity,
    models: Map<String, Value>,
    parameters: Map<String, Value>,
}

pub(super) async fn write_eval(joining: &Joining<'_>) -> Result<Merged> {
    let Joined {
        mut report,
        parts,
        group_by,
        ..
    } = joining.join::<Untyped>(OF_EVAL)?;
    report.analyse(&report_evaluators(joining)?).await;
    let OfEval {
        target,
        models,
        parameters,
    } = entries(joining, &parts[0])?;
    let judges = match parts[0].get("costs") {
        Some(costs) => Vec::<ModelIdentity>::deserialize(&costs["models"])
            .with_context(|| joining.damaged())?,
        None => Vec::new(),
    };
    let facts = EvalFacts {
        target,
        costs: JudgeCosts::of(&report.cases, judges, &joining.prices()?),
        models,
        parameters,
        judges: judge_records(&report, &parts)?,
        notes: notes(joining, &parts)?,
        chosen: joining.chosen(&parts[0])?,
        seed: joining.seed(),
    };
    facts.enter(&mut report)?;
    write(joining, report, &group_by).await
}

/// Who judges each measure. Which models an evaluator asks follows from the shards: those that they asked for its measure.
fn judge_records(report: &Report<Untyped>, parts: &[Map<String, Value>]) -> Result<JudgeRecords> {
    let of_parts: Vec<JudgeRecords> = parts
        .iter()
        .filter_map(|part| JudgeRecords::read(part).transpose())
        .collect::<Result<_>>()?;
    Ok(eval_report::judge_records(report, |measure, _| {
        let records = of_parts.iter().map(|records| records.by(measure));
        let judges = records.map(|record| Some(record?.judges));
        let judges: Vec<_> = judges.collect::<Option<_>>()?;
        Some(judges.into_iter().flatten().collect())
    }))
}

/// The report evaluators of the dataset file, which the manifests of its shards list.
fn report_evaluators(joining: &Joining<'_>) -> Result<Vec<Arc<dyn ReportEvaluator<Untyped>>>> {
    let first = joining.run.first();
    let dataset = &first.record().dataset;
    let votes = dataset.judges_vote.then(|| Arc::new(JudgeAgreement) as _);
    let listed = &dataset.report_evaluators;
    if listed.is_empty() {
        return Ok(votes.into_iter().collect());
    }
    let file = json!({"cases": [], "report_evaluators": listed}).to_string();
    let loaded = DatasetFile::read(
        &file,
        FileFormat::Json,
        Path::new("manifest.json"),
        &Registry::built_in(),
        &Resources::default(),
    );
    let loaded = loaded.with_context(|| {
        format!(
            "cannot read the report evaluators of run `{}`",
            first.name()
        )
    })?;
    let of_file = loaded.dataset.report_evaluators().iter().cloned();
    Ok(of_file.chain(votes).collect())
}

/// Entries of a report's metadata.
fn entries<T: DeserializeOwned>(joining: &Joining<'_>, metadata: &Map<String, Value>) -> Result<T> {
    let entries = Value::Object(metadata.clone());
    serde_json::from_value(entries).with_context(|| joining.damaged())
}

/// The notes of all shards on their models, each once.
fn notes(joining: &Joining<'_>, parts: &[Map<String, Value>]) -> Result<Vec<(String, String)>> {
    let mut notes: Vec<(String, String)> = Vec::new();
    for part in parts.iter().filter_map(|part| part.get(EvalFacts::NOTES)) {
        let of_part = Vec::<(String, String)>::deserialize(part);
        for note in of_part.with_context(|| joining.damaged())? {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// Writes the folder of the run: a journal with the cases of all shards, so that failed cases can be retried, and the report.
async fn write<D: Domain + HasPage + Answers>(
    joining: &Joining<'_>,
    report: Report<D>,
    group_by: &[String],
) -> Result<Merged> {
    let session = joining.session;
    let printer = session.printer;
    let summary = joining.summary(&report, group_by);
    let opened = resumption::create::<D>(session, &joining.record, clock::now(), report.duration)?;
    for case in &report.cases {
        opened.journal.append(case).await?;
    }
    opened.journal.sync()?;
    let finished = FinishedRun::write(
        session,
        joining.seed(),
        (report, summary),
        opened.folder,
        Reached::default(),
    )?;
    Merged::written(printer, finished)
}

//! A labeller's agreement with the judge, which the page shows on request.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::{
    CurrentLabels, Label, RunAnswers, StoredLabels, caveats, estimates, left_out, people,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::failure::{PageFailure, person};
use super::super::reply::ReplyFailure;
use super::runs::{JudgedMeasureName, LabelledRun, LabelledRuns};

/// Whose agreement to show.
#[derive(Debug, Deserialize)]
pub(super) struct WantedAgreement {
    labeller: String,
}

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Json(wanted): Json<WantedAgreement>,
) -> Result<Json<Option<Value>>, ReplyFailure> {
    let shown = runs.with(name, judged, move |run| {
        show_to(run, person(&wanted.labeller)?)
    });
    Ok(Json(shown.await?))
}

/// The counts of the table show the judge's verdicts, so the labels behind them are first marked: another verdict about the same
/// answer is no longer blind.
fn show_to(run: &LabelledRun, labeller: &str) -> Result<Option<Value>, PageFailure> {
    if run.answers.measure.is_none() || run.file.read()?.labels.is_empty() {
        return Ok(None);
    }
    let labels = run.file.add(|known| {
        let known = StoredLabels {
            labels: known.to_vec(),
            damaged: 0,
        };
        let current = CurrentLabels::of(&run.answers, &known);
        let own = current.people.get(labeller).into_iter().flatten();
        let new = own.map(|it| it.label).filter(|label| !label.revealed);
        let revealed = new.map(|label| Label {
            revealed: true,
            ..label.clone()
        });
        Ok(revealed.collect())
    })?;
    let current = CurrentLabels::of(&run.answers, &labels);
    Ok(agreement(&run.answers, &current, labeller))
}

/// The agreement of one labeller, in the form of the page; `None` without labels and for a run without a judge.
fn agreement(run: &RunAnswers, current: &CurrentLabels<'_>, labeller: &str) -> Option<Value> {
    run.measure.as_ref()?;
    let people = people(run, current);
    let person = people.iter().find(|person| person.labeller == labeller)?;
    let table = &person.confusion;
    let left_out = left_out(run, current).into_iter();
    let left_out = left_out.map(|line| format!("labels: {line}"));
    Some(json!({
        // The labeller's verdicts, each with how often the judge passed and failed the same answers.
        "confusion": [
            ("pass", table.true_passes, table.false_fails),
            ("fail", table.false_passes, table.true_fails),
        ],
        "statistics": estimates(&person.agreement),
        "caveats": caveats(person).into_iter().chain(left_out).collect::<Vec<_>>(),
    }))
}

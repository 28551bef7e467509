//! A labeller's agreement with the judge, which the page shows on request.

use axum::Json;
use axum::extract::{Path, Query, State};
use evals_runs::annotations::{
    CurrentLabels, Label, RunAnswers, ShownEstimate, StoredLabels, caveats, estimates, left_out,
    people,
};
use serde::{Deserialize, Serialize};

use super::super::failure::PageFailure;
use super::super::reply::ReplyFailure;
use super::queue::Labeller;
use super::runs::{JudgedMeasureName, LabelledRun, LabelledRuns};

/// Whose agreement to show.
#[derive(Debug, Deserialize)]
pub(super) struct WantedAgreement {
    labeller: Labeller,
}

/// An agreement in the form of the page.
#[derive(Debug, Serialize)]
pub(super) struct ShownAgreement {
    /// The labeller's verdicts, each with how often the judge passed and failed the same answers.
    confusion: [(&'static str, usize, usize); 2],
    statistics: Vec<ShownEstimate>,
    caveats: Vec<String>,
}

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
    Json(wanted): Json<WantedAgreement>,
) -> Result<Json<Option<ShownAgreement>>, ReplyFailure> {
    let shown = runs.with(name, judged, move |run| {
        show_to(run, wanted.labeller.name()?)
    });
    Ok(Json(shown.await?))
}

/// The counts of the table show the judge's verdicts, so the labels behind them are first marked: another verdict about the same
/// answer is no longer blind.
fn show_to(run: &LabelledRun, labeller: &str) -> Result<Option<ShownAgreement>, PageFailure> {
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
    Ok(ShownAgreement::of(&run.answers, &current, labeller))
}

impl ShownAgreement {
    /// The agreement of one labeller; `None` without labels and for a run without a judge.
    fn of(run: &RunAnswers, current: &CurrentLabels<'_>, labeller: &str) -> Option<Self> {
        run.measure.as_ref()?;
        let people = people(run, current);
        let person = people.iter().find(|person| person.labeller == labeller)?;
        let table = &person.confusion;
        let left_out = left_out(run, current).into_iter();
        Some(Self {
            confusion: [
                ("pass", table.true_passes, table.false_fails),
                ("fail", table.false_passes, table.true_fails),
            ],
            statistics: estimates(&person.agreement),
            caveats: caveats(person)
                .into_iter()
                .chain(left_out.map(|line| format!("labels: {line}")))
                .collect(),
        })
    }
}

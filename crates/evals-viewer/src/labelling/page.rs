//! The page itself, which holds no answer.

use axum::extract::{Path, Query, State};
use axum::response::Html;
use evals_html::view::{LabellingPage, Link};
use evals_runs::annotations::{RunAnswers, USUAL_SAMPLE, user_name};

use super::super::failure::PageFailure;
use super::runs::{JudgedMeasureName, LabelledRuns};

pub(super) async fn show(
    State(runs): State<LabelledRuns>,
    Path(name): Path<String>,
    Query(judged): Query<JudgedMeasureName>,
) -> Result<Html<String>, PageFailure> {
    let page = runs.with(name, judged, |run| Ok(page(&run.answers)));
    Ok(Html(page.await?.html()?))
}

fn page(run: &RunAnswers) -> LabellingPage {
    let link = |page: &str, measure: Option<&str>| {
        let link = Link::of_run(&run.run, page);
        let link = measure.map_or(link.clone(), |measure| link.with("measure", measure));
        link.into_text()
    };
    let measure = run.measure.as_deref();
    let judges = run.judges.iter().filter(|_| run.judges.len() > 1);
    let verdicts = run.answers.iter().filter(|it| it.verdict.is_some()).count();
    let answers = match measure {
        Some(_) => verdicts,
        None => run.answers.len(),
    };
    LabellingPage {
        name: run.run.clone(),
        link: Link::run(&run.run).into_text(),
        queue: link("label/queue", measure),
        answer: link("label/answer", measure),
        agreement: link("label/agreement", measure),
        labels: link("labels", measure),
        labeller: user_name().unwrap_or_default(),
        measures: judges
            .map(|judge| {
                let address = link("label", Some(judge));
                (judge.clone(), address, measure == Some(judge))
            })
            .collect(),
        notice: notice(run, answers),
        measure: run.measure.clone(),
        answers,
        size: USUAL_SAMPLE.min(answers.max(1)),
    }
}

/// Why there is less to see than usual.
fn notice(run: &RunAnswers, answers: usize) -> Option<String> {
    if run.measure.is_none() {
        return Some(
            "This run has no judge. You can label its answers, but there is nothing to agree with."
                .to_owned(),
        );
    }
    match run.answers.len() - answers {
        0 => None,
        1 => Some("The judge has no verdict about 1 answer, which is left out.".to_owned()),
        n => Some(format!(
            "The judge has no verdict about {n} answers, which are left out."
        )),
    }
}

//! One run of a case on a page.

use std::time::Duration;

use evals::{CaseOutcome, CaseReport, Domain, Span, SpanStatus, Unit, Value};
use evals_html::page::{Field, FieldRole, Outcome, OutcomeKind, Run, Side, Step, Timing};
use evals_rag::messages_before;
use serde::Serialize;
use serde_json::Value as Json;

use super::documents::Documents;
use super::paged::HasPage;

/// Whose run it is, on a page of several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Owner<'o> {
    pub(super) side: Option<Side>,
    pub(super) system: Option<&'o str>,
}

/// A run as the page shows it.
pub(super) fn run<D: HasPage>(
    case: &CaseReport<D>,
    owner: Owner<'_>,
    documents: &Documents,
) -> Run {
    Run {
        side: owner.side,
        system: owner.system.map(str::to_owned),
        repeat: case.repeat,
        failure: case.result.failure().map(|it| it.message.clone()),
        said: messages_before(&case.attributes),
        fields: D::own(case),
        outcomes: outcomes(case),
        ranking: D::ranking(case, documents),
        missed: D::missed(case),
        timings: case.timings.iter().map(timing).collect(),
        steps: case
            .spans
            .iter()
            .flat_map(|tree| &tree.roots)
            .map(step)
            .collect(),
    }
}

/// A named text.
pub(super) fn field(name: &str, text: impl Into<String>, role: FieldRole) -> Field {
    Field {
        name: name.to_owned(),
        text: text.into(),
        role,
    }
}

/// The metadata of a case as JSON; `None` if there is none.
pub(super) fn metadata(metadata: &impl Serialize) -> Option<Field> {
    let json = serde_json::to_value(metadata).ok()?;
    let is_empty = match &json {
        Json::Null => true,
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => false,
    };
    (!is_empty).then(|| field("metadata", format!("{json:#}"), FieldRole::Other))
}

fn outcomes<D: Domain>(case: &CaseReport<D>) -> Vec<Outcome> {
    let failures = case.evaluator_failures.iter().map(|failure| Outcome {
        name: failure.evaluator.clone(),
        kind: OutcomeKind::Error,
        shown: "error".to_owned(),
        reason: Some(failure.message.clone()),
    });
    let outcomes = case.outcomes.iter().map(outcome);
    outcomes.chain(failures).collect()
}

fn outcome(outcome: &CaseOutcome) -> Outcome {
    let (kind, shown) = match &outcome.value {
        Value::Assertion(true) => (OutcomeKind::Passed, "passed".to_owned()),
        Value::Assertion(false) => (OutcomeKind::Failed, "failed".to_owned()),
        Value::Score(score) => (OutcomeKind::Score, Unit::Score.print(*score)),
        Value::Label(label) => (OutcomeKind::Label, label.clone()),
        Value::Undefined => (OutcomeKind::Undefined, "undefined".to_owned()),
    };
    Outcome {
        name: outcome.name.clone(),
        kind,
        shown,
        reason: reason(outcome),
    }
}

/// The reason of an outcome, then each of the smaller verdicts behind it: `supported (passage 2): the claim`, and why below it.
fn reason(outcome: &CaseOutcome) -> Option<String> {
    let evidence = outcome.evidence.iter().map(|it| {
        let source = it.source.as_ref();
        let source = source.map_or_else(String::new, |source| format!(" ({source})"));
        let why = it.reason.as_ref();
        let why = why.map_or_else(String::new, |why| format!("\n    {why}"));
        format!("{}{source}: {}{why}", it.verdict, it.text)
    });
    let lines: Vec<String> = outcome.reason.iter().cloned().chain(evidence).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn timing(timing: &evals::Timing) -> Timing {
    let seconds = timing.duration.as_secs_f64();
    Timing {
        stage: timing.stage.clone(),
        seconds,
        shown: Unit::Seconds.print(seconds),
        cached: timing.cached,
    }
}

fn step(span: &Span) -> Step {
    let shown = match span.duration {
        Duration::ZERO => String::new(),
        duration => Unit::Seconds.print(duration.as_secs_f64()),
    };
    let facts = span.attributes.iter().map(|(name, value)| {
        let value = match value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        (name.clone(), value)
    });
    Step {
        name: span.name.clone(),
        shown,
        failed: span.status == SpanStatus::Error,
        facts: facts.collect(),
        children: span.children.iter().map(step).collect(),
    }
}

//! The notices of a page: what a reader must know before trusting the numbers.

use std::collections::{BTreeMap, BTreeSet};

use evals::{Domain, Report, Summary, Unit};
use evals_html::page::{Notice, Severity, Texts};
use evals_messages::quantity;
use evals_models::ModelIdentity;
use serde::Deserialize as _;
use serde_json::Value;

use super::documents::Documents;
use super::source::PageSource;

/// The models of a run, by role.
type Models = BTreeMap<String, ModelIdentity>;

/// The notices of one run, the gravest first.
pub(super) fn of_run<D: Domain>(
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> Vec<Notice> {
    let mut notices = of_results(report, summary);
    if source.record.is_none() {
        let models = report.metadata.get("models").map(Models::deserialize);
        notices.extend(baselines(models.and_then(Result::ok).as_ref()));
    }
    let corrected = source.corrected.iter();
    notices.extend(corrected.map(|line| notice(Severity::Note, line)));
    notices.extend(of_source(source));
    notices
}

/// The notices about the results of a run.
pub(super) fn of_results<D: Domain>(report: &Report<D>, summary: &Summary) -> Vec<Notice> {
    let mut notices: Vec<Notice> = interruption(summary).into_iter().collect();
    notices.extend(failures(summary));
    notices.extend(coverage(summary));
    let preference = report.metadata.get("self_preference");
    let preference = preference.and_then(Value::as_str);
    notices.extend(preference.map(|warning| notice(Severity::Warning, warning)));
    notices.extend(parameters(report));
    notices
}

/// The notices about the models of a run and the texts of a page.
pub(super) fn of_source(source: &PageSource) -> Vec<Notice> {
    let models = source.record.iter().map(|it| &it.models);
    let notices = baselines(models).into_iter();
    let texts = about_texts(source.texts, &source.documents);
    notices.chain(texts).collect()
}

/// A notice as a sentence.
pub(super) fn notice(severity: Severity, text: &str) -> Notice {
    let end = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    Notice {
        severity,
        text: format!("{text}{end}"),
    }
}

/// Which texts the page lacks, if it does.
pub(super) fn about_texts(texts: Texts, documents: &Documents) -> Option<Notice> {
    let text = match (texts, documents.absence()) {
        (Texts::Omitted, _) => {
            "Questions, answers, references, passages, reasons, metadata and labels are left out of this page"
                .to_owned()
        }
        (Texts::Kept, Some(reason)) => format!("The rankings have no texts: {reason}"),
        (Texts::Kept, None) if documents.left_out() > 0 => format!(
            "The texts of {} in the rankings are left out, because browsers open larger pages slowly or not at all",
            quantity::of(documents.left_out(), "document")
        ),
        (Texts::Kept, None) => return None,
    };
    Some(notice(Severity::Note, &text))
}

fn interruption(summary: &Summary) -> Option<Notice> {
    let planned = summary.finished.saturating_add(summary.not_run);
    let missing = format!(
        "{} of {} did not run",
        summary.not_run,
        quantity::of(planned, "case")
    );
    let text = match &summary.stopped {
        Some(reason) => format!("The run was stopped, and {missing}: {reason}"),
        None if summary.interrupted => format!("The run was interrupted, and {missing}"),
        None => return None,
    };
    Some(notice(Severity::Failure, &text))
}

fn failures(summary: &Summary) -> Vec<Notice> {
    let mut notices = Vec::new();
    if summary.failed > 0 {
        let severity = if summary.failed == summary.finished {
            Severity::Failure
        } else {
            Severity::Warning
        };
        let of = if summary.repeat > 1 {
            // Repetitions count one by one.
            quantity::of(summary.finished, "repetition")
        } else {
            quantity::of(summary.finished, "case")
        };
        let text = format!(
            "The task failed in {} of {of}; the means leave them out",
            summary.failed
        );
        notices.push(notice(severity, &text));
    }
    for evaluator in &summary.failed_evaluators {
        let text = format!("The evaluator `{evaluator}` failed in every case");
        notices.push(notice(Severity::Failure, &text));
    }
    notices
}

/// Pass rates that failures leave open, in one notice.
fn coverage(summary: &Summary) -> Option<Notice> {
    let open = summary.accuracy.iter().filter(|(_, it)| !it.is_complete());
    let ranges: Vec<String> = open
        .filter_map(|(name, accuracy)| {
            let [worst, best, coverage] =
                [accuracy.worst, accuracy.best, accuracy.coverage].map(|it| it.map(print));
            Some(format!(
                "that of `{name}` would lie between {} and {} (coverage {})",
                worst?, best?, coverage?
            ))
        })
        .collect();
    (!ranges.is_empty()).then(|| {
        let text = format!(
            "Failures leave pass rates open. Without failures, {}",
            ranges.join(", and ")
        );
        notice(Severity::Warning, &text)
    })
}

fn print(share: f64) -> String {
    Unit::Share.print(share)
}

/// Parameters that servers rejected, so that requests differed from the settings.
fn parameters<D: Domain>(report: &Report<D>) -> Vec<Notice> {
    let notes = report.metadata.get("notes");
    let notes = notes.map(Vec::<(String, String)>::deserialize);
    let notes = notes.and_then(Result::ok).unwrap_or_default().into_iter();
    notes
        .map(|(role, text)| notice(Severity::Warning, &format!("{role}: {text}")))
        .collect()
}

/// The embedded models of some runs; each run names its models by role.
pub(super) fn baselines<'m>(runs: impl IntoIterator<Item = &'m Models>) -> Option<Notice> {
    let models = runs.into_iter().flatten();
    let embedded: BTreeSet<String> = models
        .filter(|(_, model)| model.provider == "embedded")
        .map(|(role, model)| format!("{role} `{}`", model.name))
        .collect();
    (!embedded.is_empty()).then(|| {
        let embedded: Vec<String> = embedded.into_iter().collect();
        let text = format!(
            "These models are part of evaluations and are baselines; a real model should do better: {}",
            embedded.join(", ")
        );
        notice(Severity::Note, &text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_ends_with_one_full_stop() {
        assert_eq!(notice(Severity::Note, "gone").text, "gone.");
        assert_eq!(notice(Severity::Note, "gone.").text, "gone.");
    }
}

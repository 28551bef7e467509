//! The statistics of agreement as people read them, on the console and on the labelling page.

use evals_metrics::{Agreement, Estimate, NoAgreement, PeopleAgreement};
use serde::Serialize;

use super::agreement::PersonAgreement;
use super::answers::RunAnswers;
use super::current::{CurrentLabels, Stale};

/// A statistic, formatted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownEstimate {
    /// Its name.
    pub name: &'static str,
    /// What it says, in a few words.
    pub meaning: &'static str,
    /// The value, or a dash.
    pub value: String,
    /// The interval, or why there is no value or no interval.
    pub interval: String,
    /// How many labels it is a share of; empty without a value.
    pub n: String,
}

/// The four statistics, in the order in which they are shown.
pub fn estimates(agreement: &Agreement) -> Vec<ShownEstimate> {
    vec![
        shown_agreement(agreement.agreement),
        shown_kappa(agreement.kappa),
        shown(
            "TPR",
            "judge passes what people pass",
            agreement.true_pass_rate,
        ),
        shown(
            "TNR",
            "judge fails what people fail",
            agreement.true_fail_rate,
        ),
    ]
}

/// The two statistics of two people.
pub fn estimates_of_people(agreement: &PeopleAgreement) -> [ShownEstimate; 2] {
    [
        shown_agreement(agreement.agreement),
        shown_kappa(agreement.kappa),
    ]
}

fn shown_agreement(estimate: Result<Estimate, NoAgreement>) -> ShownEstimate {
    shown("agreement", "same verdict", estimate)
}

fn shown_kappa(estimate: Result<Estimate, NoAgreement>) -> ShownEstimate {
    shown("kappa", "agreement beyond chance", estimate)
}

fn shown(
    name: &'static str,
    meaning: &'static str,
    estimate: Result<Estimate, NoAgreement>,
) -> ShownEstimate {
    let (value, interval, n) = match estimate {
        Err(reason) => ("–".to_owned(), reason.to_string(), String::new()),
        Ok(Estimate { value, n, interval }) => (
            format!("{value:.4}"),
            match interval {
                Some(interval) => format!("[{:.4}, {:.4}]", interval.low, interval.high),
                None => "no interval: the labels vary too little for one".to_owned(),
            },
            n.to_string(),
        ),
    };
    ShownEstimate {
        name,
        meaning,
        value,
        interval,
        n,
    }
}

/// What to know about statistics of a stratified sample.
pub const WEIGHTED: &str = "answers were drawn by the judge's verdict, so each label counts with the inverse of its probability";

/// What to know about the labels of one person before trusting the statistics.
pub fn caveats(person: &PersonAgreement) -> Vec<String> {
    let mut caveats = Vec::new();
    if person.is_weighted {
        caveats.push(WEIGHTED.to_owned());
    }
    let labels = |n: usize| match n {
        1 => "1 label is".to_owned(),
        n => format!("{n} labels are"),
    };
    if person.chosen > 0 {
        caveats.push(format!(
            "{} of answers that somebody picked: the statistics hold for the labelled answers, not for the run",
            labels(person.chosen)
        ));
    }
    if person.not_blind > 0 {
        caveats.push(format!(
            "{} not blind: the judge's verdict had been shown",
            labels(person.not_blind)
        ));
    }
    if person.unjudged > 0 {
        caveats.push(format!(
            "{} of answers without a verdict of the judge, and not compared",
            labels(person.unjudged)
        ));
    }
    caveats
}

/// Which labels of a run do not count, and why.
pub fn left_out(run: &RunAnswers, current: &CurrentLabels<'_>) -> Vec<String> {
    let stale = current.stale.iter();
    let mut lines: Vec<String> = stale
        .map(|(reason, n)| format!("{n} stale, not counted: {}", Stale::reason(*reason)))
        .collect();
    if current.of_other_measures > 0 {
        lines.push(match &run.measure {
            Some(measure) => format!(
                "{} of other measures than `{measure}`, not counted",
                current.of_other_measures
            ),
            None => format!(
                "{} of measures that the run does not have, not counted",
                current.of_other_measures
            ),
        });
    }
    if current.damaged > 0 {
        lines.push(format!(
            "{} damaged, not readable: the lines fail their check",
            current.damaged
        ));
    }
    lines
}

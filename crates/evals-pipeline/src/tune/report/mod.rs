//! The result of a tuning as text, Markdown, JSON and page.

mod figures;
mod tables;

use anyhow::{Context as _, Result};
use evals::render::percent;
use evals_html::page::{Fact, Listing, Notice, Opening, Severity};
use evals_messages::quantity;
use evals_metrics::{Percentiles, as_f64};
use evals_pages::results::Results;
use evals_tune::{
    FEW_QUESTIONS, Fate, Figure, Importance, NoHoldOut, OWN, Outcome, Standing, Verdict,
};
use serde::Serialize;

use super::Course;
use super::limits::FIGURES;

/// Most rows of the table of trials on a terminal.
const SHOWN: usize = 12;

/// The result of a tuning.
#[derive(Debug, Serialize)]
pub(super) struct Tuned {
    dataset: String,
    objective: String,
    /// The figure of the latency that is shown.
    latency: &'static str,
    /// Questions of the search, and held out.
    questions: [usize; 2],
    /// Answers that were measured, and those of the whole grid.
    answers: [usize; 2],
    seed: u64,
    /// Why no question is held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_hold_out: Option<NoHoldOut>,
    outcome: Outcome,
    /// How many earlier tunings have used the held-out questions.
    earlier_uses: usize,
    ended_early: bool,
    trials: Vec<TrialResult>,
    /// The numbers of the trials that no other one beats in gain, latency and cost together.
    trade_offs: Vec<usize>,
    knobs: Vec<KnobResult>,
    /// The settings that differ from the user's, as YAML; `None` unless better ones were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<String>,
}

/// One of the settings that were tried.
#[derive(Debug, Serialize)]
struct TrialResult {
    label: String,
    questions: usize,
    /// The mean gain over the user's settings in the search.
    gain: Option<f64>,
    latency: Option<f64>,
    cost: Option<f64>,
    became: String,
    runs: Vec<String>,
}

/// How much a setting matters.
#[derive(Debug, Serialize)]
struct KnobResult {
    name: String,
    /// Each value with its mean gain against the mean of all.
    effects: Vec<(String, f64)>,
    range: Option<f64>,
    interval: Option<(f64, f64)>,
}

impl Tuned {
    pub(super) fn of(course: &Course<'_>) -> Result<Self> {
        let (plan, tuning) = (course.plan, &course.tuning);
        let outcome = tuning.outcome().context("the tuning is not at its end")?;
        let limited = plan.limits.iter().map(|(figure, _)| *figure);
        let latency = limited
            .into_iter()
            .find(|it| *it != Figure::CostPerQuestion);
        let latency = latency.unwrap_or(Figure::LatencyP95);
        let standings = tuning.standings().into_iter().enumerate();
        let trials = standings.map(|(number, standing)| TrialResult {
            label: if number == OWN {
                format!("yours: {}", plan.label(&standing.candidate))
            } else {
                plan.label(&standing.candidate)
            },
            questions: standing.questions,
            gain: standing.gain,
            latency: of_figure(latency, &standing.latency),
            cost: standing.cost,
            became: became(number, &standing, &outcome),
            runs: course.runs_of(number),
        });
        let (measured, grid) = tuning.work();
        let split = tuning.split();
        let is_better = matches!(outcome.verdict, Verdict::Better { .. });
        let chosen = outcome.chosen.filter(|_| is_better);
        Ok(Self {
            dataset: plan.manifest.name.clone(),
            objective: plan.objective.to_string(),
            latency: FIGURES
                .iter()
                .find(|(_, figure)| *figure == latency)
                .map_or("latency", |(name, _)| name),
            questions: [split.search.len(), split.held_out.len()],
            answers: [measured, grid],
            seed: plan.arguments.control.seed,
            earlier_uses: course.record.uses(&course.held_out()),
            ended_early: tuning.ended_early(),
            trials: trials.collect(),
            no_hold_out: split.no_hold_out,
            trade_offs: tuning.trade_offs(latency),
            knobs: tuning
                .importance()
                .into_iter()
                .map(KnobResult::of)
                .collect(),
            best: chosen.map(|chosen| plan.file(tuning.candidate(chosen))),
            outcome,
        })
    }

    /// Whether the tuning can say which settings are better.
    pub(super) fn has_verdict(&self) -> bool {
        !matches!(
            self.outcome.verdict,
            Verdict::EveryTrialFailed | Verdict::Undefined(_) | Verdict::Unchecked
        ) && self.trials.iter().any(|it| it.questions > 0)
            && (self.trials.len() == 1 || self.trials[1..].iter().any(|it| it.questions > 0))
    }

    /// The settings that differ from the user's, as YAML.
    pub(super) fn best(&self) -> Option<&str> {
        self.best.as_deref()
    }

    fn chosen(&self) -> &str {
        let chosen = self.outcome.chosen.unwrap_or(OWN);
        &self.trials[chosen].label
    }

    /// The verdict in a sentence.
    fn sentence(&self) -> String {
        let objective = &self.objective;
        match &self.outcome.verdict {
            Verdict::Better { at_least } => format!(
                "{} is better than your settings: {objective} is higher by at least {at_least:.3}, with 95 % confidence{}",
                self.chosen(),
                if self.earlier_uses > 0 {
                    ", but earlier tunings used the held-out questions"
                } else {
                    ""
                }
            ),
            Verdict::NothingBetter if self.outcome.chosen == Some(OWN) => {
                "Nothing beats your settings: no others are better by more than a standard error"
                    .to_owned()
            }
            Verdict::NothingBetter => format!(
                "Nothing beats your settings beyond chance. The best of the search is {}",
                self.chosen()
            ),
            Verdict::OnlyOwn => {
                "There is nothing to compare: the space has your settings alone".to_owned()
            }
            Verdict::EveryTrialEqual if self.trials[1..].iter().all(|it| it.questions == 0) => {
                let [_, held_out] = self.questions;
                format!(
                    "The budget ended the search before it tried other settings; the held-out part alone takes {} answers",
                    2 * held_out
                )
            }
            Verdict::EveryTrialEqual => format!(
                "Every trial has the same results: nothing that was tried changes {objective}. Does the system under test use these settings?"
            ),
            Verdict::EveryTrialFailed => "Every trial failed; the table says why".to_owned(),
            Verdict::NobodyWithinLimits => {
                "No settings are within the limits, not even yours".to_owned()
            }
            Verdict::Undefined(reason) => {
                format!("{objective} has no value with your settings: {reason}")
            }
            Verdict::Unchecked => format!(
                "The best of the search is {}, but the budget ended before it met yours on the held-out questions; raise the budget and run the \
                 same command again",
                self.chosen()
            ),
        }
    }

    /// What a reader must know before trusting the result.
    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        if let Some(reason) = self.no_hold_out {
            notices.push(format!(
                "no question is held out, because {}; the gain is estimated by resampling (BBC-CV), and its interval is rough",
                why(reason)
            ));
        }
        let questions: usize = self.questions.iter().sum();
        if questions < FEW_QUESTIONS {
            notices.push(format!(
                "{} are so few that hardly any gain could show",
                quantity::of(questions, "question")
            ));
        }
        if self.earlier_uses > 0 {
            notices.push(format!(
                "{} used the same held-out questions before, so they are no longer unseen: choose a different `--seed` or new questions for a \
                 verdict that counts",
                quantity::of(self.earlier_uses, "earlier tuning")
            ));
        }
        if self.ended_early {
            notices.push("the budget ended the search early".to_owned());
        }
        if !matches!(self.outcome.verdict, Verdict::EveryTrialEqual) {
            let unused = self.outcome.unused.iter();
            notices.extend(unused.map(|knob| format!("no value of `{knob}` changed any result")));
        }
        notices
    }
}

impl Results for Tuned {
    const LEAST: &'static [&'static str] = &[
        "cost per question",
        "became",
        "questions",
        "about",
        "values",
    ];

    fn measured(&self) -> String {
        let [measured, grid] = self.answers;
        format!(
            "{}\n\n{}: {} to search with, {} held out; {measured} answers, {} of the grid's {grid}",
            self.sentence(),
            self.dataset,
            quantity::of(self.questions[0], "question"),
            self.questions[1],
            percent(as_f64(measured) / as_f64(grid.max(1))),
        )
    }

    fn tables(&self) -> Vec<Listing> {
        self.with_trials(usize::MAX)
    }

    fn shown(&self) -> Vec<Listing> {
        self.with_trials(SHOWN)
    }

    fn closing(&self) -> String {
        let notices = self.notices().into_iter().map(|it| format!("note: {it}\n"));
        let best = self.best.iter().map(|best| format!("\nbest.yaml:\n{best}"));
        notices.chain(best).collect()
    }

    fn page(&self) -> Opening {
        let fact = |name: &str, value: String| Fact {
            name: name.to_owned(),
            value,
        };
        let notice = |text| Notice {
            severity: Severity::Warning,
            text,
        };
        Opening {
            title: format!("Tuning of {}", self.dataset),
            sentence: self.sentence(),
            notices: self.notices().into_iter().map(notice).collect(),
            facts: vec![
                fact("objective", self.objective.clone()),
                fact(
                    "questions",
                    format!(
                        "{} to search with, {} held out",
                        self.questions[0], self.questions[1]
                    ),
                ),
                fact("seed", self.seed.to_string()),
                fact("evaluations", env!("CARGO_PKG_VERSION").to_owned()),
            ],
            listings: self.tables(),
            figures: self.figures(),
            ..Opening::default()
        }
    }
}

impl KnobResult {
    fn of(importance: Importance) -> Self {
        Self {
            name: importance.knob,
            effects: importance.effects,
            range: importance.range,
            interval: importance.interval.map(|it| (it.low, it.high)),
        }
    }
}

/// What became of a trial, in a few words.
fn became(number: usize, standing: &Standing, outcome: &Outcome) -> String {
    let missing = standing.without_value.as_ref();
    let missing = missing.map(|(count, reason)| format!("; {count} without a value ({reason})"));
    let became = match &standing.fate {
        Fate::Stayed | Fate::Left if standing.questions == 0 => "not tried".to_owned(),
        _ if !standing.meets_limits => "beyond the limits".to_owned(),
        Fate::Failed(reason) => return format!("failed: {reason}"),
        _ if outcome.chosen == Some(number) => "chosen".to_owned(),
        Fate::Stayed => "stayed".to_owned(),
        Fate::Left => "left".to_owned(),
    };
    became + &missing.unwrap_or_default()
}

fn of_figure(figure: Figure, latency: &Percentiles) -> Option<f64> {
    match figure {
        Figure::LatencyMean => latency.mean,
        Figure::LatencyP50 => latency.p50,
        Figure::LatencyP99 => latency.p99,
        Figure::LatencyP95 | Figure::CostPerQuestion => latency.p95,
    }
}

fn why(reason: NoHoldOut) -> &'static str {
    match reason {
        NoHoldOut::NotWanted => "`--holdout` is 0",
        NoHoldOut::FewQuestions => "there are too few questions",
        NoHoldOut::FewClusters => "there are too few clusters of questions",
        NoHoldOut::OneCluster => "all questions are of one cluster",
        NoHoldOut::LargeClusters => "a few large clusters have most of the questions",
    }
}

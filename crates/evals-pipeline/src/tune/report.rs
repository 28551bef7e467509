//! The result of a tuning as text, Markdown, JSON and page.

use anyhow::{Context as _, Result};
use evals::Unit;
use evals::render::{p_value, percent};
use evals_html::figure::{Estimate, Estimates, Heading, Panel, TradeOff, TradeOffPoint, Width};
use evals_html::page::{Fact, Listing, Notice, Opening, PageFigure, Severity};
use evals_html::scene::Scene;
use evals_messages::quantity;
use evals_metrics::{Percentiles, as_f64};
use evals_pages::results::{NONE, Results, seconds, significant, table};
use evals_tune::{
    Check, FEW_QUESTIONS, Fate, Figure, Importance, NoHoldOut, OWN, Outcome, Standing, Verdict,
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
                    " if the held-out questions were unseen, which they are not"
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

    /// The estimates of the search and of the check, beside what luck alone gives.
    fn gains(&self) -> Listing {
        let gain = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), signed);
        let outcome = &self.outcome;
        let mut rows = vec![vec![
            "in the search".to_owned(),
            gain(outcome.gain_in_search),
            format!("best of {}", self.trials.len()),
        ]];
        match &outcome.check {
            Check::HeldOut(found) => rows.push(vec![
                "held out".to_owned(),
                signed(found.difference),
                format!(
                    "{}, {:.3} instead of {:.3}, {}",
                    found
                        .interval
                        .map_or_else(|| "no interval".to_owned(), |it| interval(it.low, it.high)),
                    found.after,
                    found.before,
                    quantity::of(found.n, "question"),
                ),
            ]),
            Check::Resampled(found) => rows.push(vec![
                "resampled".to_owned(),
                signed(found.gain),
                interval(found.low, found.high),
            ]),
            Check::None => {}
        }
        let optimism = "in the search minus the line above";
        if outcome.optimism.is_some() {
            rows.push(vec![
                "optimism".to_owned(),
                gain(outcome.optimism),
                optimism.to_owned(),
            ]);
        }
        rows.push(vec![
            "luck".to_owned(),
            gain(outcome.luck),
            format!(
                "what the best of {} equal settings gains on average",
                self.trials.len()
            ),
        ]);
        if let Some(p) = outcome.p_value {
            rows.push(vec![
                "p".to_owned(),
                p_value(p),
                match outcome.check {
                    Check::HeldOut(_) => "of search and held-out part together, one-sided",
                    _ => "of the search, one-sided, for the best of all that were tried",
                }
                .to_owned(),
            ]);
        }
        let caption = format!("Gain in {} of {}", self.objective, self.chosen());
        table(caption, &["estimate", "gain", "about"], rows)
    }

    fn knobs(&self) -> Listing {
        let rows = self.knobs.iter().map(|knob| {
            let mut effects = knob.effects.clone();
            effects.sort_by(|one, other| other.1.total_cmp(&one.1));
            let effects = effects
                .iter()
                .map(|(value, effect)| format!("{value} {}", signed(*effect)));
            vec![
                knob.name.clone(),
                knob.range
                    .map_or_else(|| NONE.to_owned(), |it| format!("{it:.3}")),
                knob.interval
                    .map_or_else(|| NONE.to_owned(), |(low, high)| interval(low, high)),
                effects.collect::<Vec<_>>().join(", "),
            ]
        });
        let caption = format!("How much each setting changes {}", self.objective);
        table(
            caption,
            &["setting", "best - worst", "interval", "values"],
            rows,
        )
    }

    fn trade_offs(&self) -> Listing {
        let rows = self.trade_offs.iter().map(|number| {
            let trial = &self.trials[*number];
            let mut row = vec![
                trial.label.clone(),
                trial.gain.map_or_else(|| NONE.to_owned(), signed),
            ];
            row.extend(self.expenses(trial));
            row
        });
        let head: Vec<&str> = ["settings", "gain"]
            .into_iter()
            .chain(self.expense_titles())
            .collect();
        let caption = "Not beaten in gain, latency and cost together, of settings that answered half of the search";
        table(caption, &head, rows)
    }

    /// The titles of latency and cost, as far as a trial has them.
    fn expense_titles(&self) -> impl Iterator<Item = &'static str> {
        let latency = self.trials.iter().any(|it| it.latency.is_some());
        let cost = self.trials.iter().any(|it| it.cost.is_some());
        let latency = latency.then_some(self.latency);
        latency
            .into_iter()
            .chain(cost.then_some("cost per question"))
    }

    fn expenses(&self, trial: &TrialResult) -> impl Iterator<Item = String> + use<> {
        let latency = seconds(trial.latency);
        let cost = trial
            .cost
            .map_or_else(|| NONE.to_owned(), |it| format!("${}", significant(it)));
        let cells: Vec<String> = self
            .expense_titles()
            .map(|title| {
                if title == self.latency {
                    latency.clone()
                } else {
                    cost.clone()
                }
            })
            .collect();
        cells.into_iter()
    }

    /// The trials, those that came farthest first.
    fn trials(&self, most: usize) -> Listing {
        let mut trials: Vec<&TrialResult> = self.trials.iter().collect();
        let gain = |it: &TrialResult| it.gain.unwrap_or(f64::NEG_INFINITY);
        trials.sort_by(|one, other| {
            other
                .questions
                .cmp(&one.questions)
                .then(gain(other).total_cmp(&gain(one)))
        });
        let rows = trials.iter().take(most).map(|trial| {
            let mut row = vec![
                trial.label.clone(),
                trial.gain.map_or_else(|| NONE.to_owned(), signed),
                first_words(&trial.became),
                trial.questions.to_string(),
            ];
            row.extend(self.expenses(trial));
            row
        });
        let shown = if trials.len() > most {
            format!(
                "Trials: the first {most} of {}; `--out FILE` has all",
                trials.len()
            )
        } else {
            "Trials".to_owned()
        };
        let head = ["settings", "gain", "became", "questions"].into_iter();
        let head: Vec<&str> = head.chain(self.expense_titles()).collect();
        table(shown, &head, rows)
    }

    fn with_trials(&self, most: usize) -> Vec<Listing> {
        let mut tables = Vec::new();
        if self.outcome.gain_in_search.is_some() && self.trials.len() > 1 {
            tables.push(self.gains());
        }
        if self.knobs.iter().any(|it| it.range.is_some()) {
            tables.push(self.knobs());
        }
        if self.trade_offs.len() > 1 {
            tables.push(self.trade_offs());
        }
        tables.push(self.trials(most));
        tables
    }

    fn figures(&self) -> Vec<PageFigure> {
        let figures = [
            ("trade-off", self.trade_off_figure()),
            ("knobs", self.knob_figure()),
        ];
        let drawn = figures.into_iter().filter_map(|(name, scene)| {
            Some(PageFigure {
                name: name.to_owned(),
                scene: scene?,
            })
        });
        drawn.collect()
    }

    fn trade_off_figure(&self) -> Option<Scene> {
        let measured = self.trials.iter();
        let measured = measured.filter(|trial| 2 * trial.questions >= self.questions[0]);
        let points = measured.filter_map(|trial| {
            Some(TradeOffPoint {
                label: trial.label.clone(),
                price: trial.latency?,
                quality: trial.gain?,
                interval: None,
            })
        });
        let figure = TradeOff {
            heading: Heading {
                title: format!("Gain in {} against {}", self.objective, self.latency),
                caption: "Gains over your settings in the search, which flatter the best of many, of all settings that answered at least half of \
                          its questions. Filled circles: no other trial is as fast and gains as much."
                    .to_owned(),
            },
            price: self.latency.to_owned(),
            unit: Unit::Seconds,
            quality: "gain".to_owned(),
            points: points.collect(),
            is_crowded: true,
        };
        (figure.points.len() > 1).then(|| figure.draw(Width::Page))
    }

    fn knob_figure(&self) -> Option<Scene> {
        let knobs = self.knobs.iter().filter_map(|knob| {
            Some(Estimate {
                label: knob.name.clone(),
                value: Ok(knob.range?),
                interval: knob.interval,
                series: 0,
            })
        });
        let estimates: Vec<Estimate> = knobs.collect();
        let figure = Estimates {
            heading: Heading {
                title: "How much each setting matters".to_owned(),
                caption: format!(
                    "The best value of each setting minus its worst, in {}, with all other settings equal",
                    self.objective
                ),
            },
            panels: vec![Panel {
                name: self.objective.clone(),
                unit: Unit::Score,
                estimates,
            }],
            ..Estimates::default()
        };
        let is_empty = figure.panels.iter().all(|it| it.estimates.is_empty());
        (!is_empty).then(|| figure.draw(Width::Page))
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

/// The first line of a message, and no more of it than a table has room for.
fn first_words(message: &str) -> String {
    const MOST: usize = 80;
    let line = message.lines().next().unwrap_or_default();
    let is_whole = line.len() == message.len() && line.chars().count() <= MOST;
    let end = if is_whole { "" } else { " …" };
    line.chars().take(MOST).collect::<String>() + end
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

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

fn interval(low: f64, high: f64) -> String {
    format!("{low:+.3} to {high:+.3}")
}

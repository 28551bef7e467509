//! The tables of a tuning: the estimates, how much each setting matters, the trade-offs, and the trials.

use evals::render::p_value;
use evals_html::page::Listing;
use evals_messages::quantity;
use evals_pages::results::{NONE, seconds, significant, table};
use evals_tune::Check;

use super::{TrialResult, Tuned};

impl Tuned {
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

    pub(super) fn with_trials(&self, most: usize) -> Vec<Listing> {
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
}

/// The first line of a message, and no more of it than a table has room for.
fn first_words(message: &str) -> String {
    const MOST: usize = 80;
    let line = message.lines().next().unwrap_or_default();
    let is_whole = line.len() == message.len() && line.chars().count() <= MOST;
    let end = if is_whole { "" } else { " …" };
    line.chars().take(MOST).collect::<String>() + end
}

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

fn interval(low: f64, high: f64) -> String {
    format!("{low:+.3} to {high:+.3}")
}

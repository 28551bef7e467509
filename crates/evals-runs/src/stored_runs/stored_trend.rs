//! One measure over the stored runs of one dataset, benchmark and profile: the figure `trend`, and the table of its steps.

use std::cell::OnceCell;
use std::iter;
use std::ops::Range;

use evals::{Cell, Comparison, Row, Summary};
use evals_html::figure::{Heading, Trend, TrendPoint, Width};
use evals_html::page::PageFigure;
use evals_messages::quantity;

use super::headline::Headline;
use super::run::StoredRun;
use super::trend::Break;
use crate::run_record::{Sameness, differences};

/// The name of the figure of one measure over runs.
pub const TREND: &str = "trend";

/// Most runs in a drawing, the newest.
const NEWEST: usize = 60;

/// Most characters of a version that labels a run, such as the beginning of a commit.
const VERSION_SHOWN: usize = 8;

/// The finished runs of one dataset, benchmark and profile.
#[derive(Debug)]
pub struct StoredTrend<'r> {
    /// What the runs have in common.
    subject: String,
    /// The newest, oldest first.
    runs: Vec<&'r StoredRun>,
    /// How many there are with those that are too old to be drawn.
    all: usize,
    comparison: Comparison,
    /// How each run follows the one before it, whatever the measure.
    links: OnceCell<Vec<Link>>,
}

/// How a run follows the one before it.
#[derive(Debug, Default)]
struct Link {
    /// The settings that changed.
    changed: Vec<String>,
    /// Why the line is broken between them.
    broken: Option<Break>,
}

/// One run of a trend, with its value of a measure and what changed since the run before it.
#[derive(Debug)]
pub struct Step<'l> {
    /// The run.
    pub run: &'l StoredRun,
    /// Its value.
    pub cell: &'l Cell,
    /// The settings that differ from the run before it.
    pub changed: &'l [String],
    broken: Option<Break>,
}

impl<'r> StoredTrend<'r> {
    /// The trend of the newest of `runs`, oldest first, as many as a drawing has room for.
    pub fn of(mut runs: Vec<&'r StoredRun>) -> Self {
        let all = runs.len();
        runs.drain(..all.saturating_sub(NEWEST));
        Self {
            all,
            ..Self::of_all(runs)
        }
    }

    /// The trend of all `runs`, oldest first. Runs without measures are left out.
    pub fn of_all(mut runs: Vec<&'r StoredRun>) -> Self {
        runs.retain(|run| run.results().summary.is_some());
        let names: Vec<String> = runs.iter().map(|run| run.name()).collect();
        let summaries = runs.iter().filter_map(|run| run.results().summary.as_ref());
        let named: Vec<(&str, &Summary)> =
            names.iter().map(String::as_str).zip(summaries).collect();
        let subject = runs.first().map_or_else(String::new, |run| {
            let record = &run.record;
            let (dataset, benchmark) = (&record.dataset.name, record.benchmark);
            format!("{dataset}, {benchmark}, {}", record.system_name())
        });
        Self {
            subject,
            comparison: Comparison::new(&named),
            all: runs.len(),
            runs,
            links: OnceCell::new(),
        }
    }

    /// The dataset, the benchmark and the profile.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The measures, with a cell for each run.
    pub fn measures(&self) -> &[Row] {
        &self.comparison.rows
    }

    /// The main measure that most runs have, such as `RR@5` if only the newest run measured at another `--k`; of equal ones that of the
    /// newer run. The first measure if no run has a main measure.
    pub fn headline(&self) -> Option<&Row> {
        let rows = self.measures();
        let row_of = |headline: &Headline| rows.iter().find(|row| row.measure == headline.measure);
        let headlines = self.runs.iter().filter_map(|run| run.headline());
        let main = headlines.filter_map(|headline| row_of(&headline));
        // Of equal ones, the last is taken.
        main.max_by_key(|row| row.cells.iter().filter(|cell| is_value(cell)).count())
            .or_else(|| rows.first())
    }

    /// The runs with their values of a measure.
    pub fn steps<'l>(&'l self, measure: &'l Row) -> Vec<Step<'l>> {
        let links = self.links.get_or_init(|| self.link());
        let steps = self.runs.iter().zip(&measure.cells).zip(links);
        let steps = steps.map(|((run, cell), link)| Step {
            run,
            cell,
            changed: &link.changed,
            broken: link.broken,
        });
        steps.collect()
    }

    fn link(&self) -> Vec<Link> {
        let pairs = self.runs.windows(2).map(|pair| Link {
            changed: changed(pair[0], pair[1]),
            broken: Break::between(pair[0], pair[1]),
        });
        iter::once(Link::default()).chain(pairs).collect()
    }

    /// Draws a measure.
    pub fn draw(&self, measure: &Row) -> PageFigure {
        let steps = self.steps(measure);
        let figure = Trend {
            heading: Heading {
                title: format!("{}: {}", measure.title(), self.subject),
                caption: self.caption(&steps),
            },
            measure: measure.title().to_owned(),
            unit: measure.unit,
            points: points(&steps, measure),
        };
        PageFigure {
            name: TREND.to_owned(),
            scene: figure.draw(Width::Page),
        }
    }

    fn caption(&self, steps: &[Step<'_>]) -> String {
        let (drawn, all) = (self.runs.len(), self.all);
        let count = if drawn < all {
            format!("The newest {drawn} of {all} finished runs")
        } else {
            quantity::of(drawn, "finished run")
        };
        let counts = steps.iter().filter_map(|step| match step.cell {
            Cell::Value { n, .. } => Some(*n),
            Cell::Undefined { .. } | Cell::Missing => None,
        });
        let sizes = match (counts.clone().min(), counts.max()) {
            (Some(least), Some(most)) if least < most => format!(" n = {least} to {most}."),
            (Some(n), _) => format!(" n = {n}."),
            (None, _) => String::new(),
        };
        format!(
            "{count}, oldest on the left.{sizes} Lines up and down are the 95 % intervals of each run, as its report has them. A \
             dashed line marks a run whose settings changed; a grey band marks one that reads other data or asks \
             other questions, where the line is broken."
        )
    }
}

impl Step<'_> {
    /// Why the run has no value; `None` if it has one.
    pub fn absence(&self, measure: &Row) -> Option<String> {
        match self.cell {
            Cell::Value { .. } => None,
            Cell::Undefined { reasons } if reasons.is_empty() => Some("undefined".to_owned()),
            Cell::Undefined { reasons } => Some(format!("undefined: {}", reasons.join("; "))),
            Cell::Missing => Some(match self.run.headline() {
                Some(main) if main.measure != measure.measure => {
                    format!("not measured; the run measured {}", main.title)
                }
                _ => "not measured".to_owned(),
            }),
        }
    }

    /// Why the line is broken before this run; empty if it is not.
    pub fn broken(&self) -> String {
        self.broken.map_or_else(String::new, |why| why.to_string())
    }
}

fn is_value(cell: &Cell) -> bool {
    matches!(cell, Cell::Value { .. })
}

/// The settings that changed.
fn changed(before: &StoredRun, after: &StoredRun) -> Vec<String> {
    let [old, new] = [before, after].map(|run| run.configuration().without_data());
    differences(&old, &new, Sameness::Configuration)
}

fn points(steps: &[Step<'_>], measure: &Row) -> Vec<TrendPoint> {
    let versions = steps
        .iter()
        .map(|step| step.run.record.target()?.version.as_deref());
    let versions: Vec<Option<&str>> = versions.collect();
    let labels = if versions.iter().any(|it| *it != versions[0]) {
        let of_run = |version: Option<&str>| match version {
            Some(version) => version.chars().take(VERSION_SHOWN).collect(),
            None => String::new(),
        };
        versions.into_iter().map(of_run).collect()
    } else {
        let started = steps.iter().map(|step| step.run.record.started.as_deref());
        labels(&started.collect::<Vec<_>>())
    };
    let points = steps.iter().zip(labels).map(|(step, label)| {
        let (value, interval) = match step.cell {
            Cell::Value {
                value, interval, ..
            } => (Ok(*value), interval.as_ref()),
            Cell::Undefined { .. } | Cell::Missing => {
                (Err(step.absence(measure).unwrap_or_default()), None)
            }
        };
        TrendPoint {
            label,
            value,
            interval: interval.map(|it| (it.low, it.high)),
            changed: step.changed.join("; "),
            broken: step.broken(),
        }
    });
    points.collect()
}

/// The labels of runs that started at these times: the day, or the time of day if all started on one. Empty for an unknown start.
fn labels(started: &[Option<&str>]) -> Vec<String> {
    let part = |range: Range<usize>| -> Vec<Option<&str>> {
        let started = started.iter();
        started
            .map(|started| (*started)?.get(range.clone()))
            .collect()
    };
    let mut days = part(0..10).into_iter().flatten();
    let first = days.next();
    let is_one_day = days.all(|day| Some(day) == first);
    let shown = if is_one_day {
        part(11..16)
    } else {
        part(5..10)
    };
    let labels = shown
        .into_iter()
        .map(|it| it.unwrap_or_default().to_owned());
    labels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_a_start_has_no_label() {
        let [morning, evening, later] = [
            "2026-05-01T08:30:00Z",
            "2026-05-01T20:00:00Z",
            "2026-05-02T08:00:00Z",
        ]
        .map(Some);
        assert_eq!(labels(&[morning, None, evening]), ["08:30", "", "20:00"]);
        assert_eq!(labels(&[morning, None, later]), ["05-01", "", "05-02"]);
        assert_eq!(labels(&[None]), [""]);
    }
}

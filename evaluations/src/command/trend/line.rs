//! A line of a trend: one measure over the runs of a history, and where its level changed.

use evals::render::p_value;
use evals::{Cell, Row};
use evals_html::page::PageFigure;
use evals_metrics::{ChangePointTest, Interval, NoStatistic, SIGNIFICANCE, difference};
use evals_pages::names_measure;
use evals_runs::stored_runs::{History, Step, StoredTrend};
use serde::{Serialize, Serializer};

/// One measure over the runs of a history, as it is written as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Line<'r> {
    pub(super) dataset: &'r str,
    pub(super) questions: usize,
    /// Identifies the files of the dataset.
    pub(super) data: String,
    pub(super) benchmark: &'r str,
    pub(super) profile: &'r str,
    /// The measure, with a cell for each run.
    #[serde(serialize_with = "title")]
    pub(super) measure: Row,
    /// The significant places where the level changed, in order of time.
    pub(super) level_changes: Vec<LevelChange>,
    /// The p value of the most likely change of the whole line; `None` if the test has no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    /// Why the test has no result.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "words")]
    undefined: Option<NoStatistic>,
    /// The runs, oldest first.
    #[serde(rename = "history")]
    pub(super) points: Vec<Point>,
    #[serde(skip)]
    pub(super) figure: Option<PageFigure>,
}

/// A place where the level of a line changed.
#[derive(Debug, Serialize)]
pub(super) struct LevelChange {
    /// The place of the first run after the change.
    #[serde(skip)]
    pub(super) place: usize,
    /// The name of that run.
    run: String,
    /// The means before and after.
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) p_value: f64,
    method: &'static str,
}

/// One run of a line.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    pub(super) run: String,
    /// In UTC; `None` if the manifest does not say.
    pub(super) started: Option<String>,
    /// The version of the system under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    pub(super) value: Option<f64>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) undefined: Option<String>,
    pub(super) interval: Option<Interval>,
    /// The number of cases.
    pub(super) n: Option<usize>,
    /// The settings that changed since the run before.
    pub(super) changed: Vec<String>,
}

fn title<S: Serializer>(measure: &Row, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(measure.title())
}

#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn words<S: Serializer>(reason: &Option<NoStatistic>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.map(|it| it.to_string()).serialize(serializer)
}

/// The names of all measures of a history.
pub(super) fn measures(history: &History<'_>) -> Vec<String> {
    let trend = history.trend();
    let measures = trend.measures().iter();
    measures.map(|row| row.title().to_owned()).collect()
}

impl<'r> Line<'r> {
    /// The lines of the wanted measures, or of the main measure if `wanted` is empty.
    pub(super) fn of(history: &History<'r>, wanted: &[String]) -> Vec<Self> {
        let trend = history.trend();
        let rows: Vec<&Row> = if wanted.is_empty() {
            trend.headline().into_iter().collect()
        } else {
            let is_wanted = |row: &&Row| wanted.iter().any(|name| is_named(row, name));
            trend.measures().iter().filter(is_wanted).collect()
        };
        let (record, drawing) = (history.record(), history.drawing());
        let lines = rows.into_iter().map(|row| {
            let points: Vec<Point> = trend.steps(row).iter().map(|it| point(it, row)).collect();
            let (level_changes, p_value, undefined) = match changes(&points) {
                Ok((changes, p_value)) => (changes, Some(p_value), None),
                Err(reason) => (Vec::new(), None, Some(reason)),
            };
            Self {
                dataset: &record.dataset.name,
                questions: record.dataset.questions,
                data: history.data(),
                benchmark: record.benchmark.word(),
                profile: record.system_name(),
                measure: row.clone(),
                level_changes,
                p_value,
                undefined,
                points,
                figure: figure(&drawing, row),
            }
        });
        lines.collect()
    }

    /// What identifies the line, in the order of columns: dataset, cases, data, benchmark, profile and measure.
    pub(super) fn key(&self) -> [String; 6] {
        [
            self.dataset.to_owned(),
            self.questions.to_string(),
            self.data.clone(),
            self.benchmark.to_owned(),
            self.profile.to_owned(),
            self.measure.title().to_owned(),
        ]
    }

    pub(super) fn is_named(&self, name: &str) -> bool {
        is_named(&self.measure, name)
    }

    /// The defined values with the places of their runs.
    pub(super) fn values(&self) -> Vec<(usize, f64)> {
        values(&self.points)
    }

    /// The first and the last value, and the difference; `None` for each that is undefined.
    pub(super) fn ends(&self) -> [Option<f64>; 3] {
        let values = self.values();
        let ends = [values.first(), values.last()].map(|it| it.map(|(_, value)| *value));
        let change = match values.as_slice() {
            [(_, first), .., (_, last)] => Some(difference(*first, *last)),
            _ => None,
        };
        [ends[0], ends[1], change]
    }

    /// What the test found, in words.
    pub(super) fn found(&self) -> String {
        match (self.undefined, self.p_value) {
            (Some(NoStatistic::TooFew { least, .. }), _) => {
                return format!("– (fewer than {least} values)");
            }
            (Some(reason), _) => return format!("– ({reason})"),
            (None, Some(p)) if self.level_changes.is_empty() => {
                return format!("none ({})", p_value(p));
            }
            (None, _) => {}
        }
        let found = self.level_changes.iter().map(|change| {
            let started = self.points[change.place].started.as_deref();
            let day = started.and_then(|it| it.get(..16));
            let day = day.map_or_else(|| change.run.clone(), |it| it.replace('T', " "));
            format!("{day} ({})", p_value(change.p_value))
        });
        found.collect::<Vec<_>>().join(", ")
    }

    /// A sentence for each place where the level changed.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let print = |value| self.measure.unit.print(value);
        self.level_changes.iter().map(move |change| {
            let changed = &self.points[change.place].changed;
            let settings = if changed.is_empty() {
                "no setting changed with it".to_owned()
            } else {
                format!("changed with it: {}", changed.join("; "))
            };
            format!(
                "{} of {}, {}: the level changed from {} to {} with run `{}` ({}); {settings}",
                self.measure.title(),
                self.dataset,
                self.profile,
                print(change.before),
                print(change.after),
                change.run,
                p_value(change.p_value),
            )
        })
    }
}

fn is_named(row: &Row, name: &str) -> bool {
    names_measure(name, &row.measure) || name == row.title()
}

fn point(step: &Step<'_>, row: &Row) -> Point {
    let (value, interval, n) = match step.cell {
        Cell::Value {
            value, interval, n, ..
        } => (Some(*value), *interval, Some(*n)),
        Cell::Undefined { .. } | Cell::Missing => (None, None, None),
    };
    let record = &step.run.record;
    Point {
        run: step.run.name(),
        version: record.target().and_then(|it| it.version.clone()),
        started: record.started.clone(),
        value,
        undefined: step.absence(row),
        interval,
        n,
        changed: step.changed.to_vec(),
    }
}

fn values(points: &[Point]) -> Vec<(usize, f64)> {
    let values = points.iter().enumerate();
    values
        .filter_map(|(place, point)| Some((place, point.value?)))
        .collect()
}

/// The significant changes of level, and the p value of the most likely one.
fn changes(points: &[Point]) -> Result<(Vec<LevelChange>, f64), NoStatistic> {
    let (places, values): (Vec<usize>, Vec<f64>) = values(points).into_iter().unzip();
    let test = ChangePointTest::default();
    let whole = test.find(&values)?;
    let found = test.find_all(&values, SIGNIFICANCE)?;
    let found = found.into_iter().map(|change| {
        let place = places[change.first_after];
        LevelChange {
            place,
            run: points[place].run.clone(),
            before: change.before,
            after: change.after,
            p_value: change.test.p_value,
            method: "pettitt",
        }
    });
    Ok((found.collect(), whole.test.p_value))
}

fn figure(drawing: &StoredTrend<'_>, row: &Row) -> Option<PageFigure> {
    let mut measures = drawing.measures().iter();
    let drawn = measures.find(|it| it.measure == row.measure && it.unit == row.unit)?;
    Some(drawing.draw(drawn))
}

//! A line of a trend: one measure over the runs of a history, and where its level changed.

use evals::render::p_value;
use evals::{Cell, Row};
use evals_html::page::PageFigure;
use evals_metrics::{ChangePointTest, Interval, NoStatistic, difference};

use crate::stored_runs::{History, Step, StoredTrend, names_measure};

/// The level at which a change of level counts.
pub(super) const SIGNIFICANCE: f64 = 0.05;

/// One measure over the runs of a history.
#[derive(Debug)]
pub(super) struct Line<'r> {
    pub(super) dataset: &'r str,
    pub(super) questions: usize,
    /// Identifies the files of the dataset.
    pub(super) data: String,
    pub(super) benchmark: &'r str,
    pub(super) profile: &'r str,
    /// The measure, with a cell for each run.
    pub(super) measure: Row,
    /// The runs, oldest first.
    pub(super) points: Vec<Point>,
    /// The places where the level changed, or why the test has no result.
    pub(super) changes: Result<Changes, NoStatistic>,
    pub(super) figure: Option<PageFigure>,
}

/// What the test found in a line.
#[derive(Debug)]
pub(super) struct Changes {
    /// The significant ones, in order of time.
    pub(super) found: Vec<LevelChange>,
    /// The p value of the most likely change of the whole line.
    pub(super) p_value: f64,
}

/// A place where the level of a line changed.
#[derive(Debug)]
pub(super) struct LevelChange {
    /// The place of the first run after the change.
    pub(super) place: usize,
    /// The means before and after.
    pub(super) means: [f64; 2],
    pub(super) p_value: f64,
}

/// One run of a line.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) run: String,
    /// The version of the system under test.
    pub(super) version: Option<String>,
    /// In UTC; `None` if the manifest does not say.
    pub(super) started: Option<String>,
    /// The value, or why there is none.
    pub(super) value: Result<f64, String>,
    pub(super) interval: Option<Interval>,
    /// The number of cases.
    pub(super) n: Option<usize>,
    /// The settings that changed since the run before.
    pub(super) changed: Vec<String>,
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
        let record = history.record();
        let lines = rows.into_iter().map(|row| {
            let points: Vec<Point> = trend.steps(row).iter().map(|it| point(it, row)).collect();
            Self {
                dataset: &record.dataset.name,
                questions: record.dataset.questions,
                data: history.data(),
                benchmark: record.benchmark.word(),
                profile: record.system_name(),
                measure: row.clone(),
                changes: changes(&points),
                points,
                figure: figure(&history.drawing(), row),
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
        match &self.changes {
            Err(NoStatistic::TooFew { least, .. }) => format!("– (fewer than {least} values)"),
            Err(reason) => format!("– ({reason})"),
            Ok(Changes { found, p_value: p }) if found.is_empty() => {
                format!("none ({})", p_value(*p))
            }
            Ok(Changes { found, .. }) => {
                let found = found.iter().map(|change| {
                    let run = &self.points[change.place];
                    let day = run.started.as_deref().and_then(|it| it.get(..16));
                    let day = day.map_or_else(|| run.run.clone(), |it| it.replace('T', " "));
                    format!("{day} ({})", p_value(change.p_value))
                });
                found.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// A sentence for each place where the level changed.
    pub(super) fn sentences(&self) -> Vec<String> {
        let Ok(Changes { found, .. }) = &self.changes else {
            return Vec::new();
        };
        let print = |value| self.measure.unit.print(value);
        let sentences = found.iter().map(|change| {
            let run = &self.points[change.place];
            let settings = if run.changed.is_empty() {
                "no setting changed with it".to_owned()
            } else {
                format!("changed with it: {}", run.changed.join("; "))
            };
            format!(
                "{} of {}, {}: the level changed from {} to {} with run `{}` ({}); {settings}",
                self.measure.title(),
                self.dataset,
                self.profile,
                print(change.means[0]),
                print(change.means[1]),
                run.run,
                p_value(change.p_value),
            )
        });
        sentences.collect()
    }
}

fn is_named(row: &Row, name: &str) -> bool {
    names_measure(name, &row.measure) || name == row.title()
}

fn point(step: &Step<'_>, row: &Row) -> Point {
    let (value, interval, n) = match step.cell {
        Cell::Value {
            value, interval, n, ..
        } => (Ok(*value), *interval, Some(*n)),
        Cell::Undefined { .. } | Cell::Missing => {
            (Err(step.absence(row).unwrap_or_default()), None, None)
        }
    };
    let record = &step.run.record;
    Point {
        run: step.run.name(),
        version: record.target().and_then(|it| it.version.clone()),
        started: record.started.clone(),
        value,
        interval,
        n,
        changed: step.changed.clone(),
    }
}

fn values(points: &[Point]) -> Vec<(usize, f64)> {
    let values = points.iter().enumerate();
    values
        .filter_map(|(place, point)| Some((place, *point.value.as_ref().ok()?)))
        .collect()
}

fn changes(points: &[Point]) -> Result<Changes, NoStatistic> {
    let (places, values): (Vec<usize>, Vec<f64>) = values(points).into_iter().unzip();
    let test = ChangePointTest::default();
    let whole = test.find(&values)?;
    let found = test.find_all(&values, SIGNIFICANCE)?;
    let found = found.into_iter().map(|change| LevelChange {
        place: places[change.first_after],
        means: [change.before, change.after],
        p_value: change.test.p_value,
    });
    Ok(Changes {
        found: found.collect(),
        p_value: whole.test.p_value,
    })
}

fn figure(drawing: &StoredTrend<'_>, row: &Row) -> Option<PageFigure> {
    let mut measures = drawing.measures().iter();
    let drawn = measures.find(|it| it.measure == row.measure && it.unit == row.unit)?;
    Some(drawing.draw(drawn))
}

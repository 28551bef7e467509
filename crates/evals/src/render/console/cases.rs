//! A table of cases, the worst first.

use std::io::{self, Write};

use evals_messages::visible::single_line;
use serde::Serialize;

use super::super::grid::{Align, Grid, Style};
use super::badness::worst_first;
use super::{Page, wrap};
use crate::case_field;
use crate::{CaseOutcome, CaseReport, Direction, Domain, EvaluatorOrigin, Report, Value, number};

/// The most columns of the terminal for one cell of free text.
const LONGEST_CELL: usize = 40;

/// The evaluator of pydantic-evals that compares the output with the expected output. It gives no reason. An evaluator such as `Equals`
/// compares with another value.
const COMPARES_WITH_EXPECTED: &str = "EqualsExpected";

/// Which cases are shown, and how.
#[derive(Clone, Debug)]
pub struct Cases {
    /// At most this many.
    pub most: usize,
    /// Whether the reasons of outcomes and failures are listed below the table. An assertion that does not hold and has no reason
    /// is listed with the expected and the actual output.
    pub reasons: bool,
    /// The parts of the cases that have columns.
    pub parts: Vec<Part>,
}

/// A part of a case that may have a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The task's input.
    Input,
    /// Further facts about the case.
    Metadata,
    /// The expected output.
    Expected,
    /// The task's output.
    Output,
}

/// A column that is left out where no case fills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Optional {
    Part(Part),
    Assertions,
    Scores,
    Labels,
    Metrics,
}

impl<W: Write> Page<W> {
    pub(super) fn cases<D: Domain>(&mut self, report: &Report<D>, shown: &Cases) -> io::Result<()> {
        let all = report.cases.len();
        let mut cases = worst_first(report.cases.iter());
        cases.truncate(shown.most);
        if cases.is_empty() {
            return Ok(());
        }
        self.table(self.table_of(report, &cases, &shown.parts))?;
        if cases.len() < all {
            let note = format!("{} of {all} cases, failed and lowest first", cases.len());
            self.line(Style::Dim, &note)?;
        }
        if shown.reasons {
            self.reasons(report, &cases)?;
        }
        Ok(())
    }

    fn table_of<D: Domain>(
        &self,
        report: &Report<D>,
        cases: &[&CaseReport<D>],
        parts: &[Part],
    ) -> Grid {
        let wanted = Optional::ALL.into_iter().filter(|column| match column {
            Optional::Part(part) => parts.contains(part),
            Optional::Assertions | Optional::Scores | Optional::Labels | Optional::Metrics => true,
        });
        let is_filled = |column: &Optional| {
            let mut cells = cases.iter().map(|case| self.cell(case, *column));
            cells.any(|cell| cell.is_some())
        };
        let optional: Vec<Optional> = wanted.filter(is_filled).collect();
        let mut columns = vec![("Case", Align::Left)];
        columns.extend(optional.iter().map(|it| {
            let align = match it {
                Optional::Part(_) => Align::Label,
                _ => Align::Left,
            };
            (it.title(), align)
        }));
        columns.push(("Time", Align::Right));
        let mut table = Grid::new(columns).dropping(&[
            "Metrics", "Metadata", "Output", "Labels", "Time", "Expected", "Input",
        ]);
        for case in cases {
            let label = single_line(&case.label(report.repeat));
            let mut row = vec![self.cut(&label)];
            row.extend(
                optional
                    .iter()
                    .map(|column| match self.cell(case, *column) {
                        Some(cell) => cell,
                        None if *column == Optional::Part(Part::Output) => "failed".to_owned(),
                        None => String::new(),
                    }),
            );
            row.push(self.glyphs.duration(case.duration.as_secs_f64()));
            table.push(row);
        }
        table
    }

    /// What a case has in a column; `None` if it does not fill it.
    fn cell<D: Domain>(&self, case: &CaseReport<D>, column: Optional) -> Option<String> {
        let outcomes = || datasets_first(case);
        let text = match column {
            Optional::Part(part) => {
                return part.text(case).map(|text| self.cut(&single_line(&text)));
            }
            Optional::Assertions => {
                let marks = outcomes().filter_map(|outcome| match outcome.value {
                    Value::Assertion(true) => Some(self.glyphs.passed),
                    Value::Assertion(false) => Some(self.glyphs.not_passed),
                    Value::Score(_) | Value::Label(_) | Value::Undefined => None,
                });
                let failed = case.evaluator_failures.iter();
                let failed = failed.map(|_| self.glyphs.undefined);
                let marks: String = marks.chain(failed).collect();
                return (!marks.is_empty()).then_some(marks);
            }
            Optional::Scores => named(outcomes().filter_map(|outcome| match outcome.value {
                Value::Score(score) => Some((outcome.name.as_str(), number::score(score))),
                Value::Assertion(_) | Value::Label(_) | Value::Undefined => None,
            })),
            Optional::Labels => named(outcomes().filter_map(|outcome| match &outcome.value {
                Value::Label(label) => Some((outcome.name.as_str(), single_line(label))),
                Value::Assertion(_) | Value::Score(_) | Value::Undefined => None,
            })),
            Optional::Metrics => named(
                case.metrics
                    .iter()
                    .map(|(name, value)| (name.as_str(), number::metric(*value))),
            ),
        };
        (!text.is_empty()).then(|| self.cut(&single_line(&text)))
    }

    fn cut(&self, text: &str) -> String {
        wrap::cut(text, LONGEST_CELL, self.glyphs.ellipsis)
    }

    /// Lists why outcomes are what they are, case by case.
    fn reasons<D: Domain>(
        &mut self,
        report: &Report<D>,
        cases: &[&CaseReport<D>],
    ) -> io::Result<()> {
        for case in cases {
            let task = case.result.failure();
            let task = task.map(|failure| ("task".to_owned(), failure.message.clone()));
            let outcomes = datasets_first(case).filter_map(|outcome| {
                let reason = match &outcome.reason {
                    Some(reason) => reason.clone(),
                    None if has_not_held(outcome) => self.compared(case, outcome),
                    None => return None,
                };
                let value = self.value_of(outcome);
                Some((format!("{} {value}", outcome.name), reason))
            });
            let failures = case.evaluator_failures.iter();
            let failures =
                failures.map(|failure| (failure.evaluator.clone(), failure.message.clone()));
            let lines: Vec<(String, String)> =
                task.into_iter().chain(outcomes).chain(failures).collect();
            if lines.is_empty() {
                continue;
            }
            writeln!(self.out)?;
            let label = single_line(&case.label(report.repeat));
            self.wrapped(Style::Bold, &label)?;
            for (what, reason) in lines {
                let line = format!("{}: {}", single_line(&what), single_line(&reason));
                self.wrapped(Style::Plain, &line)?;
            }
        }
        Ok(())
    }

    /// What a check without a reason saw of a case, shortened: the output, and the expected output if the check compares both. As JSON if
    /// their texts are alike, such as the number 5 and the text "5".
    fn compared<D: Domain>(&self, case: &CaseReport<D>, outcome: &CaseOutcome) -> String {
        let texts = [Part::Expected, Part::Output].map(|part| part.text(case));
        let [expected, output] = if texts[0] == texts[1] {
            let expected = case.expected.as_ref().and_then(json_of);
            [expected, case.result.output().and_then(json_of)]
        } else {
            texts
        };
        let expected = expected.filter(|_| outcome.evaluator == COMPARES_WITH_EXPECTED);
        let parts = [("expected", expected), ("output", output)];
        let parts = parts.into_iter().filter_map(|(name, text)| {
            let text = single_line(&text?);
            Some(format!("{name} {}", self.cut(&text)))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    fn value_of(&self, outcome: &CaseOutcome) -> String {
        match &outcome.value {
            Value::Assertion(true) => self.glyphs.passed.to_owned(),
            Value::Assertion(false) => self.glyphs.not_passed.to_owned(),
            Value::Score(score) => number::score(*score),
            Value::Label(label) => single_line(label),
            Value::Undefined => self.glyphs.undefined.to_owned(),
        }
    }
}

impl Part {
    /// The text of the part, if the case has it.
    fn text<D: Domain>(self, case: &CaseReport<D>) -> Option<String> {
        match self {
            Self::Input => text_of(&case.input),
            Self::Metadata => text_of(&case.metadata),
            Self::Expected => text_of(case.expected.as_ref()?),
            Self::Output => {
                let output = case.result.output()?;
                Some(text_of(output).unwrap_or_else(|| "null".to_owned()))
            }
        }
    }
}

impl Optional {
    /// What the case holds, what was found, and what the task returned.
    const ALL: [Self; 8] = [
        Self::Part(Part::Input),
        Self::Part(Part::Metadata),
        Self::Part(Part::Expected),
        Self::Assertions,
        Self::Scores,
        Self::Labels,
        Self::Part(Part::Output),
        Self::Metrics,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Assertions => "Assertions",
            Self::Scores => "Scores",
            Self::Labels => "Labels",
            Self::Part(Part::Input) => "Input",
            Self::Part(Part::Metadata) => "Metadata",
            Self::Part(Part::Expected) => "Expected",
            Self::Part(Part::Output) => "Output",
            Self::Metrics => "Metrics",
        }
    }
}

fn named<'n>(values: impl Iterator<Item = (&'n str, String)>) -> String {
    let values: Vec<String> = values
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    values.join(", ")
}

/// The outcomes of the dataset's evaluators, so that those of every case stand in the same order, and then those of the case's own.
fn datasets_first<D: Domain>(case: &CaseReport<D>) -> impl Iterator<Item = &CaseOutcome> {
    let of = |own: bool| {
        let outcomes = case.outcomes.iter();
        outcomes.filter(move |outcome| matches!(outcome.origin, EvaluatorOrigin::Case(_)) == own)
    };
    of(false).chain(of(true))
}

/// Whether the outcome is an assertion that should hold and does not.
fn has_not_held(outcome: &CaseOutcome) -> bool {
    outcome.value == Value::Assertion(false) && outcome.better != Direction::Lower
}

fn json_of(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

/// A text as it is, anything else as JSON; nothing for null.
fn text_of(value: &impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(value) => case_field::text_of(&value),
        Err(error) => Some(error.to_string()),
    }
}

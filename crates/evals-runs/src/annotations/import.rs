//! Reads labels from a CSV file that somebody has filled in.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::{Result, bail};
use evals::render::csv::unguarded;
use evals_guard::csv::{CsvError, Record, Table, separator, without_mark};

use super::answers::RunAnswers;
use super::current::Stale;
use super::label::{Label, LabelVerdict, WrongName, checked_labeller, checked_note};
use super::sample::{Drawn, Sample, Sampling};
use super::table::{
    self, CASE, DIGEST, JUDGE_VERDICT, LABELLER, NOTE, REPEAT, SAMPLE, VERDICT, VERDICTS,
};
use crate::filled_table::{holds, refuse, titles, torn};

/// How to read a file of labels.
#[derive(Debug)]
pub struct Import<'r> {
    /// The run with its answers.
    pub run: &'r RunAnswers,
    /// The name of the file, for messages.
    pub file: String,
    /// Who labelled the rows that do not say it.
    pub labeller: Option<String>,
    /// When the labels are added, as labels record it.
    pub time: String,
}

/// The labels of a file, every row of which is right.
#[derive(Debug)]
pub struct Imported {
    labels: Vec<Label>,
    /// Rows without a verdict.
    pub empty: usize,
    /// The case of each row that is about an answer which the run does not have, or no longer has.
    pub left_out: Vec<(String, Stale)>,
}

/// What to do with a row about an answer that the run does not have, or no longer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherAnswers {
    Refused,
    LeftOut,
}

/// The places of the columns in a file.
struct Columns<'h> {
    titles: Vec<&'h str>,
    case: usize,
    verdict: usize,
    digest: usize,
    repeat: Option<usize>,
    note: Option<usize>,
    labeller: Option<usize>,
    sample: Option<usize>,
    /// Whether the file contains what the judge said.
    shows_verdicts: bool,
}

/// A row of the file.
struct Row<'r> {
    line: u64,
    cells: Vec<&'r str>,
}

impl<'r> Row<'r> {
    fn of(record: &'r Record) -> Result<Self, CsvError> {
        Ok(Self {
            line: record.line(),
            cells: record.texts()?,
        })
    }

    fn cell(&self, column: usize) -> &'r str {
        self.cells.get(column).copied().unwrap_or_default()
    }
}

/// What is wrong with a cell.
struct Problem {
    line: u64,
    column: usize,
    what: String,
    /// Set if the row is right but about an answer that the run does not have, or no longer has.
    stale: Option<Stale>,
}

impl Imported {
    /// How many rows have a verdict.
    pub fn given(&self) -> usize {
        self.labels.len()
    }

    /// The labels that say something else than the labels of the same people for the same answers so far.
    pub fn new_labels(self, known: &[Label]) -> Vec<Label> {
        let mut of_case: BTreeMap<&str, Vec<&Label>> = BTreeMap::new();
        for label in known {
            of_case.entry(label.case.as_str()).or_default().push(label);
        }
        let labels = self.labels.into_iter().filter_map(|label| {
            let known = of_case.get(label.case.as_str());
            let known = known.map_or(&[][..], Vec::as_slice);
            let last = known.iter().rev().find(|it| label.replaces(it));
            let is_new =
                last.is_none_or(|last| last.verdict != label.verdict || last.note != label.note);
            is_new.then(|| label.after(known.iter().copied()))
        });
        labels.collect()
    }
}

impl Import<'_> {
    /// Reads the rows with a verdict. Any wrong cell is an error that names its line and column, so that nothing of a file is
    /// taken before all of it is right.
    pub fn read(&self, bytes: &[u8]) -> Result<Imported> {
        self.read_rows(bytes, OtherAnswers::Refused)
    }

    /// The same, but leaves out rows about answers that the run does not have, or no longer has.
    pub fn read_known(&self, bytes: &[u8]) -> Result<Imported> {
        self.read_rows(bytes, OtherAnswers::LeftOut)
    }

    fn read_rows(&self, bytes: &[u8], others: OtherAnswers) -> Result<Imported> {
        let text = without_mark(bytes)?;
        let mut table =
            Table::open(text, separator(bytes)).map_err(|error| torn(&self.file, error))?;
        let header = table.header().to_vec();
        let columns = self.columns(&header)?;
        let mut problems = Vec::new();
        let mut given: BTreeMap<(usize, String), (Label, u64)> = BTreeMap::new();
        let mut drawn = BTreeMap::new();
        let mut imported = Imported {
            labels: Vec::new(),
            empty: 0,
            left_out: Vec::new(),
        };
        while let Some(record) = table.row().map_err(|error| torn(&self.file, error))? {
            let row = Row::of(record).map_err(|error| torn(&self.file, error))?;
            match self.row(&columns, &row, &mut drawn) {
                Ok(None) => imported.empty += 1,
                Ok(Some((place, label))) => {
                    let line = row.line;
                    let key = (place, label.labeller.clone());
                    match given.entry(key) {
                        Entry::Occupied(before) => {
                            let (before, before_line) = before.get();
                            problems.extend(contradiction(&columns, before, &label).map(
                                |(column, what)| Problem {
                                    line,
                                    column,
                                    what: format!("line {before_line} {what}"),
                                    stale: None,
                                },
                            ));
                        }
                        Entry::Vacant(place) => {
                            place.insert((label.clone(), line));
                            imported.labels.push(label);
                        }
                    }
                }
                Err(Problem {
                    stale: Some(stale), ..
                }) if others == OtherAnswers::LeftOut => {
                    let case = row.cell(columns.case);
                    imported.left_out.push((unguarded(case).to_owned(), stale));
                }
                Err(problem) => problems.push(problem),
            }
        }
        let wrong = problems.iter();
        let wrong = wrong.map(|it| (it.line, it.column, it.what.as_str()));
        refuse(&self.file, "label", &columns.titles, wrong)?;
        Ok(imported)
    }

    fn columns<'h>(&self, header: &'h [String]) -> Result<Columns<'h>> {
        let titles = titles(&self.file, header)?;
        let find = |wanted: &str| titles.iter().position(|title| *title == wanted);
        let need = |wanted: &str| match find(wanted) {
            Some(place) => Ok(place),
            None => bail!(
                "`{}`, line 1: there is no column `{wanted}`; export the answers with `evaluations labels RUN --export FILE.csv` and fill in the columns `{VERDICT}` and `{NOTE}`",
                self.file
            ),
        };
        Ok(Columns {
            case: need(CASE)?,
            verdict: need(VERDICT)?,
            digest: need(DIGEST)?,
            repeat: find(REPEAT),
            note: find(NOTE),
            labeller: find(LABELLER),
            sample: find(SAMPLE),
            shows_verdicts: find(JUDGE_VERDICT).is_some(),
            titles,
        })
    }

    /// The label of a row with the place of its answer; `None` for a row without a verdict.
    fn row(
        &self,
        columns: &Columns<'_>,
        row: &Row<'_>,
        drawn: &mut BTreeMap<String, BTreeMap<usize, Drawn>>,
    ) -> Result<Option<(usize, Label)>, Problem> {
        let cell = |column: usize| row.cell(column);
        let cell_of = |column: Option<usize>| column.map(cell).unwrap_or_default();
        let wrong = |column: usize, what: String| Problem {
            line: row.line,
            column,
            what,
            stale: None,
        };
        let verdict = cell(columns.verdict);
        if verdict.trim().is_empty() {
            return Ok(None);
        }
        let verdict: LabelVerdict = verdict.parse().map_err(|()| {
            let what = format!(
                "`{verdict}` is not a verdict; write {}, or nothing",
                LabelVerdict::WRITTEN
            );
            wrong(columns.verdict, what)
        })?;
        let place = self.place(columns, row)?;
        let answer = &self.run.answers[place];
        let labeller = self.labeller(unguarded(cell_of(columns.labeller).trim()));
        let labeller = labeller
            .map_err(|what| wrong(columns.labeller.unwrap_or(columns.verdict), what))?
            .to_owned();
        let note = checked_note(unguarded(cell_of(columns.note)))
            .map_err(|error| wrong(columns.note.unwrap_or_default(), error.to_string()))?
            .to_owned();
        let sample = cell_of(columns.sample).trim();
        let sampling = self.sampling(sample, place, drawn).ok_or_else(|| {
            let what = format!(
                "`{sample}` is not a sample; leave the column as it was exported, or empty for answers that you picked"
            );
            wrong(columns.sample.unwrap_or_default(), what)
        })?;
        let label = Label {
            case: answer.id.clone(),
            repeat: answer.repeat,
            measure: self.run.measure.clone(),
            verdict,
            note,
            labeller,
            time: self.time.clone(),
            blind: !columns.shows_verdicts,
            revealed: columns.shows_verdicts,
            sampling,
            digests: answer.digests.clone(),
        };
        Ok(Some((place, label)))
    }

    /// Who labelled a row with this name, or what is wrong with it.
    fn labeller<'n>(&'n self, named: &'n str) -> Result<&'n str, String> {
        let name: &str = match &self.labeller {
            Some(default) if named.is_empty() => default,
            _ => named,
        };
        checked_labeller(name).map_err(|error| match error {
            WrongName::Empty => {
                "it does not name who labelled the row; pass `--labeller NAME`".to_owned()
            }
            WrongName::Long => error.to_string(),
        })
    }

    /// The place of a row's answer in the run, whose digest has to be that of the row, or what is wrong in which column.
    fn place(&self, columns: &Columns<'_>, row: &Row<'_>) -> Result<usize, Problem> {
        let cell = |column: usize| row.cell(column);
        let wrong = |column, what, stale| Problem {
            line: row.line,
            column,
            what,
            stale,
        };
        let id = cell(columns.case);
        let repeat = match columns.repeat {
            None => 1,
            Some(column) => cell(column).trim().parse().map_err(|_| {
                let what = format!("`{}` is not the number of a repetition", cell(column));
                wrong(column, what, None)
            })?,
        };
        let mut answers = self.run.answers.iter();
        let place = answers.position(|it| it.repeat == repeat && holds(id, it.id.as_str()));
        let place = place.ok_or_else(|| {
            let what = format!(
                "run `{}` has no answer to case `{id}`, repetition {repeat}",
                self.run.run
            );
            wrong(columns.case, what, Some(Stale::NoAnswer))
        })?;
        if cell(columns.digest).trim() != table::digest(&self.run.answers[place]) {
            let what = format!(
                "it is not the digest of this answer in run `{}`, so the question, the reference or the answer has changed since the export",
                self.run.run
            );
            return Err(wrong(columns.digest, what, Some(Stale::Answer)));
        }
        Ok(place)
    }

    /// How the answer of a row was chosen; `None` for a cell that names no sample.
    ///
    /// The sample is drawn again. An answer that is not in it, or whose sample was drawn by other verdicts of the judge, counts as
    /// picked.
    fn sampling(
        &self,
        cell: &str,
        place: usize,
        drawn: &mut BTreeMap<String, BTreeMap<usize, Drawn>>,
    ) -> Option<Sampling> {
        if cell.is_empty() {
            return Some(Sampling::chosen());
        }
        let written = cell.split_once(VERDICTS).map_or(cell, |(sample, _)| sample);
        let sample: Sample = written.parse().ok()?;
        if table::sample(self.run, &sample) != cell {
            return Some(Sampling::chosen());
        }
        let drawn = drawn.entry(cell.to_owned()).or_insert_with(|| {
            let drawn = sample.draw(&self.run.answers).into_iter();
            drawn.map(|drawn| (drawn.place, drawn)).collect()
        });
        Some(match drawn.get(&place) {
            Some(drawn) => sample.sampling(*drawn),
            None => Sampling::chosen(),
        })
    }
}

/// What two rows about the same answer by the same person say differently, and the column of it. A repeated row is no problem.
fn contradiction(columns: &Columns<'_>, before: &Label, label: &Label) -> Option<(usize, String)> {
    let labeller = &label.labeller;
    if before.verdict != label.verdict {
        let (before, here) = (before.verdict, label.verdict);
        let what = format!(
            "has the label `{before}` of `{labeller}` for the same answer, and this line `{here}`"
        );
        return Some((columns.verdict, what));
    }
    let note = columns.note.filter(|_| before.note != label.note)?;
    let what = format!("has a different note of `{labeller}` for the same answer");
    Some((note, what))
}

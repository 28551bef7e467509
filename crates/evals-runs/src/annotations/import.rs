//! Reads labels from a CSV file that somebody has filled in.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::Result;
use evals::render::csv::unguarded;

use super::answers::RunAnswers;
use super::current::Stale;
use super::label::{Label, LabelVerdict, WrongName, checked_labeller, checked_note};
use super::sample::{Drawn, Sample, Sampling};
use super::table::{
    self, CASE, DIGEST, JUDGE_VERDICT, LABELLER, NOTE, REPEAT, SAMPLE, VERDICT, VERDICTS,
};
use crate::filled_table::{self, Row, Wrong, holds};

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

/// Why a row adds no label.
struct Problem {
    wrong: Wrong,
    /// Set if the row is right but about an answer that the run does not have, or no longer has.
    stale: Option<Stale>,
}

impl From<Wrong> for Problem {
    fn from(wrong: Wrong) -> Self {
        Self { wrong, stale: None }
    }
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
        let mut given: BTreeMap<(usize, String), (Label, u64)> = BTreeMap::new();
        let mut drawn = BTreeMap::new();
        let (mut empty, mut left_out) = (0, Vec::new());
        let advice = format!(
            "export the answers with `evaluations labels RUN --export FILE.csv` and fill in the columns `{VERDICT}` and `{NOTE}`"
        );
        let form = ("label", &[CASE, VERDICT, DIGEST][..], &*advice);
        let labels = filled_table::rows((&self.file, bytes), form, |row| {
            let (place, label) = match self.row(row, &mut drawn) {
                Ok(Some(found)) => found,
                Ok(None) => {
                    empty += 1;
                    return Ok(None);
                }
                Err(Problem {
                    stale: Some(stale), ..
                }) if others == OtherAnswers::LeftOut => {
                    left_out.push((row.text(CASE).to_owned(), stale));
                    return Ok(None);
                }
                Err(problem) => return Err(problem.wrong),
            };
            match given.entry((place, label.labeller.clone())) {
                Entry::Occupied(before) => {
                    let (before, line) = before.get();
                    let wrong = contradiction(row, before, &label);
                    wrong.map_or(Ok(None), |(column, what)| {
                        Err((column, format!("line {line} {what}")))
                    })
                }
                Entry::Vacant(place) => {
                    place.insert((label.clone(), row.line));
                    Ok(Some(label))
                }
            }
        })?;
        Ok(Imported {
            labels,
            empty,
            left_out,
        })
    }

    /// The label of a row with the place of its answer; `None` for a row without a verdict.
    fn row(
        &self,
        row: &Row<'_>,
        drawn: &mut BTreeMap<String, BTreeMap<usize, Drawn>>,
    ) -> Result<Option<(usize, Label)>, Problem> {
        let verdict = row.whole(VERDICT).unwrap_or_default();
        if verdict.trim().is_empty() {
            return Ok(None);
        }
        let verdict: LabelVerdict = verdict.parse().map_err(|()| {
            let what = format!(
                "`{verdict}` is not a verdict; write {}, or nothing",
                LabelVerdict::WRITTEN
            );
            (VERDICT, what)
        })?;
        let place = self.place(row)?;
        let answer = &self.run.answers[place];
        let is_named = row.whole(LABELLER).is_some();
        let labeller = self.labeller(row.text(LABELLER));
        let labeller = labeller
            .map_err(|what| (if is_named { LABELLER } else { VERDICT }, what))?
            .to_owned();
        let note = checked_note(unguarded(row.whole(NOTE).unwrap_or_default()))
            .map_err(|error| (NOTE, error.to_string()))?
            .to_owned();
        let sample = row.whole(SAMPLE).unwrap_or_default().trim();
        let sampling = self.sampling(sample, place, drawn).ok_or_else(|| {
            let what = format!(
                "`{sample}` is not a sample; leave the column as it was exported, or empty for answers that you picked"
            );
            (SAMPLE, what)
        })?;
        let shows_verdicts = row.whole(JUDGE_VERDICT).is_some();
        let label = Label {
            case: answer.id.clone(),
            repeat: answer.repeat,
            measure: self.run.measure.clone(),
            verdict,
            note,
            labeller,
            time: self.time.clone(),
            blind: !shows_verdicts,
            revealed: shows_verdicts,
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
    fn place(&self, row: &Row<'_>) -> Result<usize, Problem> {
        let stale = |wrong, stale| Problem {
            wrong,
            stale: Some(stale),
        };
        let id = row.whole(CASE).unwrap_or_default();
        let repeat = match row.whole(REPEAT) {
            None => 1,
            Some(repeat) => repeat.trim().parse().map_err(|_| {
                let what = format!("`{repeat}` is not the number of a repetition");
                (REPEAT, what)
            })?,
        };
        let mut answers = self.run.answers.iter();
        let place = answers.position(|it| it.repeat == repeat && holds(id, it.id.as_str()));
        let place = place.ok_or_else(|| {
            let what = format!(
                "run `{}` has no answer to case `{id}`, repetition {repeat}",
                self.run.run
            );
            stale((CASE, what), Stale::NoAnswer)
        })?;
        if row.text(DIGEST) != table::digest(&self.run.answers[place]) {
            let what = format!(
                "it is not the digest of this answer in run `{}`, so the question, the reference or the answer has changed since the export, or `--measure` is not that of the export",
                self.run.run
            );
            return Err(stale((DIGEST, what), Stale::Answer));
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
fn contradiction(row: &Row<'_>, before: &Label, label: &Label) -> Option<Wrong> {
    let labeller = &label.labeller;
    if before.verdict != label.verdict {
        let (before, here) = (before.verdict, label.verdict);
        let what = format!(
            "has the label `{before}` of `{labeller}` for the same answer, and this line `{here}`"
        );
        return Some((VERDICT, what));
    }
    row.whole(NOTE).filter(|_| before.note != label.note)?;
    let what = format!("has a different note of `{labeller}` for the same answer");
    Some((NOTE, what))
}

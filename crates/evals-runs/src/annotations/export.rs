//! Writes answers for people who label elsewhere.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};
use evals::render::csv::guarded;

use super::answers::RunAnswers;
use super::current::CurrentLabels;
use super::label::Label;
use super::sample::Sample;
use super::table::{self, COLUMNS, JUDGE_REASON, JUDGE_VERDICT};
use super::texts::{JudgedAnswer, ShownPassage};

/// Answers to write as CSV. Without further options the file is blind: it does not contain what the judge said.
#[derive(Debug)]
pub struct Export<'r> {
    /// The run with its answers.
    pub run: &'r RunAnswers,
    /// Its labels.
    pub current: &'r CurrentLabels<'r>,
    /// Which answers to write.
    pub sample: Sample,
    /// Whether to write the labels that count, one row for each.
    pub with_labels: bool,
    /// Whether to write what the judge said.
    pub with_verdicts: bool,
}

impl Export<'_> {
    /// Writes a row for each answer of the sample, in the random order of the sample: the labels of somebody who stops halfway
    /// are still a random sample. Returns the number of rows.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<usize> {
        let mut writer = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(out);
        let judge = [JUDGE_VERDICT, JUDGE_REASON].into_iter();
        let judge = judge.filter(|_| self.with_verdicts);
        writer.write_record(COLUMNS.into_iter().chain(judge))?;
        let sample = table::sample(self.run, &self.sample);
        let mut rows = 0;
        for drawn in self.sample.draw(&self.run.answers) {
            let labels: Vec<Option<&Label>> = match self.labels(drawn.place) {
                labels if labels.is_empty() => vec![None],
                labels => labels.into_iter().map(Some).collect(),
            };
            for label in labels {
                let answer = &self.run.answers[drawn.place];
                writer.write_record(self.row(answer, label, &sample))?;
                rows += 1;
            }
        }
        writer.flush()?;
        Ok(rows)
    }

    /// The labels of an answer to write.
    fn labels(&self, place: usize) -> Vec<&Label> {
        let people = self.current.people.values().filter(|_| self.with_labels);
        let labels = people.flatten().filter(|it| it.place == place);
        labels.map(|it| it.label).collect()
    }

    fn row(&self, answer: &JudgedAnswer, label: Option<&Label>, sample: &str) -> Vec<String> {
        let verdict = label.map(|label| label.verdict.to_string());
        let note = label.map(|label| label.note.clone());
        let labeller = label.map(|label| label.labeller.clone());
        let mut row = vec![
            answer.id.to_string(),
            answer.repeat.to_string(),
            answer.criterion.clone(),
            history(answer),
            answer.question.clone(),
            answer.reference.clone().unwrap_or_default(),
            answer.answer.clone(),
            passages(&answer.passages),
            verdict.unwrap_or_default(),
            note.unwrap_or_default(),
            labeller.unwrap_or_default(),
            sample.to_owned(),
            table::digest(answer),
        ];
        if self.with_verdicts {
            row.push(match answer.verdict {
                Some(true) => "pass".to_owned(),
                Some(false) => "fail".to_owned(),
                None => String::new(),
            });
            row.push(answer.reason.clone().unwrap_or_default());
        }
        row.into_iter().map(guarded).collect()
    }
}

/// What was said before the question, in one cell.
fn history(answer: &JudgedAnswer) -> String {
    let said = answer.said.iter();
    let said = said.map(|(speaker, text)| format!("{speaker}: {text}"));
    said.collect::<Vec<String>>().join("\n")
}

/// The passages in one cell, numbered as the answer cites them.
fn passages(passages: &[ShownPassage]) -> String {
    let numbered = passages.iter().zip(1..);
    let texts = numbered
        .map(|(passage, number)| format!("[{number}] {}\n{}", passage.document, passage.text));
    texts.collect::<Vec<String>>().join("\n\n")
}

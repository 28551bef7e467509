//! A calibration as text: who labelled, how far the judge agrees, where it does not, and the corrected pass rate.

use std::fmt::Write as _;

use evals::render::Narrow;
use evals::render::tables::Table;
use evals_messages::{quantity, visible};
use evals_runs::annotations::{
    PairAgreement, PersonAgreement, WEIGHTED, estimates, estimates_of_people,
};
use evals_runs::calibrations::{
    CORRECTION, Calibration, Correction, Disagreement, Drawing, JudgedRun,
};
use evals_terminal::{Printer, confusion_table, statistics_table, table_text, wrapped};

/// Most characters that are shown of a question, a reference or an answer.
const SHOWN: usize = 300;

/// Everything that is shown of a calibration.
#[derive(Debug)]
pub(super) struct Shown<'s> {
    pub(super) run: &'s JudgedRun,
    pub(super) calibration: &'s Calibration,
    /// Everybody who labelled, whether or not their labels count.
    pub(super) people: &'s [PersonAgreement],
    pub(super) pairs: &'s [PairAgreement],
    /// The labels that are about other answers.
    pub(super) left_out: &'s [String],
    pub(super) disagreements: &'s [Disagreement<'s>],
    pub(super) most_disagreements: usize,
    pub(super) correction: &'s Result<Correction, String>,
}

impl Shown<'_> {
    pub(super) fn text(&self, printer: &Printer) -> String {
        let mut text: String = self
            .opening()
            .iter()
            .map(|line| wrapped(printer, line))
            .collect();
        text.push('\n');
        text.push_str(&self.confusion(printer));
        text.push('\n');
        text.push_str(&self.agreement(printer));
        if self.people.len() > 1 {
            text.push('\n');
            text.push_str(&self.labellers(printer));
        }
        text.push_str(&self.disagreements());
        text.push('\n');
        match self.correction {
            Ok(correction) => {
                text.push_str(&table_text(printer, &correction.table(), CORRECTION));
            }
            Err(reason) => {
                text.push_str(&wrapped(printer, &format!("no corrected rate: {reason}")));
            }
        }
        text
    }

    fn opening(&self) -> Vec<String> {
        let Self {
            run, calibration, ..
        } = self;
        let mut lines = vec![format!(
            "run {}: `{}` by {}, {} passed, {} failed",
            run.name,
            run.judge.measure,
            run.judge.name.as_deref().unwrap_or("the judge"),
            run.verdicts.passes,
            run.verdicts.fails
        )];
        let drawing = match calibration.drawing {
            Drawing::Random => "",
            Drawing::ByVerdict => ", drawn by the judge's verdict",
            Drawing::Picked => ", some of them picked by somebody",
        };
        lines.push(format!(
            "labels of {}: {}{drawing}",
            visible::line(&calibration.labellers.join(", ")),
            quantity::of(calibration.labels.n(), "answer")
        ));
        lines.extend(calibration.left_out.iter().map(|(reason, n)| {
            let answers = quantity::of(*n, "answer");
            format!("labels: {answers} left out: {reason}")
        }));
        let left_out = self.left_out.iter();
        lines.extend(left_out.map(|line| format!("labels: {}", visible::line(line))));
        lines
    }

    fn confusion(&self, printer: &Printer) -> String {
        let titles = ["people pass", "people fail"].map(str::to_owned);
        confusion_table(printer, titles, &self.calibration.labels)
    }

    fn agreement(&self, printer: &Printer) -> String {
        let mut text = statistics_table(printer, &self.calibration.agreement());
        if self.calibration.drawing == Drawing::ByVerdict {
            text.push_str(&wrapped(printer, &format!("note: {WEIGHTED}")));
        }
        text
    }

    /// The agreement of the judge with each person, and of people with each other.
    fn labellers(&self, printer: &Printer) -> String {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for person in self.people {
            let n = person.confusion.n();
            let shown = estimates(&person.agreement);
            rows.push(pair_row(&person.labeller, "the judge", n, &shown[..2]));
        }
        for pair in self.pairs {
            let [one, other] = &pair.labellers;
            let shown = estimates_of_people(&pair.agreement);
            rows.push(pair_row(one, other, pair.agreement.n, &shown));
        }
        let heads = ["labeller", "and", "answers", "agreement", "kappa"];
        let table = Table {
            heads: heads.map(str::to_owned).to_vec(),
            rows,
            notes: Vec::new(),
        };
        table_text(printer, &table, Narrow::Drop(&["answers"]))
    }

    fn disagreements(&self) -> String {
        let all = self.disagreements.len();
        if all == 0 {
            return "\nthe judge and people agree about every labelled answer\n".to_owned();
        }
        let mut text = format!(
            "\nthe judge and people disagree about {}:\n",
            quantity::of(all, "answer")
        );
        let shown = self.disagreements.iter().take(self.most_disagreements);
        for disagreement in shown {
            text.push_str(&entry(disagreement));
        }
        if all > self.most_disagreements {
            let _ = writeln!(
                text,
                "and {} more; `--disagreements {all}` lists all",
                all - self.most_disagreements
            );
        }
        text
    }
}

fn pair_row(
    one: &str,
    other: &str,
    n: usize,
    shown: &[evals_runs::annotations::ShownEstimate],
) -> Vec<String> {
    let mut row = vec![one.to_owned(), other.to_owned(), n.to_string()];
    row.extend(
        shown
            .iter()
            .map(|it| format!("{} {}", it.value, it.interval)),
    );
    row
}

fn entry(disagreement: &Disagreement<'_>) -> String {
    let words = |passes: bool| if passes { "passed" } else { "failed" };
    let mut text = format!(
        "\n{}: the judge {} it, people {} it\n",
        visible::line(&disagreement.case),
        words(disagreement.judge_passes),
        words(!disagreement.judge_passes)
    );
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name}: {value}");
    };
    line("question", &short(disagreement.question));
    if let Some(reference) = disagreement.reference {
        line("reference", &short(reference));
    }
    line("answer", &short(disagreement.answer));
    let reason = disagreement.reason.map(visible::single_line);
    line("judge", reason.as_deref().unwrap_or("gave no reason"));
    for (labeller, note) in &disagreement.people {
        let note = if note.is_empty() {
            "no note".to_owned()
        } else {
            visible::single_line(note)
        };
        line(&visible::line(labeller), &note);
    }
    text
}

/// A text on one line, cut if it is long.
fn short(text: &str) -> String {
    let line = visible::single_line(text);
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The corrected pass rate of a run.
pub(super) fn correction(printer: &Printer, run: &str, correction: &Correction) -> String {
    let table = table_text(printer, &correction.table(), CORRECTION);
    format!("run {run}\n\n{table}")
}

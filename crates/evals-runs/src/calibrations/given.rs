//! The labels to calibrate with: those beside the run, or those in a file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;

use crate::annotations::{CurrentLabels, Import, LabelFile, RunAnswers, Stale, StoredLabels};

/// The size limit of a file with labels.
const LARGEST: u64 = 512_000_000;

/// Most cases that a message names.
const NAMED: usize = 5;

/// Labels, and rows of a file that are about other answers.
#[derive(Debug, Default)]
pub struct GivenLabels {
    /// The labels.
    pub stored: StoredLabels,
    others: Vec<(String, Stale)>,
}

impl GivenLabels {
    /// The labels beside the run.
    pub fn of_run(file: &LabelFile) -> Result<Self> {
        Ok(Self {
            stored: file.read()?,
            others: Vec::new(),
        })
    }

    /// The labels in a file: CSV as `labels --export` writes it, or the `annotations.jsonl` of a run. `labeller` is who labelled
    /// the rows of a CSV file that do not say it.
    pub fn of_file(
        path: &Path,
        run: &RunAnswers,
        labeller: Option<String>,
        time: String,
    ) -> Result<Self> {
        let bytes = regular_file::read(path, LARGEST)?;
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'{') {
            return Self::of_run(&LabelFile::at(path));
        }
        let import = Import {
            run,
            file: path.display().to_string(),
            labeller,
            time,
        };
        let mut imported = import.read_known(&bytes)?;
        let others = std::mem::take(&mut imported.left_out);
        if imported.given() + others.len() == 0 {
            bail!(
                "no row of `{}` has a verdict; fill in the column `verdict`",
                path.display()
            );
        }
        Ok(Self {
            stored: StoredLabels {
                labels: imported.new_labels(&[]),
                damaged: 0,
            },
            others,
        })
    }

    /// The labels that do not count, a line for each reason, with the first cases.
    pub fn left_out(&self, current: &CurrentLabels<'_>) -> Vec<String> {
        let mut cases: BTreeMap<Stale, Vec<&str>> = BTreeMap::new();
        for (case, reason) in &self.others {
            cases.entry(*reason).or_default().push(case);
        }
        for (case, _, reason) in &current.stale_answers {
            cases.entry(*reason).or_default().push(case);
        }
        let mut lines: Vec<String> = cases
            .into_iter()
            .map(|(reason, cases)| {
                let named: Vec<String> = cases
                    .iter()
                    .take(NAMED)
                    .map(|it| format!("`{it}`"))
                    .collect();
                let more = match cases.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "{} left out, because {}: {}{more}",
                    quantity::of(cases.len(), "label"),
                    clause(reason),
                    named.join(", ")
                )
            })
            .collect();
        if current.of_other_measures > 0 {
            lines.push(format!(
                "{} left out, because they are for a different measure",
                quantity::of(current.of_other_measures, "label")
            ));
        }
        if current.damaged > 0 {
            lines.push(format!(
                "{} left out, because the lines fail their check",
                quantity::of(current.damaged, "label")
            ));
        }
        lines
    }

    /// Fails if no label counts.
    pub fn check(&self, run: &RunAnswers, current: &CurrentLabels<'_>) -> Result<()> {
        if !current.people.is_empty() {
            return Ok(());
        }
        let left_out = self.left_out(current);
        if left_out.is_empty() {
            bail!(
                "run `{}` has no labels; give some with `evaluations view`, or name a file with `--labels FILE`",
                run.run
            );
        }
        bail!(
            "no label is about an answer of run `{}` and its judge:\n{}",
            run.run,
            left_out.join("\n")
        )
    }
}

fn clause(reason: Stale) -> &'static str {
    match reason {
        Stale::NoAnswer | Stale::Case | Stale::Answer => reason.reason(),
        Stale::Judge => "they are for a different judge",
        Stale::Prompt => "they are for a different prompt of the judge",
    }
}

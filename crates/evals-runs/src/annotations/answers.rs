//! The answers of a run, as people label them and as its judge saw them.

use anyhow::{Result, bail};
use evals::Report;

use super::judge::{Measures, WantedMeasure};
use super::run_judge::RunJudge;
use super::texts::{Answers, JudgedAnswer};
use crate::judged_by::JudgeRecord;
use crate::run_folder::RunFolder;
use crate::run_record::RunRecord;
use crate::stored_runs::{StoredReport, StoredRun};

/// The answers of a run.
#[derive(Debug)]
pub struct RunAnswers {
    /// The name of the run's folder.
    pub run: String,
    /// The measure whose verdicts labels are compared with; `None` if the run has no judge.
    pub measure: Option<String>,
    /// The measures of judges that labels may be given for.
    pub judges: Vec<String>,
    /// The judge's model, as the manifest names it.
    pub judge: Option<String>,
    /// The judge of the measure; `None` if the run has no judge, or does not record it.
    pub judged_by: Option<JudgeRecord>,
    /// In the order of the dataset.
    pub answers: Vec<JudgedAnswer>,
    /// How many cases have no answer, because they failed.
    pub failed: usize,
}

impl RunAnswers {
    /// Reads the answers of a run.
    pub fn read(run: &StoredRun, measure: WantedMeasure<'_>) -> Result<Self> {
        let folder = run.folder("names the judge, and beside which labels are kept")?;
        match run.report()? {
            StoredReport::Qa(report) => Self::of(folder, &report, &run.record, measure),
            StoredReport::Eval(report) => Self::of(folder, &report, &run.record, measure),
            StoredReport::Retrieval(_) => bail!(
                "run `{}` is a retrieval run; labels are verdicts about answers, so choose a run of question answering or of a dataset file",
                run.name()
            ),
        }
    }

    /// The answers of a report, whose run has this record.
    pub fn of<D: Answers>(
        folder: &RunFolder,
        report: &Report<D>,
        record: &RunRecord,
        measure: WantedMeasure<'_>,
    ) -> Result<Self> {
        let run = folder.name();
        let measures = Measures::of(report)?;
        let measure = measures.choose(&run, measure, D::JUDGED)?;
        let judge = RunJudge::of(report, record, measure.as_deref())?;
        let answers: Vec<JudgedAnswer> = report
            .cases
            .iter()
            .filter_map(|case| Some(judge.answer(case, D::texts(case)?)))
            .collect();
        Ok(Self {
            run,
            judges: measures.judges().cloned().collect(),
            judge: measure.as_ref().and_then(|_| judge.name()),
            judged_by: judge.record,
            failed: report.cases.len() - answers.len(),
            measure,
            answers,
        })
    }

    /// The answer of a repetition of a case.
    pub fn find(&self, id: &str, repeat: u32) -> Option<&JudgedAnswer> {
        Some(&self.answers[self.place(id, repeat)?])
    }

    /// The place of the answer of a repetition of a case.
    pub fn place(&self, id: &str, repeat: u32) -> Option<usize> {
        let mut answers = self.answers.iter();
        answers.position(|answer| answer.id.as_str() == id && answer.repeat == repeat)
    }
}

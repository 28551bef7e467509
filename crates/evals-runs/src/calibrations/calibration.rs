//! A calibration: the counts of a judge's verdicts against people's labels, and what they are about.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_metrics::{Agreement, Confusion, JudgeLabels, VerdictCounts};
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::decided::{DecidedBy, DecidedLabels};
use super::judge::{DataIdentity, JudgeIdentity};
use super::judged_run::{JudgedRun, digest};
use crate::annotations::{LEVEL, Method};
use crate::directories::file_stem;

/// The version of calibrations that this program writes and reads.
pub(super) const VERSION: u32 = 2;

/// How far a judge agrees with people. It holds no texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The version of the file's format.
    pub schema_version: u32,
    /// Names it in commands and reports. The same labellers calibrating the same judge in the same run have the same id, so a
    /// later calibration with more labels replaces the earlier one.
    pub id: String,
    /// The run whose answers are labelled.
    pub run: CalibratedRun,
    /// The judge that was compared with people.
    pub judge: JudgeIdentity,
    /// The data that it judged.
    pub data: DataIdentity,
    /// The people whose labels count, by name.
    pub labellers: Vec<String>,
    /// Who decided what is right.
    pub decided_by: DecidedBy,
    /// How the labelled answers were drawn.
    pub drawing: Drawing,
    /// The judge's verdicts against the labels.
    pub labels: Confusion,
    /// Labels given with the judge's verdict in sight.
    pub not_blind: usize,
    /// Labelled answers that do not count, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, usize>,
}

/// The run whose answers are labelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibratedRun {
    /// The name of its folder.
    pub name: String,
    /// SHA-256 of its answers and verdicts.
    pub digest: String,
    /// How many of its answers the judge passed and failed.
    pub verdicts: VerdictCounts,
}

/// How the labelled answers of a run were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawing {
    /// At random, or all.
    Random,
    /// Separately among the answers that the judge passed and failed.
    ByVerdict,
    /// Somebody picked some of them, so they stand for nothing but themselves.
    Picked,
}

impl Calibration {
    /// Compares the labels of a run with its judge. `assume_random` takes answers that somebody picked for drawn at random.
    /// Fails for fewer than 20 labels, and then says which others are left out.
    pub fn of(
        run: &JudgedRun,
        labels: &DecidedLabels<'_>,
        assume_random: bool,
        left_out: &[String],
    ) -> Result<Self> {
        let answers = labels.answers.iter();
        let confusion: Confusion = answers
            .map(|answer| (answer.people_pass, answer.judge_passes))
            .collect();
        let least = JudgeLabels::FEWEST;
        if confusion.n() < least {
            let undecided = labels.left_out.iter();
            let undecided =
                undecided.map(|(reason, n)| format!("\n{n} left out, because {reason}"));
            let others = left_out.iter().map(|line| format!("\n{line}"));
            let left_out: String = undecided.chain(others).collect();
            bail!(
                "run `{}` has {} with a verdict of people and one of the judge, and a calibration needs at least {least}{left_out}",
                run.name,
                quantity::of(confusion.n(), "answer"),
            );
        }
        let not_blind = labels.answers.iter().filter(|answer| {
            let mut labels = answer.labels.iter();
            labels.any(|label| !label.blind)
        });
        let mut found = Self {
            schema_version: VERSION,
            id: String::new(),
            run: CalibratedRun {
                name: run.name.clone(),
                digest: run.digest.clone(),
                verdicts: run.verdicts,
            },
            judge: run.judge.clone(),
            data: run.data.clone(),
            labellers: labels.labellers.clone(),
            decided_by: labels.by,
            drawing: drawing(run, labels, assume_random),
            labels: confusion,
            not_blind: not_blind.count(),
            left_out: labels.left_out.clone(),
        };
        found.id = found.identifier();
        Ok(found)
    }

    /// The labels with the way in which they were drawn.
    pub fn judge_labels(&self) -> JudgeLabels {
        match self.drawing {
            Drawing::Random | Drawing::Picked => JudgeLabels::Random(self.labels),
            Drawing::ByVerdict => JudgeLabels::ByVerdict {
                labels: self.labels,
                drawn_from: self.run.verdicts,
            },
        }
    }

    /// The agreement of the judge with people.
    pub fn agreement(&self) -> Agreement {
        self.judge_labels().agreement(LEVEL)
    }

    /// Whether these answers and verdicts are those that people labelled.
    pub fn is_of(&self, run: &JudgedRun) -> bool {
        self.run.digest == run.digest
    }

    /// Fails with the fact that differs if the judge, its panel, prompts or criteria, or the data of a run are others. A run that does not
    /// record its judge is fit for the calibration by its own labels alone.
    pub(super) fn check_fit(&self, run: &JudgedRun) -> Result<(), Misfit> {
        let differences = self.judge.differences(&run.judge);
        let is_itself = self.is_of(run) && self.judge == run.judge;
        if !differences.is_empty() && !is_itself {
            return Err(Misfit::Judge(differences.join("; ")));
        }
        self.data
            .difference(&run.data)
            .map_or(Ok(()), |difference| Err(Misfit::Data(difference)))
    }

    /// The best of the calibrations that fit a run: one by labels of this run, then the one with most labels. Otherwise why a
    /// calibration of the same measure and dataset does not fit, if there is one.
    pub(super) fn best<'c>(
        all: impl IntoIterator<Item = &'c Self>,
        run: &JudgedRun,
    ) -> Result<&'c Self, Option<String>> {
        let of_measure = all
            .into_iter()
            .filter(|it| it.judge.measure == run.judge.measure);
        let (fitting, others): (Vec<&Self>, Vec<&Self>) =
            of_measure.partition(|it| it.check_fit(run).is_ok());
        let best = fitting.into_iter().max_by(|left, right| {
            let key = |it: &Self| (it.is_of(run), it.labels.n());
            let by_labels = key(left).cmp(&key(right));
            by_labels.then_with(|| right.id.cmp(&left.id))
        });
        best.ok_or_else(|| {
            let near = others
                .into_iter()
                .filter(|it| it.data.name == run.data.name);
            let near = near.filter_map(|it| Some((it.check_fit(run).err()?.to_string(), &it.id)));
            let nearest = near.min_by_key(|(reason, id)| (reason.len(), *id));
            nearest.map(|(reason, id)| format!("calibration `{id}` is of {reason}"))
        })
    }

    /// Fails if the parts contradict each other, because somebody has edited the file.
    pub(super) fn check(&self) -> Result<()> {
        if self.labels.n() < JudgeLabels::FEWEST {
            bail!(
                "`labels` counts {}, and a calibration needs at least {}",
                quantity::of(self.labels.n(), "answer"),
                JudgeLabels::FEWEST
            );
        }
        let verdicts = self.run.verdicts;
        if self.labels.judge_passes() > verdicts.passes
            || self.labels.judge_fails() > verdicts.fails
        {
            bail!("`labels` counts more answers than `run.verdicts`");
        }
        if self.not_blind > self.labels.n() {
            bail!("`not_blind` counts more answers than `labels`");
        }
        let left_out = self.left_out.values().copied();
        if left_out.reduce(usize::saturating_add) == Some(usize::MAX) {
            bail!("`left_out` counts more answers than a run can have");
        }
        if self.id != self.identifier() {
            bail!("`id` does not fit `run`, `judge` and `labellers`");
        }
        Ok(())
    }

    fn identifier(&self) -> String {
        let about = json!([
            &self.run.name,
            &self.judge,
            &self.data,
            &self.labellers,
            &self.decided_by
        ]);
        let judge = self.judge.name.as_deref().unwrap_or("judge");
        let model = judge.rsplit([':', '/']).next().unwrap_or(judge);
        let stem: String = file_stem(&format!("{}-{model}", self.judge.measure))
            .chars()
            .take(60)
            .collect();
        format!("{stem}-{}", &digest(&about)[..8])
    }
}

/// Why a calibration says nothing about a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Misfit {
    #[error("a different judge ({0})")]
    Judge(String),
    #[error("other data ({0})")]
    Data(String),
}

/// How the labelled answers of a run were drawn. `assume_random` takes answers that somebody picked for drawn at random.
pub(super) fn drawing(run: &JudgedRun, labels: &DecidedLabels<'_>, assume_random: bool) -> Drawing {
    let verdicts = run.verdicts;
    if labels.answers.len() == verdicts.passes + verdicts.fails {
        return Drawing::Random;
    }
    let has = |wanted: Method| {
        let answers = labels.answers.iter();
        let mut all = answers.flat_map(|answer| &answer.labels);
        all.any(|label| label.sampling.method == wanted)
    };
    if has(Method::Chosen) && !assume_random {
        Drawing::Picked
    } else if has(Method::Stratified) {
        Drawing::ByVerdict
    } else {
        Drawing::Random
    }
}

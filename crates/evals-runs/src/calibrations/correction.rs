//! The pass rate of a run, corrected for the errors of its judge.

use std::fmt::{self, Display, Formatter};

use evals::render::tables::Table;
use evals::render::{Narrow, percent};
use evals_messages::quantity;
use evals_metrics::{
    CorrectedRate, Estimate, Interval, JudgeLabels, NoCorrection, VerdictCounts, double_sampling,
    prediction_powered_rate, rogan_gladen,
};

use super::calibration::{Calibration, Drawing, Misfit};
use super::decided;
use super::judged_run::JudgedRun;
use crate::annotations::LEVEL;

/// The columns of the table of corrected rates that a narrow terminal leaves out.
pub const CORRECTION: Narrow = Narrow::Drop(&["n"]);

/// Whether a calibration on other data may correct a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherData {
    /// No calibration fits.
    Refused,
    /// The user says that the judge errs as often there.
    Accepted,
}

/// A way of correcting a pass rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// From labels of the run itself.
    DoubleSampling,
    /// The same with the optimal weight of the verdicts, by the normal approximation.
    PredictionPowered,
    /// By the judge's TPR and TNR in any run.
    RoganGladen,
}

/// A pass rate as people would judge it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corrected {
    pub value: f64,
    pub interval: Interval,
    /// About how many labels would give an interval of half the width; `None` if no number would.
    pub labels_for_half: Option<usize>,
}

/// The pass rate of a run as its judge sees it, and as people would.
#[derive(Debug, Clone)]
pub struct Correction {
    /// The id of the calibration.
    pub calibration: String,
    /// The name of the measure.
    pub measure: String,
    /// The judge's pass rate with Wilson's interval, or the reason why it is undefined.
    pub raw: Result<Estimate, NoCorrection>,
    /// The corrected pass rate by each method that fits, the one to report first.
    pub estimates: Vec<(Method, Result<Corrected, String>)>,
    /// What has to hold for the corrected rate to be right.
    pub assumptions: Vec<String>,
    /// The number of labels behind them.
    pub labels: usize,
    /// Whether people labelled answers of this run.
    pub is_own: bool,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::DoubleSampling => "double sampling",
            Self::PredictionPowered => "PPI++",
            Self::RoganGladen => "Rogan-Gladen",
        }
    }
}

impl Display for Method {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Correction {
    /// Corrects the pass rate of a run. Fails with the fact that differs if the calibration is of another judge, prompt or data,
    /// and if the run asked each question several times.
    pub fn of(
        calibration: &Calibration,
        run: &JudgedRun,
        other_data: OtherData,
    ) -> Result<Self, String> {
        let data = match calibration.check_fit(run) {
            Ok(()) => None,
            Err(Misfit::Data(difference)) if other_data == OtherData::Accepted => Some(difference),
            Err(misfit) => return Err(misfit.to_string()),
        };
        if run.repeat > 1 {
            return Err(format!(
                "the run asked each question {} times, and repeated answers are not further samples",
                run.repeat
            ));
        }
        let labels = calibration.judge_labels();
        let is_own = calibration.is_of(run);
        Ok(Self {
            calibration: calibration.id.clone(),
            measure: run.judge.measure.clone(),
            raw: run.verdicts.pass_rate(LEVEL),
            estimates: estimates(calibration, &labels, run.verdicts, is_own),
            assumptions: assumptions(calibration, run, data, is_own),
            labels: calibration.labels.n(),
            is_own,
        })
    }

    /// The corrected pass rate to report, with its method, or why there is none.
    pub fn headline(&self) -> Result<(Method, Corrected), &str> {
        match self.estimates.first() {
            Some((method, Ok(corrected))) => Ok((*method, *corrected)),
            Some((_, Err(reason))) => Err(reason),
            None => Err("no method fits"),
        }
    }

    /// The pass rates as a table, with the assumptions as its notes.
    pub fn table(&self) -> Table {
        let mut notes = Vec::new();
        let mut undefined = |name: String, reason: &str| {
            notes.push(format!("{name}: {reason}"));
            vec![name, "–".to_owned(), String::new(), String::new()]
        };
        let raw = match &self.raw {
            Ok(raw) => vec![
                "as judged".to_owned(),
                number(raw.value),
                raw.interval.map_or_else(String::new, |it| shown(&it)),
                quantity::of(raw.n, "verdict"),
            ],
            Err(reason) => undefined("as judged".to_owned(), &reason.to_string()),
        };
        let mut rows = vec![raw];
        for (method, found) in &self.estimates {
            let name = format!("corrected ({method})");
            rows.push(match found {
                Ok(corrected) => vec![
                    name,
                    number(corrected.value),
                    shown(&corrected.interval),
                    quantity::of(self.labels, "label"),
                ],
                Err(reason) => undefined(name, reason),
            });
        }
        notes.push(format!(
            "corrected: the share of answers that people would pass, by calibration `{}`",
            self.calibration
        ));
        notes.extend(self.assumptions.iter().cloned());
        if let Ok((_, corrected)) = self.headline() {
            let answers = self.raw.as_ref().map_or(0, |raw| raw.n);
            let most = if self.is_own { answers } else { usize::MAX };
            notes.push(more_labels(self.labels, corrected.labels_for_half, most));
        }
        let heads = [
            format!("{} (pass rate)", self.measure),
            "Value".to_owned(),
            format!("{} interval", percent(LEVEL)),
            "n".to_owned(),
        ];
        Table {
            heads: heads.to_vec(),
            rows,
            notes,
        }
    }

    /// The corrected pass rate in one line.
    pub fn line(&self) -> String {
        let by = format!(
            "{} (calibration `{}`)",
            quantity::of(self.labels, "label"),
            self.calibration
        );
        match self.headline() {
            Ok((method, corrected)) => {
                let raw = self.raw.as_ref().map(|raw| number(raw.value));
                format!(
                    "`{}` corrected: {} {}, as judged {}; {method}, {by}",
                    self.measure,
                    number(corrected.value),
                    shown(&corrected.interval),
                    raw.unwrap_or_else(|_| "–".to_owned()),
                )
            }
            Err(reason) => format!("`{}` corrected: undefined, {reason}; {by}", self.measure),
        }
    }
}

fn estimates(
    calibration: &Calibration,
    labels: &JudgeLabels,
    verdicts: VerdictCounts,
    is_own: bool,
) -> Vec<(Method, Result<Corrected, String>)> {
    let of_rate = |found: Result<CorrectedRate, NoCorrection>| {
        let found = found.map_err(|reason| reason.to_string())?;
        Ok(Corrected {
            value: found.value,
            interval: found.interval,
            labels_for_half: found.labels_for_half,
        })
    };
    let drawn_at_random = || {
        match calibration.drawing {
        Drawing::Random | Drawing::ByVerdict => Ok(()),
        Drawing::Picked => Err(
            "somebody picked labelled answers; draw them at random, or calibrate with `--assume-random` if they were drawn so"
                .to_owned(),
        ),
    }
    };
    let rogan_gladen = || {
        drawn_at_random()?;
        let found = of_rate(rogan_gladen(labels, verdicts, LEVEL))?;
        if found.interval.low <= 0.0 && found.interval.high >= 1.0 {
            return Err(no_better_than_chance(calibration));
        }
        Ok(found)
    };
    if !is_own {
        return vec![(Method::RoganGladen, rogan_gladen())];
    }
    let double_sampling = || {
        drawn_at_random()?;
        of_rate(double_sampling(&calibration.labels, verdicts, LEVEL))
    };
    let prediction_powered = || {
        drawn_at_random()?;
        if calibration.labels.n() == verdicts.passes + verdicts.fails {
            return Err("people labelled every answer, so nothing is predicted".to_owned());
        }
        let found = prediction_powered_rate(labels, verdicts, LEVEL);
        let found = found.map_err(|reason| reason.to_string())?;
        Ok(Corrected {
            value: found.value,
            interval: found.interval,
            labels_for_half: found.labels_for_half,
        })
    };
    vec![
        (Method::DoubleSampling, double_sampling()),
        (Method::PredictionPowered, prediction_powered()),
        (Method::RoganGladen, rogan_gladen()),
    ]
}

/// Why the judge's errors leave every pass rate possible.
fn no_better_than_chance(calibration: &Calibration) -> String {
    let agreement = calibration.agreement();
    let rate = |found: Result<Estimate, _>| {
        found.map_or_else(|_| "undefined".to_owned(), |it| format!("{:.2}", it.value))
    };
    format!(
        "every rate from 0 to 1 is possible, because {} do not show that the judge is better than chance (TPR {}, TNR {}, which add up to 1 \
         for a judge that guesses)",
        quantity::of(calibration.labels.n(), "label"),
        rate(agreement.true_pass_rate),
        rate(agreement.true_fail_rate)
    )
}

/// What has to hold for the corrected rate to be right, in words.
fn assumptions(
    calibration: &Calibration,
    run: &JudgedRun,
    data: Option<String>,
    is_own: bool,
) -> Vec<String> {
    let mut found = vec![
        "assumed: people decide rightly; a mistake of theirs counts as one of the judge".to_owned(),
    ];
    found.push(match calibration.drawing {
        Drawing::Random => "assumed: the labelled answers are a random sample".to_owned(),
        Drawing::ByVerdict => {
            "assumed: the labelled answers are random samples of those that the judge passed and of those that it failed"
                .to_owned()
        }
        Drawing::Picked => "somebody picked labelled answers, so they stand only for themselves".to_owned(),
    });
    let undecided =
        [decided::CANNOT_SAY, decided::DIVIDED].map(|reason| calibration.left_out.get(reason));
    let undecided: usize = undecided.into_iter().flatten().sum();
    if undecided > 0 {
        found.push(format!(
            "{} left out, because people cannot say or are divided: the rate covers only the others",
            are(undecided, "labelled answer")
        ));
    }
    if !is_own {
        let rate = |found: Result<Estimate, _>| {
            found.map_or_else(|_| "undefined".to_owned(), |it| number(it.value))
        };
        let agreement = calibration.agreement();
        found.push(format!(
            "assumed: the judge errs here as often as in run `{}`: TPR {}, TNR {}. Another system may make mistakes that are harder to see",
            calibration.run.name,
            rate(agreement.true_pass_rate),
            rate(agreement.true_fail_rate)
        ));
    }
    found.extend(data.map(|difference| {
        format!("the calibration is of other data ({difference}), accepted with `--other-data`")
    }));
    if calibration.not_blind > 0 {
        found.push(format!(
            "{} not blind: people who saw the judge's verdict agree with it more often",
            are(calibration.not_blind, "label")
        ));
    }
    if run.without_verdict > 0 {
        found.push(format!(
            "{} without a verdict left out, as in the rate as judged",
            quantity::of(run.without_verdict, "case")
        ));
    }
    found
}

/// A count with its noun and verb: `1 label is`, `2 labels are`.
fn are(count: usize, noun: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", quantity::of(count, noun))
}

/// How many labels would halve the interval. Of the run itself, people can label `most` answers.
fn more_labels(labels: usize, for_half: Option<usize>, most: usize) -> String {
    match for_half {
        Some(n) if n > most => format!(
            "about {n} labels instead of {labels} would halve the interval, and this run has {most} verdicts: ask more questions"
        ),
        Some(n) => format!("about {n} labels instead of {labels} would halve the interval"),
        None => "no number of labels would halve the interval, because the run has too few answers"
            .to_owned(),
    }
}

fn number(value: f64) -> String {
    format!("{value:.4}")
}

fn shown(interval: &Interval) -> String {
    format!("[{:.4}, {:.4}]", interval.low, interval.high)
}

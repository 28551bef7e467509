//! The agreement with people that a gate asks of the judges of a run.

use anyhow::Result;
use evals::{AgreementCheck, CheckNumbers, GateBound, GateCheck, GateVerdict, Unit};
use evals_messages::quantity;
use evals_metrics::Estimate;

use super::calibration::{Calibration, Drawing};
use super::judged_run::JudgedRun;
use crate::annotations::{RunAnswers, WantedMeasure};
use crate::run_record::Benchmark;
use crate::stored_runs::StoredRun;

/// The least kappa of a judge with people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequiredAgreement {
    /// The least agreement between judge and people, Cohen's kappa.
    pub least_kappa: f64,
    /// The end of kappa's interval that has to reach it.
    pub bound: GateBound,
}

impl RequiredAgreement {
    /// A check for each judge of a run whose verdicts pass or fail answers; none for a run without one. Of question answering, only the
    /// benchmark's own judge has to agree.
    pub fn checks(
        self,
        calibrations: &[Calibration],
        stored: &StoredRun,
    ) -> Result<Vec<GateCheck>> {
        if stored.record.benchmark == Benchmark::Retrieval {
            return Ok(Vec::new());
        }
        let first = RunAnswers::read(stored, WantedMeasure::First)?;
        let mut measures = match stored.record.benchmark {
            Benchmark::Eval => first.judges,
            Benchmark::Qa | Benchmark::Retrieval => Vec::new(),
        };
        measures.extend(first.measure);
        measures.sort();
        measures.dedup();
        let mut checks = Vec::new();
        for measure in measures {
            let answers = RunAnswers::read(stored, WantedMeasure::Named(&measure))?;
            if let Some(run) = JudgedRun::of(&answers, &stored.record) {
                checks.push(self.check(&run, calibrations));
            }
        }
        Ok(checks)
    }

    /// The verdict on the judge of a run by the best of the calibrations. A calibration whose labelled answers were not drawn at random does not
    /// count. The reason names it only if no other calibration fits.
    pub(super) fn check(self, run: &JudgedRun, calibrations: &[Calibration]) -> GateCheck {
        let least = self.least_kappa;
        let drawn = calibrations
            .iter()
            .filter(|it| it.drawing != Drawing::Picked);
        let found = Calibration::best(drawn, run)
            .or_else(|problem| Calibration::best(calibrations, run).map_err(|_| problem));
        let (holds, reason) = match &found {
            Ok(calibration) => self.verdict(calibration),
            Err(problem) => (false, uncalibrated(run, problem.as_deref())),
        };
        let calibration = found.ok();
        let kappa = calibration.and_then(|it| it.agreement().kappa.ok());
        let measure = &run.judge.measure;
        GateCheck {
            name: format!("judge of {measure}: kappa >= {least}"),
            verdict: if holds {
                GateVerdict::Passed
            } else {
                GateVerdict::Failed
            },
            reason,
            numbers: CheckNumbers::Agreement(AgreementCheck {
                measure: measure.clone(),
                calibration: calibration.map(|it| it.id.clone()),
                least_kappa: least,
                kappa: kappa.map(|it| it.value),
                interval: kappa.and_then(|it| it.interval),
                n: calibration.map_or(0, |it| it.labels.n()),
            }),
        }
    }

    /// Whether a calibration is good enough, and why.
    fn verdict(self, calibration: &Calibration) -> (bool, String) {
        let by = format!(
            "calibration `{}`, {}",
            calibration.id,
            quantity::of(calibration.labels.n(), "label")
        );
        if calibration.drawing == Drawing::Picked {
            let reason = "somebody picked the labelled answers, so kappa stands for them alone; label a random sample";
            return (false, format!("{reason} ({by})"));
        }
        let kappa = match calibration.agreement().kappa {
            Ok(kappa) => kappa,
            Err(reason) => return (false, format!("kappa is undefined: {reason} ({by})")),
        };
        let print = |value| Unit::Score.print(value);
        let interval = kappa.interval.map_or_else(String::new, |it| {
            format!(" [{}, {}]", print(it.low), print(it.high))
        });
        let shown = format!("{}{interval}", print(kappa.value));
        match self.reached(&kappa) {
            Some(reached) if reached >= self.least_kappa => (true, format!("{shown} ({by})")),
            Some(_) => {
                let mend = "change the judge or its prompt and calibrate it again";
                (false, format!("{shown}; {mend} ({by})"))
            }
            None => {
                let reason =
                    "kappa has no interval, because the labels show no spread; label more answers";
                (false, format!("{shown}: {reason} ({by})"))
            }
        }
    }

    /// The number that has to reach the least kappa.
    fn reached(self, kappa: &Estimate) -> Option<f64> {
        match self.bound {
            GateBound::Point => Some(kappa.value),
            GateBound::Pessimistic => kappa.interval.map(|it| it.low),
            GateBound::Optimistic => kappa.interval.map(|it| it.high),
        }
    }
}

/// Why no calibration says how far the judge of a run agrees with people, and what mends it.
fn uncalibrated(run: &JudgedRun, problem: Option<&str>) -> String {
    let measure = &run.judge.measure;
    let mend = format!(
        "label answers with `evaluations view`, then `evaluations labels calibrate {} --measure \"{measure}\"`",
        run.name
    );
    match problem {
        Some(problem) => format!("no calibration of this judge on this dataset: {problem}; {mend}"),
        None => format!("no calibration of this judge on this dataset; {mend}"),
    }
}

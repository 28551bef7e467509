//! The value of a quantity that a rule limits.

use evals_metrics::{Bootstrap, Interval, Percentiles, Scale, mean_interval};

use super::extremes::Extremes;
use super::reasons;
use super::rule::{Rule, Subject};
use crate::{Snapshot, Unit, number};
use evals_metrics::as_f64;

/// A quantity that a floor or a ceiling limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity<'s> {
    /// The measure at this position.
    Measure(usize),
    /// A measure that only the baseline has, at this position there.
    Gone(usize),
    /// A latency of the whole task, or of a stage.
    Latency(Option<&'s str>, Percentile),
    /// USD for the run.
    Cost,
    /// Failed cases.
    Failed,
}

/// A statistic of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Percentile {
    Mean,
    P50,
    P95,
    P99,
}

impl Percentile {
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Mean].into_iter().chain(Self::STORED);
        all.find(|it| it.name() == name)
    }

    const STORED: [Self; 3] = [Self::P50, Self::P95, Self::P99];

    fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// The share of cases below the percentile; `None` for the mean.
    fn share(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
        }
    }

    /// The failed cases, which have no latency, and the statistic if they were the slowest cases.
    fn failures(self, run: &Snapshot, times: &Percentiles) -> Option<Failures> {
        let failed = run.failed_tasks();
        if failed == 0 {
            return None;
        }
        let stand_in = self.with_slowest(times.n, failed);
        let worst = stand_in.and_then(|percentile| percentile.of(times));
        let assumption = match stand_in {
            Some(percentile) => format!(
                "if they were the slowest ({} of the others counts)",
                percentile.name()
            ),
            None if self == Self::Mean => "the mean leaves them out".to_owned(),
            None => "they could be slower than every stored percentile".to_owned(),
        };
        Some(Failures {
            count: failed,
            assumption,
            worst: worst.map(|latency| (latency, None)),
        })
    }

    /// The stored percentile of the timed cases that is at least this percentile of all cases, if the failed cases are the slowest ones. `None`
    /// if no stored percentile is high enough.
    fn with_slowest(self, timed: usize, failed: usize) -> Option<Self> {
        // A percentile is a position between the first and the last sample.
        let last = |cases: usize| as_f64(cases.saturating_sub(1));
        let needed = self.share()? * last(timed + failed) / last(timed);
        let is_enough = |it: &Self| it.share().is_some_and(|share| share >= needed);
        Self::STORED.into_iter().find(is_enough)
    }

    fn of(self, times: &Percentiles) -> Option<f64> {
        match self {
            Self::Mean => times.mean,
            Self::P50 => times.p50,
            Self::P95 => times.p95,
            Self::P99 => times.p99,
        }
    }
}

/// The value of a quantity, or the reason why it is undefined.
pub(super) struct MeasuredQuantity {
    pub(super) value: Result<f64, String>,
    pub(super) interval: Option<Interval>,
    /// Whether this is a mean over cases. It has an interval unless all values are equal.
    pub(super) is_mean: bool,
    pub(super) n: usize,
    pub(super) unit: Option<Unit>,
    pub(super) failures: Option<Failures>,
}

/// Failed cases, which have no value and might have had a bad one.
pub(super) struct Failures {
    /// How many.
    pub(super) count: usize,
    /// What is possible, in words: `if they count as 0`.
    pub(super) assumption: String,
    /// The value with its interval then; `None` if nothing limits how bad it could be.
    pub(super) worst: Option<(f64, Option<Interval>)>,
}

impl MeasuredQuantity {
    /// The value of a quantity in the subject's run. Failures count as the value that does most against the rule.
    pub(super) fn of(
        rule: &Rule,
        subject: &Subject<'_>,
        quantity: Quantity<'_>,
        level: f64,
    ) -> Self {
        match quantity {
            Quantity::Measure(place) => measure(rule, subject, place, level),
            other => recorded(subject.run, other),
        }
    }

    /// The mean of these values, with the numbers of their clusters if there are any.
    pub(super) fn mean(
        (numbers, clusters): (&[f64], Option<&[usize]>),
        unit: Unit,
        scale: Scale,
        level: f64,
    ) -> Self {
        let n = numbers.len();
        let settings = Bootstrap {
            level,
            ..Bootstrap::default()
        };
        let total: f64 = numbers.iter().sum();
        Self {
            value: if n == 0 {
                Err("no case has a value".to_owned())
            } else {
                Ok(total / as_f64(n))
            },
            interval: mean_interval(numbers, clusters, scale, &settings).ok(),
            is_mean: true,
            n,
            unit: Some(unit),
            failures: None,
        }
    }
}

/// A quantity that is no measure.
fn recorded(run: &Snapshot, quantity: Quantity<'_>) -> MeasuredQuantity {
    let plain = |value: Result<f64, String>, n: usize, unit: Option<Unit>| MeasuredQuantity {
        value,
        interval: None,
        is_mean: false,
        n,
        unit,
        failures: None,
    };
    match quantity {
        Quantity::Measure(_) | Quantity::Gone(_) => plain(Err(reasons::GONE.to_owned()), 0, None),
        Quantity::Latency(stage, percentile) => {
            let times = match stage {
                None => Some(run.task_time),
                Some(stage) => {
                    let mut timings = run.timings.iter();
                    timings
                        .find(|(name, _)| name == stage)
                        .map(|(_, times)| *times)
                }
            };
            let times = times.unwrap_or_default();
            let value = percentile.of(&times).ok_or_else(|| match times.n {
                0 => "nothing was timed: the run has no result that did not come from a cache"
                    .to_owned(),
                n => format!(
                    "{n} samples, and below {} a percentile says more about chance than about the system",
                    Percentiles::FEWEST_SAMPLES
                ),
            });
            MeasuredQuantity {
                failures: percentile.failures(run, &times),
                ..plain(value, times.n, Some(Unit::Seconds))
            }
        }
        Quantity::Cost => MeasuredQuantity {
            failures: run.cost.and_then(|cost| unpaid(run, cost)),
            ..plain(
                run.cost.ok_or_else(|| {
                    "the cost is unknown: the run records none, or a model has no price in `prices`"
                        .to_owned()
                }),
                run.finished,
                None,
            )
        },
        Quantity::Failed => plain(Ok(as_f64(run.failed)), run.finished, None),
    }
}

/// What the failed cases of a run could have cost: as much as the others.
fn unpaid(run: &Snapshot, cost: f64) -> Option<Failures> {
    let succeeded = run.finished.saturating_sub(run.failed);
    let assumption = "if they had cost as much as the others".to_owned();
    let worst = cost * as_f64(run.finished) / as_f64(succeeded.max(1));
    (run.failed > 0).then_some(Failures {
        count: run.failed,
        assumption,
        worst: (succeeded > 0).then_some((worst, None)),
    })
}

fn measure(rule: &Rule, subject: &Subject<'_>, place: usize, level: f64) -> MeasuredQuantity {
    let run = subject.run;
    let measure = &run.measures[place];
    let failed = run.column(place).filter(|(_, value)| value.has_failed());
    let failed = failed.count();
    let scale = measure.unit.scale();
    let clusters = run.cluster_numbers();
    let mean = |of_failed: Option<f64>| {
        let values = run.column(place).filter_map(|(case, value)| {
            let stand_in = of_failed.filter(|_| value.has_failed());
            let cluster = clusters.as_ref().map(|numbers| numbers[&case.id]);
            Some((value.number().or(stand_in)?, cluster))
        });
        let (numbers, of_cases): (Vec<f64>, Vec<Option<usize>>) = values.unzip();
        let of_cases: Option<Vec<usize>> = of_cases.into_iter().collect();
        MeasuredQuantity::mean((&numbers, of_cases.as_deref()), measure.unit, scale, level)
    };
    let measured = mean(None);
    if failed == 0 || measured.n == 0 {
        return measured;
    }
    let worst = Extremes::of(measure, subject).worst_for(rule);
    let counted = mean(Some(worst));
    MeasuredQuantity {
        failures: Some(Failures {
            count: failed,
            assumption: format!("if they count as {}", number::short(worst)),
            worst: counted.value.ok().map(|value| (value, counted.interval)),
        }),
        ..measured
    }
}

//! The command line of `evaluations gate`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use evals::{Allowance, ClusterKey, GateBound};
use evals_pipeline::options::numbers::at_least_once;

/// A name with a number: `nDCG@10=0.02`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// The rules of a gate, as options and as a file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArgs {
    /// Fail if MEASURE drops by more than X against the baseline, and the drop is significant; repeat the option for several. For a measure where
    /// lower is better, a rise counts as a drop
    #[arg(long, value_name = "MEASURE=X", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max_drop: Vec<Limit>,
    /// Fail if MEASURE is below X; repeat the option for several
    #[arg(long, value_name = "MEASURE=X", allow_hyphen_values = true, value_parser = number)]
    pub(crate) min: Vec<Limit>,
    /// Fail if QUANTITY is above X; repeat the option for several. QUANTITY is a measure, `latency.p95` or `latency.STAGE.p95` (also p50, p99
    /// and mean; X may be 1.5s, 200ms or 800us), `cost` in USD, or `failed`, the number of failed cases
    #[arg(long, value_name = "QUANTITY=X", allow_hyphen_values = true, value_parser = number)]
    pub(crate) max: Vec<Limit>,
    /// Read rules from this YAML file; an option for the same measure takes precedence
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Pass only if the interval rules out a drop larger than the tolerance, and fail where the gate cannot tell
    #[arg(long)]
    pub(crate) strict: bool,
    /// Which end of a measure's interval must satisfy `--min` and `--max` [default: point]
    #[arg(long, hide = true, value_enum, value_name = "BOUND")]
    pub(crate) bound: Option<BoundWord>,
    /// Count clusters of cases rather than cases: `document` for questions that share a relevant document, `metadata:KEY` for those with
    /// one value of a key, or `none` [default: what the run declares]
    #[arg(long, hide = true, value_name = "KEY")]
    pub(crate) cluster: Option<ClusterKey>,
    /// Confidence level of tests and intervals [default: 0.95]
    #[arg(long, hide = true, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) level: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundWord {
    /// The value itself
    Point,
    /// The worse end; failed cases then count as the worst value
    Pessimistic,
    /// The better end
    Optimistic,
}

impl From<BoundWord> for GateBound {
    fn from(word: BoundWord) -> Self {
        match word {
            BoundWord::Point => Self::Point,
            BoundWord::Pessimistic => Self::Pessimistic,
            BoundWord::Optimistic => Self::Optimistic,
        }
    }
}

fn allowance() -> impl TypedValueParser<Value = Allowance> {
    PossibleValuesParser::new(Allowance::ALL.map(Allowance::word)).map(|word| {
        let mut known = Allowance::ALL.into_iter();
        known
            .find(|it| it.word() == word)
            .expect("the parser accepts only their words")
    })
}

#[derive(Debug, Clone, Args)]
pub(crate) struct GateArgs {
    /// Runs to check: each its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` [default: each run of
    /// the last command]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Compare with this baseline: a file of `evaluations runs baseline save`, or a run; repeat the option if the last command made several runs
    #[arg(long, value_name = "RUN|FILE")]
    pub(crate) baseline: Vec<OsString>,
    /// Write the decisions to FILE; its extension chooses the format: .xml (`JUnit`) .json .md; the table of a simulation: .json .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// When to print annotations for GitHub Actions, and append the decisions to the file that `GITHUB_STEP_SUMMARY` names
    #[arg(long, hide = true, value_enum, default_value_t = GithubChoice::Auto, value_name = "WHEN")]
    pub(crate) github: GithubChoice,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Accept this difference between run and baseline; repeat the option for several
    #[arg(long, hide = true, value_name = "WHAT", value_parser = allowance())]
    pub(crate) allow: Vec<Allowance>,
    /// Fail unless a stored calibration of the run's judge on the same data has a kappa of at least X, such as `κ=0.6` or `kappa=0.6`;
    /// `evaluations labels calibrate` makes one
    #[arg(long, value_name = "κ=X", allow_hyphen_values = true, value_parser = least_kappa, help_heading = "Rules")]
    pub(crate) require_calibrated_judge: Option<f64>,
    #[command(flatten)]
    pub(crate) simulation: SimulationArgs,
}

/// A simulation of the gate in place of its verdict.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct SimulationArgs {
    /// Estimate how often these rules fail by chance, and which drops they detect, instead of checking: resample one run, or several whose
    /// differences are noise, such as repeated runs of one system
    #[arg(long, requires = "runs", conflicts_with_all = ["baseline", "allow", "require_calibrated_judge", "github"])]
    pub(crate) simulate: bool,
    /// Share of cases whose values are swapped in a simulated pair, for a single run without repetitions [default: 0.2]
    #[arg(
        long,
        hide = true,
        value_name = "SHARE",
        allow_negative_numbers = true,
        requires = "simulate"
    )]
    pub(crate) changed: Option<f64>,
    /// Also simulate a true drop of this size, in the unit of the measures; repeat the option for several [default: 1, 2 and 4 times each tolerance]
    #[arg(
        long,
        hide = true,
        value_name = "D",
        allow_negative_numbers = true,
        requires = "simulate"
    )]
    pub(crate) drop: Vec<f64>,
    /// Gates to simulate for each size of drop
    #[arg(long, hide = true, value_name = "N", default_value = "1000", allow_negative_numbers = true, value_parser = at_least_once, requires = "simulate")]
    pub(crate) simulations: NonZeroU32,
    /// Seed of the simulation
    #[arg(long, hide = true, value_name = "SEED", default_value_t = 0, value_parser = evals_pipeline::options::numbers::seed, requires = "simulate")]
    pub(crate) seed: u64,
}

/// When GitHub's annotations are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GithubChoice {
    /// If `GITHUB_ACTIONS` is true
    Auto,
    Always,
    Never,
}

/// A name and a number. Latencies may have a unit.
pub(crate) fn number(text: &str) -> Result<Limit, String> {
    let Some((name, value)) = text.rsplit_once('=') else {
        return Err("not of the form NAME=NUMBER, such as nDCG@10=0.02".to_owned());
    };
    let name = name.trim();
    if name.is_empty() {
        return Err("a name is missing before `=`".to_owned());
    }
    Ok(Limit {
        name: name.to_owned(),
        value: quantity(name, value.trim())?,
    })
}

/// The least kappa of judges with people: `κ=0.6` or `kappa=0.6`.
pub(crate) fn least_kappa(text: &str) -> Result<f64, String> {
    let form = || format!("`{text}` is not of the form `κ=0.6` or `kappa=0.6`");
    let (name, value) = text.split_once('=').ok_or_else(form)?;
    if !["κ", "kappa"].contains(&name.trim().to_lowercase().as_str()) {
        return Err(form());
    }
    let kappa: f64 = value.trim().parse().map_err(|_| form())?;
    // A kappa of -1 or less cannot be missed, and one above 1 cannot be reached.
    if !(kappa > -1.0 && kappa <= 1.0) {
        return Err(format!("kappa is above -1 and at most 1, not {kappa}"));
    }
    Ok(kappa)
}

/// The number in a rule about `name`: seconds for a latency, which may be written as `1.5s`, `200ms` or `800us`.
pub(crate) fn quantity(name: &str, value: &str) -> Result<f64, String> {
    let plain = |digits: &str| match digits.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) => Err(format!("{number} is not a finite number")),
        Err(_) if value.ends_with('%') => Err(format!(
            "`{value}` is not a number; write a share, such as 0.02 for two points of 100"
        )),
        Err(_) => Err(format!("`{value}` is not a number, such as 0.02")),
    };
    if name.starts_with("latency.") {
        let units = [
            ("ms", 1e3),
            ("us", 1e6),
            ("µs", 1e6),
            ("μs", 1e6),
            ("s", 1.0),
        ];
        let unit = units
            .iter()
            .find_map(|(unit, per_second)| Some((value.strip_suffix(unit)?, per_second)));
        if let Some((digits, per_second)) = unit {
            return Ok(plain(digits)? / per_second);
        }
    }
    plain(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_kappa_is_written_with_a_greek_or_a_latin_name() {
        for text in ["κ=0.6", "kappa=0.6", "Kappa = 0.6", "Κ=0.6"] {
            assert_eq!(least_kappa(text), Ok(0.6), "{text}");
        }
        for text in ["0.6", "k=0.6", "κ=much", "κ="] {
            let error = least_kappa(text).unwrap_err();
            assert!(error.contains("is not of the form"), "{text}: {error}");
        }
        for text in ["κ=1.1", "κ=-1", "κ=nan", "κ=inf"] {
            let error = least_kappa(text).unwrap_err();
            assert!(error.starts_with("kappa is above -1"), "{text}: {error}");
        }
    }

    #[test]
    fn limits_are_names_with_numbers() {
        let read = |text: &str| number(text).map(|limit| (limit.name, limit.value));
        assert_eq!(read("nDCG@10=0.02"), Ok(("nDCG@10".to_owned(), 0.02)));
        assert_eq!(
            read("input tokens=500"),
            Ok(("input tokens".to_owned(), 500.0))
        );
        assert_eq!(
            read("a=b=-1"),
            Ok(("a=b".to_owned(), -1.0)),
            "the last `=` counts"
        );
        assert_eq!(
            read("latency.p95=200ms"),
            Ok(("latency.p95".to_owned(), 0.2))
        );
        assert_eq!(
            read("latency.p95=0.8 ms"),
            Ok(("latency.p95".to_owned(), 0.0008))
        );
        for micros in ["latency.p95=800us", "latency.p95=800µs"] {
            assert_eq!(read(micros), Ok(("latency.p95".to_owned(), 0.0008)));
        }
        assert_eq!(
            read("latency.search.p95=1.5s"),
            Ok(("latency.search.p95".to_owned(), 1.5))
        );
        for (text, message) in [
            (
                "nDCG@10",
                "not of the form NAME=NUMBER, such as nDCG@10=0.02",
            ),
            ("=1", "a name is missing before `=`"),
            (
                "m=2%",
                "`2%` is not a number; write a share, such as 0.02 for two points of 100",
            ),
            ("m=NaN", "NaN is not a finite number"),
            ("cost=1s", "`1s` is not a number, such as 0.02"),
        ] {
            assert_eq!(number(text).unwrap_err(), message);
        }
    }
}

//! The command line of `evaluations compare`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evals::{Adjustment, ClusterKey, PairTest, PairTesting};
use evals_metrics::{Measure, PairedTest};

#[derive(Debug, Clone, Args)]
pub(crate) struct CompareArgs {
    /// Runs to compare: folders, report.json files, names of folders or their starts, `--name`s, or `latest`. One run is compared with the
    /// newest finished run of its dataset and benchmark; of two, the first is the baseline; of more, every pair is compared [default: each finished run of the last command with the previous run of its dataset, benchmark and profile; after a
    /// command that tried several settings, its runs with each other]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Show only this measure, named as in the table. A rank measure that a run lacks is computed from its stored rankings. No p value
    /// depends on which measures are shown
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// Add a row for every question: the first measure, or those of `--measure`, and the rank of the first relevant document in each run
    #[arg(long)]
    pub(crate) cases: bool,
    /// The test of differences
    #[arg(long, hide = true, help_heading = "Tests", value_enum, value_name = "TEST", default_value_t = TestChoice::Auto)]
    pub(crate) test: TestChoice,
    /// How to correct p values for the number of measures and pairs of runs
    #[arg(long, hide = true, help_heading = "Tests", value_enum, value_name = "METHOD", default_value_t = AdjustmentChoice::Holm)]
    pub(crate) adjust: AdjustmentChoice,
    /// Count clusters of cases rather than cases: `document` for questions that share a relevant document, `metadata:KEY` for those with
    /// one value of a key, or `none`. The repetitions of a case are always one cluster [default: what the runs declare]
    #[arg(long, help_heading = "Tests", value_name = "KEY")]
    pub(crate) cluster: Option<ClusterKey>,
    /// Exit with 1 if a measure is significantly worse, if more cases failed than before, if no case has a value any more, or if a newer run is
    /// unfinished
    #[arg(long, help_heading = "Tests")]
    pub(crate) fail_if_worse: bool,
    /// Write the comparison to FILE; its extension chooses the format: .html (a page for browsers) .json .md, or .csv: with
    /// `--cases` a row for each question, else of more than two runs a row for each pair and measure
    #[arg(long, help_heading = "Results", value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// Leave questions, answers, references, passages, reasons, metadata and labels out of the page that `--out FILE.html` writes, so
    /// that it can be shared. Ids, numbers, names of measures, and settings stay
    #[arg(long, hide = true, help_heading = "Results", requires = "out")]
    pub(crate) without_texts: bool,
    /// Draw the changes into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, help_heading = "Results", value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
}

/// A test of paired values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestChoice {
    /// Student's paired t test; for passes and failures, Tango's score test
    Auto,
    /// Fisher's randomization test; for passes and failures, McNemar's exact test
    Randomization,
    /// Student's paired t test
    T,
    /// Wilcoxon's signed rank test
    Wilcoxon,
    /// The sign test, which ignores the size of changes
    Sign,
}

/// A correction of several p values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdjustmentChoice {
    /// Holm's method, which limits the probability of any false finding
    Holm,
    /// Benjamini and Hochberg's method, which limits the share of false findings
    Bh,
    /// No correction
    None,
}

impl CompareArgs {
    /// The same comparison of these runs. Its files and figures are those of one `benchmark`, if there are several.
    pub(crate) fn with_runs(&self, runs: Vec<OsString>, benchmark: Option<&str>) -> Self {
        let mut own = Self {
            runs,
            ..self.clone()
        };
        if let Some(benchmark) = benchmark {
            for path in &mut own.out {
                let extension = path.extension().unwrap_or_default().to_string_lossy();
                *path = path.with_extension(format!("{benchmark}.{extension}"));
            }
            own.figures = own.figures.map(|folder| folder.join(benchmark));
        }
        own
    }

    /// The comparison of the runs that one command made, before they are named.
    pub(crate) fn of_command(
        group_by: Vec<String>,
        out: Vec<PathBuf>,
        figures: Option<PathBuf>,
    ) -> Self {
        Self {
            runs: Vec::new(),
            measures: Vec::new(),
            group_by,
            cases: false,
            test: TestChoice::Auto,
            adjust: AdjustmentChoice::Holm,
            cluster: None,
            fail_if_worse: false,
            out,
            without_texts: false,
            figures,
        }
    }

    /// The rank measures among the wanted ones, which stored rankings can give.
    pub(crate) fn rank_measures(&self) -> Vec<Measure> {
        let names = self.measures.iter();
        names.filter_map(|name| name.parse().ok()).collect()
    }

    /// How differences are tested, with this seed.
    pub(crate) fn testing(&self, seed: u64) -> PairTesting {
        let paired = PairedTest {
            seed,
            method: match self.test {
                TestChoice::Auto => PairTest::Auto,
                TestChoice::Randomization => PairTest::Randomization,
                TestChoice::T => PairTest::T,
                TestChoice::Wilcoxon => PairTest::Wilcoxon,
                TestChoice::Sign => PairTest::Sign,
            },
            ..PairedTest::default()
        };
        PairTesting {
            adjustment: match self.adjust {
                AdjustmentChoice::Holm => Adjustment::Holm,
                AdjustmentChoice::Bh => Adjustment::Bh,
                AdjustmentChoice::None => Adjustment::None,
            },
            ..PairTesting::by(paired)
        }
    }
}

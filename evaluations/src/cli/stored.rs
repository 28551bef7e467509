//! The command lines of the commands that work on stored runs: `runs`, `report`, `rejudge`, `compare` and `table`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use evals::{Adjustment, ClusterKey, PairTest, PairTesting};
use evals_metrics::PairedTest;
use evals_rag::rag_judges::JudgedMeasure;

use super::numbers::at_least_one;
use super::output::ShownPart;
use super::settings::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArgs {
    #[command(flatten)]
    pub(crate) list: ListRunsArgs,
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the newest stored runs, newest last
    List(ListRunsArgs),
    /// Show the report of one run, or cases of it
    Show(ShowRunArgs),
    /// Delete runs and everything in their folders
    Delete(DeleteRunsArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListRunsArgs {
    /// List all runs, not only the newest 20
    #[arg(long)]
    pub(crate) all: bool,
    /// List only runs of this dataset
    #[arg(long, value_name = "NAME")]
    pub(crate) dataset: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowRunArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    #[arg(required_unless_present = "watch")]
    pub(crate) run: Option<OsString>,
    /// Follow a running run until it ends: cases and measures so far on stderr, then its report. Without RUN, the newest running
    /// run. Ctrl-C ends only the watching
    #[arg(long)]
    pub(crate) watch: bool,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// List the cases too, failed and lowest first; at most N if given
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", value_parser = at_least_one)]
    pub(crate) cases: Option<NonZeroUsize>,
    /// Show only the cases that failed: question, passages, answer, reference and the reasons of the outcomes
    #[arg(long)]
    pub(crate) failed: bool,
    /// Show only the case with this id, in the same detail; repeat the option for several
    #[arg(long = "case", value_name = "ID")]
    pub(crate) case: Vec<String>,
    /// List the reasons of outcomes below the cases of `--cases`
    #[arg(long, requires = "cases")]
    pub(crate) reasons: bool,
    /// Show these parts of each case of `--cases`, separated by commas
    #[arg(
        long,
        requires = "cases",
        value_enum,
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "output"
    )]
    pub(crate) show: Vec<ShownPart>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DeleteRunsArgs {
    /// Run to delete: the name of its folder, as `evaluations runs` lists it, or the start of that name
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Delete without asking for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("written").args(["out", "figures"]).required(true).multiple(true)))]
pub(crate) struct ReportArgs {
    /// Run: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest` for the newest finished run
    pub(crate) run: OsString,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// Write to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// Leave questions, answers, references, passages, reasons, metadata and labels out of the page that `--out FILE.html` writes, so
    /// that it can be shared. Ids, numbers, names of measures, and settings stay
    #[arg(long, requires = "out")]
    pub(crate) without_texts: bool,
    /// Draw the figures of the run into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RejudgeArgs {
    /// Run whose answers to judge: its folder, the folder's name or the start of it, its `--name`, or `latest` for the newest run with all questions answered
    pub(crate) run: OsString,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The model that judges [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Further judges, separated by commas, e.g. `faithfulness,context_recall` [default: the setting evaluations.judges]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) judges: Vec<JudgedMeasure>,
    /// Compare the answers with those of this run of the same dataset, in both orders: wins, ties and losses, with a test and the judge's
    /// position bias
    #[arg(long, value_name = "RUN")]
    pub(crate) against: Option<OsString>,
    /// Estimate the calls, tokens and cost of judging, and exit before the first paid request
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Answers to judge at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Get verdicts from the batch endpoints of the judges' servers: cheaper, but they take up to a day; see docs/batch.md
    #[arg(long, conflicts_with = "no_cache")]
    pub(crate) batch: bool,
    /// Do not read or write the cache of verdicts
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Write the report to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CompareArgs {
    /// Runs to compare: folders, report.json files, names of folders or their starts, `--name`s, or `latest`. Of two runs, the first is the
    /// baseline. Of more, the command compares each pair. It compares a single run with the newest finished run of its dataset and
    /// benchmark [default: each finished run of the last command with the previous run of its dataset, benchmark and profile; after a
    /// command that tried several settings, its runs with each other]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Show only this measure, named as in the table. No p value depends on which measures are shown
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// The test of differences
    #[arg(long, value_enum, value_name = "TEST", default_value_t = TestChoice::Auto)]
    pub(crate) test: TestChoice,
    /// How to correct p values for the number of measures and pairs of runs
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = AdjustmentChoice::Holm)]
    pub(crate) adjust: AdjustmentChoice,
    /// Count clusters of cases rather than cases: `document` for questions that share a relevant document, `metadata:KEY` for those with
    /// one value of a key, or `none`. The repetitions of a case are always one cluster [default: what the runs declare]
    #[arg(long, value_name = "KEY")]
    pub(crate) cluster: Option<ClusterKey>,
    /// Exit with 1 if a measure is significantly worse, if more cases failed than before, or if a newer run is unfinished
    #[arg(long)]
    pub(crate) fail_if_worse: bool,
    /// Write the comparison to FILE; its extension chooses the format: .html (a page for browsers) .json .md, and of more than two
    /// runs .csv, with a row for each pair and measure
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
    /// Leave questions, answers, references, passages, reasons, metadata and labels out of the page that `--out FILE.html` writes, so
    /// that it can be shared. Ids, numbers, names of measures, and settings stay
    #[arg(long, requires = "out")]
    pub(crate) without_texts: bool,
    /// Draw the changes into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, value_name = "DIR")]
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
    /// The sign test, which ignores how large changes are
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
            test: TestChoice::Auto,
            adjust: AdjustmentChoice::Holm,
            cluster: None,
            fail_if_worse: false,
            out,
            without_texts: false,
            figures,
        }
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

/// The end of `table --help`, for terminals of 80 columns.
const TABLE_HELP: &str = "\
Which runs become rows:
  Each configuration contributes its newest run that finished without failures.
  For each dataset, a run has to use the same files as the newest run and ask as
  many questions as the largest run. Skipped runs are listed on stderr with the
  reason. `--run` selects runs explicitly instead.

Markers:
  `--update FILE` writes tables into a Markdown file, between two markers that
  each stand on a line of their own:

    <!-- evaluations table: retrieval beir:scifact -->
    <!-- evaluations end -->

  After the colon, `retrieval`, `qa` or `eval` restricts the benchmark, names of
  datasets restrict the datasets, `profile=NAME` the search profiles, and
  `model=NAME` the models. `<!-- evaluations table -->` selects all runs. The
  text between the markers is replaced. The rest of the file stays as it is,
  including markers in code blocks.

Figures:
  A marker that begins with the name of a figure holds that figure. Its file is
  written into the folder `figures` beside the Markdown file, or into another
  one with `folder=PATH`:

    <!-- evaluations figure: bars retrieval beir:scifact -->
    <!-- evaluations end -->

  Of several runs: comparison, bars, trade-off, precision.
  Of the runs of one profile, over time: trend.
  Of one run: measures, breakdown, latency, scores.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = TABLE_HELP)]
pub(crate) struct TableArgs {
    /// Use only runs of this dataset; repeat the option for several
    #[arg(long = "dataset", value_name = "NAME")]
    pub(crate) datasets: Vec<String>,
    /// Use this run: its folder, the folder's name or the start of it, its `--name`. Runs with failures are accepted; repeat the option for several
    #[arg(long = "run", value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
    /// Draw the runs of each table side by side into the folder DIR, as SVG and as PNG with 300 dots per inch
    #[arg(long, value_name = "DIR", conflicts_with = "update")]
    pub(crate) figures: Option<PathBuf>,
    /// Rewrite the tables and figures between markers in this Markdown file
    #[arg(long, value_name = "FILE")]
    pub(crate) update: Option<PathBuf>,
    /// Change nothing, and exit with 1 if a table or figure in the `--update` file is out of date
    #[arg(long, requires = "update")]
    pub(crate) check: bool,
}

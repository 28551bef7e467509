//! The command line of `evaluations import`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use evals_metrics::Measure;
use evals_targets::TargetAddress;

use super::numbers::at_least_one;
use super::results::ResultArgs;
use super::run::{ControlArgs, QaArgs, RetrievalArgs, RunArgs, StageArgs, VariantArgs};
use super::selection::SelectionArgs;
use super::settings::{ModelName, SettingsArgs};
use super::target::TargetArgs;

/// Answers and rankings that were made elsewhere.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "`evaluations import FILE --dataset D` is `evaluations run D --target outputs:FILE`, or \
                  `--target trec:FILE`. docs/targets.md describes the files."
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct ImportArgs {
    /// Answers and rankings: JSON Lines, CSV or parquet with `id`, `answer` and `documents`, or a TREC run
    file: PathBuf,
    /// Dataset whose questions the file answers: its name, `beir:<name>`, or the path of a manifest
    #[arg(long, value_name = "DATASET")]
    dataset: String,
    /// Contents of the file [default: by its extension, `trec` for .trec, .run and .res]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<ImportFormat>,
    /// The version of the system that made the file, as reports name it
    #[arg(long, value_name = "VERSION")]
    target_version: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Skip the retrieval benchmark
    #[arg(long)]
    skip_retrieval: bool,
    /// Skip question answering; a TREC run has no answers, so it is always skipped
    #[arg(long)]
    skip_qa: bool,
    /// Documents to keep for each question; deeper measures of the dataset are cut at N [default: set by the dataset]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    k: Option<NonZeroUsize>,
    /// Additional measure, e.g. `nDCG@10`
    #[arg(long = "measure", value_name = "M")]
    measures: Vec<Measure>,
    /// Count judged documents that are missing from the corpus as not retrieved, instead of failing
    #[arg(long)]
    allow_missing_judged: bool,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    judge: Option<ModelName>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Use only the first N of the chosen questions
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's name followed by `_retrieval_evaluation` or `_qa_evaluation`]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Start over instead of resuming an unfinished run
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    results: ResultArgs,
}

/// The contents of a file made elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// Answers and documents
    Outputs,
    /// A TREC run
    Trec,
}

impl ImportFormat {
    fn of(file: &Path) -> Self {
        let extension = file.extension().and_then(|it| it.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("trec" | "run" | "res") => Self::Trec,
            _ => Self::Outputs,
        }
    }
}

impl ImportArgs {
    /// The run that an import is.
    pub(crate) fn into_run(self) -> RunArgs {
        let format = self.format.unwrap_or_else(|| ImportFormat::of(&self.file));
        let file = self.file.to_string_lossy().into_owned();
        let target = match format {
            ImportFormat::Outputs => TargetAddress::Outputs(file),
            ImportFormat::Trec => TargetAddress::Trec(file),
        };
        RunArgs {
            dataset: self.dataset,
            settings: self.settings,
            target: TargetArgs {
                target: Some(target),
                target_version: self.target_version,
            },
            stages: StageArgs {
                db: None,
                skip_db: false,
                skip_retrieval: self.skip_retrieval,
                skip_qa: self.skip_qa || format == ImportFormat::Trec,
            },
            retrieval: RetrievalArgs {
                profiles: Vec::new(),
                k: self.k,
                measures: self.measures,
                filter: None,
                allow_missing_judged: self.allow_missing_judged,
            },
            qa: QaArgs {
                judges: Vec::new(),
                model: None,
                judge: self.judge,
                estimate: false,
                batch: false,
                budget: None,
                no_cache: false,
                refresh: None,
            },
            selection: self.selection,
            control: ControlArgs {
                limit: self.limit,
                name: self.name,
                concurrency: None,
                repeat: NonZeroU32::MIN,
                seed: 0,
                fresh: self.fresh,
                max_failures: None,
                pull: false,
            },
            results: self.results,
            variants: VariantArgs::default(),
        }
    }
}

//! The command lines of `evaluations run`, and of `evaluations import`, which is a run whose target is a file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evals_metrics::Measure;
use evals_rag::rag_judges::JudgedMeasure;
use evals_targets::TargetAddress;

use super::experiment::{ControlArgs, JudgingArgs, ResultArgs, SelectionArgs, TargetArgs};
use super::numbers::at_least_one;
use super::settings::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest or of a folder with a `dataset.yaml`
    pub dataset: String,
    #[command(flatten)]
    pub stages: StageArgs,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub retrieval: RetrievalArgs,
    #[command(flatten)]
    pub qa: QaArgs,
    #[command(flatten)]
    pub judging: JudgingArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub control: ControlArgs,
    #[command(flatten)]
    pub settings: SettingsArgs,
    #[command(flatten)]
    pub variants: VariantArgs,
    #[command(flatten)]
    pub results: ResultArgs,
}

/// Several settings in one command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Variants")]
pub struct VariantArgs {
    /// Run once with each of these values of a setting, and compare the runs, e.g. `--set-each processing.chunk_size=64,128,256`,
    /// `--set-each embeddings.model=embedded:static-minilm,ollama:nomic-embed-text` or, for a parameter of a service,
    /// `--set-each target.body.top_k=5,20`; repeat the option for every combination of several settings [default: the setting matrix]
    #[arg(long = "set-each", value_name = "KEY=A,B,…")]
    pub each: Vec<String>,
    /// Draw the runs of this command into the folder DIR, as SVG and as PNG with 300 dots per inch: the comparison of several variants or
    /// search profiles, or a run alone
    #[arg(long, hide = true, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}

/// Which stages run, and on which database.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stages")]
pub struct StageArgs {
    /// Database: a folder, or `s3://…`, `az://…` or `gs://…` if the program was built with object stores [default: the dataset's database in the data folder]
    #[arg(long, value_name = "URI")]
    pub db: Option<String>,
    /// Use an existing index, and fail if none matches the settings
    #[arg(long)]
    pub skip_db: bool,
    /// Skip the retrieval benchmark; together with `--skip-qa`, only build the index
    #[arg(long)]
    pub skip_retrieval: bool,
    /// Skip question answering
    #[arg(long, conflicts_with_all = ["judges", "batch", "budget"])]
    pub skip_qa: bool,
}

/// The options of the retrieval benchmark.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Retrieval")]
pub struct RetrievalArgs {
    /// Search profile: unranked, bm25, semantic or hybrid, each also with `+rerank` appended, or all; repeat the option to compare several
    #[arg(long = "profile", value_name = "NAME")]
    pub profiles: Vec<String>,
    /// Documents to keep for each question; deeper measures of the dataset are cut at N [default: set by the dataset]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub k: Option<NonZeroUsize>,
    /// Additional measure, e.g. `nDCG@10`, `RR@10` or `MRR@10`, `AP@100` or `MAP@100`, `R@5`, `P@1`, `Success@10`
    #[arg(long = "measure", value_name = "M")]
    pub measures: Vec<Measure>,
    /// Search only documents that match an SQL condition over uri, title and metadata (JSON text), e.g. `metadata LIKE
    /// '%Sports%'`
    #[arg(long, value_name = "SQL")]
    pub filter: Option<String>,
    /// Count judged documents that are missing from the corpus as not retrieved, instead of failing; a corpus without any relevant
    /// document is still an error
    #[arg(long, hide = true)]
    pub allow_missing_judged: bool,
}

/// Question answering.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Question answering")]
pub struct QaArgs {
    /// The answering model, e.g. `ollama:gpt-oss` or `openai:gpt-5-mini` [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub model: Option<ModelName>,
    /// Further judges, separated by commas, e.g. `faithfulness,context_recall` [default: the setting evaluations.judges]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub judges: Vec<JudgedMeasure>,
    /// Results to request again: `failed` retries the failed cases of a finished run, `all` requests everything and replaces cached
    /// replies and vectors
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "no_cache")]
    pub refresh: Option<Refresh>,
}

/// Results to request again although they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Refresh {
    /// The failed cases of the last run with the same settings
    Failed,
    /// Every reply and every vector
    All,
}

/// Answers and rankings that were made elsewhere. The dataset is an option here, because the file stands first.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "`evaluations import FILE --dataset D` is `evaluations run D --target outputs:FILE`, or \
                  `--target trec:FILE`. docs/targets-reference.md describes the files."
)]
pub struct ImportArgs {
    /// Answers and rankings: JSON Lines, CSV or parquet with `id`, `answer` and `documents`, or a TREC run
    #[arg(conflicts_with = "target")]
    file: PathBuf,
    /// Contents of the file [default: by its extension, `trec` for .trec, .run and .res]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<ImportFormat>,
    #[command(flatten)]
    run: RunArgs,
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

impl From<ImportArgs> for RunArgs {
    /// The run that an import is.
    fn from(import: ImportArgs) -> Self {
        let file = import.file.to_string_lossy().into_owned();
        let format = import
            .format
            .unwrap_or_else(|| ImportFormat::of(&import.file));
        let mut run = import.run;
        run.target.target = Some(match format {
            ImportFormat::Outputs => TargetAddress::Outputs(file),
            ImportFormat::Trec => TargetAddress::Trec(file),
        });
        // A TREC run has no answers.
        run.stages.skip_qa |= format == ImportFormat::Trec;
        run
    }
}

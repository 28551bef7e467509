//! The command line: what can be typed, before anything is resolved.

mod bench;
mod cache;
mod compare;
mod stored;

use std::ffi::OsString;
use std::num::{IntErrorKind, NonZeroU32, NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use evals_metrics::Measure;

pub(crate) use bench::{BenchArgs, BenchCommand, BenchEmbedArgs, EmbeddingModel};
pub(crate) use cache::{CacheArgs, CacheCommand};
pub(crate) use compare::CompareArgs;
pub(crate) use stored::{
    DeleteRunsArgs, ListRunsArgs, RejudgeArgs, ReportArgs, RunsArgs, RunsCommand, TableArgs,
};

/// Benchmarks retrieval-augmented generation: is my RAG system good, and did my change make it better?
#[derive(Debug, Parser)]
#[command(
    name = "evaluations",
    version,
    override_usage = "evaluations <DATASET> [OPTIONS]\n       evaluations <COMMAND> [OPTIONS]",
    after_help = "`evaluations <DATASET>` is short for `evaluations run <DATASET>`.\n\
                  Start with `evaluations sample --skip-qa`: it needs neither network nor keys."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is printed, and how.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print results and errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print what is done and where things are
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Show no progress bars
    #[arg(long, global = true)]
    pub(crate) no_progress: bool,
    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Index a dataset and benchmark retrieval and question answering on it
    Run(Box<RunArgs>),
    /// List the datasets there are, with sizes and licences
    Datasets(DatasetsArgs),
    /// Fetch a dataset from the Hugging Face hub, to work offline later
    Download(DownloadArgs),
    /// Score a TREC run against judgements, as trec_eval does
    Score(ScoreArgs),
    /// List stored runs, show one, or delete some
    Runs(RunsArgs),
    /// Tell what changed between two stored runs, and whether it is more than chance
    Compare(CompareArgs),
    /// Write the report of a stored run in other formats
    Report(ReportArgs),
    /// Judge the answers of a stored run again, without answering again
    Rejudge(RejudgeArgs),
    /// Print the benchmark tables for docs from stored runs
    Table(TableArgs),
    /// Show what is in the caches of replies, vectors and scores, or remove from them
    Cache(CacheArgs),
    /// Measure how fast models are
    Bench(BenchArgs),
    /// Show the settings in force, or their JSON Schema
    Config(ConfigArgs),
    /// Check that everything a run needs is there; each model behind a server is asked one short question
    Doctor(DoctorArgs),
}

/// Where settings come from.
#[derive(Debug, Clone, Args)]
pub(crate) struct SettingsArgs {
    /// Settings file [default: ./evaluations.yaml or ./haiku.rag.yaml, else one of the two in the user's configuration
    /// folder]
    #[arg(long, value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    /// Override one setting, e.g. `--set search.limit=10`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) assignments: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) stages: StageArgs,
    #[command(flatten)]
    pub(crate) retrieval: RetrievalArgs,
    #[command(flatten)]
    pub(crate) qa: QaArgs,
    #[command(flatten)]
    pub(crate) control: ControlArgs,
    /// Write a report to FILE; its extension chooses the format: .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}

/// What is run, and on which database.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stages")]
pub(crate) struct StageArgs {
    /// Database: a folder, or `s3://…` and `db://…` where they are built in [default: the dataset's, in the data folder]
    #[arg(long, value_name = "URI")]
    pub(crate) db: Option<String>,
    /// Use the index that is there, and fail where it does not match the settings
    #[arg(long)]
    pub(crate) skip_db: bool,
    /// Leave out the retrieval benchmark; with `--skip-qa` as well the index is built, and that is all
    #[arg(long)]
    pub(crate) skip_retrieval: bool,
    /// Leave out question answering
    #[arg(long)]
    pub(crate) skip_qa: bool,
}

/// What the retrieval benchmark measures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Retrieval")]
pub(crate) struct RetrievalArgs {
    /// Search profile: unranked, bm25, semantic or hybrid, each also with `+rerank` behind it, or all; several are compared
    #[arg(long = "profile", value_name = "NAME")]
    pub(crate) profiles: Vec<String>,
    /// Documents kept for each question; measures of the dataset that look deeper are cut at N [default: the dataset's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) k: Option<NonZeroUsize>,
    /// A further measure, e.g. `nDCG@10`, `RR@10` or `MRR@10`, `AP@100` or `MAP@100`, `R@5`, `P@1`, `Success@10`
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Search only documents that match a WHERE clause over uri, title and metadata, which is JSON text: `metadata LIKE
    /// '%Sports%'`
    #[arg(long, value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Count judgements of documents that the corpus does not have, instead of failing; a corpus without any relevant document
    /// is still an error
    #[arg(long)]
    pub(crate) allow_missing_judged: bool,
}

/// Who answers, who judges, and what that may cost.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Question answering")]
pub(crate) struct QaArgs {
    /// The answering model, e.g. `ollama:gpt-oss` or `openai:gpt-5-mini` [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Print what answering and judging would take, and stop before anything is paid for
    #[arg(long, conflicts_with = "skip_qa")]
    pub(crate) estimate: bool,
    /// Embed no further documents and start no further case once embedding, answers, verdicts and reranking have cost this much; needs the `prices` of the models
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars, conflicts_with = "skip_qa")]
    pub(crate) budget: Option<f64>,
    /// Neither take replies, vectors and scores from the caches nor store them there
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) no_cache: bool,
    /// What to ask anew: `failed` takes up a finished run's failed cases again, `all` asks everything and stores the new
    /// replies and vectors
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) refresh: Option<Refresh>,
}

/// What is asked anew although there is a result of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refresh {
    /// The cases that failed in the last run of the same settings
    Failed,
    /// Every reply and every vector
    All,
}

/// `PROVIDER:NAME`; the name may hold further colons, as Ollama's tags do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelName {
    pub(crate) provider: String,
    pub(crate) name: String,
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(Self {
                provider: provider.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err("has to be of the form PROVIDER:NAME, e.g. ollama:gpt-oss".to_owned()),
        }
    }
}

/// How the run is conducted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ControlArgs {
    /// Use the first N questions only; the whole corpus is still indexed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's, with `_retrieval_evaluation` or `_qa_evaluation` behind it]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// Questions worked on at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Ask each question N times; nothing is taken from the search cache then
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) repeat: NonZeroU32,
    /// Seed of everything random, which is the bootstrap of the intervals
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Start anew instead of continuing an unfinished run; replies in the cache are still used. Retrieval always starts anew
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DatasetsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DownloadArgs {
    /// A dataset's name, the path of a manifest, or `all`
    pub(crate) dataset: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ScoreArgs {
    /// Judgements in TREC format: query, iteration, document, grade
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: PathBuf,
    /// Rankings in TREC format: query, Q0, document, rank, score, tag
    #[arg(long, value_name = "FILE")]
    pub(crate) run: PathBuf,
    /// What to measure, in ir-measures notation or by trec_eval's name; without it AP, nDCG@10, RR, P@10,
    /// R@100 and Rprec
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Count judged queries that the run leaves out as 0 (trec_eval -c)
    #[arg(long)]
    pub(crate) complete: bool,
    /// Print a row for every query as well (trec_eval -q)
    #[arg(long)]
    pub(crate) per_query: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings in force as YAML, and where they come from
    Show {
        #[command(flatten)]
        settings: SettingsArgs,
        /// Include the settings of this dataset
        #[arg(long)]
        dataset: Option<String>,
    },
    /// Print the JSON Schema of the settings file
    Schema,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// The answering model [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) => Err("has to be more than 0".to_owned()),
        Err(_) => Err("not an amount in USD, such as 2.50".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<usize>() {
        Ok(number) => NonZeroUsize::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(no_count(text, &error)),
    }
}

fn at_least_once(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<u32>() {
        Ok(number) => NonZeroU32::new(number).ok_or_else(|| AT_LEAST_ONE.to_owned()),
        Err(error) => Err(no_count(text, &error)),
    }
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse::<u64>().map_err(|error| {
        if is_negative(text) {
            "has to be at least 0".to_owned()
        } else {
            no_count(text, &error)
        }
    })
}

const AT_LEAST_ONE: &str = "has to be at least 1";

/// Why a text is no count.
fn no_count(text: &str, error: &ParseIntError) -> String {
    match error.kind() {
        IntErrorKind::PosOverflow => "too large".to_owned(),
        _ if is_negative(text) => AT_LEAST_ONE.to_owned(),
        _ => "not a whole number".to_owned(),
    }
}

/// Whether a text is a whole number below 0.
fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The words of a command line with a command among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expanded {
    pub(crate) words: Vec<OsString>,
    /// The first word, where it is no command and was taken for a dataset.
    pub(crate) dataset: Option<OsString>,
}

/// Inserts `run` where the first word is not a command: `evaluations repliqa` is short for `evaluations run repliqa`.
pub(crate) fn expand(arguments: impl IntoIterator<Item = OsString>) -> Expanded {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    let first = words.get(first_place(&words)).cloned();
    let is_short = first.as_ref().is_some_and(|word| {
        let asks_for_help = ["-h", "--help", "-V", "--version"]
            .iter()
            .any(|it| word == it);
        !asks_for_help && !is_command(word)
    });
    if is_short {
        words.insert(1, OsString::from("run"));
    }
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    Expanded {
        words,
        dataset: first.filter(|word| is_short && !is_option(word)),
    }
}

/// The place of the first word behind the options that may stand before a command.
fn first_place(words: &[OsString]) -> usize {
    let flags = ["-q", "--quiet", "-v", "--verbose", "--no-progress"];
    let mut place = 1;
    while let Some(word) = words.get(place) {
        if word == "--color" {
            place += 2;
        } else if flags.iter().any(|flag| word == flag)
            || word.as_encoded_bytes().starts_with(b"--color=")
        {
            place += 1;
        } else {
            break;
        }
    }
    place
}

fn is_command(word: &OsString) -> bool {
    word == "help" || names().iter().any(|name| word == name.as_str())
}

/// The names of the commands.
pub(crate) fn names() -> Vec<String> {
    let command = Cli::command();
    let commands = command.get_subcommands();
    commands
        .map(|command| command.get_name().to_owned())
        .collect()
}

/// The commands as they are typed, those below others with both words: `runs show`.
pub(crate) fn paths() -> Vec<String> {
    let command = Cli::command();
    let mut paths = Vec::new();
    for outer in command.get_subcommands() {
        paths.push(outer.get_name().to_owned());
        let inner = outer.get_subcommands();
        paths.extend(inner.map(|it| format!("{} {}", outer.get_name(), it.get_name())));
    }
    paths
}

/// When help and usage errors are coloured, which clap has to know before it parses.
pub(crate) fn color(arguments: &[OsString]) -> clap::ColorChoice {
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .collect();
    let joined = words.iter().find_map(|word| word.strip_prefix("--color="));
    let behind = words.iter().position(|word| word == "--color");
    let behind = behind.and_then(|at| words.get(at + 1)).map(AsRef::as_ref);
    match joined.or(behind) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(line: &str) -> String {
        let expanded = expand(line.split(' ').map(OsString::from));
        expanded
            .words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn a_dataset_alone_means_run() {
        assert_eq!(
            expanded("evaluations repliqa --limit 3"),
            "evaluations run repliqa --limit 3"
        );
        assert_eq!(
            expanded("evaluations --limit 3 repliqa"),
            "evaluations run --limit 3 repliqa"
        );
        assert_eq!(
            expanded("evaluations --color never -q wix"),
            "evaluations run --color never -q wix"
        );
    }

    #[test]
    fn a_word_that_is_no_command_is_taken_for_a_dataset() {
        let dataset = |line: &str| {
            let expanded = expand(line.split(' ').map(OsString::from));
            let dataset = expanded.dataset?;
            Some(dataset.to_string_lossy().into_owned())
        };
        assert_eq!(dataset("evaluations -v show latest").unwrap(), "show");
        assert_eq!(dataset("evaluations --color auto never").unwrap(), "never");
        assert_eq!(dataset("evaluations --limit 3 wix"), None);
        assert_eq!(dataset("evaluations run wix"), None);
        assert_eq!(dataset("evaluations"), None);
    }

    #[test]
    fn a_command_stays_as_it_is() {
        for line in [
            "evaluations",
            "evaluations run wix",
            "evaluations --help",
            "evaluations -q datasets",
        ] {
            assert_eq!(expanded(line), line);
        }
    }

    /// What is wrong with a command line, in its first line.
    fn refused(line: &str) -> String {
        let error =
            Cli::try_parse_from(expand(line.split(' ').map(OsString::from)).words).unwrap_err();
        error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    #[test]
    fn numbers_that_are_too_small_are_told_what_the_least_is() {
        for option in ["--limit", "--k", "--concurrency", "--repeat"] {
            for number in ["-1", "0", "-99999999999999999999"] {
                let message = refused(&format!("evaluations sample {option} {number}"));
                assert!(
                    message.starts_with(&format!(
                        "error: invalid value '{number}' for '{option} <N>'"
                    )),
                    "{message}"
                );
                assert!(message.ends_with(": has to be at least 1"), "{message}");
            }
            let message = refused(&format!("evaluations sample {option} 1.5"));
            assert!(message.ends_with(": not a whole number"), "{message}");
            let message = refused(&format!("evaluations sample {option} 99999999999999999999"));
            assert!(message.ends_with(": too large"), "{message}");
        }
        for (line, end) in [
            ("sample --seed -1", ": has to be at least 0"),
            ("sample --budget -5", ": has to be more than 0"),
            ("rejudge latest --concurrency -1", ": has to be at least 1"),
            ("bench embed --batch -1", ": has to be at least 1"),
            ("bench embed --concurrency -1", ": has to be at least 1"),
            ("bench embed --seconds -1", ": has to be from 0.1 to 86400"),
            (
                "cache prune --older-than -1d",
                ": not an age such as 30d, 12h or 45m",
            ),
        ] {
            let message = refused(&format!("evaluations {line}"));
            assert!(message.ends_with(end), "{message}");
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}

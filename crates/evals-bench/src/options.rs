//! The command line of `evaluations bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args, Subcommand};
use evals_pipeline::options::numbers::{at_least_one, seed};
use evals_pipeline::options::{ModelName, SettingsArgs};

use evals_rag::VectorSearchKind;

/// Largest `--batch`: more texts than any server accepts in one call.
const MOST_TEXTS: usize = 65_536;

#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub command: BenchCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// Measure embedding models: latency by batch size, throughput by concurrency, time to the first vector
    Embed(Box<BenchEmbedArgs>),
    /// Measure indexes of vectors: recall, latency, throughput, build time and size of each type for several parameters
    Index(Box<BenchIndexArgs>),
}

#[derive(Debug, Clone, Args)]
#[command(
    group(ArgGroup::new("vectors").required(true).args(["dataset", "generated"])),
    mut_arg("config", |config| config.hide(true))
)]
pub struct BenchIndexArgs {
    /// Dataset whose vectors and questions to use: its name or the path of a manifest. The command builds its index if it does not exist, and
    /// does not change it
    #[arg(value_name = "DATASET")]
    pub dataset: Option<String>,
    /// Use generated vectors in clusters: number and dimensions, such as 100000x384
    #[arg(long, help_heading = "Vectors", value_name = "NxD", value_parser = vectors)]
    pub generated: Option<GeneratedVectors>,
    /// Ask at most N questions [default: 1000 for generated vectors, all questions of a dataset]
    #[arg(long, help_heading = "Vectors", value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub queries: Option<NonZeroUsize>,
    /// Seed of generated vectors and of the intervals
    #[arg(long, hide = true, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub seed: u64,
    /// Folder or address of the database with the dataset's index [default: the dataset's database in the data folder]
    #[arg(
        long,
        hide = true,
        help_heading = "Vectors",
        value_name = "URI",
        conflicts_with = "generated"
    )]
    pub db: Option<String>,
    /// Types to measure besides exact search: ivf-flat, ivf-sq, ivf-pq, ivf-rq, hnsw-flat, hnsw-sq, hnsw-pq [default: all]
    #[arg(long, help_heading = "Indexes", value_name = "TYPE,…", value_delimiter = ',', value_parser = index_type)]
    pub types: Vec<VectorSearchKind>,
    /// Values of an index parameter to measure instead of the defaults, such as `probes=1,8,64`; repeat the option for several parameters
    #[arg(long = "grid", help_heading = "Indexes", value_name = "PARAMETER=VALUE,…", value_parser = grid)]
    pub grid: Vec<GridValues>,
    /// Chunks to find for each question; latency is measured with the first number
    #[arg(long, help_heading = "Load", value_name = "K,…", value_delimiter = ',', allow_negative_numbers = true, value_parser = at_least_one, default_values = ["10", "100"])]
    pub k: Vec<NonZeroUsize>,
    /// Lowest acceptable recall when choosing the cheapest setting, between 0 and 1
    #[arg(long, hide = true, value_name = "SHARE", allow_negative_numbers = true, value_parser = share, default_value = "0.99")]
    pub recall: f64,
    /// Numbers of concurrent callers, each waiting for its reply before it searches again; settings are compared at the first number
    #[arg(long, help_heading = "Load", value_name = "N,…", value_delimiter = ',', allow_negative_numbers = true, value_parser = at_least_one, default_values = ["1", "2", "4"])]
    pub concurrency: Vec<NonZeroUsize>,
    /// Fixed rates of searches per second [default: 50 % and 80 % of the highest rate of the callers]
    #[arg(long, hide = true, value_name = "RATE,…", value_delimiter = ',', allow_negative_numbers = true, value_parser = rate)]
    pub rates: Vec<f64>,
    /// Duration of each load
    #[arg(long, help_heading = "Load", value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds, default_value = "1")]
    pub seconds: f64,
    /// Measure each type only with its default parameters
    #[arg(long, help_heading = "Indexes")]
    pub quick: bool,
    /// Print JSON
    #[arg(long, hide = true, help_heading = "Results")]
    pub json: bool,
    /// Write the results to FILE; its extension chooses the format: .html (a page for browsers) .json .md
    #[arg(long, help_heading = "Results", value_name = "FILE", value_parser = result_file)]
    pub out: Vec<PathBuf>,
    /// Write the figure of recall and latency to DIR, as SVG and PNG
    #[arg(long, help_heading = "Results", value_name = "DIR")]
    pub figures: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// How many vectors to generate, and of how many components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratedVectors {
    pub count: usize,
    pub dimension: usize,
}

/// Values of one parameter of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridValues {
    pub parameter: &'static str,
    pub values: Vec<u32>,
}

#[derive(Debug, Clone, Args)]
#[command(mut_arg("config", |config| config.hide(true)))]
pub struct BenchEmbedArgs {
    /// Model to measure, e.g. `embedded:static-minilm`, `ollama:bge-m3` or, with settings, `{provider: local, name: MODEL, dtype:
    /// int8}`; repeat the option to compare several [default: the setting embeddings.model]
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<EmbeddingModel>,
    /// Texts in each call; repeat the option for several sizes. The middle size is used to measure throughput
    #[arg(long = "batch", hide = true, value_name = "N", allow_negative_numbers = true, value_parser = batch_size, default_values = ["1", "8", "32"])]
    pub batches: Vec<NonZeroUsize>,
    /// Concurrent calls; repeat the option for several numbers
    #[arg(long, hide = true, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one, default_values = ["1", "2", "4", "8"])]
    pub concurrency: Vec<NonZeroUsize>,
    /// Time limit for each model; measurements that would exceed it are skipped
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds, default_value = "30")]
    pub seconds: f64,
    /// File of texts to embed, one on each line [default: chunks of the bundled sample]
    #[arg(long, hide = true, value_name = "FILE")]
    pub texts: Option<PathBuf>,
    /// Print JSON
    #[arg(long, hide = true)]
    pub json: bool,
    /// Write the results to FILE; its extension chooses the format: .html (a page for browsers) .json .md
    #[arg(long, value_name = "FILE", value_parser = result_file)]
    pub out: Vec<PathBuf>,
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// A model by its name, or with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingModel {
    Named(ModelName),
    /// A YAML mapping, as under `embeddings.model` in a settings file.
    Mapping(String),
}

impl FromStr for EmbeddingModel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim_start().starts_with('{') {
            return Ok(Self::Mapping(text.to_owned()));
        }
        text.parse().map(Self::Named)
    }
}

fn batch_size(text: &str) -> Result<NonZeroUsize, String> {
    let texts = at_least_one(text)?;
    if texts.get() > MOST_TEXTS {
        return Err(format!("has to be at most {MOST_TEXTS}"));
    }
    Ok(texts)
}

/// A time limit, long enough for a few calls and at most a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=86_400.0).contains(&seconds) => Ok(seconds),
        Ok(_) => Err("has to be from 0.1 to 86400".to_owned()),
        Err(_) => Err("not a number of seconds".to_owned()),
    }
}

fn vectors(text: &str) -> Result<GeneratedVectors, String> {
    const LEAST: usize = 20;
    const MOST: usize = 100_000_000;
    let numbers = text.split_once(['x', 'X']);
    let numbers =
        numbers.and_then(|(count, dimension)| Some((count.parse().ok()?, dimension.parse().ok()?)));
    match numbers {
        None => Err("not a number of vectors and of dimensions, such as 100000x384".to_owned()),
        Some((count, dimension))
            if (LEAST..=MOST).contains(&count) && (2..=65_536).contains(&dimension) =>
        {
            Ok(GeneratedVectors { count, dimension })
        }
        Some(_) => Err(format!(
            "has to be from {LEAST} to {MOST} vectors of 2 to 65536 dimensions"
        )),
    }
}

fn index_type(text: &str) -> Result<VectorSearchKind, String> {
    let known = VectorSearchKind::ALL.into_iter();
    let mut approximate = known.filter(|it| *it != VectorSearchKind::Exact);
    approximate.find(|it| it.name() == text).ok_or_else(|| {
        if text == VectorSearchKind::Exact.name() {
            return "exact search is always measured".to_owned();
        }
        let names = VectorSearchKind::ALL.into_iter().skip(1);
        let names: Vec<&str> = names.map(VectorSearchKind::name).collect();
        format!("no such type; the types are {}", names.join(", "))
    })
}

fn grid(text: &str) -> Result<GridValues, String> {
    let parameters = VectorSearchKind::HnswPq.parameters();
    let (parameter, values) = text
        .split_once('=')
        .ok_or("not of the form PARAMETER=VALUE,…, such as probes=1,8,64")?;
    let known = parameters.iter().find(|known| **known == parameter);
    let parameter = known.ok_or_else(|| {
        format!(
            "no parameter `{parameter}`; the parameters are {}",
            parameters.join(", ")
        )
    })?;
    let values: Result<Vec<u32>, _> = values.split(',').map(|it| it.trim().parse()).collect();
    let values = values.map_err(|_| format!("the values of `{parameter}` are whole numbers"))?;
    Ok(GridValues { parameter, values })
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        Ok(_) => Err("has to be from 0 to 1".to_owned()),
        Err(_) => Err("not a share between 0 and 1".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.01..=1e6).contains(&rate) => Ok(rate),
        Ok(_) => Err("has to be from 0.01 to 1000000 searches per second".to_owned()),
        Err(_) => Err("not a number of searches per second".to_owned()),
    }
}

fn result_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|it| it.to_str()) {
        Some("html" | "json" | "md") => Ok(path),
        _ => Err("its name has to end in .html, .json or .md".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_a_name_or_a_mapping() {
        let named = ModelName {
            provider: "ollama".to_owned(),
            name: "bge-m3:567m".to_owned(),
        };
        assert_eq!(
            "ollama:bge-m3:567m".parse(),
            Ok(EmbeddingModel::Named(named))
        );
        let mapping = "{provider: local, name: ./model, dtype: int8}";
        assert_eq!(
            mapping.parse(),
            Ok(EmbeddingModel::Mapping(mapping.to_owned()))
        );
        assert!("bge-m3".parse::<EmbeddingModel>().is_err());
    }

    #[test]
    fn a_time_is_positive_and_bounded() {
        assert_eq!(seconds("2.5"), Ok(2.5));
        for wrong in ["0", "-1", "NaN", "inf", "100000", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}

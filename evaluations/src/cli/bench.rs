//! The command line of `evaluations bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::numbers::at_least_one;
use super::settings::{ModelName, SettingsArgs};

/// Largest `--batch`: more texts than any server accepts in one call.
const MOST_TEXTS: usize = 65_536;

#[derive(Debug, Clone, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure embedding models: latency by batch size, throughput by concurrency, time to the first vector
    Embed(Box<BenchEmbedArgs>),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct BenchEmbedArgs {
    /// Model to measure, e.g. `embedded:static-minilm`, `ollama:bge-m3` or, with settings, `{provider: local, name: MODEL, dtype:
    /// int8}`; repeat the option to compare several [default: the setting embeddings.model]
    #[arg(long = "model", value_name = "MODEL")]
    pub(crate) models: Vec<EmbeddingModel>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Texts in each call; repeat the option for several sizes. The middle size is used to measure throughput
    #[arg(long = "batch", value_name = "N", allow_negative_numbers = true, value_parser = batch_size, default_values = ["1", "8", "32"])]
    pub(crate) batches: Vec<NonZeroUsize>,
    /// Concurrent calls; repeat the option for several numbers
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one, default_values = ["1", "2", "4", "8"])]
    pub(crate) concurrency: Vec<NonZeroUsize>,
    /// Time limit for each model; measurements that would exceed it are skipped
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds, default_value = "30")]
    pub(crate) seconds: f64,
    /// File of texts to embed, one on each line [default: chunks of the bundled sample]
    #[arg(long, value_name = "FILE")]
    pub(crate) texts: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the results to FILE; its extension chooses the format: .html (a page for browsers) .json
    #[arg(long, value_name = "FILE", value_parser = out_file)]
    pub(crate) out: Option<PathBuf>,
}

/// A model by its name, or with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbeddingModel {
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

fn out_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension();
    if extension.is_some_and(|extension| extension == "html" || extension == "json") {
        Ok(path)
    } else {
        Err("its name has to end in .html or .json".to_owned())
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

//! The folders of data, settings and prompts.

use std::env;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};

/// The folders of one user.
#[derive(Debug, Clone)]
pub struct Directories {
    /// Databases and runs: `EVALUATIONS_DATA_DIR`, else the platform's data folder.
    pub data: PathBuf,
    /// Settings and dataset manifests of this user.
    pub config: PathBuf,
    /// The folder the command was started in.
    pub working: PathBuf,
}

impl Directories {
    /// Reads the folders from the environment.
    pub fn from_env() -> Result<Self> {
        let working = env::current_dir().context("cannot determine the working folder")?;
        let native =
            choose_native_strategy().context("cannot determine the home folder; set HOME")?;
        if !native.home_dir().is_absolute() {
            bail!(
                "the home folder is `{}`, which is not an absolute path; set HOME to one",
                native.home_dir().display()
            );
        }
        let data = match env::var_os("EVALUATIONS_DATA_DIR").filter(|value| !value.is_empty()) {
            Some(data) => working.join(data),
            None => native.data_dir().join("evaluations"),
        };
        Ok(Self {
            data,
            config: native.config_dir().join("evaluations"),
            working,
        })
    }

    /// The database of a dataset, unless `--db` names another.
    pub fn database(&self, dataset: &str) -> PathBuf {
        self.data
            .join("dbs")
            .join(format!("{}.lancedb", file_stem(dataset)))
    }

    /// The parent of all run folders.
    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    /// The folder of calibrations of judges.
    pub fn calibrations(&self) -> PathBuf {
        self.data.join("calibrations")
    }

    /// The folder of judgements of passages.
    pub fn judgements(&self) -> PathBuf {
        self.data.join("judgements")
    }

    /// What `evaluations tune` tried, for each dataset.
    pub fn tunes(&self) -> PathBuf {
        self.data.join("tunes")
    }

    /// The cache of replies.
    pub fn replies(&self) -> PathBuf {
        self.data.join("cache").join("replies.sqlite")
    }

    /// The records of batches at servers.
    pub fn batches(&self) -> PathBuf {
        self.data.join("batches")
    }

    /// The parent of the recorded replies of targets.
    pub fn target_replies(&self) -> PathBuf {
        self.data.join("replies")
    }

    /// The cache of vectors.
    pub fn vectors(&self) -> PathBuf {
        self.data.join("cache").join("vectors.sqlite")
    }

    /// The cache of rerankers' scores.
    pub fn scores(&self) -> PathBuf {
        self.data.join("cache").join("scores.sqlite")
    }

    /// The folders searched for prompts before the bundled ones.
    pub fn prompts(&self) -> [PathBuf; 2] {
        [self.working.join("prompts"), self.config.join("prompts")]
    }

    /// The folders searched for manifests before the bundled ones.
    pub fn manifests(&self) -> Vec<PathBuf> {
        vec![self.working.join("datasets"), self.config.join("datasets")]
    }
}

/// `name` with everything but letters, digits, `.`, `_` and `-` replaced, so that it can be part of a file name on
/// any system: `beir:scifact` becomes `beir-scifact`.
pub fn file_stem(name: &str) -> String {
    let stem: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    // File names are limited to 255 bytes, and this leaves room for time, profile and number.
    stem.trim_start_matches('.').chars().take(150).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_name_becomes_a_file_name() {
        assert_eq!(file_stem("beir:scifact"), "beir-scifact");
        assert_eq!(file_stem("../up"), "-up");
        assert_eq!(file_stem("my set/é"), "my-set--");
    }
}

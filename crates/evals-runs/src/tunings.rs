//! `tunes/DATASET.jsonl`: the trials of each tuning, so that the same command resumes, and how often held-out questions were used.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::PathBuf;

use crate::clock::{now, timestamp};
use crate::directories::{Directories, file_stem};
use crate::shared_file::SharedFile;
use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

const FILE: SharedFile = SharedFile {
    what: "trials",
    format: "trials",
};

/// The right to run one tuning, held by one process. The operating system releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a tuning.
    ///
    /// # Errors
    ///
    /// Another process runs the same tuning.
    pub fn take(directories: &Directories, tuning: &str) -> Result<Self> {
        let folder = directories.tunes();
        let path = folder.join(format!("{}.lock", &tuning[..16]));
        let unusable = || format!("cannot lock `{}`", path.display());
        fs::create_dir_all(&folder).with_context(unusable)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).with_context(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => bail!(
                "another process is tuning the same settings on the same data; wait until it ends, or end it"
            ),
            Err(TryLockError::Error(error)) => Err(error).with_context(unusable),
        }
    }
}

/// One line of the file: a run of some settings on some questions, or a use of held-out questions.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial: Option<TrialLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<HeldOut>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrialLine {
    /// The digest of the tuning: its data, settings and space.
    tuning: String,
    #[serde(flatten)]
    trial: Trial,
}

/// A finished trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The settings that were tried.
    pub settings: String,
    /// The digest of the ids of the questions.
    pub questions: String,
    /// The name of the run's folder.
    pub run: String,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// A use of held-out questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HeldOut {
    tuning: String,
    questions: String,
    at: String,
}

/// The file of one dataset with the lines that it held when it was opened.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    tuning: String,
    trials: BTreeMap<(String, String), Trial>,
    /// The uses of held-out questions.
    held_out: Vec<HeldOut>,
}

impl Record {
    /// Opens the file of a dataset for a tuning with this digest.
    ///
    /// # Errors
    ///
    /// The file is locked, damaged or of another version.
    pub fn open(directories: &Directories, dataset: &str, tuning: &str) -> Result<Self> {
        let folder = directories.tunes();
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        let mut record = Self {
            path: folder.join(format!("{}.jsonl", file_stem(dataset))),
            tuning: tuning.to_owned(),
            trials: BTreeMap::new(),
            held_out: Vec::new(),
        };
        let (trials, held_out) = (&mut record.trials, &mut record.held_out);
        FILE.locked(&record.path, |line: Line| {
            held_out.extend(line.held_out);
            if let Some(TrialLine { trial, .. }) = line.trial.filter(|it| it.tuning == tuning) {
                trials.insert((trial.settings.clone(), trial.questions.clone()), trial);
            }
        })?;
        Ok(record)
    }

    /// Whether the tuning was begun before.
    pub fn is_begun(&self) -> bool {
        !self.trials.is_empty()
    }

    /// The trial of these settings on these questions, if it was finished before.
    pub fn trial(&self, settings: &str, questions: &str) -> Option<&Trial> {
        self.trials
            .get(&(settings.to_owned(), questions.to_owned()))
    }

    /// How many other tunings have used these held-out questions.
    pub fn uses(&self, questions: &str) -> usize {
        let others = self
            .held_out
            .iter()
            .filter(|it| it.questions == questions && it.tuning != self.tuning);
        let mut tunings: Vec<&str> = others.map(|it| it.tuning.as_str()).collect();
        tunings.sort_unstable();
        tunings.dedup();
        tunings.len()
    }

    /// Adds a finished trial.
    pub fn add(&self, trial: Trial) -> Result<()> {
        let tuning = self.tuning.clone();
        self.append(&Line {
            trial: Some(TrialLine { tuning, trial }),
            ..Line::default()
        })
    }

    /// Adds the use of held-out questions by this tuning, unless it is there.
    pub fn use_held_out(&mut self, questions: &str) -> Result<()> {
        let mut uses = self.held_out.iter();
        if uses.any(|it| it.questions == questions && it.tuning == self.tuning) {
            return Ok(());
        }
        let used = HeldOut {
            tuning: self.tuning.clone(),
            questions: questions.to_owned(),
            at: timestamp(now()),
        };
        self.append(&Line {
            held_out: Some(used.clone()),
            ..Line::default()
        })?;
        self.held_out.push(used);
        Ok(())
    }

    fn append(&self, line: &Line) -> Result<()> {
        let file = FILE.locked(&self.path, |_: serde::de::IgnoredAny| ())?;
        let written = file.append(line).and_then(|()| file.sync());
        written.map_err(|error| FILE.problem(error))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn directories(folder: &TempDir) -> Directories {
        Directories {
            data: folder.path().to_owned(),
            config: folder.path().join("config"),
            working: folder.path().to_owned(),
        }
    }

    #[test]
    fn a_tuning_finds_its_own_trials_and_the_uses_of_others() {
        let folder = TempDir::new().unwrap();
        let directories = directories(&folder);
        let open = |tuning: &str| Record::open(&directories, "beir:scifact", tuning).unwrap();
        let trial = Trial {
            settings: "limit=3".to_owned(),
            questions: "q".to_owned(),
            run: "run".to_owned(),
            seconds: 2.0,
        };
        open("a").add(trial.clone()).unwrap();
        open("a").use_held_out("h").unwrap();
        open("a").use_held_out("h").unwrap();
        let a = open("a");
        assert!(a.is_begun());
        assert_eq!(a.trial("limit=3", "q"), Some(&trial));
        assert_eq!(a.trial("limit=5", "q"), None);
        assert_eq!(a.uses("h"), 0, "its own use is the same one, resumed");
        let b = open("b");
        assert!(!b.is_begun());
        assert_eq!((b.uses("h"), b.uses("other")), (1, 0));
    }
}

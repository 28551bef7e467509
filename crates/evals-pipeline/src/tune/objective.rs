//! The measure that a tuner improves.

use std::fmt;

use anyhow::{Context as _, Result};
use evals_metrics::Measure;
use evals_pages::names_measure;
use evals_rag::rag_judges::JudgedMeasure;

use crate::options::RunArgs;

/// A rank measure, or a measure of answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Objective {
    /// Of the retrieval benchmark.
    Rank(Measure),
    /// Of question answering, by its name.
    Answers(String),
}

impl Objective {
    /// The measure with this name.
    ///
    /// # Errors
    ///
    /// It has a depth, as rank measures do, and is none.
    pub(super) fn of(name: &str) -> Result<Self> {
        match name.parse::<Measure>() {
            Ok(measure) => Ok(Self::Rank(measure)),
            Err(error) if name.contains('@') => Err(error).context("`tune.objective`"),
            Err(_) => Ok(Self::Answers(name.to_owned())),
        }
    }

    /// Skips the other benchmark, and asks for the measure.
    pub(super) fn choose_benchmark(&self, arguments: &mut RunArgs) {
        match self {
            Self::Rank(measure) => {
                arguments.stages.skip_qa = true;
                if !arguments.retrieval.measures.contains(measure) {
                    arguments.retrieval.measures.push(*measure);
                }
            }
            Self::Answers(name) => {
                arguments.stages.skip_retrieval = true;
                let judged = name.parse::<JudgedMeasure>().ok();
                let judged = judged.filter(|it| !arguments.qa.judges.contains(it));
                arguments.qa.judges.extend(judged);
            }
        }
    }

    /// Whether it is the measure with this title.
    pub(super) fn is(&self, title: &str) -> bool {
        names_measure(&self.to_string(), title)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rank(measure) => measure.fmt(formatter),
            Self::Answers(name) => name.fmt(formatter),
        }
    }
}

//! The measures of decomposed judges, by name.

use std::fmt;
use std::str::FromStr;

use evals_messages::nearest;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A measure that judges compute from many small verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedMeasure {
    /// The share of the answer's claims that the passages support.
    Faithfulness,
    /// The share of the answer's claims that help to answer the question.
    AnswerRelevance,
    /// Average precision of the passages that help to give the reference answer.
    ContextPrecision,
    /// The share of the reference's claims that the passages support.
    ContextRecall,
    /// Precision, recall and F1 of the answer's claims against the reference.
    FactualCorrectness,
    /// The share of the points that the question asks for and the answer covers.
    Completeness,
    /// The share of the answer's sentences with citations that the cited passages carry.
    CitationSupport,
    /// The facts of a good answer that the answer has.
    Nuggets,
    /// Whether a conversation is complete, consistent, and without answers that were declined before. Judged at its last turn.
    Conversation,
}

/// No measure has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no judge is called `{name}`; there are {}{hint}", known())]
pub struct UnknownMeasure {
    name: String,
    hint: String,
}

fn known() -> String {
    let names = JudgedMeasure::ALL.map(|measure| format!("`{}`", measure.name()));
    names.join(", ")
}

impl JudgedMeasure {
    /// Every measure.
    pub const ALL: [Self; 9] = [
        Self::Faithfulness,
        Self::AnswerRelevance,
        Self::ContextPrecision,
        Self::ContextRecall,
        Self::FactualCorrectness,
        Self::Completeness,
        Self::CitationSupport,
        Self::Nuggets,
        Self::Conversation,
    ];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faithfulness => "faithfulness",
            Self::AnswerRelevance => "answer_relevance",
            Self::ContextPrecision => "context_precision",
            Self::ContextRecall => "context_recall",
            Self::FactualCorrectness => "factual_correctness",
            Self::Completeness => "completeness",
            Self::CitationSupport => "citation_support",
            Self::Nuggets => "nuggets",
            Self::Conversation => "conversation",
        }
    }

    /// The names of its outcomes.
    pub fn outcomes(self) -> &'static [&'static str] {
        match self {
            Self::Faithfulness => &["faithfulness"],
            Self::AnswerRelevance => &["answer relevance"],
            Self::ContextPrecision => &["context precision"],
            Self::ContextRecall => &["context recall"],
            Self::FactualCorrectness => &["factual precision", "factual recall", "factual F1"],
            Self::Completeness => &["completeness"],
            Self::CitationSupport => &["citation support"],
            Self::Nuggets => &[
                "weighted nuggets strict",
                "weighted nuggets",
                "vital nuggets strict",
                "vital nuggets",
            ],
            Self::Conversation => &[
                "conversation complete",
                "conversation consistent",
                "answered at once",
            ],
        }
    }

    /// Whether it compares with the reference answer, and is undefined without one.
    pub fn needs_reference(self) -> bool {
        match self {
            Self::ContextPrecision | Self::ContextRecall | Self::FactualCorrectness => true,
            Self::Faithfulness
            | Self::AnswerRelevance
            | Self::Completeness
            | Self::CitationSupport
            | Self::Nuggets
            | Self::Conversation => false,
        }
    }

    /// Whether it judges the answer, and is undefined without one.
    pub fn needs_answer(self) -> bool {
        match self {
            Self::ContextPrecision | Self::ContextRecall => false,
            Self::Faithfulness
            | Self::AnswerRelevance
            | Self::FactualCorrectness
            | Self::Completeness
            | Self::CitationSupport
            | Self::Nuggets
            | Self::Conversation => true,
        }
    }

    /// Whether it is defined for a question that the documents do not answer.
    pub fn judges_unanswerable(self) -> bool {
        matches!(self, Self::Faithfulness | Self::Conversation)
    }

    /// Whether it reads the passages, and is undefined without their texts.
    pub fn needs_passages(self) -> bool {
        match self {
            Self::Faithfulness
            | Self::ContextPrecision
            | Self::ContextRecall
            | Self::CitationSupport => true,
            Self::AnswerRelevance
            | Self::FactualCorrectness
            | Self::Completeness
            | Self::Nuggets
            | Self::Conversation => false,
        }
    }

    /// Whether it needs the facts of a good answer: from the dataset, or from a reference answer or evidence that they can be taken from.
    pub fn needs_nuggets(self) -> bool {
        self == Self::Nuggets
    }

    /// Whether it judges a whole conversation, at its last turn.
    pub fn judges_conversations(self) -> bool {
        self == Self::Conversation
    }
}

impl fmt::Display for JudgedMeasure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for JudgedMeasure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Self, UnknownMeasure> {
        let found = Self::ALL.into_iter().find(|measure| measure.name() == name);
        found.ok_or_else(|| {
            let near = nearest::of(name, Self::ALL.iter().map(|measure| measure.name()));
            UnknownMeasure {
                name: name.to_owned(),
                hint: nearest::did_you_mean(near),
            }
        })
    }
}

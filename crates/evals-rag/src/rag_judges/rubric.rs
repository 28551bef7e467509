//! Rubrics: a criterion with levels in words, and the judge that chooses one.

use std::collections::BTreeMap;

use evals::{Evidence, Outcome, Vote};
use evals_models::{ChatRequest, ReplySchema};
use minijinja::context;
use serde::Deserialize;
use serde_json::json;
use thiserror::Error;

use super::judgement::Judgement;
use crate::Prompt;
use crate::judging::{
    Ballot, Inquiry, JudgeError, JudgeFailure, Panel, Rule, Shown, Wanted, parse_object, whole,
};
use crate::{Call, PromptError};

/// A criterion with levels that are described in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rubric {
    name: String,
    criterion: String,
    levels: BTreeMap<i64, String>,
    pass: Option<i64>,
}

/// Why a rubric cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RubricError {
    /// There is nothing to choose from.
    #[error("a rubric needs two levels or more, and this one has {0}")]
    FewLevels(usize),
    /// No answer could pass, or it is unclear which.
    #[error("`pass` must be one of the levels {levels}, not {pass}")]
    UnknownPass {
        /// The level.
        pass: i64,
        /// All levels.
        levels: String,
    },
    /// A text is empty.
    #[error("`{0}` must not be empty")]
    Empty(&'static str),
}

/// The texts that the judge of a rubric sees.
#[derive(Debug, Clone, Copy)]
pub struct Graded<'a> {
    /// The question.
    pub question: &'a str,
    /// The answer without citation markers.
    pub answer: &'a str,
    /// The reference answer, if the judge is to see it.
    pub reference: Option<&'a str>,
    /// The repetition of the case, from 1.
    pub repeat: u32,
}

/// The level that a judge chose, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct WrittenLevel {
    reason: String,
    #[serde(deserialize_with = "whole")]
    level: i64,
}

/// A choice among known levels.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChosenLevel {
    reason: String,
    level: Result<i64, String>,
}

impl Wanted for ChosenLevel {
    const KEY: &'static str = "level";

    fn agrees(&self, other: &Self) -> bool {
        self.level.is_ok() && self.level == other.level
    }

    fn complaint(&self) -> Option<String> {
        self.level.as_ref().err().cloned()
    }
}

impl Rubric {
    /// A rubric whose score has the name `name`. `levels` are the numbers of the scale with their descriptions; higher is better. With
    /// `pass`, an answer of at least that level passes.
    ///
    /// # Errors
    ///
    /// There are fewer than two levels, a text is empty, or `pass` is no level.
    pub fn new(
        name: impl Into<String>,
        criterion: impl Into<String>,
        levels: BTreeMap<i64, String>,
        pass: Option<i64>,
    ) -> Result<Self, RubricError> {
        let rubric = Self {
            name: name.into(),
            criterion: criterion.into(),
            levels,
            pass,
        };
        if rubric.criterion.trim().is_empty() {
            return Err(RubricError::Empty("criterion"));
        }
        if rubric.levels.values().any(|level| level.trim().is_empty()) {
            return Err(RubricError::Empty("levels"));
        }
        if rubric.levels.len() < 2 {
            return Err(RubricError::FewLevels(rubric.levels.len()));
        }
        match pass {
            Some(pass) if !rubric.levels.contains_key(&pass) => Err(RubricError::UnknownPass {
                pass,
                levels: rubric.numbers(),
            }),
            _ => Ok(rubric),
        }
    }

    /// The name of its score.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the assertion whether an answer passes; `None` if the rubric does not say what passes.
    pub fn pass_name(&self) -> Option<String> {
        self.pass.map(|_| format!("{} pass", self.name))
    }

    fn numbers(&self) -> String {
        let numbers: Vec<String> = self
            .levels
            .keys()
            .map(|level| format!("`{level}`"))
            .collect();
        numbers.join(", ")
    }

    /// Asks `panel` for the level of an answer.
    ///
    /// Of several votes the median counts by majority, and the lowest level if all have to agree.
    ///
    /// # Errors
    ///
    /// A judge chose no level.
    pub async fn judge(
        &self,
        panel: &Panel,
        prompt: &Prompt,
        graded: Graded<'_>,
    ) -> Result<Judgement, JudgeError> {
        let mut calls = Vec::new();
        match self.ballots(panel, prompt, graded, &mut calls).await {
            Ok(ballots) => Ok(Judgement {
                outcomes: self.outcomes(&ballots, panel.counted_by()),
                calls,
            }),
            Err(failure) => Err(JudgeError { failure, calls }),
        }
    }

    async fn ballots(
        &self,
        panel: &Panel,
        prompt: &Prompt,
        graded: Graded<'_>,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Ballot<ChosenLevel>>, JudgeFailure> {
        let reference = graded.reference.unwrap_or_default();
        let shown = Shown::new(&[graded.question, graded.answer, reference]);
        let request = self.request(prompt, graded, shown.nonce())?;
        let parse = |object: &str| self.parse(object);
        let inquiry = Inquiry {
            request,
            shown: &shown,
            parse: &parse,
            wanted: "a text `reason` and a number `level`",
            shape: format!(
                r#"{{"reason": "<one or two sentences>", "id": "{}", "level": <{}>}}"#,
                shown.nonce(),
                self.numbers()
            ),
            repair: Prompt::verdict_repair(),
        };
        panel.ask(graded.repeat, &inquiry, calls).await
    }

    fn parse(&self, object: &str) -> Option<ChosenLevel> {
        let WrittenLevel { reason, level } = parse_object(object)?;
        let known = Some(level).filter(|level| self.levels.contains_key(level));
        Some(ChosenLevel {
            reason: reason.trim().to_owned(),
            level: known.ok_or_else(|| format!("`level` is not one of {}", self.numbers())),
        })
    }

    fn request(
        &self,
        prompt: &Prompt,
        graded: Graded<'_>,
        nonce: &str,
    ) -> Result<ChatRequest, PromptError> {
        let levels = self.levels.iter().map(|(number, description)| {
            context! { number, description }
        });
        let levels: Vec<_> = levels.collect();
        let Graded {
            question, answer, ..
        } = graded;
        let criterion = &self.criterion;
        let prompt = match graded.reference {
            Some(reference) => {
                prompt.render(context! { question, answer, reference, criterion, levels, nonce })
            }
            None => prompt.render(context! { question, answer, criterion, levels, nonce }),
        }?;
        let schema = ReplySchema::of_object(
            "level",
            &json!({
                "reason": {"type": "string"},
                "id": {"type": "string"},
                "level": {"type": "integer"},
            }),
        );
        Ok(ChatRequest::asking(prompt, schema))
    }

    fn outcomes(&self, ballots: &[Ballot<ChosenLevel>], rule: Rule) -> Vec<Outcome> {
        let level = |ballot: &Ballot<ChosenLevel>| ballot.verdict.level.clone().unwrap_or_default();
        let mut levels: Vec<i64> = ballots.iter().map(level).collect();
        levels.sort_unstable();
        let decided = match rule {
            Rule::Majority => levels[levels.len() / 2],
            Rule::Unanimous => levels[0],
        };
        let passes = |level: i64| self.pass.is_none_or(|pass| level >= pass);
        let deciding = ballots.iter().find(|ballot| level(ballot) == decided);
        let reason = deciding.map(|ballot| ballot.verdict.reason.clone());
        let vote = |ballot: &Ballot<ChosenLevel>| Vote {
            judge: ballot.judge.clone(),
            repeat: ballot.repeat,
            verdict: level(ballot).to_string(),
            holds: passes(level(ballot)),
            reason: Some(ballot.verdict.reason.clone()),
        };
        let evidence = Evidence {
            text: self.levels.get(&decided).cloned().unwrap_or_default(),
            verdict: format!("level {decided}"),
            holds: passes(decided),
            votes: if ballots.len() > 1 {
                ballots.iter().map(vote).collect()
            } else {
                Vec::new()
            },
            ..Evidence::default()
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "a scale has few levels, and all up to 2^53 are exact"
        )]
        let score = Outcome::score(&self.name, decided as f64)
            .because(reason.unwrap_or_default())
            .on_evidence(vec![evidence]);
        let passed = self.pass_name();
        let passed = passed.map(|name| Outcome::assertion(name, passes(decided)));
        std::iter::once(score).chain(passed).collect()
    }
}

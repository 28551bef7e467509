//! Conversations as a whole: whether all of their turns were answered rightly, and which was the first that was not.

use std::collections::BTreeMap;

use async_trait::async_trait;
use evals::{Analysis, CaseReport, EvaluatorError, Report, ReportEvaluator, Value};
use evals_metrics::{Bootstrap, Scale, as_f64, mean_interval};
use serde_json::{Value as Json, json};

use super::{Equivalence, Qa};
use crate::Question;

/// A table of how many conversations had all turns right, with the share of the decided ones and its 95 % interval, and of the first wrong
/// turns. A turn is right if its answer is [equivalent](Equivalence). A conversation is undecided if a turn without a verdict comes before
/// any wrong one. Without conversations there is no table.
///
/// The interval counts repetitions of one conversation as a cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct WholeConversations;

/// How a conversation went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    Right,
    WrongAt(u64),
    Undecided,
}

impl WholeConversations {
    /// Its name in reports.
    pub const NAME: &str = "conversations";
}

#[async_trait]
impl ReportEvaluator<Qa> for WholeConversations {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn evaluate(&self, report: &Report<Qa>) -> Result<Vec<Analysis>, EvaluatorError> {
        let courses = courses(report);
        if courses.is_empty() {
            return Ok(Vec::new());
        }
        let decided = courses.iter();
        let decided = decided.filter(|(_, course)| *course != Course::Undecided);
        let values = decided.map(|(name, course)| (*name, f64::from(*course == Course::Right)));
        let (names, values): (Vec<&str>, Vec<f64>) = values.unzip();
        let clusters: Vec<usize> = names
            .iter()
            .map(|name| names.partition_point(|it| it < name))
            .collect();
        let interval = mean_interval(
            &values,
            Some(&clusters),
            Scale::Share,
            &Bootstrap::default(),
        );
        let mut counts: BTreeMap<Course, usize> = BTreeMap::from([(Course::Right, 0)]);
        for (_, course) in &courses {
            *counts.entry(*course).or_default() += 1;
        }
        let rows = counts.into_iter().map(|(course, count)| {
            let share = as_f64(count) / as_f64(values.len().max(1));
            let share = (course != Course::Undecided && !values.is_empty()).then_some(share);
            let of_all = interval.as_ref().ok().filter(|_| course == Course::Right);
            vec![
                course.in_words(),
                json!(count),
                json!(share.map(rounded)),
                json!(of_all.map(|it| rounded(it.low))),
                json!(of_all.map(|it| rounded(it.high))),
            ]
        });
        Ok(vec![Analysis::Table {
            title: Self::NAME.to_owned(),
            description: Some(format!(
                "Conversations by their first turn that is not `{}`, and the share of the decided ones.",
                Equivalence::OUTCOME
            )),
            columns: ["course", "conversations", "share", "95 % from", "to"]
                .map(str::to_owned)
                .into(),
            rows: rows.collect(),
        }])
    }
}

impl Course {
    fn in_words(self) -> Json {
        match self {
            Self::Right => json!("all turns right"),
            Self::WrongAt(turn) => json!(format!("first wrong at turn {turn}")),
            Self::Undecided => json!("undecided"),
        }
    }
}

/// The number of a turn, and whether its answer is right; `None` without a verdict.
type Judged = (u64, Option<bool>);

/// The course of each repetition of a conversation, by the conversation's name.
fn courses(report: &Report<Qa>) -> Vec<(&str, Course)> {
    let mut turns = BTreeMap::<(&str, u32), Vec<Judged>>::new();
    for case in &report.cases {
        if let Some((conversation, turn)) = Question::place(&case.metadata.0) {
            let of_conversation = turns.entry((conversation, case.repeat)).or_default();
            of_conversation.push((turn, is_right(case)));
        }
    }
    let courses = turns.into_iter().map(|((name, _), mut turns)| {
        turns.sort_unstable();
        let course = match turns.into_iter().find(|(_, right)| *right != Some(true)) {
            None => Course::Right,
            Some((turn, Some(_))) => Course::WrongAt(turn),
            Some((_, None)) => Course::Undecided,
        };
        (name, course)
    });
    courses.collect()
}

/// The verdict on a case; `None` without one.
fn is_right(case: &CaseReport<Qa>) -> Option<bool> {
    match case.outcome(Equivalence::OUTCOME)?.value {
        Value::Assertion(right) => Some(right),
        _ => None,
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use evals::{Case, Experiment, TaskError};
    use evals_metrics::{Judgements, Ranking};
    use evals_models::Finish;

    use super::*;
    use crate::judging::OverlapJudge;
    use crate::qa::{self, Answer};

    fn answer(text: &str) -> Answer {
        Answer {
            text: text.to_owned(),
            refused: false,
            citations: Vec::new(),
            unknown_citations: 0,
            finish: Finish::Stop,
            passages: Vec::new(),
            ranking: Ranking::default(),
            searches: None,
            missing: Vec::new(),
        }
    }

    fn question(conversation: &str, turn: u64, mark: char) -> Question {
        let facts = json!({"conversation": conversation, "turn": turn});
        Question {
            id: format!("{conversation}{turn}"),
            text: mark.to_string(),
            answer: Some("yes".to_owned()),
            accepted: Vec::new(),
            answerable: true,
            relevant: Judgements::new(),
            evidence: Vec::new(),
            nuggets: Vec::new(),
            user: None,
            turn: None,
            cluster: None,
            metadata: facts.as_object().unwrap().clone(),
        }
    }

    /// The tables of conversations whose turns are `+` right, `-` wrong or `!` failed.
    async fn tables(conversations: &[(&str, &str)]) -> Vec<Analysis> {
        let questions = conversations.iter().flat_map(|(name, turns)| {
            let turns = turns.chars().zip(1..);
            turns.map(move |(mark, turn)| question(name, turn, mark))
        });
        let dataset = qa::dataset("talks", questions).unwrap();
        let dataset = dataset
            .evaluator(Equivalence::new(Arc::new(OverlapJudge::default())))
            .report_evaluator(WholeConversations);
        let task = |case: Arc<Case<Qa>>, _| async move {
            match case.input.as_str() {
                "+" => Ok(answer("yes")),
                "-" => Ok(answer("no")),
                _ => Err(TaskError::new("down")),
            }
        };
        Experiment::new(dataset, task).run().await.analyses
    }

    #[tokio::test]
    async fn a_conversation_is_right_as_a_whole_or_has_a_first_wrong_turn() {
        let spoken = [
            ("a", "++"),
            ("b", "+-"),
            ("c", "+!-"),
            ("d", "--"),
            ("e", "+"),
        ];
        let tables = tables(&spoken).await;
        let [Analysis::Table { rows, .. }] = tables.as_slice() else {
            panic!("{tables:?}");
        };
        // The interval is Wilson's of 2 of 4.
        let expected = [
            json!(["all turns right", 2, 0.5, 0.15, 0.85]),
            json!(["first wrong at turn 1", 1, 0.25, null, null]),
            json!(["first wrong at turn 2", 1, 0.25, null, null]),
            json!(["undecided", 1, null, null, null]),
        ];
        assert_eq!(
            rows.iter().map(|row| json!(row)).collect::<Vec<_>>(),
            expected
        );
    }

    #[tokio::test]
    async fn without_conversations_there_is_no_table() {
        assert!(tables(&[]).await.is_empty());
    }
}

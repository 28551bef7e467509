//! Conversations as a whole: whether all of their turns were answered rightly, and which was the first that was not.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use evals::{
    Analysis, CaseReport, ClusterKey, ClusterTraits, EvaluatorError, Report, ReportEvaluator, Value,
};
use evals_metrics::{Bootstrap, Scale, as_f64, mean_interval};
use serde_json::{Value as Json, json};

use super::{Equivalence, Qa};
use crate::Question;

/// A table of how many conversations had all turns right, with the share of the decided ones and its 95 % interval, and of the first wrong
/// turns. A turn is right if its answer is [equivalent](Equivalence). A conversation is undecided if a turn without a verdict comes before
/// any wrong one. Conversations without all of their turns are left out and counted; without any other there is no table.
///
/// The interval counts repetitions of one conversation as a cluster, and conversations whose turns share a cluster of the report.
#[derive(Debug, Clone, Default)]
pub struct WholeConversations {
    cut: BTreeSet<String>,
}

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

    /// Leaves these conversations out, which the report has not to their ends.
    pub fn without(cut: BTreeSet<String>) -> Self {
        Self { cut }
    }
}

#[async_trait]
impl ReportEvaluator<Qa> for WholeConversations {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    async fn evaluate(&self, report: &Report<Qa>) -> Result<Vec<Analysis>, EvaluatorError> {
        let (courses, partial) = courses(report, &self.cut);
        if courses.is_empty() {
            return Ok(Vec::new());
        }
        let clusters = clusters(report);
        let decided = courses.iter();
        let decided = decided.filter(|(_, course)| *course != Course::Undecided);
        let values = decided.map(|(name, course)| {
            let cluster = clusters.get(name).copied().unwrap_or_default();
            (cluster, f64::from(*course == Course::Right))
        });
        let (clusters, values): (Vec<usize>, Vec<f64>) = values.unzip();
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
            description: Some(described(partial)),
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

fn described(partial: usize) -> String {
    let text = format!(
        "Conversations by their first turn that is not `{}`, and the share of the decided ones.",
        Equivalence::OUTCOME
    );
    match partial {
        0 => text,
        1 => format!("{text} 1 conversation without all of its turns is left out."),
        _ => format!("{text} {partial} conversations without all of their turns are left out."),
    }
}

/// The number of a turn, and whether its answer is right; `None` without a verdict.
type Judged = (u64, Option<bool>);

/// The course of each repetition of a conversation that has all of its turns, by the conversation's name, and how many conversations have
/// not: those in `cut`, and those that lack an earlier one.
fn courses<'r>(report: &'r Report<Qa>, cut: &BTreeSet<String>) -> (Vec<(&'r str, Course)>, usize) {
    let mut turns = BTreeMap::<(&str, u32), Vec<Judged>>::new();
    for case in &report.cases {
        if let Some((conversation, turn)) = Question::place(&case.metadata.0) {
            let of_conversation = turns.entry((conversation, case.repeat)).or_default();
            of_conversation.push((turn, is_right(case)));
        }
    }
    let mut partial = BTreeSet::new();
    turns.retain(|(name, _), turns| {
        turns.sort_unstable();
        let has_earlier = (1..).zip(turns.iter()).all(|(number, it)| it.0 == number);
        let is_whole = has_earlier && !cut.contains(*name);
        if !is_whole {
            partial.insert(*name);
        }
        is_whole
    });
    let courses = turns.into_iter().map(|((name, _), turns)| {
        let course = match turns.into_iter().find(|(_, right)| *right != Some(true)) {
            None => Course::Right,
            Some((turn, Some(_))) => Course::WrongAt(turn),
            Some((_, None)) => Course::Undecided,
        };
        (name, course)
    });
    (courses.collect(), partial.len())
}

/// The number of the cluster of each conversation: those whose turns share a cluster of the report are one, also through others.
fn clusters(report: &Report<Qa>) -> BTreeMap<&str, usize> {
    let mut shared = BTreeMap::<&str, Vec<String>>::new();
    for case in &report.cases {
        if let Some((conversation, _)) = Question::place(&case.metadata.0) {
            let own = || vec![format!("conversation {conversation}")];
            let of_conversation = shared.entry(conversation).or_insert_with(own);
            of_conversation.extend(case.cluster.iter().map(|name| format!("cluster {name}")));
        }
    }
    let linked = shared.values().map(|shared| ClusterTraits {
        documents: shared.clone(),
        ..ClusterTraits::default()
    });
    let names = ClusterKey::Document.names(&linked.collect::<Vec<_>>());
    let names = names.unwrap_or_default();
    let mut sorted: Vec<&Option<String>> = names.iter().collect();
    sorted.sort_unstable();
    let numbers = names
        .iter()
        .map(|name| sorted.partition_point(|it| *it < name));
    shared.into_keys().zip(numbers).collect()
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

    /// The tables of conversations whose turns are `+` right, `-` wrong, `!` failed or ` ` not run, in clusters of these names.
    async fn tables(
        conversations: &[(&str, &str)],
        cluster: impl Fn(&str) -> Option<String>,
    ) -> Vec<Analysis> {
        let questions = conversations.iter().flat_map(|(name, turns)| {
            let turns = turns.chars().zip(1..).filter(|(mark, _)| *mark != ' ');
            let cluster = cluster(name);
            turns.map(move |(mark, turn)| Question {
                cluster: cluster.clone(),
                ..question(name, turn, mark)
            })
        });
        let dataset = qa::dataset("talks", questions).unwrap();
        let dataset = dataset
            .evaluator(Equivalence::new(Arc::new(OverlapJudge::default())))
            .report_evaluator(WholeConversations::without(["cut".to_owned()].into()));
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
        let tables = tables(&spoken, |_| None).await;
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
    async fn without_whole_conversations_there_is_no_table() {
        assert!(tables(&[], |_| None).await.is_empty());
        let partial = tables(&[("a", " +"), ("b", "+ +"), ("c", "  -")], |_| None);
        assert!(partial.await.is_empty());
    }

    #[tokio::test]
    async fn partial_conversations_are_counted_apart() {
        let spoken = [("a", " +"), ("cut", "++"), ("c", "++")];
        let tables = tables(&spoken, |_| None).await;
        let [
            Analysis::Table {
                rows, description, ..
            },
        ] = tables.as_slice()
        else {
            panic!("{tables:?}");
        };
        assert_eq!(rows.len(), 1);
        assert_eq!(json!(rows[0][..3]), json!(["all turns right", 1, 1.0]));
        let description = description.as_deref().unwrap();
        let counted = "2 conversations without all of their turns are left out.";
        assert!(description.ends_with(counted), "{description}");
    }

    #[tokio::test]
    async fn clusters_of_the_report_widen_the_interval() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let spoken = names.map(|name| (name, if name < "d" { "++" } else { "+-" }));
        let interval = async |cluster: fn(&str) -> Option<String>| {
            let tables = tables(&spoken, cluster).await;
            let Analysis::Table { rows, .. } = &tables[0] else {
                panic!("{tables:?}");
            };
            (rows[0][3].as_f64().unwrap(), rows[0][4].as_f64().unwrap())
        };
        let alone = interval(|_| None).await;
        let own = interval(|name| Some(name.to_owned())).await;
        assert_eq!(alone, own, "each conversation is a cluster");
        let (low, high) =
            interval(|name| Some(if name < "d" { "x" } else { "y" }.to_owned())).await;
        assert!(low < alone.0 && high > alone.1, "[{low}, {high}]");
    }
}

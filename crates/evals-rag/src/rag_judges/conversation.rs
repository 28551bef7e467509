//! The judge of whole conversations, which is asked at their last turns.

use std::collections::{BTreeMap, BTreeSet};

use evals::{Evidence, Outcome};
use serde_json::{Map, Value};

use super::checklist::Item;
use super::measure::JudgedMeasure;
use super::numbered::Words;
use super::sitting::Sitting;
use crate::judging::JudgeFailure;
use crate::{Call, Question};

/// What a judge decides about a conversation, in the order of the [outcomes](JudgedMeasure::outcomes) of [`JudgedMeasure::Conversation`].
pub(super) const STATEMENTS: [&str; 3] = [
    "Every question of the user is answered in all of its parts, the last one included, and the goal of the user is reached if there is \
     one. A plain statement that something is not known is an answer.",
    "No answer contradicts an earlier one, unless it says that it corrects it.",
    "No answer gives what an earlier one declined to give or did not know, unless the user said something new in between.",
];

/// The number of the last turn of each conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastTurns(BTreeMap<String, u64>);

impl LastTurns {
    /// The last turns among questions with this metadata.
    pub fn of<'m>(metadata: impl IntoIterator<Item = &'m Map<String, Value>>) -> Self {
        let mut last = BTreeMap::new();
        for (conversation, turn) in metadata.into_iter().filter_map(Question::place) {
            let known = last.entry(conversation.to_owned()).or_insert(turn);
            *known = turn.max(*known);
        }
        Self(last)
    }

    /// The conversations of which `chosen`, some of the questions, lacks the last turn.
    pub fn cut_in(&self, chosen: &Self) -> BTreeSet<String> {
        let chosen = chosen.0.iter();
        let cut = chosen.filter(|(name, turn)| self.0.get(*name) != Some(*turn));
        cut.map(|(name, _)| name.clone()).collect()
    }

    /// Whether a question with this metadata ends a conversation of several turns, or is the conversation of a simulated user.
    pub fn ends(&self, metadata: &Map<String, Value>) -> bool {
        let is_whole = metadata.contains_key(Question::USER_KNOWS);
        is_whole
            || Question::place(metadata).is_some_and(|(conversation, turn)| {
                turn > 1 && self.0.get(conversation) == Some(&turn)
            })
    }
}

impl JudgedMeasure {
    /// What has to hold of a whole conversation for its outcome of this name to pass; `None` for outcomes about anything else.
    pub fn of_conversation(outcome: &str) -> Option<&'static str> {
        let names = Self::Conversation.outcomes().iter();
        let found = names.zip(STATEMENTS).find(|(name, _)| **name == outcome);
        found.map(|(_, statement)| statement)
    }
}

impl Sitting<'_> {
    /// The verdicts on a conversation, one for each statement.
    pub(super) async fn conversation(
        &self,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Outcome>, JudgeFailure> {
        let checklist = self.checklist(
            &self.templates.conversation,
            &Words::CONVERSATION,
            STATEMENTS.into_iter().map(Item::of),
            vec![
                (
                    "conversation",
                    self.material.conversation.unwrap_or_default(),
                ),
                ("question", self.material.question),
                ("answer", self.answer()),
            ],
        );
        let evidence = self.verdicts(&checklist, calls).await?.into_iter();
        let names = JudgedMeasure::Conversation.outcomes().iter();
        Ok(names.zip(evidence).map(|it| outcome(it.0, it.1)).collect())
    }
}

fn outcome(name: &str, evidence: Evidence) -> Outcome {
    let verdict = Outcome::assertion(name, evidence.holds);
    let reason = evidence.reason.clone();
    let verdict = match reason {
        Some(reason) => verdict.because(reason),
        None => verdict,
    };
    verdict.on_evidence(vec![evidence])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_ends_at_its_greatest_turn_unless_it_has_only_one_or_is_one_case() {
        let facts = |conversation: &str, turn: u64| {
            let facts = json!({"conversation": conversation, "turn": turn});
            facts.as_object().unwrap().clone()
        };
        let all = [
            facts("a", 2),
            facts("a", 3),
            facts("a", 1),
            facts("b", 1),
            Map::new(),
            Map::from_iter([(Question::USER_KNOWS.to_owned(), json!([]))]),
        ];
        let last = LastTurns::of(&all);
        let ends: Vec<bool> = all.iter().map(|it| last.ends(it)).collect();
        assert_eq!(ends, [false, true, false, false, false, true]);
        let cut = last.cut_in(&LastTurns::of(&all[2..]));
        assert_eq!(cut, BTreeSet::from(["a".to_owned()]));
    }
}

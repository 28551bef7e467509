//! The division of questions into those that the search sees and those that are held out.

use std::collections::BTreeMap;

use evals_metrics::{Xoshiro256PlusPlus, as_f64};
use serde::{Deserialize, Serialize};

/// With fewer questions nothing is held out. A third of 60 is 20, and the interval of a difference over 20 questions is about ± 0.12 for
/// values that scatter as usual (a standard deviation of 0.4, a correlation of 0.8): fewer would show nothing.
pub const LEAST_QUESTIONS: usize = 60;

/// With fewer clusters nothing is held out: a third of 20 is 6, and a randomization test of 5 clusters has no p value below 0.03.
pub const LEAST_CLUSTERS: usize = 20;

/// The search needs so many clusters, and the held-out part half as many: below, tests by cluster have no power.
const LEAST_SEARCHED: usize = 10;

/// With fewer questions even the resampled estimate says little.
pub const FEW_QUESTIONS: usize = 20;

/// A question, which only its place among the others matters of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// The document or conversation it belongs to. Questions of one cluster succeed and fail together, so they stay on one side.
    pub cluster: Option<String>,
    /// The conversation whose turn it is. Turns are asked one after the other, so every round of a search has whole conversations.
    pub conversation: Option<String>,
}

/// Why no questions are held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoHoldOut {
    /// The share to hold out is 0.
    NotWanted,
    /// There are fewer questions than [`LEAST_QUESTIONS`].
    FewQuestions,
    /// There are fewer clusters than [`LEAST_CLUSTERS`].
    FewClusters,
    /// All questions are about one document.
    OneCluster,
    /// A few large clusters have most of the questions, so that one side would have next to none, or too few clusters.
    LargeClusters,
}

/// Which questions the search sees, and which it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The positions of the questions of the search: conversations and single questions in random order, turns as given.
    pub search: Vec<usize>,
    /// The numbers of questions of the search, from its first, that cut no conversation; ascending.
    pub ends: Vec<usize>,
    /// The positions of the questions that are held out, ascending. Empty if none are.
    pub held_out: Vec<usize>,
    /// Why none are held out.
    pub no_hold_out: Option<NoHoldOut>,
    /// The number of each question's cluster, in the order in which the search meets them; those that are held out come last. A question
    /// without a cluster has one of its own; if all are in one cluster, each has, too.
    pub clusters: Vec<usize>,
}

impl Split {
    /// Divides questions by seed. Whole clusters are held out, in random order, until the next one would exceed the share.
    pub fn new(questions: &[Question], share: f64, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seeded(seed);
        let mut groups = groups(questions);
        shuffle(&mut groups, &mut random);
        let wanted = share * as_f64(questions.len());
        let (mut search, mut held_out, mut away) = (Vec::new(), Vec::new(), 0);
        for group in &groups {
            if as_f64(held_out.len() + group.len()) <= wanted {
                held_out.extend(group);
                away += 1;
            } else {
                search.extend(group);
            }
        }
        let is_lopsided = as_f64(held_out.len()) < wanted / 2.0
            || 2 * away < LEAST_SEARCHED
            || groups.len() - away < LEAST_SEARCHED;
        let reasons = [
            (share <= 0.0, NoHoldOut::NotWanted),
            (groups.len() == 1, NoHoldOut::OneCluster),
            (questions.len() < LEAST_QUESTIONS, NoHoldOut::FewQuestions),
            (groups.len() < LEAST_CLUSTERS, NoHoldOut::FewClusters),
            (is_lopsided, NoHoldOut::LargeClusters),
        ];
        let reason = reasons.into_iter().find(|(holds, _)| *holds);
        if reason.is_some() {
            search.append(&mut held_out);
        }
        let mut units = units(&search, questions);
        shuffle(&mut units, &mut random);
        let ends = units.iter().scan(0, |end, unit| {
            *end += unit.len();
            Some(*end)
        });
        let ends = ends.collect();
        let search = units.concat();
        held_out.sort_unstable();
        if groups.len() == 1 {
            groups = search.iter().map(|place| vec![*place]).collect();
        }
        Self {
            clusters: numbered(&groups, &[search.as_slice(), &held_out].concat()),
            search,
            ends,
            held_out,
            no_hold_out: reason.map(|(_, reason)| reason),
        }
    }
}

/// The positions of the questions of each conversation, and of each question that is in none, in the order in which they begin.
fn units(places: &[usize], questions: &[Question]) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for place in places {
        let conversation = questions[*place].conversation.as_deref();
        if let Some(unit) = conversation.and_then(|it| known.get(it)) {
            units[*unit].push(*place);
        } else {
            known.extend(conversation.map(|it| (it, units.len())));
            units.push(vec![*place]);
        }
    }
    for unit in &mut units {
        unit.sort_unstable();
    }
    units
}

/// The positions of each cluster's questions.
fn groups(questions: &[Question]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(Option<&str>, usize), Vec<usize>> = BTreeMap::new();
    for (place, question) in questions.iter().enumerate() {
        let cluster = question.cluster.as_deref();
        let alone = if cluster.is_none() { place } else { 0 };
        groups.entry((cluster, alone)).or_default().push(place);
    }
    groups.into_values().collect()
}

/// The number of each question's cluster, in the order in which these questions meet them.
fn numbered(groups: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let mut clusters = vec![0; order.len()];
    let mut rank = vec![0; order.len()];
    for (at, place) in order.iter().enumerate() {
        rank[*place] = at;
    }
    let mut groups: Vec<&Vec<usize>> = groups.iter().collect();
    groups.sort_by_key(|group| group.iter().map(|place| rank[*place]).min());
    for (number, group) in groups.into_iter().enumerate() {
        for place in group {
            clusters[*place] = number;
        }
    }
    clusters
}

/// Fisher and Yates's shuffle.
pub(crate) fn shuffle<T>(values: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.index(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(clusters: &[usize]) -> Vec<Question> {
        let name = |cluster: &usize| Question {
            cluster: Some(cluster.to_string()),
            ..Question::default()
        };
        clusters.iter().map(name).collect()
    }

    #[test]
    fn rounds_have_whole_conversations_and_their_turns_in_order() {
        // Turns of 60 conversations, one after the other round by round, and 20 single questions.
        let turns = (0..180).map(|turn| Some((turn % 60).to_string()));
        let conversations: Vec<Option<String>> = turns.chain((0..20).map(|_| None)).collect();
        let questions = conversations.iter().map(|conversation| Question {
            cluster: conversation.clone(),
            conversation: conversation.clone(),
        });
        let split = Split::new(&questions.collect::<Vec<_>>(), 0.3, 7);
        assert_eq!(split.ends.last(), Some(&split.search.len()));
        let mut begin = 0;
        for end in &split.ends {
            let unit = &split.search[begin..*end];
            let of = |place: &usize| &conversations[*place];
            assert!(unit.iter().all(|place| of(place) == of(&unit[0])));
            let turns = if of(&unit[0]).is_some() { 3 } else { 1 };
            assert_eq!(unit.len(), turns);
            assert!(unit.is_sorted());
            begin = *end;
        }
    }

    #[test]
    fn sides_share_no_question_and_no_cluster() {
        for seed in 0..50 {
            // Clusters of one to seven questions.
            let clusters: Vec<usize> = (0..300).map(|place| (place * place) % 97).collect();
            let split = Split::new(&questions(&clusters), 1.0 / 3.0, seed);
            assert_eq!(split.no_hold_out, None);
            let mut all = [split.search.as_slice(), &split.held_out].concat();
            all.sort_unstable();
            assert_eq!(all, (0..300).collect::<Vec<_>>());
            let held_out = |place: &usize| split.held_out.binary_search(place).is_ok();
            for one in 0..300 {
                let alike = (0..300).filter(|other| clusters[*other] == clusters[one]);
                assert!(
                    alike
                        .into_iter()
                        .all(|other| held_out(&other) == held_out(&one))
                );
            }
            assert!(
                (85..=100).contains(&split.held_out.len()),
                "{}",
                split.held_out.len()
            );
        }
    }

    #[test]
    fn the_seed_decides() {
        let questions = vec![Question::default(); 90];
        let split = |seed| Split::new(&questions, 1.0 / 3.0, seed);
        assert_eq!(split(1), split(1));
        assert_ne!(split(1).held_out, split(2).held_out);
        assert_eq!(split(1).held_out.len(), 30);
    }

    #[test]
    fn a_search_of_one_large_cluster_is_none() {
        let clusters: Vec<usize> = (0..110_usize)
            .map(|place| place.saturating_sub(80))
            .collect();
        let split = Split::new(&questions(&clusters), 1.0 / 3.0, 0);
        assert_eq!(split.no_hold_out, Some(NoHoldOut::LargeClusters));
        assert_eq!((split.search.len(), split.held_out.len()), (110, 0));
    }
}

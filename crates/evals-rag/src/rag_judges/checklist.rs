//! Asks a panel for a verdict on each item of a numbered list.

use evals::{Evidence, Vote};
use evals_models::{ChatRequest, ReplySchema};
use minijinja::Value;

use super::numbered::{Given, Numbered, Wants, Words};
use super::pieces::{NumberedPassage, groups, pieces};
use crate::judging::{Ballot, Inquiry, JudgeFailure, Panel, Shown};
use crate::{Call, Prompt, PromptError};

/// The most items in one request: longer lists are split, because models lose count.
pub(super) const MOST_ITEMS: usize = 40;

/// A list of items to be judged, and what the judges see beside it.
#[derive(Debug)]
pub(super) struct Checklist<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) words: &'static Words,
    pub(super) items: Vec<Item<'a>>,
    /// The passages that decide. Those that do not fit into one request together are shown in several.
    pub(super) passages: &'a [NumberedPassage<'a>],
    /// Further texts by the names that the prompt gives them.
    pub(super) texts: Vec<(&'static str, &'a str)>,
    /// The most bytes of passages in one request.
    pub(super) budget: usize,
}

/// One item to be judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) text: &'a str,
    /// The passages that decide about it; `None` for all.
    pub(super) cites: Option<&'a [usize]>,
}

impl<'a> Item<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            title: None,
            text,
            cites: None,
        }
    }

    /// Whether `group` has a passage that decides about it.
    fn concerns(&self, group: &[NumberedPassage<'_>]) -> bool {
        self.cites.is_none_or(|cited| {
            let mut numbers = group.iter().map(|passage| passage.number);
            numbers.any(|number| cited.contains(&number))
        })
    }
}

/// A part of an item that fits into a request: all of it, but for a very long one.
#[derive(Clone, Copy)]
struct ItemPart<'a> {
    /// The item's index.
    of: usize,
    item: Item<'a>,
}

/// The verdicts of one vote, by item.
struct ItemVotes {
    judge: String,
    repeat: u32,
    given: Vec<Option<Given>>,
}

impl Checklist<'_> {
    /// The evidence of every item, in order, without its text. The calls are kept even if they end in a failure.
    pub(super) async fn ask(
        &self,
        panel: &Panel,
        repeat: u32,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let groups = groups(self.passages, self.budget);
        // Without passages nothing can be found in them.
        if self.words.names_passage && groups.is_empty() {
            return Ok(vec![
                self.nowhere("there are no passages");
                self.items.len()
            ]);
        }
        let groups = if groups.is_empty() {
            vec![Vec::new()]
        } else {
            groups
        };
        let mut votes: Vec<ItemVotes> = Vec::new();
        for group in &groups {
            for parts in self.batches(group) {
                let ballots = self.ask_about(&parts, group, panel, repeat, calls).await?;
                self.count(&parts, ballots, &mut votes);
            }
        }
        let evidence = (0..self.items.len()).map(|item| self.evidence(item, &votes, panel));
        Ok(evidence.collect())
    }

    /// The verdict that nothing was found, which no judge gave.
    fn nowhere(&self, reason: &str) -> Evidence {
        Evidence {
            verdict: self
                .words
                .others
                .last()
                .copied()
                .unwrap_or_default()
                .to_owned(),
            reason: Some(reason.to_owned()),
            ..Evidence::default()
        }
    }

    /// The items that `group` can decide about, in batches that fit into a request.
    fn batches(&self, group: &[NumberedPassage<'_>]) -> Vec<Vec<ItemPart<'_>>> {
        let items = self.items.iter().enumerate();
        let concerned = items.filter(|(_, item)| item.concerns(group));
        let parts = concerned.flat_map(|(of, item)| {
            let pieces = pieces(item.text, self.budget).into_iter();
            pieces.map(move |text| ItemPart {
                of,
                item: Item { text, ..*item },
            })
        });
        let mut batches: Vec<Vec<ItemPart<'_>>> = Vec::new();
        let mut bytes = 0_usize;
        for part in parts {
            let size = part.item.text.len() + part.item.title.map_or(0, str::len);
            let fits =
                |batch: &Vec<ItemPart<'_>>| batch.len() < MOST_ITEMS && bytes + size <= self.budget;
            if let Some(batch) = batches.last_mut().filter(|batch| fits(batch)) {
                batch.push(part);
                bytes += size;
            } else {
                batches.push(vec![part]);
                bytes = size;
            }
        }
        batches
    }

    async fn ask_about(
        &self,
        parts: &[ItemPart<'_>],
        group: &[NumberedPassage<'_>],
        panel: &Panel,
        repeat: u32,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Ballot<Numbered>>, JudgeFailure> {
        let shown = self.shown(parts, group);
        let request = self.request(parts, group, shown.nonce())?;
        let in_group = |number: &usize| group.iter().any(|passage| passage.number == *number);
        let deciding = parts.iter().map(|part| match part.item.cites {
            Some(cited) => cited.iter().copied().filter(in_group).collect(),
            None => group.iter().map(|passage| passage.number).collect(),
        });
        let deciding: Vec<Vec<usize>> = deciding.collect();
        let wants = Wants {
            words: self.words,
            items: parts.len(),
            passages: &deciding,
        };
        let parse = |object: &str| wants.parse(object);
        let inquiry = Inquiry {
            request,
            shown: &shown,
            parse: &parse,
            wanted: Wants::WANTED,
            shape: self.words.shape(shown.nonce()),
            repair: Prompt::verdict_repair(),
        };
        panel.ask(repeat, &inquiry, calls).await
    }

    fn shown(&self, parts: &[ItemPart<'_>], group: &[NumberedPassage<'_>]) -> Shown {
        let items = parts
            .iter()
            .flat_map(|part| part.item.title.into_iter().chain([part.item.text]));
        let passages = group
            .iter()
            .flat_map(|it| it.title.into_iter().chain([it.text]));
        let texts = self.texts.iter().map(|(_, text)| *text);
        let all: Vec<&str> = texts.chain(passages).chain(items).collect();
        Shown::new(&all)
    }

    fn request(
        &self,
        parts: &[ItemPart<'_>],
        group: &[NumberedPassage<'_>],
        nonce: &str,
    ) -> Result<ChatRequest, PromptError> {
        let items = (1_usize..).zip(parts).map(|(number, part)| {
            minijinja::context! {
                number,
                title => part.item.title,
                text => part.item.text,
                cites => part.item.cites.map(<[usize]>::to_vec),
            }
        });
        let passages = group.iter().map(|passage| {
            minijinja::context! {
                number => passage.number,
                title => passage.title,
                text => passage.text,
            }
        });
        let texts = self
            .texts
            .iter()
            .map(|(name, text)| (*name, Value::from(*text)));
        let values = texts.chain([
            ("items", Value::from(items.collect::<Vec<_>>())),
            ("passages", Value::from(passages.collect::<Vec<_>>())),
            ("shape", Value::from(self.words.shape(nonce))),
            ("nonce", Value::from(nonce)),
        ]);
        let prompt = self.prompt.render(Value::from_pairs(values))?;
        let schema = ReplySchema {
            name: "verdicts".to_owned(),
            schema: self.words.schema(),
        };
        Ok(ChatRequest::asking(prompt, schema))
    }

    /// Adds the ballots of one request to those of earlier requests about other passages or other parts of an item.
    fn count(
        &self,
        parts: &[ItemPart<'_>],
        ballots: Vec<Ballot<Numbered>>,
        votes: &mut Vec<ItemVotes>,
    ) {
        if votes.is_empty() {
            votes.extend(ballots.iter().map(|ballot| ItemVotes {
                judge: ballot.judge.clone(),
                repeat: ballot.repeat,
                given: vec![None; self.items.len()],
            }));
        }
        for (vote, ballot) in votes.iter_mut().zip(ballots) {
            let given = ballot.verdict.0.unwrap_or_default();
            for (part, given) in parts.iter().zip(given) {
                let place = &mut vote.given[part.of];
                let weighs_more = place
                    .as_ref()
                    .is_none_or(|known| self.weight(given.word) < self.weight(known.word));
                if weighs_more {
                    *place = Some(given);
                }
            }
        }
    }

    /// The place of a word: one group of passages that supports a claim is enough, and a contradiction outweighs an absence.
    fn weight(&self, word: &str) -> usize {
        let place = self.words.all().position(|known| known == word);
        place.unwrap_or(usize::MAX)
    }

    /// The verdict on one item, from all votes.
    fn evidence(&self, item: usize, votes: &[ItemVotes], panel: &Panel) -> Evidence {
        let given: Vec<(&ItemVotes, &Given)> = votes
            .iter()
            .filter_map(|vote| Some((vote, vote.given[item].as_ref()?)))
            .collect();
        if given.is_empty() {
            return self.nowhere("no passage decides about it");
        }
        let speaks = |given: &Given| given.word == self.words.holds;
        let holds = panel
            .counted_by()
            .holds(given.iter().map(|(_, given)| speaks(given)));
        let word = if holds {
            self.words.holds
        } else {
            let count = |word: &str| given.iter().filter(|(_, given)| given.word == word).count();
            // The first of equals is the gravest.
            let others = self.words.others.iter().rev();
            others
                .max_by_key(|word| count(word))
                .copied()
                .unwrap_or_default()
        };
        let deciding = given.iter().find(|(_, given)| given.word == word);
        let vote = |(vote, given): &(&ItemVotes, &Given)| Vote {
            judge: vote.judge.clone(),
            repeat: vote.repeat,
            verdict: given.word.to_owned(),
            holds: speaks(given),
            reason: given.reason.clone(),
        };
        Evidence {
            text: String::new(),
            verdict: word.to_owned(),
            holds,
            reason: deciding.and_then(|(_, given)| given.reason.clone()),
            source: deciding
                .and_then(|(_, given)| given.passage)
                .map(|number| format!("passage {number}")),
            votes: if given.len() > 1 {
                given.iter().map(vote).collect()
            } else {
                Vec::new()
            },
        }
    }
}

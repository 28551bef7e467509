//! The facts about the target in a report, besides its measures: its version, and how its documents were matched.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use evals::{CaseReport, Domain, Report};
use evals_messages::quantity;
use evals_rag::Purpose;
use evals_rag::targets::matching::{IdCheck, MatchCounts};
use evals_rag::targets::{Conversations, DocumentScores, TargetSystem};
use evals_runs::depth::Depth;
use evals_targets::{RecordedTarget, Target as _, TargetIdentity};
use evals_terminal::Printer;
use serde_json::Value;

/// The entries of a report's metadata about the number and the scores of documents.
pub const DEPTH: &str = "documents_returned";
/// The entry about the scores of documents.
pub const SCORES: &str = "document_scores";

/// Most names of unmatched documents in a line.
const NAMED: usize = 5;

/// Most names in a message that compares ids of the target with those of the dataset.
const COMPARED: usize = 2;

/// The facts of a report, which come from its cases, so that a resumed run has those of all its sessions.
#[derive(Debug)]
pub struct TargetFacts {
    counts: MatchCounts,
    /// The first documents that the questions expect.
    wanted: Vec<String>,
    /// How many documents matched by id have another text. It covers the replies that this process read; `None` if it compared nothing.
    checked: Option<IdCheck>,
    /// `None` if the cases do not say it.
    depth: Option<Depth>,
    /// Whether the report is of retrieval.
    is_retrieval: bool,
    /// `None` outside of retrieval, and if the target gave none.
    scores: Option<DocumentScores>,
    versions: BTreeSet<String>,
    /// How many cases have a history whose oldest turns were left out.
    cut: usize,
    /// How many simulated conversations with a reply ended because the user was done, and at the limit of turns.
    ended: [usize; 2],
    /// What to say about replies of an attempt that did not end.
    resumed: Option<String>,
    /// The model that all replies with tokens name; `None` if one of them names none or they name several.
    pub model: Option<String>,
}

impl TargetFacts {
    /// The facts of a report. `checked` says whether ids were checked against a corpus.
    pub fn of<D: Domain>(report: &Report<D>, checked: Option<IdCheck>) -> Self {
        let attributes = || report.cases.iter().map(|case| &case.attributes);
        let named = |name: &str| -> BTreeSet<String> {
            let values = attributes().filter_map(|it| it.get(name)?.as_str());
            values.map(str::to_owned).collect()
        };
        let with_tokens = report.cases.iter().filter(|case| has_tokens(case));
        let models = with_tokens.map(|case| case.attributes.get(TargetSystem::MODEL)?.as_str());
        Self {
            counts: MatchCounts::of(attributes()),
            wanted: wanted(report),
            checked: checked.filter(|checked| checked.compared > 0),
            depth: Depth::of(report),
            is_retrieval: false,
            scores: None,
            versions: named(TargetSystem::VERSION),
            cut: attributes()
                .filter(|it| it.contains_key(Conversations::CUT))
                .count(),
            ended: [Conversations::DONE, Conversations::LIMIT].map(|how| {
                let cases = report.cases.iter();
                let held = cases.filter(|case| case.result.output().is_some());
                let ended = held.filter_map(|case| case.attributes.get(Conversations::ENDED));
                ended.filter(|it| *it == how).count()
            }),
            resumed: None,
            model: only(models),
        }
    }

    /// The same with the scores of a retrieval benchmark.
    #[must_use]
    pub fn with_scores(self, scores: Option<DocumentScores>) -> Self {
        Self {
            is_retrieval: true,
            scores,
            ..self
        }
    }

    /// The same for a dataset that may have no documents, which nothing can be matched to then.
    #[must_use]
    pub(crate) fn with_corpus(mut self, has_documents: bool) -> Self {
        if !has_documents {
            self.counts = MatchCounts::default();
        }
        self
    }

    /// The same with a warning about the replies of an attempt that did not end: without a version, nothing says whether the target has
    /// changed since.
    pub(crate) fn with_resumed(self, recorded: &RecordedTarget) -> Self {
        let identity = recorded.identity();
        let may_mix = recorded.file().is_resumed()
            && recorded.resumed() > 0
            && identity.version.is_none()
            && !identity.is_file()
            && self.versions.is_empty();
        let resumed = may_mix.then(|| {
            format!(
                "{} of an earlier attempt, which did not finish, {} used; if the target has changed since, repeat with `--fresh`",
                quantity::of(recorded.resumed(), "reply"),
                if recorded.resumed() == 1 { "is" } else { "are" },
            )
        });
        Self { resumed, ..self }
    }

    /// Adds the facts for programs to a report's metadata.
    pub fn enter<D: Domain>(
        &self,
        report: &mut Report<D>,
        identity: &TargetIdentity,
    ) -> Result<()> {
        let values = [
            ("target", serde_json::to_value(identity)?),
            ("documents_matched", serde_json::to_value(&self.counts)?),
            ("target_versions", Value::from_iter(self.versions.clone())),
        ];
        for (key, value) in values {
            report.metadata.insert(key.to_owned(), value);
        }
        if let Some(depth) = &self.depth {
            let value = serde_json::to_value(depth)?;
            report.metadata.insert(DEPTH.to_owned(), value);
        }
        if let Some(scores) = &self.scores {
            report.metadata.insert(SCORES.to_owned(), scores.entry());
        }
        if let Some(checked) = self.checked {
            let value = serde_json::to_value(checked)?;
            let key = "documents_matched_by_id".to_owned();
            report.metadata.insert(key, value);
        }
        Ok(())
    }

    /// The facts as lines below the title.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        if !self.versions.is_empty() {
            let versions: Vec<&str> = self.versions.iter().map(String::as_str).collect();
            lines.push(("version".to_owned(), versions.join(", ")));
        }
        if self.counts.all.documents() > 0 {
            lines.push(("documents".to_owned(), self.matched()));
        }
        let mut push = |name: &str, line: Option<String>| {
            lines.extend(line.map(|line| (name.to_owned(), line)));
        };
        let cut = (self.cut > 0).then(|| {
            let cases = quantity::of(self.cut, "case");
            format!("the oldest turns were left out in {cases} (`conversations.turns`)")
        });
        push("history", cut);
        let [done, limit] = self.ended;
        let ended = (done + limit > 0).then(|| {
            let all = quantity::of(done + limit, "conversation");
            format!("the user was done in {done} of {all}, and {limit} ended at the limit (`conversations.turns`)")
        });
        push("simulated", ended);
        let (depth, scores) = (self.depth.as_ref(), self.scores.as_ref());
        push("documents per question", depth.map(Depth::line));
        push("scores", scores.and_then(DocumentScores::line));
        push("warning", self.resumed.clone());
        push("warning", self.mismatch());
        push("warning", self.nothing());
        // More passages with the ids of other documents raise nothing.
        let shortfall = depth.filter(|_| !self.counts.none_matched());
        push("warning", shortfall.and_then(Depth::shortfall));
        push("warning", scores.and_then(DocumentScores::contradiction));
        if let Some(checked) = self.mostly_different() {
            let fact = format!(
                "{} of {} matched by id have a different text",
                checked.differ,
                quantity::of(checked.compared, "document"),
            );
            push("warning", Some(fact));
        }
        lines
    }

    /// The comparison of texts, if most are of other documents than the ids say.
    fn mostly_different(&self) -> Option<IdCheck> {
        self.checked.filter(IdCheck::mostly_differ)
    }

    /// What to say if a retrieval benchmark got no documents.
    fn nothing(&self) -> Option<String> {
        let depth = self.depth.as_ref().filter(|_| self.is_retrieval);
        depth.and_then(Depth::nothing)
    }

    /// What to say if there were documents, and not one of them is in the corpus.
    fn mismatch(&self) -> Option<String> {
        let all = &self.counts.all;
        let listed = |names: &[String]| {
            let names = names.iter().take(COMPARED);
            let names = names.map(|name| format!("`{}`", name.trim_start_matches("unmatched:")));
            names.collect::<Vec<_>>().join(" and ")
        };
        let dataset = match listed(&self.wanted) {
            none if none.is_empty() => String::new(),
            ids => format!(", and the dataset has {ids}"),
        };
        self.counts.none_matched().then(|| {
            format!(
                "0 of {} matched, so rank measures are undefined: the target names {}{dataset}; set `match` for the target \
                 (docs/targets.md#documents-with-other-ids)",
                quantity::of(all.documents(), "document"),
                listed(&all.unmatched_names)
            )
        })
    }

    /// How the documents were matched, in one line.
    fn matched(&self) -> String {
        let all = &self.counts.all;
        let ways = [
            (all.id, "by id"),
            (all.rule, "by rule"),
            (all.text, "by text"),
            (all.shingles, "by most of their words"),
        ];
        let ways = ways.into_iter().filter(|(count, _)| *count > 0);
        let ways: Vec<String> = ways.map(|(count, how)| format!("{count} {how}")).collect();
        let ways = match ways.join(", ") {
            none if none.is_empty() => none,
            ways => format!(" ({ways})"),
        };
        let mut line = format!("{} of {} matched{ways}", all.matched(), all.documents());
        if all.ambiguous > 0 {
            line = format!("{line}; {} fit several documents", all.ambiguous);
        }
        if all.unmatched > 0 {
            line.push_str("; not in the corpus: ");
            line.push_str(&self.unmatched());
        }
        if all.too_short > 0 {
            write!(
                line,
                "; {} of fewer than 8 words, too short to match by text",
                quantity::of(all.too_short, "text")
            )
            .expect("a string takes any text");
        }
        line
    }

    /// The first names of unmatched documents.
    fn unmatched(&self) -> String {
        let names = &self.counts.all.unmatched_names;
        let shown = names.iter().take(NAMED);
        let shown = shown.map(|name| format!("`{}`", name.trim_start_matches("unmatched:")));
        let shown: Vec<String> = shown.collect();
        let more = if names.len() > NAMED { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    }

    /// Warns where the measures probably do not mean what they seem to, beside the warning that the report holds.
    pub(crate) fn warn(&self, printer: &Printer) {
        let all = &self.counts.all;
        printer.warn_of(self.mismatch().as_deref());
        printer.warn_of(self.nothing().as_deref());
        if self.counts.mostly_unmatched() && !self.counts.none_matched() {
            printer.warn(&format!(
                "{} of {} of the target are not in the corpus and count as not relevant: {}; `match` in the settings of the target names a \
                 rule for ids, or matches by text",
                all.unmatched,
                quantity::of(all.documents(), "document"),
                self.unmatched()
            ));
        }
        printer.warn_of(self.resumed.as_deref());
        let contradiction = self.scores.as_ref();
        let contradiction = contradiction.and_then(DocumentScores::contradiction);
        printer.warn_of(contradiction.as_deref());
        if let Some(checked) = self.mostly_different() {
            printer.warn(&format!(
                "{} of {} have an id of the corpus but a different text, so the ids may match by chance: set `match: {{by: text}}` in the \
                 settings of the target; if it rewrites or summarises documents, their ids may be right: `match: {{by: id}}` skips this check",
                checked.differ,
                quantity::of(checked.compared, "document"),
            ));
        }
        if self.versions.len() > 1 {
            let versions: Vec<&str> = self.versions.iter().map(String::as_str).collect();
            printer.warn(&format!(
                "the replies come from several versions of the target: {}; `--fresh` asks all questions again",
                versions.join(", ")
            ));
        }
    }
}

/// The first documents that questions of a report expect.
fn wanted<D: Domain>(report: &Report<D>) -> Vec<String> {
    let cases = report.cases.iter();
    let documents = cases.flat_map(|case| D::documents(case.expected.as_ref(), &case.metadata));
    let mut wanted: Vec<String> = Vec::new();
    for document in documents {
        if !wanted.contains(&document) {
            wanted.push(document);
        }
        if wanted.len() == COMPARED {
            break;
        }
    }
    wanted
}

/// Whether a case's reply gave tokens of the target.
fn has_tokens<D: Domain>(case: &CaseReport<D>) -> bool {
    let purpose = Purpose::Answerer;
    let metrics = [purpose.input_tokens(), purpose.output_tokens()];
    metrics.iter().any(|it| case.metrics.contains_key(*it))
}

/// The model that all replies name.
fn only<'m>(mut models: impl Iterator<Item = Option<&'m str>>) -> Option<String> {
    let first = models.next()??;
    models
        .all(|model| model == Some(first))
        .then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_only_some_replies_name_has_not_the_price_of_all() {
        let only = |models: &[Option<&str>]| only(models.iter().copied());
        assert_eq!(only(&[Some("x"), Some("x")]).as_deref(), Some("x"));
        assert_eq!(only(&[Some("x"), None]), None);
        assert_eq!(only(&[None, Some("x")]), None);
        assert_eq!(only(&[Some("x"), Some("y")]), None);
        assert_eq!(only(&[]), None);
    }
}

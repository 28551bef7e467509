//! The measures of a case, computed from the verdicts of its sitting.

use evals::Outcome;

use super::checklist::Item;
use super::claims::Of;
use super::material::Material;
use super::measure::JudgedMeasure;
use super::nuggets;
use super::numbered::Words;
use super::pieces::NumberedPassage;
use super::scoring::{average_precision, share};
use super::sitting::Sitting;
use crate::judging::JudgeFailure;
use crate::text::f1;
use crate::{Call, Question};

/// Letters of a passage that the evidence about it shows.
const SHOWN: usize = 160;

const REFUSED: &str = "refused";
const NO_CLAIMS: &str = "the answer makes no claims";
const NO_REFERENCE: &str = "no reference answer";
const NO_NUGGETS: &str = "no nuggets, reference answer or evidence";
const UNTOLD: &str = "the system did not get the earlier turns";

/// The same undefined value for every outcome of a measure.
fn undefined(measure: JudgedMeasure, reason: &str) -> Vec<Outcome> {
    let names = measure.outcomes().iter();
    names
        .map(|name| Outcome::undefined(*name, reason))
        .collect()
}

fn refused(name: &str) -> Outcome {
    Outcome::score(name, 0.0).because(REFUSED)
}

impl<'a> Sitting<'a> {
    /// The outcomes of `measure`. The calls are kept even if they end in a failure.
    pub(super) async fn outcomes(
        &self,
        measure: JudgedMeasure,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Outcome>, JudgeFailure> {
        if let Some(reason) = self.unjudged(measure) {
            return Ok(undefined(measure, reason));
        }
        let name = measure.outcomes()[0];
        Ok(match measure {
            JudgedMeasure::Faithfulness => vec![self.faithfulness(name, calls).await?],
            JudgedMeasure::AnswerRelevance => vec![self.relevance(name, calls).await?],
            JudgedMeasure::ContextPrecision => vec![self.precision(name, calls).await?],
            JudgedMeasure::ContextRecall => vec![self.recall(name, calls).await?],
            JudgedMeasure::FactualCorrectness => self.correctness(measure, calls).await?,
            JudgedMeasure::Completeness => vec![self.completeness(name, calls).await?],
            JudgedMeasure::CitationSupport => vec![self.citations(name, calls).await?],
            JudgedMeasure::Nuggets => self.nuggets(calls).await?,
            JudgedMeasure::Conversation => self.conversation(calls).await?,
        })
    }

    /// The reason why the measure is undefined for the case, whatever judges would say.
    fn unjudged(&self, measure: JudgedMeasure) -> Option<&'a str> {
        let Material {
            answerable,
            reference,
            answer,
            passages,
            nuggets,
            conversation,
            ..
        } = self.material;
        if !answerable && !measure.judges_unanswerable() {
            return Some(Question::UNANSWERABLE);
        }
        if measure.needs_reference() && reference.is_none() {
            return Some(NO_REFERENCE);
        }
        let without_answer = answer.err().filter(|_| measure.needs_answer());
        let without_passages = passages.err().filter(|_| measure.needs_passages());
        let untold = measure.judges_conversations() && conversation.is_none();
        let lacks_nuggets = measure.needs_nuggets() && nuggets.is_none();
        without_answer
            .or(without_passages)
            .or(lacks_nuggets.then_some(NO_NUGGETS))
            .or(untold.then_some(UNTOLD))
    }

    async fn faithfulness(
        &self,
        name: &str,
        calls: &mut Vec<Call>,
    ) -> Result<Outcome, JudgeFailure> {
        if self.material.refused {
            return Ok(Outcome::undefined(name, REFUSED));
        }
        let claims = self.claims(Of::Answer, calls).await?;
        let evidence = self.supported(&claims, self.passages(), calls).await?;
        Ok(share(name, evidence, "claims", NO_CLAIMS))
    }

    async fn relevance(&self, name: &str, calls: &mut Vec<Call>) -> Result<Outcome, JudgeFailure> {
        if self.material.refused {
            return Ok(refused(name));
        }
        let claims = self.claims(Of::Answer, calls).await?;
        let checklist = self.checklist(
            &self.templates.relevance,
            &Words::RELEVANCE,
            claims.iter().map(|claim| Item::of(claim)),
            vec![("question", self.material.question)],
        );
        let evidence = self.verdicts(&checklist, calls).await?;
        Ok(share(name, evidence, "claims", NO_CLAIMS))
    }

    async fn precision(&self, name: &str, calls: &mut Vec<Call>) -> Result<Outcome, JudgeFailure> {
        let passages = self.passages();
        let items = passages.iter().map(|passage| Item {
            title: passage.title,
            text: passage.text,
            cites: None,
        });
        let checklist = self.checklist(
            &self.templates.usefulness,
            &Words::USEFULNESS,
            items,
            vec![
                ("question", self.material.question),
                ("reference", self.reference()),
            ],
        );
        let mut evidence = self.verdicts(&checklist, calls).await?;
        for (evidence, passage) in evidence.iter_mut().zip(passages) {
            evidence.text = beginning(passage.text);
            evidence.source = Some(format!("passage {}", passage.number));
        }
        Ok(average_precision(name, evidence))
    }

    async fn recall(&self, name: &str, calls: &mut Vec<Call>) -> Result<Outcome, JudgeFailure> {
        let claims = self.claims(Of::Reference, calls).await?;
        let evidence = self.supported(&claims, self.passages(), calls).await?;
        let none = "the reference makes no claims";
        Ok(share(name, evidence, "claims", none))
    }

    /// Claims of the answer against the reference, and claims of the reference against the answer.
    async fn correctness(
        &self,
        measure: JudgedMeasure,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Outcome>, JudgeFailure> {
        let [precision, recall, harmonic] = measure.outcomes() else {
            unreachable!("factual correctness has three outcomes")
        };
        if self.material.refused {
            let none = Outcome::undefined(*precision, REFUSED);
            return Ok(vec![none, refused(recall), refused(harmonic)]);
        }
        let claims = self.claims(Of::Answer, calls).await?;
        let evidence = self.agreeing(&claims, self.reference(), calls).await?;
        let precision = share(precision, evidence, "claims", NO_CLAIMS);
        let claims = self.claims(Of::Reference, calls).await?;
        let evidence = self.agreeing(&claims, self.answer(), calls).await?;
        let recall = share(recall, evidence, "claims", "the reference makes no claims");
        let harmonic = match (&precision.value, &recall.value) {
            (evals::Value::Score(precision), evals::Value::Score(recall)) => {
                Outcome::score(*harmonic, f1(*precision, *recall))
            }
            (evals::Value::Score(_), _) => {
                Outcome::undefined(*harmonic, "the reference makes no claims")
            }
            _ => Outcome::undefined(*harmonic, NO_CLAIMS),
        };
        Ok(vec![precision, recall, harmonic])
    }

    async fn completeness(
        &self,
        name: &str,
        calls: &mut Vec<Call>,
    ) -> Result<Outcome, JudgeFailure> {
        if self.material.refused {
            return Ok(refused(name));
        }
        let points = self.claims(Of::Question, calls).await?;
        let checklist = self.checklist(
            &self.templates.coverage,
            &Words::COVERAGE,
            points.iter().map(|point| Item::of(point)),
            vec![
                ("question", self.material.question),
                ("answer", self.answer()),
            ],
        );
        let evidence = self.verdicts(&checklist, calls).await?;
        let none = "the question asks for no points";
        Ok(share(name, evidence, "points", none))
    }

    async fn nuggets(&self, calls: &mut Vec<Call>) -> Result<Vec<Outcome>, JudgeFailure> {
        if self.material.refused {
            let names = JudgedMeasure::Nuggets.outcomes().iter();
            return Ok(names.map(|name| refused(name)).collect());
        }
        let bank = self.bank(calls).await?;
        let checklist = self.checklist(
            &self.templates.nugget_support,
            &Words::NUGGET,
            bank.iter().map(|nugget| Item::of(&nugget.text)),
            vec![
                ("question", self.material.question),
                ("answer", self.answer()),
            ],
        );
        let evidence = self.verdicts(&checklist, calls).await?;
        Ok(nuggets::outcomes(&bank, evidence))
    }

    async fn citations(&self, name: &str, calls: &mut Vec<Call>) -> Result<Outcome, JudgeFailure> {
        if self.material.refused {
            return Ok(Outcome::undefined(name, REFUSED));
        }
        let sentences = self.material.cited;
        let is_cited = |passage: &&NumberedPassage<'a>| {
            let mut sentences = sentences.iter();
            sentences.any(|sentence| sentence.passages.contains(&passage.number))
        };
        let passages: Vec<NumberedPassage<'a>> =
            self.passages().iter().filter(is_cited).copied().collect();
        let items = sentences.iter().map(|sentence| Item {
            title: None,
            text: &sentence.text,
            cites: Some(&sentence.passages),
        });
        let prompt = &self.templates.citations;
        let mut checklist = self.checklist(prompt, &Words::SUPPORT, items, Vec::new());
        checklist.passages = &passages;
        let mut evidence = self.verdicts(&checklist, calls).await?;
        for (evidence, sentence) in evidence.iter_mut().zip(sentences) {
            let cited = sentence.passages.iter().map(usize::to_string);
            let cited: Vec<String> = cited.collect();
            evidence.source = Some(format!("cites {}", cited.join(", ")));
        }
        Ok(share(
            name,
            evidence,
            "sentences",
            "no sentence cites a passage",
        ))
    }
}

/// The beginning of a text, for evidence about it.
fn beginning(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

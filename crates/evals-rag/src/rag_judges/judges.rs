//! The decomposed judges: they ask a panel, and compute measures from its verdicts.

use std::num::NonZeroUsize;
use std::sync::Arc;

use evals::{Evidence, Outcome};
use evals_models::{ChatRequest, Message, ReplySchema};

use super::checklist::{self, Checklist, Item};
use super::claim_list::ClaimList;
use super::claims::{CaseClaims, ClaimStore, Of};
use super::judgement::Judgement;
use super::material::Material;
use super::measure::JudgedMeasure;
use super::panel::Panel;
use super::pieces::Passage;
use super::rubric::{Graded, Rubric};
use super::scoring::{average_precision, f1, share};
use super::templates::JudgeTemplates;
use super::words::Words;
use crate::judging::{Inquiry, JudgeError, JudgeFailure, Shown};
use crate::{Call, Prompt, Question};

/// A rough number of bytes of a token of a chat model. English has more; this leaves room for other languages.
pub(super) const BYTES_PER_TOKEN: usize = 3;

/// Letters of a passage that the evidence about it shows.
const SHOWN: usize = 160;

const REFUSED: &str = "refused";
const NO_CLAIMS: &str = "the answer makes no claims";
const NO_REFERENCE: &str = "no reference answer";

/// Decomposed judges of one panel. All judges of a case share the claims of its texts.
#[derive(Debug)]
pub struct RagJudges {
    panel: Panel,
    templates: JudgeTemplates,
    budget: usize,
    claims: ClaimStore,
}

/// One case that a judge looks at.
struct Sitting<'a> {
    judges: &'a RagJudges,
    material: &'a Material<'a>,
    claims: &'a CaseClaims,
}

impl RagJudges {
    /// The default of [`context_tokens`](Self::context_tokens).
    pub const CONTEXT_TOKENS: NonZeroUsize = NonZeroUsize::new(16_384).expect("it is not 0");

    /// Asks `panel` with the bundled prompts.
    pub fn new(panel: Panel) -> Self {
        Self {
            panel,
            templates: JudgeTemplates::default(),
            budget: Self::CONTEXT_TOKENS.get() * BYTES_PER_TOKEN,
            claims: ClaimStore::default(),
        }
    }

    /// Uses other prompts.
    #[must_use]
    pub fn templates(self, templates: JudgeTemplates) -> Self {
        Self { templates, ..self }
    }

    /// The most tokens of passages in one request, at three bytes a token: 16,384 by default. More passages are shown in several
    /// requests, and a longer one is cut into pieces.
    #[must_use]
    pub fn context_tokens(self, tokens: NonZeroUsize) -> Self {
        let budget = tokens.get().saturating_mul(BYTES_PER_TOKEN);
        Self { budget, ..self }
    }

    /// The judges that are asked.
    pub fn panel(&self) -> &Panel {
        &self.panel
    }

    /// The prompts that judges are asked with.
    pub(super) fn prompts(&self) -> &JudgeTemplates {
        &self.templates
    }

    /// Grades an answer by a rubric.
    ///
    /// # Errors
    ///
    /// A judge chose no level.
    pub async fn grade(
        &self,
        rubric: &Rubric,
        graded: Graded<'_>,
    ) -> Result<Judgement, JudgeError> {
        rubric
            .judge(&self.panel, &self.templates.levels, graded)
            .await
    }

    /// Judges one case. All judges of the same texts share their claims.
    ///
    /// # Errors
    ///
    /// A judge gave no verdict. The error holds the calls made until then.
    pub async fn judge(
        &self,
        measure: JudgedMeasure,
        material: &Material<'_>,
    ) -> Result<Judgement, JudgeError> {
        let texts = [
            material.question,
            material.answer.unwrap_or_default(),
            material.reference.unwrap_or_default(),
        ];
        let claims = self.claims.of_case(texts, material.repeat, measure);
        let mut calls = Vec::new();
        let sitting = Sitting {
            judges: self,
            material,
            claims: &claims,
        };
        match Box::pin(sitting.outcomes(measure, &mut calls)).await {
            Ok(outcomes) => Ok(Judgement { outcomes, calls }),
            Err(failure) => Err(JudgeError { failure, calls }),
        }
    }
}

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
    async fn outcomes(
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
        })
    }

    /// The reason why the measure is undefined for the case, whatever judges would say.
    fn unjudged(&self, measure: JudgedMeasure) -> Option<&'a str> {
        let Material {
            answerable,
            reference,
            answer,
            passages,
            ..
        } = self.material;
        if !answerable && !measure.judges_unanswerable() {
            return Some(Question::UNANSWERABLE);
        }
        if measure.needs_reference() && reference.is_none() {
            return Some(NO_REFERENCE);
        }
        let without_answer = answer.err().filter(|_| measure.needs_answer());
        without_answer.or_else(|| passages.err().filter(|_| measure.needs_passages()))
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
            &self.judges.templates.relevance,
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
            &self.judges.templates.usefulness,
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
            &self.judges.templates.coverage,
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

    async fn citations(&self, name: &str, calls: &mut Vec<Call>) -> Result<Outcome, JudgeFailure> {
        if self.material.refused {
            return Ok(Outcome::undefined(name, REFUSED));
        }
        let sentences = self.material.cited;
        let is_cited = |passage: &&Passage<'a>| {
            let mut sentences = sentences.iter();
            sentences.any(|sentence| sentence.passages.contains(&passage.number))
        };
        let passages: Vec<Passage<'a>> = self.passages().iter().filter(is_cited).copied().collect();
        let items = sentences.iter().map(|sentence| Item {
            title: None,
            text: &sentence.text,
            cites: Some(&sentence.passages),
        });
        let prompt = &self.judges.templates.citations;
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

    /// Claims against passages.
    async fn supported(
        &self,
        claims: &[String],
        passages: &[Passage<'_>],
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let items = claims.iter().map(|claim| Item::of(claim));
        let prompt = &self.judges.templates.support;
        let checklist = Checklist {
            passages,
            ..self.checklist(prompt, &Words::SUPPORT, items, Vec::new())
        };
        self.verdicts(&checklist, calls).await
    }

    /// Claims against one text.
    async fn agreeing(
        &self,
        claims: &[String],
        text: &str,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let passage = Passage {
            number: 1,
            title: None,
            text,
        };
        let mut evidence = self.supported(claims, &[passage], calls).await?;
        for evidence in &mut evidence {
            evidence.source = None;
        }
        Ok(evidence)
    }

    fn checklist<'c>(
        &'c self,
        prompt: &'c Prompt,
        words: &'static Words,
        items: impl Iterator<Item = Item<'c>>,
        texts: Vec<(&'static str, &'c str)>,
    ) -> Checklist<'c> {
        Checklist {
            prompt,
            words,
            items: items.collect(),
            passages: &[],
            texts,
            budget: self.judges.budget,
        }
    }

    async fn verdicts(
        &self,
        checklist: &Checklist<'_>,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Evidence>, JudgeFailure> {
        let repeat = self.material.repeat;
        let mut evidence = checklist.ask(&self.judges.panel, repeat, calls).await?;
        for (evidence, item) in evidence.iter_mut().zip(&checklist.items) {
            item.text.clone_into(&mut evidence.text);
        }
        Ok(evidence)
    }

    async fn claims(&self, of: Of, calls: &mut Vec<Call>) -> Result<Arc<[String]>, JudgeFailure> {
        self.claims.of(of, self.list(of, calls)).await
    }

    async fn list(&self, of: Of, calls: &mut Vec<Call>) -> Result<Vec<String>, JudgeFailure> {
        let templates = &self.judges.templates;
        let question = self.material.question;
        let (prompt, text) = match of {
            Of::Answer => (&templates.claims, self.answer()),
            Of::Reference => (&templates.claims, self.reference()),
            Of::Question => (&templates.points, question),
        };
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let shown = Shown::new(&[question, text]);
        let nonce = shown.nonce();
        let prompt = prompt.fill([("question", question), ("text", text), ("nonce", nonce)])?;
        let shape = ClaimList::shape(nonce);
        let inquiry = Inquiry {
            request: ChatRequest {
                schema: Some(ReplySchema {
                    name: "claims".to_owned(),
                    schema: ClaimList::schema(),
                }),
                ..ChatRequest::new(vec![Message::user(prompt)])
            },
            shown: &shown,
            parse: &ClaimList::parse,
            wanted: ClaimList::WANTED,
            repair: &|complaint| checklist::repair(complaint, &shape),
        };
        let panel = &self.judges.panel;
        let list = panel.lead(self.material.repeat, inquiry, calls).await?;
        Ok(list.claims)
    }

    fn passages(&self) -> &'a [Passage<'a>] {
        self.material.passages.unwrap_or_default()
    }

    fn answer(&self) -> &'a str {
        self.material.answer.unwrap_or_default()
    }

    fn reference(&self) -> &'a str {
        self.material.reference.unwrap_or_default()
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

//! Question answering on pages.

use evals::CaseReport;
use evals_html::page::{Field, FieldRole, Ranked};
use evals_metrics::Judgements;
use evals_rag::Missing;
use evals_rag::qa::{Answer, Qa};

use super::case::{field, metadata};
use super::documents::Documents;
use super::paged::HasPage;
use super::ranking::{Found, missed};

impl HasPage for Qa {
    const CASE: &'static str = "question";

    fn asked(case: &CaseReport<Self>) -> String {
        case.input.clone()
    }

    fn shared(case: &CaseReport<Self>) -> Vec<Field> {
        let expected = case.expected.as_ref();
        let reference = expected.and_then(|it| it.answer.clone());
        let mut fields = vec![field("question", &case.input, FieldRole::Question)];
        fields.extend(reference.map(|text| field("reference", text, FieldRole::Reference)));
        if expected.is_some_and(|it| !it.answerable) {
            let text = "no: the corpus does not hold the answer, so a refusal is right";
            fields.push(field("answerable", text, FieldRole::Other));
        }
        fields.extend(metadata(&case.metadata));
        fields
    }

    fn own(case: &CaseReport<Self>) -> Vec<Field> {
        let Some(answer) = case.result.output() else {
            return Vec::new();
        };
        let mut fields = Vec::new();
        if !answer.missing.contains(&Missing::Answer) {
            fields.push(field("answer", &answer.text, FieldRole::Answer));
        }
        if answer.refused {
            fields.push(field("refused", "yes", FieldRole::Other));
        }
        if let Some(searches) = &answer.searches {
            fields.push(field("searches", searches.join("\n"), FieldRole::Other));
        }
        fields
    }

    fn ranking(case: &CaseReport<Self>, documents: &Documents) -> Option<Vec<Ranked>> {
        let answer = case.result.output()?;
        let found = Found {
            ranking: &answer.ranking,
            passages: &answer.passages,
            are_shown: true,
            cited: &answer.citations,
            judgements: judgements(case),
        };
        (!is_unknown(answer)).then(|| found.documents(documents))
    }

    fn missed(case: &CaseReport<Self>) -> Vec<String> {
        match case.result.output() {
            Some(answer) if !is_unknown(answer) => missed(&answer.ranking, judgements(case)),
            Some(_) | None => Vec::new(),
        }
    }

    /// Answers hold the passages that the model was shown.
    fn lacking(_case: &CaseReport<Self>) -> Vec<&str> {
        Vec::new()
    }
}

/// Whether nobody knows which documents the answer rests on.
fn is_unknown(answer: &Answer) -> bool {
    answer.missing.contains(&Missing::Documents) && answer.passages.is_empty()
}

fn judgements(case: &CaseReport<Qa>) -> Option<&Judgements> {
    let expected = case.expected.as_ref().filter(|it| it.answerable);
    expected.map(|it| &it.relevant)
}

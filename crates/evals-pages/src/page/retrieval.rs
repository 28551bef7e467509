//! Retrieval on pages.

use evals::CaseReport;
use evals_html::page::{Field, FieldRole, Ranked};
use evals_metrics::Judgements;
use evals_rag::{Missing, Retrieval};

use super::case::{field, metadata};
use super::documents::Documents;
use super::paged::HasPage;
use super::ranking::{Found, missed};

/// The documents of a ranking whose openings a page shows, from the first one on. Later documents get no opening, to keep the page
/// small.
const READ: usize = 10;

impl HasPage for Retrieval {
    const CASE: &'static str = "question";

    fn asked(case: &CaseReport<Self>) -> String {
        case.input.clone()
    }

    fn shared(case: &CaseReport<Self>) -> Vec<Field> {
        let mut fields = vec![field("question", &case.input, FieldRole::Question)];
        if !case.metadata.answerable {
            let text = "no: the corpus does not hold the answer";
            fields.push(field("answerable", text, FieldRole::Other));
        }
        fields.extend(metadata(&case.metadata.metadata));
        fields
    }

    fn own(_case: &CaseReport<Self>) -> Vec<Field> {
        Vec::new()
    }

    fn ranking(case: &CaseReport<Self>, documents: &Documents) -> Option<Vec<Ranked>> {
        let retrieved = case.result.output()?;
        let found = Found {
            ranking: &retrieved.ranking,
            passages: &retrieved.passages,
            are_shown: false,
            cited: &[],
            judgements: judgements(case),
        };
        let is_known = !retrieved.missing.contains(&Missing::Documents);
        is_known.then(|| found.documents(documents))
    }

    fn missed(case: &CaseReport<Self>) -> Vec<String> {
        match case.result.output() {
            Some(found) if !found.missing.contains(&Missing::Documents) => {
                missed(&found.ranking, judgements(case))
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn lacking(case: &CaseReport<Self>) -> Vec<&str> {
        let Some(retrieved) = case.result.output() else {
            return Vec::new();
        };
        let judgements = judgements(case);
        let is_relevant = |id: &str| {
            let grade = judgements.and_then(|it| it.grade(id));
            grade.is_some_and(|grade| grade > 0)
        };
        let ids = retrieved
            .ranking
            .iter()
            .map(|document| document.id.as_str());
        let shown = ids
            .zip(0..)
            .filter(|(id, rank)| *rank < READ || is_relevant(id));
        shown.map(|(id, _)| id).collect()
    }
}

fn judgements(case: &CaseReport<Retrieval>) -> Option<&Judgements> {
    case.expected.as_ref().filter(|_| case.metadata.answerable)
}

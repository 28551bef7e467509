//! What a finished test set shows of itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Result;
use evals::render::tables::Table;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::{Embedder as _, TextKind};
use evals_questions::{Coverage, Diversity, GeneratedSet, diversity};
use evals_rag::Document;
use evals_terminal::{Printer, tables_text};

use super::Plan;
use super::record::kinds;

/// Parts of the corpus that are listed.
const PARTS: usize = 10;

/// The diversity of the questions that are kept. The embedded model gives the vectors, so that sets compare.
pub(super) async fn measured_diversity(
    set: &GeneratedSet,
    corpus: &[Document],
) -> Result<Diversity> {
    let texts = corpus.iter().map(|it| (it.uri.as_str(), it.text.as_str()));
    let texts: HashMap<&str, &str> = texts.collect();
    let questions = set.kept.iter().map(|item| item.question.as_str());
    let questions: Vec<&str> = questions.collect();
    let model = StaticEmbedder::static_minilm();
    let vectors = model.embed(&questions, TextKind::Query).await?;
    let vectors: Vec<Vec<f32>> = vectors.rows().map(<[f32]>::to_vec).collect();
    Ok(Diversity::of(
        &set.kept,
        |id| texts.get(id).copied(),
        &vectors,
    ))
}

/// Renders the set: its kinds, what was dropped and why, what of the corpus it covers, and its diversity.
pub(super) fn text(
    plan: &Plan<'_>,
    printer: &Printer,
    set: &GeneratedSet,
    diversity: &Diversity,
) -> String {
    let opening = format!(
        "{} about the documents of {}, in {}",
        quantity::of(set.kept.len(), "question"),
        plan.manifest.name,
        plan.arguments.to.display()
    );
    let mut tables = vec![of_kinds(set)];
    if !set.coverage.is_empty() {
        tables.push(coverage(&set.coverage));
    }
    tables.push(beside_people(diversity));
    tables_text(printer, &[opening], &tables)
}

fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>, note: String) -> Table {
    Table {
        heads: heads.iter().map(ToString::to_string).collect(),
        rows: rows.collect(),
        notes: Some(note)
            .filter(|note| !note.is_empty())
            .into_iter()
            .collect(),
    }
}

fn of_kinds(set: &GeneratedSet) -> Table {
    let kept = kinds(&set.kept);
    let dropped = kinds(set.dropped.iter().map(|dropped| &dropped.item));
    let all: BTreeSet<_> = kept.keys().chain(dropped.keys()).collect();
    let rows = all.into_iter().map(|kind| {
        let count = |counts: &BTreeMap<_, usize>| counts.get(kind).unwrap_or(&0).to_string();
        vec![kind.to_string(), count(&kept), count(&dropped)]
    });
    let reasons = set.dropped_by_reason().into_iter();
    let reasons = reasons.map(|(reason, count)| format!("{reason} {count}"));
    let reasons: Vec<String> = reasons.collect();
    let note = match &*reasons {
        [] => String::new(),
        reasons => format!("dropped: {}", reasons.join(", ")),
    };
    table(&["kind", "kept", "dropped"], rows, note)
}

/// The diversity beside that of questions of people.
fn beside_people(set: &Diversity) -> Table {
    let columns = [set.clone(), diversity::repliqa(), diversity::wixqa()];
    let columns = columns.map(|it| it.figures());
    let rows = columns[0].iter().enumerate().map(|(row, (name, _))| {
        let cells = columns.iter().map(|column| column[row].1.clone());
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        std::iter::once((*name).to_owned()).chain(cells).collect()
    });
    let heads = ["diversity", "this set", "RepliQA, people", "WixQA, people"];
    table(&heads, rows, String::new())
}

fn coverage(parts: &[Coverage]) -> Table {
    let covered: usize = parts.iter().map(|it| it.covered).sum();
    let documents: usize = parts.iter().map(|it| it.documents).sum();
    let rows = parts.iter().take(PARTS).map(|it| {
        let counts = [it.covered, it.documents].map(|count| count.to_string());
        std::iter::once(it.part.clone()).chain(counts).collect()
    });
    let mut note = format!(
        "covers {covered} of {}, and {} of {}",
        quantity::of(documents, "document"),
        parts.iter().filter(|it| it.covered > 0).count(),
        quantity::of(parts.len(), "part"),
    );
    if parts.len() > PARTS {
        note += "; `coverage` in record.json has all of them";
    }
    table(&["part", "covered", "documents"], rows, note)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use evals_data::{Catalog, Collection, Hub, HubSettings};
    use evals_questions::{Item, Kind};

    use super::*;

    /// The spread of the questions of people, on the samples in the Hugging Face home that `EVALUATIONS_REAL_HF_HOME` names.
    #[tokio::test]
    async fn the_spread_of_people_is_that_of_their_questions() {
        let Some(home) = std::env::var_os("EVALUATIONS_REAL_HF_HOME") else {
            return;
        };
        for (name, people) in [
            ("repliqa", diversity::repliqa()),
            ("wix", diversity::wixqa()),
        ] {
            let mut settings = HubSettings::from_variables(|_| None);
            settings.cache_dir = Some(PathBuf::from(&home).join("hub"));
            settings.offline = true;
            let manifest = Catalog::new::<&str>([]).find(name).unwrap();
            let collection = Collection::resolve(&manifest, &Hub::new(settings), &()).await;
            let collection = collection.unwrap();
            let questions = collection.questions().unwrap().questions.into_iter();
            let items = questions.map(|it| Item::new(it.id, it.text, Kind::Logged));
            let set = GeneratedSet {
                kept: items.collect(),
                ..GeneratedSet::default()
            };
            let measured = measured_diversity(&set, &[]).await.unwrap();
            let rounded = |it: &Diversity| it.spread.map(|it| (it * 1e4).round());
            assert_eq!(rounded(&measured), rounded(&people), "{name}: {measured:?}");
        }
    }
}

//! What a finished test set shows of itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::{Embedder as _, TextKind};
use evals_questions::{Coverage, Diversity, GeneratedSet, Generator, diversity};
use evals_rag::Document;
use evals_terminal::Printer;
use evals_terminal::listing::Layout;

use super::record::{kinds, usage};
use super::{Models, Plan};
use crate::choices;
use crate::spending::dollars;

const TEXT: &str = "a string takes any text";

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
    models: &Models,
    set: &GeneratedSet,
    diversity: &Diversity,
) -> String {
    let layout = Layout::of(printer);
    let mut text = format!(
        "{} about the documents of {}, in {}\n\n",
        quantity::of(set.kept.len(), "question"),
        plan.manifest.name,
        plan.arguments.to.display()
    );
    let kept = kinds(&set.kept);
    let dropped = kinds(set.dropped.iter().map(|dropped| &dropped.item));
    let all: BTreeSet<_> = kept.keys().chain(dropped.keys()).collect();
    let rows = all.into_iter().map(|kind| {
        let count = |counts: &BTreeMap<_, usize>| counts.get(kind).unwrap_or(&0).to_string();
        vec![kind.to_string(), count(&kept), count(&dropped)]
    });
    text += &layout.render(&["kind", "kept", "dropped"], &rows.collect::<Vec<_>>());
    let reasons = set.dropped_by_reason().into_iter();
    let reasons: Vec<String> = reasons
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    if !reasons.is_empty() {
        writeln!(text, "dropped: {}", reasons.join(", ")).expect(TEXT);
    }
    if !set.coverage.is_empty() {
        text += &coverage(&layout, &set.coverage);
    }
    text += &beside_people(&layout, diversity);
    text += &paid(plan, models, set);
    text
}

/// The calls of this command with their cost.
fn paid(plan: &Plan<'_>, models: &Models, set: &GeneratedSet) -> String {
    let prices = choices::prices(&plan.resolved);
    let lines = Generator::STEPS.iter().zip(models).map(|(step, model)| {
        let model = model.identity();
        let calls = set.calls.get(step).map_or(&[][..], Vec::as_slice);
        let stored = calls.iter().filter(|call| call.cached).count();
        let usage = usage(calls.iter().filter(|call| !call.cached));
        format!(
            "{step:<10} {model}: {}, {stored} of them stored, {}, {}, {}\n",
            quantity::of(calls.len(), "call"),
            quantity::of(usage.input_tokens, "input token"),
            quantity::of(usage.output_tokens, "output token"),
            dollars(prices.of(model).cost(usage)),
        )
    });
    lines.collect()
}

/// The diversity beside that of questions of people.
fn beside_people(layout: &Layout<'_>, set: &Diversity) -> String {
    let columns = [set.clone(), diversity::repliqa(), diversity::wixqa()];
    let columns = columns.map(|it| it.figures());
    let rows = columns[0].iter().enumerate().map(|(row, (name, _))| {
        let cells = columns.iter().map(|column| column[row].1.clone());
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        std::iter::once((*name).to_owned()).chain(cells).collect()
    });
    let titles = ["diversity", "this set", "RepliQA, people", "WixQA, people"];
    let table = layout.render(&titles, &rows.collect::<Vec<_>>());
    format!("\n{table}\n")
}

fn coverage(layout: &Layout<'_>, parts: &[Coverage]) -> String {
    let covered: usize = parts.iter().map(|it| it.covered).sum();
    let documents: usize = parts.iter().map(|it| it.documents).sum();
    let rows = parts.iter().take(PARTS);
    let rows = rows.map(|it| {
        vec![
            it.part.clone(),
            it.covered.to_string(),
            it.documents.to_string(),
        ]
    });
    let mut text = format!(
        "\ncovers {covered} of {}, and {} of {}\n{}",
        quantity::of(documents, "document"),
        parts.iter().filter(|it| it.covered > 0).count(),
        quantity::of(parts.len(), "part"),
        layout.render(&["part", "covered", "documents"], &rows.collect::<Vec<_>>())
    );
    if parts.len() > PARTS {
        let left = quantity::of(parts.len() - PARTS, "further part");
        writeln!(text, "{left}: see `coverage` in record.json").expect(TEXT);
    }
    text
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

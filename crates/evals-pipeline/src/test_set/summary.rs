//! What a finished test set shows of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::{Embedder as _, TextKind};
use evals_questions::{Corpus, Coverage, Diversity, GeneratedSet, diversity, documents};
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
    corpus: &dyn Corpus,
) -> Result<Diversity> {
    let relevant = set.kept.iter().flat_map(|item| &item.relevant);
    let texts = documents(corpus, &relevant.cloned().collect())?;
    let questions = set.kept.iter().map(|item| item.question.as_str());
    let questions: Vec<&str> = questions.collect();
    let model = StaticEmbedder::static_minilm();
    let vectors = model.embed(&questions, TextKind::Query).await?;
    let vectors: Vec<Vec<f32>> = vectors.rows().map(<[f32]>::to_vec).collect();
    let text = |id: &str| texts.get(id).map(|it| it.text.as_str());
    Ok(Diversity::of(&set.kept, text, &vectors))
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
    let count = |counts: &BTreeMap<_, usize>, kind| counts.get(kind).copied().unwrap_or_default();
    let rows = all.into_iter().map(|kind| {
        let counts = [&kept, &dropped].map(|it| count(it, kind).to_string());
        let [kept, dropped] = counts;
        vec![kind.to_string(), kept, dropped]
    });
    let rows: Vec<_> = rows.collect();
    text.push_str(&layout.render(&["kind", "kept", "dropped"], &rows));
    let reasons = set.dropped_by_reason();
    if !reasons.is_empty() {
        let rows = reasons
            .iter()
            .map(|(reason, count)| vec![reason.to_string(), count.to_string()]);
        let rows: Vec<_> = rows.collect();
        text.push('\n');
        text.push_str(&layout.render(&["dropped as", "questions"], &rows));
    }
    if !set.coverage.is_empty() {
        text.push_str(&coverage(&layout, &set.coverage));
    }
    text.push_str(&beside_people(&layout, diversity));
    text.push_str(&paid(plan, models, set));
    text
}

/// The calls of this command with their cost.
fn paid(plan: &Plan<'_>, models: &Models, set: &GeneratedSet) -> String {
    let prices = choices::prices(&plan.resolved);
    let sides = [
        ("writing", &models.writer, &set.written),
        ("filtering", &models.judge, &set.judged),
    ];
    let lines = sides.map(|(what, model, calls)| {
        let model = model.identity();
        let paid: Vec<_> = calls.iter().filter(|call| !call.cached).copied().collect();
        let usage = usage(&paid);
        format!(
            "{what:<10} {model}: {}, {} of them stored, {}, {}, {}\n",
            quantity::of(calls.len(), "call"),
            calls.len() - paid.len(),
            quantity::of(usage.input_tokens, "input token"),
            quantity::of(usage.output_tokens, "output token"),
            dollars(prices.of(model).cost(usage)),
        )
    });
    lines.concat()
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
    let sum = |of: &dyn Fn(&Coverage) -> usize| parts.iter().map(of).sum::<usize>();
    let mut text = format!(
        "\ncovers {} of {}, and {} of {}\n",
        sum(&|it| it.drawn),
        quantity::of(sum(&|it| it.documents), "document"),
        parts.iter().filter(|it| it.drawn > 0).count(),
        quantity::of(parts.len(), "part")
    );
    let rows = parts.iter().take(PARTS).map(|it| {
        let numbers = [it.drawn, it.documents].map(|it| it.to_string());
        let [drawn, documents] = numbers;
        vec![it.part.clone(), drawn, documents]
    });
    let rows: Vec<_> = rows.collect();
    text.push_str(&layout.render(&["part", "covered", "documents"], &rows));
    if parts.len() > PARTS {
        let left = quantity::of(parts.len() - PARTS, "further part");
        writeln!(text, "{left}: see `coverage` in record.json").expect(TEXT);
    }
    text
}

//! What a run prints.

use std::io;

use evals::render::{Color, Console, Messages, Symbols};
use evals::{Comparison, Domain, Report, Summary};
use evals_index::{CutChunks, IndexStatistics};
use evals_metrics::Percentiles;

use super::index::ReadyIndex;
use super::lead;
use super::plan::Plan;
use super::retrieval::Finished;
use crate::printer::Printer;
use crate::quantity;

/// The renderer for this terminal.
pub(crate) fn console(printer: &Printer) -> Console {
    let stdout = printer.stdout();
    Console {
        width: stdout.width(),
        color: if printer.color() {
            Color::On
        } else {
            Color::Off
        },
        symbols: if stdout.unicode {
            Symbols::Unicode
        } else {
            Symbols::Ascii
        },
        messages: if stdout.is_terminal {
            Messages::Cut
        } else {
            Messages::Whole
        },
    }
}

/// One report, as `run` and `runs show` print it.
pub(crate) fn report<D: Domain>(
    printer: &Printer,
    report: &Report<D>,
    summary: &Summary,
) -> io::Result<String> {
    text(|out| console(printer).report(out, report, summary))
}

/// Several profiles side by side, then what failed in each.
pub(super) fn comparison(
    printer: &Printer,
    comparison: &Comparison,
    finished: &[Finished],
    plan: &Plan,
    seed: u64,
) -> io::Result<String> {
    let questions = finished.first().map_or(0, |run| run.summary.finished);
    let separator = if printer.stdout().unicode {
        " · "
    } else {
        " | "
    };
    let facts = [
        plan.name.clone(),
        quantity::of(questions, "question"),
        format!("{} kept", quantity::of(plan.k.get(), "document")),
    ];
    let console = console(printer);
    let line = |line: &str| text(|out| console.text(out, line));
    let mut page = line(&facts.join(separator))?;
    page.push('\n');
    page.push_str(&text(|out| console.comparison(out, comparison))?);
    if let Some(lead) = lead::of_best(comparison, finished, seed) {
        page.push_str(&line(&lead)?);
    }
    page.push_str(&text(|out| console.latency(out, &latencies(finished)))?);
    for run in finished {
        if let Some(account) = &run.reranking {
            page.push('\n');
            page.push_str(&line(&format!("{}: {account}", run.profile))?);
        }
    }
    for run in finished.iter().filter(|run| run.summary.failed > 0) {
        let failed = format!(
            "{}: {} of {} failed",
            run.profile,
            run.summary.failed,
            quantity::of(questions, "search")
        );
        page.push('\n');
        page.push_str(&line(&failed)?);
    }
    Ok(page)
}

/// The stages of all profiles, each from the profile that computed it; the others took its result from the cache.
fn latencies(finished: &[Finished]) -> Vec<(String, Percentiles)> {
    let stages = finished.iter().flat_map(|run| {
        let profile = run.profile.to_string();
        run.summary.timings.iter().map(move |(stage, times)| {
            let name = if *stage == profile {
                profile.clone()
            } else {
                format!("{profile}: {stage}")
            };
            (name, *times)
        })
    });
    stages.collect()
}

/// Of how many chunks of an index only the beginning was embedded, unless none is known to be cut.
pub(super) fn cut_note(statistics: &IndexStatistics) -> Option<String> {
    let CutChunks { cut, unknown } = statistics.cut_chunks.filter(|chunks| chunks.cut > 0)?;
    let at_least = if unknown > 0 { "at least " } else { "" };
    let verb = if cut == 1 { "is" } else { "are" };
    Some(format!(
        "of {} in the index, {at_least}{cut} {verb} longer than the embedding model reads; it read only the beginning",
        quantity::of(statistics.chunks, "chunk")
    ))
}

/// Says what is searched, and what building it took.
pub(super) fn describe_index(printer: &Printer, ready: &ReadyIndex) {
    let statistics = &ready.statistics;
    let size = format!(
        "{} in {}",
        quantity::of(statistics.documents, "document"),
        quantity::of(statistics.chunks, "chunk")
    );
    let Some(build) = &ready.build else {
        printer.detail(&format!("index found: {size}, {}", ready.store.uri()));
        return;
    };
    let rate = build
        .documents_per_second()
        .map_or_else(String::new, |rate| format!(", {rate:.0} documents/s"));
    let stored = match build.stored_vectors {
        0 => String::new(),
        stored => format!(", {} from the cache", quantity::of(stored, "vector")),
    };
    printer.note(&format!(
        "indexed {size} in {:.2} s{rate}{stored}",
        build.wall.as_secs_f64()
    ));
    printer.detail(&format!(
        "  read {:.2} s, chunk {:.2} s, embed {:.2} s, write {:.2} s, full-text index {:.2} s; {}",
        build.read.as_secs_f64(),
        build.chunk.as_secs_f64(),
        build.embed.as_secs_f64(),
        build.write.as_secs_f64(),
        build.full_text.as_secs_f64(),
        ready.store.uri()
    ));
    if let Some(peak) = crate::memory::peak_bytes() {
        printer.detail(&format!("  peak memory {} MB", peak / 1_000_000));
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out)?;
    String::from_utf8(out).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_cuts_are_told() {
        let note = |cut_chunks| {
            cut_note(&IndexStatistics {
                documents: 3,
                chunks: 7,
                bytes: 1,
                cut_chunks,
            })
        };
        let chunks = |cut, unknown| Some(CutChunks { cut, unknown });
        for silent in [None, chunks(0, 0), chunks(0, 7)] {
            assert_eq!(note(silent), None);
        }
        assert_eq!(
            note(chunks(1, 0)).unwrap(),
            "of 7 chunks in the index, 1 is longer than the embedding model reads; it read only the beginning"
        );
        let several = note(chunks(2, 5)).unwrap();
        assert!(several.contains(", at least 2 are longer"), "{several}");
    }
}

//! The figures of stored runs: those of several runs side by side, and those of a single one.

use anyhow::{Context as _, Result, bail};
use evals_html::page::PageFigure;
use evals_messages::quantity;
use evals_metrics::Bootstrap;
use evals_pages::figures::{self, FigureFolder, FigurePlace};
use evals_pages::shown_report;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::{StoredRun, TREND};

use super::labels::Labels;
use super::rows::{Selected, grouped, have_same_words};
use super::trend;

/// Writes the figures that compare the runs of each dataset and benchmark into `folder`, and returns a note that names them.
pub(super) fn write_all(selected: &Selected, folder: &FigureFolder) -> Result<String> {
    let groups = grouped(&selected.rows);
    let is_alone = groups.len() == 1;
    let mut drawn = Vec::new();
    for ((dataset, benchmark), runs) in groups {
        let subject = format!("{}-{dataset}", benchmark.word());
        let subject = (!is_alone).then_some(subject.as_str());
        let mut figures = of_group(dataset, benchmark, &runs)?;
        let finished = &selected.finished;
        figures.extend(trend::of_group(dataset, benchmark, finished));
        drawn.extend(figures::named(figures, subject));
    }
    folder.write(&drawn)
}

/// Fails if there is no figure with this name.
pub(super) fn check_name(name: &str) -> Result<()> {
    if !figures::NAMES.contains(&name) {
        bail!(
            "there is no figure `{name}`; figures are {}",
            figures::NAMES.join(", ")
        );
    }
    Ok(())
}

/// The figure of a region, and a note on the run that was chosen for it.
pub(super) struct Drawn {
    pub(super) figure: PageFigure,
    pub(super) note: Option<String>,
}

/// The figure with this name of the runs that a region selects.
pub(super) fn draw(name: &str, selected: &Selected) -> Result<Drawn> {
    let mut note = None;
    let groups = grouped(&selected.rows);
    let mut groups = groups.into_iter();
    let (Some(((dataset, benchmark), runs)), None) = (groups.next(), groups.next()) else {
        bail!(
            "the figure `{name}` shows runs of one benchmark on one dataset, and several are selected; name one of them, as in \
             `{name} retrieval sample`"
        );
    };
    if name == TREND {
        let figure = trend::draw(dataset, benchmark, &selected.finished)?;
        return Ok(Drawn { figure, note });
    }
    let drawn = if figures::OF_RUNS.contains(&name) {
        of_group(dataset, benchmark, &runs)?
    } else {
        let run;
        (run, note) = single(name, benchmark, &runs)?;
        shown_report(&run.report()?).figures(run.record.seed)
    };
    let figure = drawn.into_iter().find(|figure| figure.name == name);
    let figure =
        figure.with_context(|| format!("the selected runs have nothing to draw as `{name}`"))?;
    Ok(Drawn { figure, note })
}

/// The run of a figure that shows one: the newest, if the runs differ in settings alone, which the other words of a marker cannot select.
/// The note names it and the others.
fn single<'r>(
    name: &str,
    benchmark: Benchmark,
    runs: &[&'r StoredRun],
) -> Result<(&'r StoredRun, Option<String>)> {
    let started = |run: &StoredRun| (run.record.started.clone(), run.name());
    let newest = runs.iter().max_by_key(|run| started(run));
    let newest = *newest.context("no run is selected")?;
    if runs.len() == 1 {
        return Ok((newest, None));
    }
    let labels = Labels::of(benchmark, runs).joined();
    let count = quantity::of(runs.len(), "run");
    let is_alike = runs.iter().all(|run| have_same_words(run, newest));
    if !is_alike {
        bail!(
            "the figure `{name}` shows one run, and {count} are selected; add `profile=NAME`, `model=NAME` or `run=NAME` to select \
             one: {}",
            labels.join("; ")
        );
    }
    let described = |wanted: bool| -> Vec<String> {
        let all = runs.iter().zip(&labels);
        all.filter(|(run, _)| (run.name() == newest.name()) == wanted)
            .map(|(run, label)| format!("`{}` ({label})", run.name()))
            .collect()
    };
    let note = format!(
        "the figure `{name}` shows {}, the newest of {count} with other settings; add `run=NAME` to select another: {}",
        described(true).join(""),
        described(false).join(", ")
    );
    Ok((newest, Some(note)))
}

fn of_group(dataset: &str, benchmark: Benchmark, runs: &[&StoredRun]) -> Result<Vec<PageFigure>> {
    let labels = Labels::of(benchmark, runs);
    let mut compared = Vec::new();
    let mut bootstrap = None;
    let named = labels.joined().into_iter().zip(labels.groups());
    for (run, (label, group)) in runs.iter().zip(named) {
        // One seed for all, which the captions name.
        let bootstrap = bootstrap.get_or_insert(Bootstrap {
            seed: run.record.seed,
            ..Bootstrap::default()
        });
        compared.push(shown_report(&run.report()?).compared(label, group, bootstrap));
    }
    let bootstrap = bootstrap.unwrap_or_default();
    Ok(figures::of_runs(
        dataset,
        &compared,
        &bootstrap,
        FigurePlace::File,
    ))
}

/// The parts of a name of a file: small letters, digits, dots and hyphens.
pub(super) fn file_stem(words: &[&str]) -> String {
    let mut stem = String::new();
    for character in words.join("-").chars() {
        match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9' | '.') => stem.push(plain),
            _ if stem.ends_with('-') => {}
            _ => stem.push('-'),
        }
    }
    stem.trim_end_matches('-').to_owned()
}

/// The region of a figure: the image with its content in words, then the caption.
pub(super) fn markdown(figure: &PageFigure, file: &str) -> String {
    let scene = &figure.scene;
    let alternative = format!("{}. {}", scene.title, scene.description);
    let image = format!("![{}]({file})\n", escaped(alternative.trim_end()));
    if scene.caption.is_empty() {
        image
    } else {
        format!("{image}\n*{}*\n", escaped(&scene.caption))
    }
}

/// Escapes what Markdown would read as markup, and keeps the text in one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in evals_messages::visible::line(text).chars() {
        if matches!(
            character,
            '\\' | '[' | ']' | '*' | '_' | '`' | '<' | '>' | '&' | '|' | '#' | '!'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use evals_html::scene::Scene;

    use super::*;

    #[test]
    fn the_words_of_a_region_name_its_file() {
        assert_eq!(
            file_stem(&["bars", "retrieval", "beir:scifact", "profile=bm25+rerank"]),
            "bars-retrieval-beir-scifact-profile-bm25-rerank"
        );
        assert_eq!(file_stem(&["latency", "qa", "../etc"]), "latency-qa-..-etc");
    }

    #[test]
    fn a_region_is_markdown_whatever_the_names() {
        let figure = PageFigure {
            name: "bars".to_owned(),
            scene: Scene {
                width: 1.0,
                height: 1.0,
                title: "a](x) <b>".to_owned(),
                description: "token_f1: 0.5.".to_owned(),
                caption: "n = 3.\nNext.".to_owned(),
                marks: Vec::new(),
            },
        };
        let text = markdown(&figure, "figures/bars.svg");
        assert!(
            text.starts_with(r"![a\](x) \<b\>. token\_f1: 0.5.](figures/bars.svg)"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}

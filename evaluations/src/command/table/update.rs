//! Rewrites the regions of a Markdown file, with the files of its figures, or checks that they are current.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use evals_html::scene::SvgUse;
use evals_messages::{chain, quantity};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::atomic_file::write_atomically;
use evals_terminal::Printer;

use super::region::{self, Region, RegionContent};
use super::rows::{Selected, Selection};
use super::{figure, markdown};
use crate::cli::TableArgs;

/// Largest Markdown file that can be updated, in bytes. The file of a figure is smaller.
const LARGEST_PAGE: u64 = 64_000_000;

/// A region as it has to be.
struct Current {
    line: usize,
    what: &'static str,
    range: Range<usize>,
    text: String,
    drawing: Option<Drawing>,
    /// Which run a figure shows, if the marker leaves that open.
    note: Option<String>,
}

/// The file of a figure.
struct Drawing {
    /// Its path from the Markdown file, with slashes.
    link: String,
    path: PathBuf,
    svg: String,
}

/// Updates or checks a file. `rows` finds the runs of a region.
pub(super) fn execute(
    session: &Session<'_>,
    arguments: &TableArgs,
    path: &Path,
    rows: impl Fn(&Selection) -> Result<Selected>,
) -> Result<Exit> {
    let text = String::from_utf8(regular_file::read(path, LARGEST_PAGE)?)
        .with_context(|| format!("`{}` is not UTF-8", path.display()))?;
    let regions = region::find(&text).with_context(|| format!("`{}`", path.display()))?;
    if regions.is_empty() {
        bail!(
            "`{}` has no markers; add `<!-- evaluations table -->` and `<!-- evaluations end -->`, each on a line of its \
             own",
            path.display()
        );
    }
    let current = current_regions(session, arguments, path, &text, &regions, rows)?;
    let stale: Vec<&Current> = current
        .iter()
        .filter(|it| text[it.range.clone()] != it.text)
        .collect();
    let drawings = current
        .iter()
        .filter_map(|it| Some((it, it.drawing.as_ref()?)));
    let outdated: Vec<(&Current, &Drawing)> = drawings
        .filter(|(_, drawing)| !drawing.is_current())
        .collect();
    if stale.is_empty() && outdated.is_empty() {
        session
            .printer
            .note(&format!("`{}` is up to date", path.display()));
        return Ok(Exit::Done);
    }
    if arguments.check {
        report(session.printer, path, &stale, &outdated);
        return Ok(Exit::CheckFailed);
    }
    for (_, drawing) in &outdated {
        drawing.write()?;
    }
    if !outdated.is_empty() {
        let names = outdated.iter().map(|(_, drawing)| drawing.link.as_str());
        session.printer.note(&format!(
            "wrote {}: {}",
            quantity::of(outdated.len(), "figure"),
            names.collect::<Vec<_>>().join(", ")
        ));
    }
    if !stale.is_empty() {
        let contents: Vec<String> = current.into_iter().map(|it| it.text).collect();
        let replaced = region::replace(&text, &regions, &contents);
        write_atomically(path, |file| file.write_all(replaced.as_bytes()))?;
        session.printer.note(&format!("wrote `{}`", path.display()));
    }
    Ok(Exit::Done)
}

/// Every region as it has to be. `rows` finds the runs of a region.
fn current_regions(
    session: &Session<'_>,
    arguments: &TableArgs,
    path: &Path,
    page: &str,
    regions: &[Region],
    rows: impl Fn(&Selection) -> Result<Selected>,
) -> Result<Vec<Current>> {
    let line_end = if page.contains("\r\n") { "\r\n" } else { "\n" };
    let mut current: Vec<Current> = Vec::new();
    let mut errors = Vec::new();
    for region in regions {
        let mut selection = region.selection.clone();
        if selection.datasets.is_empty() {
            selection.datasets.clone_from(&arguments.datasets);
        }
        let made = of_region(region, &selection, &rows, path).and_then(|made| {
            check_names(&current, &made)?;
            Ok(made)
        });
        let place = || format!("`{}`, line {}", path.display(), region.line);
        match made {
            Ok(made) => {
                if let Some(note) = &made.note {
                    session.printer.note(&format!("{}: {note}", place()));
                }
                current.push(Current {
                    // Without a blank line, Markdown reads what follows as part of the comment above it.
                    text: format!("\n{}\n", made.text).replace('\n', line_end),
                    ..made
                });
            }
            Err(error) => errors.push(error.context(place())),
        }
    }
    check_all(errors, regions.len())?;
    Ok(current)
}

/// Says which regions and files are out of date, one line for each region.
fn report(printer: &Printer, path: &Path, stale: &[&Current], outdated: &[(&Current, &Drawing)]) {
    for it in stale {
        printer.failure(&format!(
            "`{}`, line {}: the {} is out of date; run without `--check` to update it",
            path.display(),
            it.line,
            it.what
        ));
    }
    let is_reported = |line: usize| stale.iter().any(|it| it.line == line);
    for (it, drawing) in outdated.iter().filter(|(it, _)| !is_reported(it.line)) {
        let state = if drawing.path.exists() {
            "out of date"
        } else {
            "missing"
        };
        printer.failure(&format!(
            "`{}`, line {}: the file `{}` is {state}; run without `--check` to write it",
            path.display(),
            it.line,
            drawing.path.display()
        ));
    }
}

/// Fails if a region failed, and names the errors of all.
fn check_all(mut errors: Vec<anyhow::Error>, regions: usize) -> Result<()> {
    if errors.len() < 2 {
        return errors.pop().map_or(Ok(()), Err);
    }
    let lines = errors
        .iter()
        .map(|error| format!("\n{}", chain(error.as_ref())));
    bail!(
        "{} of {} failed, and nothing was written:{}",
        errors.len(),
        quantity::of(regions, "region"),
        lines.collect::<String>()
    )
}

fn of_region(
    region: &Region,
    selection: &Selection,
    rows: impl Fn(&Selection) -> Result<Selected>,
    page: &Path,
) -> Result<Current> {
    let mut note = None;
    let (what, text, drawing) = match &region.content {
        RegionContent::Table => ("table", markdown::tables(&rows(selection)?.rows), None),
        RegionContent::Figure { name, folder } => {
            figure::check_name(name)?;
            let drawn = figure::draw(name, &rows(selection)?)?;
            note = drawn.note;
            let drawn = drawn.figure;
            let mut words = vec![name.as_str()];
            let selected = selection.words();
            words.extend(selected.iter().map(String::as_str));
            let file = format!("{}.svg", figure::file_stem(&words));
            let drawing = Drawing {
                link: format!("{folder}/{file}"),
                path: beside(page).join(folder).join(file),
                svg: drawn.scene.svg(SvgUse::Illustration),
            };
            let text = figure::markdown(&drawn, &drawing.link);
            ("figure", text, Some(drawing))
        }
    };
    Ok(Current {
        line: region.line,
        what,
        range: region.range.clone(),
        text,
        drawing,
        note,
    })
}

/// Fails if two different figures of a page would have one file.
fn check_names(others: &[Current], made: &Current) -> Result<()> {
    let Some(drawing) = &made.drawing else {
        return Ok(());
    };
    let same = others.iter().find(|other| {
        let other = other.drawing.as_ref();
        other.is_some_and(|it| it.path == drawing.path && it.svg != drawing.svg)
    });
    if let Some(same) = same {
        bail!(
            "the figure and the one of line {} would both be `{}`; name the runs of one of them in other words",
            same.line,
            drawing.link
        );
    }
    Ok(())
}

/// The folder of a file.
fn beside(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl Drawing {
    fn is_current(&self) -> bool {
        let stored = regular_file::read(&self.path, LARGEST_PAGE);
        stored.is_ok_and(|bytes| bytes == self.svg.as_bytes())
    }

    fn write(&self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        write_atomically(&self.path, |file| file.write_all(self.svg.as_bytes()))
    }
}

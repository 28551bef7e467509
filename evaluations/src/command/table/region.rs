//! The regions of a Markdown file that `evaluations runs table --update` rewrites.
//!
//! ```text
//! <!-- evaluations table: retrieval beir:scifact -->
//! … rewritten …
//! <!-- evaluations end -->
//! <!-- evaluations figure: bars retrieval beir:scifact -->
//! … rewritten …
//! <!-- evaluations end -->
//! ```

use std::ops::Range;

use evals_runs::run_record::Benchmark;
use thiserror::Error;

use super::rows::Selection;

const TABLE: &str = "<!-- evaluations table";
const FIGURE: &str = "<!-- evaluations figure";
const CLOSE: &str = "<!-- evaluations end -->";

/// A part of a file between two markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// What the region holds.
    pub(super) content: RegionContent,
    /// The runs that the opening marker selects.
    pub(super) selection: Selection,
    /// The line of the opening marker, from 1.
    pub(super) line: usize,
    /// The range of bytes between the lines of the markers.
    pub(super) range: Range<usize>,
}

/// What a region holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RegionContent {
    /// A table of the selected runs.
    Table,
    /// A figure.
    Figure {
        /// Its name, such as `bars`.
        name: String,
        /// The folder of its file, as a path from the Markdown file with slashes.
        folder: String,
    },
}

/// The folder of figures whose markers name none.
const FOLDER: &str = "figures";

/// An opening marker.
struct Opening {
    content: RegionContent,
    selection: Selection,
    line: usize,
    /// Where the content begins.
    start: usize,
}

/// Markers that do not form a region.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum RegionError {
    /// An opening marker without a closing one.
    #[error("line {0}: the marker is not closed; add `{CLOSE}` below it, on a line of its own")]
    NotClosed(usize),
    /// A closing marker without an opening one.
    #[error("line {0}: `{CLOSE}` has no opening marker `{TABLE} -->` above it")]
    NotOpen(usize),
    /// An opening marker with a syntax error.
    #[error(
        "line {0}: a marker has the form `{TABLE}: [retrieval|qa|eval] [DATASET…] -->` or `{FIGURE}: NAME [retrieval|qa|eval] \
         [DATASET…] -->` on a line of its own"
    )]
    Malformed(usize),
}

/// Finds every region of `text`. Markers inside a fenced code block are ordinary text.
pub(super) fn find(text: &str) -> Result<Vec<Region>, RegionError> {
    let mut regions = Vec::new();
    let mut open: Option<Opening> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        match (fence, fence_of(trimmed)) {
            (None, Some(opening)) => {
                fence = Some(opening);
                continue;
            }
            // A fence is closed by at least as many of the same character, with nothing after them.
            (Some(opening), Some(closing))
                if closing.starts_with(opening) && closing == trimmed =>
            {
                fence = None;
                continue;
            }
            (Some(_), _) => continue,
            (None, None) => {}
        }
        if trimmed == CLOSE {
            let opening = open.take().ok_or(RegionError::NotOpen(number))?;
            regions.push(Region {
                content: opening.content,
                selection: opening.selection,
                line: opening.line,
                range: opening.start..start,
            });
        } else if trimmed.starts_with(TABLE) || trimmed.starts_with(FIGURE) {
            if let Some(opening) = open {
                return Err(RegionError::NotClosed(opening.line));
            }
            let (content, selection) = opened(trimmed, number)?;
            open = Some(Opening {
                content,
                selection,
                line: number,
                start: at,
            });
        }
    }
    match open {
        Some(opening) => Err(RegionError::NotClosed(opening.line)),
        None => Ok(regions),
    }
}

/// The backticks or tildes at the start of a line that opens or closes a fenced code block. If more backticks follow later in the
/// line, it is inline code instead.
fn fence_of(line: &str) -> Option<&str> {
    let character = line
        .chars()
        .next()
        .filter(|first| matches!(first, '`' | '~'))?;
    let length = line.chars().take_while(|next| *next == character).count();
    let (fence, info) = line.split_at(length);
    (length >= 3 && !(character == '`' && info.contains('`'))).then_some(fence)
}

/// Replaces the contents of the regions, in their order.
pub(super) fn replace(text: &str, regions: &[Region], contents: &[String]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for (region, content) in regions.iter().zip(contents) {
        replaced.push_str(&text[done..region.range.start]);
        replaced.push_str(content);
        done = region.range.end;
    }
    replaced.push_str(&text[done..]);
    replaced
}

/// What an opening marker asks for.
fn opened(marker: &str, line: usize) -> Result<(RegionContent, Selection), RegionError> {
    let malformed = || RegionError::Malformed(line);
    if let Some(rest) = marker.strip_prefix(TABLE) {
        let words = words(rest).ok_or_else(malformed)?;
        return Ok((RegionContent::Table, selection(words.split_whitespace())));
    }
    let rest = marker.strip_prefix(FIGURE).ok_or_else(malformed)?;
    let mut words = words(rest).ok_or_else(malformed)?.split_whitespace();
    let name = words.next().ok_or_else(malformed)?;
    let (folders, words): (Vec<&str>, Vec<&str>) =
        words.partition(|word| word.starts_with("folder="));
    let mut folders = folders
        .iter()
        .filter_map(|word| word.strip_prefix("folder="));
    let folder = folders.next_back().unwrap_or(FOLDER).trim_end_matches('/');
    let figure = RegionContent::Figure {
        name: name.to_owned(),
        folder: folder.to_owned(),
    };
    Ok((figure, selection(words.into_iter())))
}

/// The words of a marker, which stand between a colon and its end.
fn words(rest: &str) -> Option<&str> {
    let rest = rest.strip_suffix("-->")?;
    match rest.strip_prefix(':') {
        Some(words) => Some(words),
        None => rest.trim().is_empty().then_some(""),
    }
}

fn selection<'w>(words: impl Iterator<Item = &'w str>) -> Selection {
    let mut selection = Selection::default();
    for word in words {
        match word.split_once('=') {
            Some(("profile", profile)) => selection.profiles.push(profile.to_owned()),
            Some(("model", model)) => selection.models.push(model.to_owned()),
            Some(("run", run)) => selection.runs.push(run.to_owned()),
            _ => match word {
                "retrieval" => selection.benchmark = Some(Benchmark::Retrieval),
                "qa" => selection.benchmark = Some(Benchmark::Qa),
                "eval" => selection.benchmark = Some(Benchmark::Eval),
                dataset => selection.datasets.push(dataset.to_owned()),
            },
        }
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Benchmarks\n\
        <!-- evaluations table: retrieval beir:scifact wix -->\n\
        old\n\
        <!-- evaluations end -->\n\
        text\n\
        <!-- evaluations table -->\n\
        <!-- evaluations end -->\n";

    #[test]
    fn regions_are_replaced_and_the_rest_stays() {
        let regions = find(PAGE).unwrap();
        assert_eq!(regions[0].selection.benchmark, Some(Benchmark::Retrieval));
        assert_eq!(regions[0].selection.datasets, ["beir:scifact", "wix"]);
        assert_eq!(regions[1].selection, Selection::default());
        let contents = ["new\n".to_owned(), "all\n".to_owned()];
        let replaced = replace(PAGE, &regions, &contents);
        assert_eq!(
            replaced,
            PAGE.replace("old\n", "new\n")
                .replace("table -->\n", "table -->\nall\n")
        );
        let again = find(&replaced).unwrap();
        assert_eq!(replace(&replaced, &again, &contents), replaced);
    }

    #[test]
    fn a_figure_has_a_name_before_the_words_of_its_selection() {
        let page = "<!-- evaluations figure: bars folder=../drawn/ retrieval sample profile=bm25 profile=hybrid model=mini run=2026 -->\n\
            <!-- evaluations end -->\n";
        let [region] = &find(page).unwrap()[..] else {
            panic!("one region")
        };
        let figure = RegionContent::Figure {
            name: "bars".to_owned(),
            folder: "../drawn".to_owned(),
        };
        assert_eq!(region.content, figure);
        assert_eq!(region.selection.profiles, ["bm25", "hybrid"]);
        assert_eq!(region.selection.models, ["mini"]);
        assert_eq!(region.selection.runs, ["2026"]);
        assert_eq!(region.selection.datasets, ["sample"]);
        for nameless in [
            "<!-- evaluations figure -->",
            "<!-- evaluations figure: -->",
        ] {
            assert_eq!(find(nameless), Err(RegionError::Malformed(1)));
        }
    }

    #[test]
    fn markers_in_code_are_text() {
        for (opening, closing) in [("```text", "```"), ("~~~~", "~~~~~"), ("````\n```", "````")] {
            let page = format!("{opening}\n{PAGE}{closing}\n");
            assert_eq!(find(&page).unwrap(), [], "{page}");
            let page = format!("{page}{PAGE}");
            assert_eq!(find(&page).unwrap().len(), 2, "{page}");
        }
        let page = format!("```within a line```\n{PAGE}");
        assert_eq!(find(&page).unwrap().len(), 2);
    }

    #[test]
    fn errors_name_the_line_of_the_marker() {
        let found = |text: &str| find(text).unwrap_err();
        assert_eq!(
            found("\n<!-- evaluations table -->\n"),
            RegionError::NotClosed(2)
        );
        assert_eq!(
            found("<!-- evaluations table -->\n<!-- evaluations table -->\n"),
            RegionError::NotClosed(1)
        );
        assert_eq!(found("<!-- evaluations end -->"), RegionError::NotOpen(1));
        assert_eq!(
            found("<!-- evaluations table qa -->"),
            RegionError::Malformed(1)
        );
    }
}

//! The regions of a Markdown file that `evaluations table --update` rewrites.
//!
//! ```text
//! <!-- evaluations table: retrieval beir:scifact -->
//! … rewritten …
//! <!-- evaluations end -->
//! ```

use std::ops::Range;

use thiserror::Error;

use super::rows::{Benchmark, Selection};

const OPEN: &str = "<!-- evaluations table";
const CLOSE: &str = "<!-- evaluations end -->";

/// A part of a file between two markers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Region {
    /// The runs that the opening marker selects.
    pub(super) selection: Selection,
    /// The line of the opening marker, from 1.
    pub(super) line: usize,
    /// The range of bytes between the lines of the markers.
    pub(super) content: Range<usize>,
}

/// Markers that do not form a region.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum RegionError {
    /// An opening marker without a closing one.
    #[error(
        "line {0}: the table marker is not closed; add `{CLOSE}` below it, on a line of its own"
    )]
    NotClosed(usize),
    /// A closing marker without an opening one.
    #[error("line {0}: `{CLOSE}` has no opening marker `{OPEN} -->` above it")]
    NotOpen(usize),
    /// An opening marker with a syntax error.
    #[error(
        "line {0}: a marker has the form `{OPEN}: [retrieval|qa] [DATASET…] -->` on a line of its own"
    )]
    Malformed(usize),
}

/// Finds every region of `text`. Markers inside a fenced code block are ordinary text.
pub(super) fn find(text: &str) -> Result<Vec<Region>, RegionError> {
    let mut regions = Vec::new();
    let mut open: Option<(Selection, usize, usize)> = None;
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
            let (selection, line, content) = open.take().ok_or(RegionError::NotOpen(number))?;
            regions.push(Region {
                selection,
                line,
                content: content..start,
            });
        } else if trimmed.starts_with(OPEN) {
            if let Some((_, line, _)) = open {
                return Err(RegionError::NotClosed(line));
            }
            let selection = selection(trimmed).ok_or(RegionError::Malformed(number))?;
            open = Some((selection, number, at));
        }
    }
    match open {
        Some((_, line, _)) => Err(RegionError::NotClosed(line)),
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
        replaced.push_str(&text[done..region.content.start]);
        replaced.push_str(content);
        done = region.content.end;
    }
    replaced.push_str(&text[done..]);
    replaced
}

fn selection(marker: &str) -> Option<Selection> {
    let rest = marker.strip_prefix(OPEN)?.strip_suffix("-->")?;
    let words = match rest.strip_prefix(':') {
        Some(words) => words,
        None if rest.trim().is_empty() => "",
        None => return None,
    };
    let mut selection = Selection::default();
    for word in words.split_whitespace() {
        match word {
            "retrieval" => selection.benchmark = Some(Benchmark::Retrieval),
            "qa" => selection.benchmark = Some(Benchmark::Qa),
            "eval" => selection.benchmark = Some(Benchmark::Eval),
            dataset => selection.datasets.push(dataset.to_owned()),
        }
    }
    Some(selection)
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

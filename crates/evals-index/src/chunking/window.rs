//! Windows over long texts, so that the time to split them grows linearly.

use std::ops::Range;

/// Fewest bytes of a window, so that small chunks are not found a few at a time.
const LEAST_BYTES: usize = 1024;
/// Most bytes of a window, unless four times the first size is more.
const MOST_BYTES: usize = 64 * 1024;

/// Applies `cut` to one window of `text` after another, and joins the chunks.
///
/// For each chunk, the splitter scans the rest of its text, so that its time grows with the square of the length; it is slowest where
/// no white space stops a scan, as in Chinese. A window holds a few chunks. The last of them may end only because the window ends, so
/// it is dropped, and the next window starts at its start. Boundaries and overlaps are therefore those of the whole text.
///
/// A window grows until it holds a complete chunk. If the largest window is still a single chunk, that chunk ends after the window's
/// last blank line, else line break, else white space, else character.
///
/// `bytes` is the size of the first window; `cut` returns the byte ranges of trimmed chunks in order.
pub(crate) fn in_windows(
    text: &str,
    bytes: usize,
    cut: impl Fn(&str) -> Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let (found, next) = first_window(&text[start..], bytes, &cut);
        chunks.extend(
            found
                .into_iter()
                .map(|chunk| start + chunk.start..start + chunk.end),
        );
        start += next;
    }
    chunks
}

/// The chunks of the first window of `text`, and where the next one starts.
fn first_window(
    text: &str,
    bytes: usize,
    cut: impl Fn(&str) -> Vec<Range<usize>>,
) -> (Vec<Range<usize>>, usize) {
    let mut bytes = bytes.max(LEAST_BYTES);
    let most = bytes.saturating_mul(4).max(MOST_BYTES);
    loop {
        if text.len() <= bytes {
            return (cut(text), text.len());
        }
        let window = &text[..text.floor_char_boundary(bytes)];
        let mut found = cut(window);
        if let Some(last) = found.pop()
            && last.start > 0
        {
            return (found, last.start);
        }
        if bytes >= most {
            let end = last_boundary(window);
            return (cut(&text[..end]), end);
        }
        bytes = bytes.saturating_mul(2).min(most);
    }
}

/// The place after the last blank line, else line break, else white space, else character.
fn last_boundary(window: &str) -> usize {
    let after = |separator: &str| window.rfind(separator).map(|at| at + separator.len());
    after("\n\n")
        .or_else(|| after("\n"))
        .or_else(|| after_last_white_space(window))
        .unwrap_or(window.len())
}

fn after_last_white_space(window: &str) -> Option<usize> {
    let (at, character) = window
        .char_indices()
        .rev()
        .find(|(_, character)| character.is_whitespace())?;
    Some(at + character.len_utf8())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::iter;

    use super::*;

    /// Chunks of three words, trimmed.
    fn threes(text: &str) -> Vec<Range<usize>> {
        let words: Vec<_> = text
            .split_whitespace()
            .map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                start..start + word.len()
            })
            .collect();
        words
            .chunks(3)
            .map(|piece| piece[0].start..piece[piece.len() - 1].end)
            .collect()
    }

    #[test]
    fn windows_do_not_change_the_chunks() {
        let text: String = (0..5_000)
            .map(|word| "ä".repeat(1 + word % 13) + [" ", "\n", "  "][word % 3])
            .collect();
        let text = format!(" \n {text}");
        let longest = Cell::new(0);
        let chunks = in_windows(&text, 2_000, |window| {
            longest.set(longest.get().max(window.len()));
            threes(window)
        });
        assert_eq!(chunks, threes(&text));
        assert!(longest.get() <= 2_000);
    }

    #[test]
    fn a_chunk_may_be_longer_than_the_first_window() {
        let text = format!("{} b c d {}", "a".repeat(30_000), "e f g ".repeat(2_000));
        assert_eq!(in_windows(&text, 0, threes), threes(&text));
    }

    #[test]
    fn a_chunk_beyond_the_largest_window_ends_at_its_last_boundary() {
        let ends = |text: &str| -> Vec<usize> {
            let whole = |window: &str| iter::once(0..window.len()).collect();
            let chunks = in_windows(text, 0, whole);
            assert!(chunks.windows(2).all(|pair| pair[0].end == pair[1].start));
            chunks.into_iter().map(|chunk| chunk.end).collect()
        };
        let paragraph = format!("{}\n{}\n\n", "x".repeat(700), "y".repeat(297));
        assert_eq!(ends(&paragraph.repeat(100)), [65_000, 100_000]);
        assert_eq!(ends(&"wörter ".repeat(10_000)), [65_536, 80_000]);
        assert_eq!(ends(&"ü".repeat(40_000)), [65_536, 80_000]);
    }

    #[test]
    fn white_space_is_no_chunk() {
        assert!(in_windows(&" ".repeat(200_000), 0, threes).is_empty());
        assert!(in_windows("", 0, threes).is_empty());
    }
}

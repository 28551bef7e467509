//! The last lines that a worker wrote to stderr.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes that are kept of a worker's stderr.
const KEPT_BYTES: usize = 16 << 10;
/// Lines that a message shows.
const SHOWN_LINES: usize = 8;

/// The end of a stream; what came before is forgotten.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    /// Reads a stream to its end. It never stops reading, so that a worker that logs much is not held up.
    pub(super) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(read) => self.push(&buffer[..read]),
            }
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }

    /// The last lines that are not blank, each as `shown` makes it.
    pub(super) fn lines(&self, shown: impl Fn(&str) -> String) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        drop(kept);
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines: Vec<&str> = lines.collect();
        let first = lines.len().saturating_sub(SHOWN_LINES);
        lines[first..].iter().map(|line| shown(line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fault;
    use super::*;

    #[tokio::test]
    async fn only_the_last_lines_are_kept() {
        let tail = Tail::default();
        let lines: Vec<String> = (0..10_000).map(|line| format!("line {line}")).collect();
        let log = lines.join("\n\n");
        tail.follow(log.as_bytes()).await;
        let lines = tail.lines(fault::start);
        assert_eq!(lines.len(), SHOWN_LINES);
        assert_eq!(lines[7], "line 9999");
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_and_colours_can_be_shown() {
        let tail = Tail::default();
        tail.follow(&b"\xff \x1b[31mred"[..]).await;
        assert_eq!(tail.lines(fault::start), ["\u{fffd} \\u{1b}[31mred"]);
    }
}

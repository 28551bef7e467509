//! The streams of a worker: lines, each within a limit, and the last lines of stderr.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// Reads a stream line by line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    stream: BufReader<R>,
    limit: usize,
}

/// The next item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A line, without its end.
    Line(Vec<u8>),
    /// The last bytes, which no line end follows.
    Rest(Vec<u8>),
    /// The beginning of a line longer than the limit.
    TooLong(Vec<u8>),
    /// Nothing.
    End,
}

/// Size of the buffer, in bytes.
const BUFFER: usize = 1 << 16;

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(stream: R, limit: usize) -> Self {
        Self {
            stream: BufReader::with_capacity(BUFFER, stream),
            limit,
        }
    }

    /// A whole line that has arrived already, without its end.
    pub(super) fn arrived(&mut self) -> Option<Vec<u8>> {
        let buffer = self.stream.buffer();
        let end = buffer.iter().position(|byte| *byte == b'\n')?;
        if end > self.limit {
            return None;
        }
        let line = buffer[..end].to_vec();
        self.stream.consume(end + 1);
        Some(line)
    }

    /// Waits for further bytes, or for the end of the stream.
    pub(super) async fn more(&mut self) {
        // `next` reports the error.
        let _ = self.stream.fill_buf().await;
    }

    /// The next line. After [`Next::TooLong`], [`Next::Rest`] and [`Next::End`] nothing useful follows.
    pub(super) async fn next(&mut self) -> io::Result<Next> {
        let mut line = Vec::new();
        loop {
            let buffer = self.stream.fill_buf().await?;
            if buffer.is_empty() {
                return Ok(if line.is_empty() {
                    Next::End
                } else {
                    Next::Rest(line)
                });
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(buffer.len());
            line.extend_from_slice(&buffer[..taken]);
            self.stream.consume(taken + usize::from(end.is_some()));
            if line.len() > self.limit {
                return Ok(Next::TooLong(line));
            }
            if end.is_some() {
                return Ok(Next::Line(line));
            }
        }
    }
}

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
    use super::*;

    #[tokio::test]
    async fn a_stream_ends_in_a_line_or_in_a_rest() {
        let mut lines = Lines::new(&b"one\n\ntwo\nthr"[..], 8);
        assert_eq!(lines.next().await.unwrap(), Next::Line(b"one".to_vec()));
        assert_eq!(lines.next().await.unwrap(), Next::Line(Vec::new()));
        assert_eq!(lines.next().await.unwrap(), Next::Line(b"two".to_vec()));
        assert_eq!(lines.next().await.unwrap(), Next::Rest(b"thr".to_vec()));
        assert_eq!(lines.next().await.unwrap(), Next::End);
    }

    #[tokio::test]
    async fn only_whole_lines_have_arrived() {
        let mut lines = Lines::new(&b"one\ntwo\nthr"[..], 8);
        assert_eq!(lines.arrived(), None);
        assert_eq!(lines.next().await.unwrap(), Next::Line(b"one".to_vec()));
        assert_eq!(lines.arrived(), Some(b"two".to_vec()));
        assert_eq!(lines.arrived(), None);
        assert_eq!(lines.next().await.unwrap(), Next::Rest(b"thr".to_vec()));
    }

    #[tokio::test]
    async fn a_line_without_end_stops_at_the_limit() {
        let mut lines = Lines::new(tokio::io::repeat(b'x'), 100_000);
        let Next::TooLong(start) = lines.next().await.unwrap() else {
            panic!("it has no limit")
        };
        assert!(start.len() < 200_000);
    }
}

#[cfg(test)]
mod tail_tests {
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

//! Lines of a stream, each within a limit.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

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

//! Batches that are over, until their replies are stored.

use std::io;
use std::path::PathBuf;

use crate::chat::RawReply;
use crate::openai::batch::output::{Output, Response};
use crate::openai::batch::record::Record;

/// Batches that are over and hold replies that are not stored yet.
#[derive(Default)]
pub(super) struct Shelf {
    batches: Vec<Kept>,
}

struct Kept {
    record: Record,
    output: Output,
    /// The number of replies that are not stored yet.
    left: usize,
}

impl Kept {
    /// Whether it holds a reply to a request of the batch, and the reply is still needed.
    fn holds(&self, id: &str) -> bool {
        self.output.is_success(id) && self.record.contents.needs(id)
    }
}

impl Shelf {
    /// Keeps the replies of a batch until they are stored.
    pub(super) fn keep(&mut self, record: Record, output: Output) {
        let mut kept = Kept {
            record,
            output,
            left: 0,
        };
        let successes = kept.output.successes();
        kept.left = successes.filter(|id| kept.holds(id)).count();
        match kept.left {
            0 => kept.record.delete(),
            _ => self.batches.push(kept),
        }
    }

    /// The reply to a request, read by `read`. An answer that `read` refuses is needed no more.
    ///
    /// # Errors
    ///
    /// The file of replies cannot be read. It comes with its path.
    pub(super) fn reply(
        &mut self,
        id: &str,
        read: impl Fn(&Response) -> Option<RawReply>,
    ) -> Result<Option<RawReply>, (PathBuf, io::Error)> {
        while let Some(position) = self.holding(id) {
            let kept = &self.batches[position];
            let line = kept.output.line(id);
            let line = line.map_err(|error| (kept.record.replies(), error))?;
            let response = line.and_then(|line| line.response);
            if let Some(reply) = response.as_ref().and_then(&read) {
                return Ok(Some(reply));
            }
            // It would fail again.
            self.settle(position, id);
        }
        Ok(None)
    }

    /// Notes that a reply is stored.
    pub(super) fn stored(&mut self, id: &str) {
        while let Some(position) = self.holding(id) {
            self.settle(position, id);
        }
    }

    /// Whether a batch that is over has a reply to this request.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.holding(id).is_some()
    }

    fn holding(&self, id: &str) -> Option<usize> {
        self.batches.iter().position(|kept| kept.holds(id))
    }

    /// Notes that a reply is needed no more, and deletes the files of its batch after the last one.
    fn settle(&mut self, position: usize, id: &str) {
        let kept = &mut self.batches[position];
        // A lost line does no harm: the next process notes it again.
        let _ = kept.record.settle(id);
        kept.left -= 1;
        if kept.left == 0 {
            self.batches.remove(position).record.delete();
        }
    }
}

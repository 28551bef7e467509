//! Why requests in batches get no reply.

use std::path::PathBuf;
use std::time::Duration;

use evals::JournalError;
use evals_messages::quantity;
use thiserror::Error;

use crate::traffic::Refused;

/// Why requests in batches get no reply. Messages name the server by its address.
#[derive(Clone, Debug, Error)]
pub(super) enum BatchError {
    /// The server has no endpoint for batches.
    #[error("{server} does not take batches; run without `--batch`")]
    NoEndpoint {
        server: String,
        #[source]
        source: Refused,
    },
    /// The server does not know a batch that was submitted.
    #[error(
        "{server} does not know the batch `{batch}`: set the key of the account that submitted it; if the batch is lost, delete `{}` to submit its requests again",
        record.display()
    )]
    UnknownBatch {
        server: String,
        batch: String,
        record: PathBuf,
        #[source]
        source: Refused,
    },
    /// The server answered requests of a batch, and returns not a single reply.
    #[error(
        "{server} has ended the batch `{batch}`, but returns no replies: run the same command again later; if the replies are lost, delete `{}` to submit the requests again",
        record.display()
    )]
    Withheld {
        server: String,
        batch: String,
        record: PathBuf,
    },
    /// The server does not have a file of replies any more.
    #[error(
        "{server} does not have the file `{file}` with replies of the batch `{batch}`; if the server deleted it, delete `{}` to submit the requests again",
        record.display()
    )]
    NoReplies {
        server: String,
        batch: String,
        file: String,
        record: PathBuf,
        #[source]
        source: Refused,
    },
    /// A batch may have been created, and the server does not list its batches.
    #[error(
        "an earlier run may have submitted a batch of the file `{file}`, and {server} does not list its batches: look for the batch there; if you find no batch of the file, delete `{}` to submit its requests again",
        record.display()
    )]
    Unlisted {
        server: String,
        file: String,
        record: PathBuf,
        #[source]
        source: Refused,
    },
    /// A batch may have been created, and the server does not list it.
    #[error(
        "{server} did not answer {} to create a batch, and does not list the batch: run the same command again later",
        quantity::of(*attempts, "request")
    )]
    Unanswered { server: String, attempts: u32 },
    /// The account has more batches than are searched.
    #[error(
        "{server} lists more than {batches} batches, so the program cannot find out whether an earlier run submitted a batch of the file `{file}`: look for the batch there; if you find no batch of the file, delete `{}` to submit its requests again",
        record.display()
    )]
    Endless {
        server: String,
        batches: usize,
        file: String,
        record: PathBuf,
    },
    /// The server refused the whole batch.
    #[error("{server} refused the batch `{batch}`: {reasons}{advice}")]
    Refused {
        server: String,
        batch: String,
        reasons: String,
        advice: &'static str,
    },
    /// Somebody cancelled the batch.
    #[error(
        "the batch `{batch}` was cancelled before this request was answered; run the same command again to submit the rest"
    )]
    Cancelled { batch: String },
    /// Two batches expired.
    #[error(
        "the batch `{batch}` expired before this request was answered, as the one before did; run the same command again to submit the rest, or without `--batch` to ask directly"
    )]
    Expired { batch: String },
    /// Two batches ended without a line for a request.
    #[error(
        "the batch `{batch}` ended without an answer to this request, as the one before did; run the same command again to ask again"
    )]
    Missing { batch: String },
    /// A request was tried in several batches.
    #[error("the request failed in {}", quantity::of(*batches, "batch"))]
    Attempts {
        batches: u32,
        #[source]
        source: Refused,
    },
    /// One request is larger than a whole batch may be.
    #[error("the request has {bytes} bytes, and a batch may have {most}")]
    TooLarge { bytes: usize, most: usize },
    /// The program does not wait for batches, and the batch with this request has not ended.
    #[error(
        "the batch `{batch}` at {server} is still `{state}`, and an earlier run paid for it; {replies} of it {are} not on this machine yet. To wait for the batch, run the same command with `--batch`. To give it up, cancel it at the server (`POST /batches/{batch}/cancel`) and run the same command again when it has ended: the program keeps the replies that the batch has by then, and sends the other requests directly",
        replies = quantity::of(*needed, "reply"),
        are = if *needed == 1 { "is" } else { "are" }
    )]
    UnderWay {
        server: String,
        batch: String,
        state: String,
        needed: usize,
    },
    /// Another process waits for the batch with this request.
    #[error(
        "another process submitted this request in a batch and waits for it; wait until that process ends, then run the same command again (`{}`)",
        record.display()
    )]
    Elsewhere { record: PathBuf },
    /// Another process does not release the lock.
    #[error(
        "another process has locked `{}` for {} s: look for a stopped or hanging process of this program, end it, and run the same command again",
        path.display(), waited.as_secs()
    )]
    Locked { path: PathBuf, waited: Duration },
    /// The program cannot look for replies that it has stored meanwhile.
    #[error("cannot find out whether the reply was stored meanwhile")]
    Store(#[source] Refused),
    /// The batch may not be submitted.
    #[error("the batch was not submitted")]
    NotAllowed(#[source] Refused),
    /// The first request, which goes directly, may not be sent.
    #[error("the first request was not sent")]
    NotSent(#[source] Refused),
    /// The record of a batch could not be read or written.
    #[error("cannot record a batch")]
    Record(#[source] Refused),
    /// The replies of a batch could not be read or written.
    #[error("cannot keep the replies of a batch in `{}`", path.display())]
    Replies {
        path: PathBuf,
        #[source]
        source: Refused,
    },
}

impl BatchError {
    /// The error of a record.
    pub(super) fn record(error: JournalError) -> Self {
        Self::Record(Refused::new(Box::new(error)))
    }

    /// The error of a file of replies.
    pub(super) fn replies(path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        Self::Replies {
            path: path.into(),
            source: Refused::new(Box::new(error)),
        }
    }
}

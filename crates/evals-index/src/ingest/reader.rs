//! Reading documents, and checking them before they are chunked.

use std::collections::HashMap;
use std::error::Error;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evals_rag::Document;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::Sender;

use crate::address::Address;
use crate::error::IndexError;
use crate::table::positions::Positions;

/// Most bytes of one document's text: a column holds at most 2 GiB of text in one batch.
const MOST_TEXT_BYTES: usize = 1 << 30;

/// Most documents in a portion.
const MOST_DOCUMENTS: usize = 128;
/// Bytes of text at which a portion is full; the last document may exceed them.
const FULL_BYTES: usize = 1 << 20;

/// The caller's documents, with any type of error.
pub(crate) type Documents =
    Box<dyn Iterator<Item = Result<Document, Box<dyn Error + Send + Sync>>> + Send>;

/// Reads documents on a blocking thread, skips those that are committed already, and sends the others in portions.
#[derive(Debug)]
pub(super) struct Reader {
    committed: Arc<Positions>,
    /// Number of the document, from 1, by the fingerprint of its uri.
    seen: HashMap<Fingerprint, usize>,
    address: Address,
    reading: Duration,
}

impl Reader {
    pub(super) fn new(committed: Arc<Positions>, address: Address) -> Self {
        Self {
            committed,
            seen: HashMap::new(),
            address,
            reading: Duration::ZERO,
        }
    }

    /// Sends portions until the documents end, one cannot be used, or the receiver is gone. Returns the time spent reading.
    pub(super) fn run(
        mut self,
        documents: Documents,
        portions: &Sender<Result<Portion, IndexError>>,
    ) -> Duration {
        let mut portion = Portion::default();
        let outcome = self.read(documents, &mut portion, portions);
        if !portion.is_empty() {
            // The documents before a failure are good, and a resumed build need not read them again.
            let _ = portions.blocking_send(Ok(portion));
        }
        if let Err(error) = outcome {
            let _ = portions.blocking_send(Err(error));
        }
        self.reading
    }

    fn read(
        &mut self,
        mut documents: Documents,
        portion: &mut Portion,
        portions: &Sender<Result<Portion, IndexError>>,
    ) -> Result<(), IndexError> {
        let mut bytes = 0;
        while let Some(document) = self.next(&mut documents)? {
            if self.is_committed(&document)? {
                continue;
            }
            bytes += document.text.len();
            portion.push(document);
            if portion.len() < MOST_DOCUMENTS && bytes < FULL_BYTES {
                continue;
            }
            if portions.blocking_send(Ok(mem::take(portion))).is_err() {
                return Ok(());
            }
            bytes = 0;
        }
        let (stored, read) = (self.committed.documents(), self.seen.len());
        if read < stored {
            return Err(IndexError::Diverged {
                table: self.address.clone(),
                difference: format!(
                    "it already has {stored} documents, but the dataset has only {read}"
                ),
            });
        }
        Ok(())
    }

    fn next(&mut self, documents: &mut Documents) -> Result<Option<Document>, IndexError> {
        let started = Instant::now();
        let next = documents.next();
        self.reading += started.elapsed();
        let number = self.seen.len() + 1;
        let Some(document) = next else {
            return Ok(None);
        };
        let document = document.map_err(|source| IndexError::Documents { number, source })?;
        self.check(&document, number)?;
        Ok(Some(document))
    }

    fn check(&mut self, document: &Document, number: usize) -> Result<(), IndexError> {
        if document.uri.is_empty() {
            return Err(IndexError::corpus(format!(
                "document {number} has an empty uri"
            )));
        }
        let (uri, bytes) = (&document.uri, document.text.len());
        if bytes > MOST_TEXT_BYTES {
            return Err(IndexError::corpus(format!(
                "document `{uri}` has {bytes} bytes of text, more than the limit of {MOST_TEXT_BYTES}"
            )));
        }
        match self.seen.insert(fingerprint(uri), number) {
            Some(first) => Err(IndexError::corpus(format!(
                "documents {first} and {number} have the same uri `{uri}`"
            ))),
            None => Ok(()),
        }
    }

    /// Whether the table has the document just read. Fails if it has another one in its place.
    fn is_committed(&self, document: &Document) -> Result<bool, IndexError> {
        let number = self.seen.len();
        match self.committed.uris().get(number - 1) {
            Some(stored) if **stored == *document.uri => Ok(true),
            Some(stored) => Err(IndexError::Diverged {
                table: self.address.clone(),
                difference: format!(
                    "document {number} of the dataset is `{}`, but the table has `{stored}` in its place",
                    document.uri
                ),
            }),
            None => Ok(false),
        }
    }
}

/// Consecutive documents that one task chunks and embeds, and one commit contains.
pub(super) type Portion = Vec<Document>;

/// The first 128 bits of a uri's SHA-256. The chance that two of a billion uris share them is below 10⁻²⁰.
type Fingerprint = [u8; 16];

fn fingerprint(uri: &str) -> Fingerprint {
    *Sha256::digest(uri)
        .first_chunk()
        .expect("SHA-256 has 32 bytes")
}

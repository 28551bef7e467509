//! What the pages share: the stored runs, and the signal that ends the server.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::catalogue::Catalogue;
use super::failure::PageFailure;
use super::stored_page::StoredPages;

/// What the pages share. Clones share it, too.
#[derive(Debug, Clone)]
pub(super) struct Viewer {
    catalogue: Arc<Catalogue>,
    pages: StoredPages,
    /// Set when the user ends the server, which has to end streams: nothing else would.
    stop: CancellationToken,
}

impl Viewer {
    pub(super) fn new(catalogue: Catalogue, stop: CancellationToken) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            pages: StoredPages::default(),
            stop,
        }
    }

    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    pub(super) fn pages(&self) -> &StoredPages {
        &self.pages
    }

    /// Reads files on a blocking thread.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Catalogue) -> Result<T, PageFailure> + Send + 'static,
    ) -> Result<T, PageFailure> {
        let catalogue = Arc::clone(&self.catalogue);
        let reading = tokio::task::spawn_blocking(move || work(&catalogue));
        reading.await.unwrap_or_else(|_| Err(PageFailure::fault()))
    }
}

//! Ending a run from outside.

use tokio_util::sync::CancellationToken;

use crate::exit::{self, Exit};

/// Is cancelled by the first interrupt; the second ends the process at once.
pub(super) fn cancelled_by_interrupt() -> CancellationToken {
    let cancellation = CancellationToken::new();
    let token = cancellation.clone();
    tokio::spawn(async move {
        while interrupt().await {
            if token.is_cancelled() {
                exit::at_once(Exit::Interrupted);
            }
            token.cancel();
        }
    });
    cancellation
}

/// Waits for Ctrl-C, or for what `timeout`, a CI system or a container sends to end a process. False where there is
/// nothing to wait for.
async fn interrupt() -> bool {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            return tokio::select! {
                interrupted = tokio::signal::ctrl_c() => interrupted.is_ok(),
                received = terminated.recv() => received.is_some(),
            };
        }
    }
    tokio::signal::ctrl_c().await.is_ok()
}

//! Turns panics of foreign code into errors.
//!
//! Libraries that read files may panic if the bytes are inconsistent. Work that runs here returns an error instead, and the
//! process's panic hook prints nothing about it.

use std::any::Any;
use std::cell::Cell;
use std::future::poll_fn;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Once;
use std::task::Poll;

use thiserror::Error;

/// The message of a panic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Panicked(pub String);

thread_local! {
    /// Whether this thread is doing guarded work.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does the work and returns its value, or the message of its panic.
///
/// After a panic, do not use data that the work changed: it may be half changed.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    silence_guarded();
    let outer = GUARDED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.map_err(|payload| Panicked(message(&*payload)))
}

/// Does the same for a future. Tasks that it spawns are not guarded.
pub async fn caught_async<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    // Each poll is guarded on its own: between two polls the thread does other work, and the next poll may run on another
    // thread.
    poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// The message of a panic, from the payload that [`catch_unwind`](panic::catch_unwind) returns.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panicked without a message").to_owned()
}

/// Makes the process's panic hook ignore panics of guarded work, and only those.
fn silence_guarded() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let printing = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                printing(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(caught(|| 7).unwrap(), 7);
        let number = 3;
        let error = caught(|| assert_eq!(number, 4, "number {number}")).unwrap_err();
        assert!(error.to_string().contains("number 3"), "{error}");
        assert!(!GUARDED.get(), "later panics are printed again");
    }

    #[test]
    fn a_panic_without_a_text_has_a_default_message() {
        let error = caught(|| panic::panic_any(3)).unwrap_err();
        assert_eq!(error.to_string(), "panicked without a message");
    }

    #[tokio::test]
    async fn a_future_that_waits_is_guarded_until_its_end() {
        assert_eq!(caught_async(async { 7 }).await.unwrap(), 7);
        let error = caught_async(async {
            tokio::task::yield_now().await;
            panic!("after a while")
        });
        let error: Result<(), _> = error.await;
        assert_eq!(error.unwrap_err().to_string(), "after a while");
        assert!(!GUARDED.get(), "later panics are printed again");
    }
}

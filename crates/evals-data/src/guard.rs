//! Panics of a library that reads foreign bytes, as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use thiserror::Error;

/// A library gave up by a panic.
#[derive(Debug, Error)]
#[error("the file is damaged ({0})")]
pub(crate) struct Panicked(String);

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Does the work; a panic in it becomes an error and is not printed. What the work was about has to be left alone after
/// that, because it may be half-changed.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    silence_guarded();
    let outer = GUARDED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.map_err(|panic| Panicked(message(&*panic)))
}

/// Has the process's panic hook pass over what is guarded, and nothing else.
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

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        assert_eq!(guarded(|| 7).unwrap(), 7);
        let number = 3;
        let error = guarded(|| assert_eq!(number, 4, "number {number}")).unwrap_err();
        assert!(error.to_string().contains("number 3"), "{error}");
        assert!(!GUARDED.get(), "what comes after it is printed again");
    }
}

//! The door to the storage engine: a panic behind it is an error in front of it.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use crate::{Address, IndexError};

/// Runs `work` on `table`, and makes an error of a panic in it.
///
/// The engine panics where files contradict each other, and with it whoever waits for one of its tasks. What `work` holds is not
/// used again: an index that panicked once is one that its user gives up.
pub(crate) async fn guarded<T>(
    table: &Address,
    work: impl Future<Output = Result<T, IndexError>>,
) -> Result<T, IndexError> {
    let outcome = AssertUnwindSafe(work).catch_unwind().await;
    outcome.unwrap_or_else(|payload| {
        Err(IndexError::Panicked {
            table: table.clone(),
            message: message(payload.as_ref()),
        })
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let literal = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = literal.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_that_says_what_to_delete() {
        let table = Address::new("/data/dbs", "index-0a");
        let nothing = Vec::<usize>::new();
        let error = guarded(&table, async { Ok(nothing[1]) }).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the storage engine panicked on table `index-0a` of `/data/dbs`: index out of bounds: the len is 0 but the index is 1; \
             if this happens again, delete `/data/dbs/index-0a.lance` to build the index again"
        );
        let sound = guarded(&table, async { Ok(1) }).await.unwrap();
        assert_eq!(sound, 1);
    }
}

//! Turns panics of the storage engine into errors.

use evals_guard::panics::{Panicked, caught_async};

use crate::address::Address;
use crate::error::IndexError;

/// Runs `work` on `table`, and makes an error of a panic in it, which is not printed. A task that the engine has spawned prints its own.
///
/// The engine panics where files contradict each other, and with it whoever waits for one of its tasks. What `work` holds is not
/// used again: an index that panicked once is one that its user gives up.
pub(crate) async fn guarded<T>(
    table: &Address,
    work: impl Future<Output = Result<T, IndexError>>,
) -> Result<T, IndexError> {
    // On the heap: the engine's futures are large, and each layer around one would hold room for it twice.
    caught_async(Box::pin(work))
        .await
        .unwrap_or_else(|Panicked(message)| {
            Err(IndexError::Panicked {
                table: table.clone(),
                message,
            })
        })
}

/// The same as [`guarded`], with errors that name the table.
pub(crate) async fn guarded_table<T>(
    table: &Address,
    work: impl Future<Output = Result<T, IndexError>>,
) -> Result<T, IndexError> {
    // On the heap here, too, so that this layer adds no room for the future.
    guarded(table, Box::pin(work))
        .await
        .map_err(|error| error.on_table(table))
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
             if it happens again, delete `/data/dbs/index-0a.lance` to rebuild the index"
        );
        let sound = guarded(&table, async { Ok(1) }).await.unwrap();
        assert_eq!(sound, 1);
    }

    #[tokio::test]
    #[ignore = "run by the other test as a process of its own"]
    async fn panics_behind_the_door_and_before_it() {
        let table = Address::new("/data/dbs", "index-0a");
        let work = async {
            tokio::task::yield_now().await;
            panic!("behind the door")
        };
        let outcome: Result<(), _> = guarded(&table, work).await;
        assert!(outcome.unwrap_err().to_string().contains("behind the door"));
        panic!("before the door");
    }

    #[test]
    fn only_what_is_guarded_is_not_printed() {
        let name = "guard::tests::panics_behind_the_door_and_before_it";
        let printed = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", name])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&printed.stderr);
        assert!(stderr.contains("before the door"), "{stderr}");
        assert!(!stderr.contains("behind the door"), "{stderr}");
    }
}

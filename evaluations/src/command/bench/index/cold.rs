//! Measures the first search of a new connection.

use std::time::Instant;

use anyhow::Result;
use evals_metrics::Percentiles;

/// How many connections to measure: the fewest that give percentiles.
const CONNECTIONS: usize = Percentiles::FEWEST_SAMPLES;

/// Percentiles of the seconds from the start of `open` to the end of the first search, over several connections one after the other.
/// `search` gets the connection and its number. Returns the first failure.
pub(super) async fn cold<C>(
    open: impl AsyncFn() -> Result<C>,
    search: impl AsyncFn(C, usize) -> Result<()>,
) -> Result<Percentiles> {
    let mut seconds = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let started = Instant::now();
        let connection = open().await?;
        search(connection, number).await?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    Ok(Percentiles::of(seconds))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test]
    async fn the_time_contains_opening_and_searching() {
        let step = Duration::from_millis(2);
        let open = async || {
            sleep(step).await;
            Ok(())
        };
        let search = async |(), _| {
            sleep(step).await;
            Ok(())
        };
        let seconds = cold(open, search).await.unwrap();
        assert!(seconds.p50.unwrap() >= 2.0 * step.as_secs_f64());
    }
}

//! The steps of a batch, as the program shows them.

use std::fmt;
use std::time::Duration;

use evals_messages::quantity;

use super::status::BatchCounts;

/// A step of a batch. Its text is one line without a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchEvent {
    /// The batch is being uploaded and created.
    Submitting {
        /// The model.
        model: String,
        /// The number of requests.
        requests: usize,
    },
    /// The server told the state of the batch. A failed question for the state is a [`Warning`](Self::Warning).
    Waiting {
        /// The model.
        model: String,
        /// The server's name of the batch.
        batch: String,
        /// The server's word for the state of the batch.
        state: String,
        /// How many of the requests are done, if the server says.
        counts: Option<BatchCounts>,
        /// How long this process has waited for the batch.
        waited: Duration,
        /// The pause before the next question.
        next: Duration,
    },
    /// The batch has ended, and its replies are on this machine.
    Collected {
        /// The model.
        model: String,
        /// The server's name of the batch.
        batch: String,
        /// The server's word for how the batch ended.
        state: String,
        /// Replies that were waited for, or that the program may need if it submits no batches.
        replies: usize,
        /// Requests that go into the next batch.
        again: usize,
        /// Requests without a reply, if the program submits no batches: it sends them directly when it needs them.
        directly: usize,
        /// Requests that failed.
        failed: usize,
    },
    /// Something about a batch that the user should know. The work goes on.
    Warning {
        /// The text.
        text: String,
    },
    /// The batch is over, and the program does not wait for it any more.
    Ended {
        /// The server's name of the batch.
        batch: String,
    },
}

impl fmt::Display for BatchEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitting { model, requests } => write!(
                formatter,
                "submitting a batch of {} to `{model}`",
                quantity::of(*requests, "request")
            ),
            Self::Waiting {
                model,
                batch,
                state,
                counts,
                waited,
                next,
            } => {
                write!(formatter, "batch `{batch}` of `{model}`: {state}")?;
                if let Some(counts) = counts {
                    write!(formatter, ", {counts}")?;
                }
                formatter.write_str("; ")?;
                // At the first look nothing was waited.
                if *waited >= Duration::from_secs(1) {
                    write!(formatter, "waited {}, ", time(*waited))?;
                }
                write!(formatter, "next look in {}", time(*next))
            }
            Self::Collected {
                model,
                batch,
                state,
                replies,
                again,
                directly,
                failed,
            } => {
                let replies = quantity::of(*replies, "reply");
                write!(
                    formatter,
                    "batch `{batch}` of `{model}`: {state}, {replies}"
                )?;
                if *again > 0 {
                    write!(formatter, ", {again} asked again in the next batch")?;
                }
                if *directly > 0 {
                    write!(formatter, ", {directly} without a reply")?;
                }
                if *failed > 0 {
                    write!(formatter, ", {failed} failed")?;
                }
                Ok(())
            }
            Self::Warning { text } => formatter.write_str(text),
            Self::Ended { batch } => write!(formatter, "batch `{batch}` is over"),
        }
    }
}

/// A duration in its two largest units, such as `2h 5m`.
fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) if seconds == 0 && !duration.is_zero() => format!("{} ms", duration.as_millis()),
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m {}s", seconds % 60),
        (hours, minutes) => format!("{hours}h {minutes}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line() {
        let waiting = |waited| BatchEvent::Waiting {
            model: "openai:m".to_owned(),
            batch: "batch_1".to_owned(),
            state: "in_progress".to_owned(),
            counts: Some(BatchCounts {
                total: 100,
                completed: 40,
                failed: 1,
            }),
            waited,
            next: Duration::from_secs(30),
        };
        assert_eq!(
            waiting(Duration::from_secs(7_512)).to_string(),
            "batch `batch_1` of `openai:m`: in_progress, 41 of 100 done (1 failed); waited 2h 5m, next look in 30s"
        );
        assert_eq!(
            waiting(Duration::from_micros(40)).to_string(),
            "batch `batch_1` of `openai:m`: in_progress, 41 of 100 done (1 failed); next look in 30s"
        );
        let collected = BatchEvent::Collected {
            model: "openai:m".to_owned(),
            batch: "batch_1".to_owned(),
            state: "expired".to_owned(),
            replies: 1,
            again: 2,
            directly: 0,
            failed: 0,
        };
        assert_eq!(
            collected.to_string(),
            "batch `batch_1` of `openai:m`: expired, 1 reply, 2 asked again in the next batch"
        );
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let shown = [5, 90, 7_200].map(|seconds| time(Duration::from_secs(seconds)));
        assert_eq!(shown, ["5s", "1m 30s", "2h 0m"]);
        assert_eq!(time(Duration::from_millis(20)), "20 ms");
    }
}

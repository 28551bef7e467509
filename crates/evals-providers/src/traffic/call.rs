//! One call, from its first attempt to its reply or its last failure.

use std::error::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use evals_models::Failure;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::error::{AttemptError, Contact, Reach, TrafficError};
use super::gate::{Permit, later};
use super::refusals::{self, Caller};
use super::{Delivered, Traffic};

/// A call and the state of its attempts.
pub(super) struct Call<'a> {
    traffic: &'a Traffic,
    caller: Option<&'a Caller>,
    /// The longest that one attempt may take.
    limit: Duration,
    tokens: u64,
    attempts: u32,
    /// How many of the attempts found the server away.
    away: u32,
    /// The deadline of the call, which its first attempt sets.
    deadline: Option<Instant>,
    last_failure: Option<AttemptError>,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        traffic: &'a Traffic,
        caller: Option<&'a Caller>,
        limit: Duration,
        tokens: u64,
    ) -> Self {
        Self {
            traffic,
            caller,
            limit,
            tokens,
            attempts: 0,
            away: 0,
            deadline: None,
            last_failure: None,
        }
    }

    pub(super) async fn deliver<T, F, Fut>(
        mut self,
        mut attempt: F,
    ) -> Result<Delivered<T>, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let mut resume = None;
        loop {
            let permit = self.wait(resume).await?;
            let started = Instant::now();
            match self.attempt(permit, attempt(), started).await {
                Ok(value) => {
                    return Ok(Delivered {
                        value,
                        service_time: started.elapsed(),
                        attempts: self.attempts,
                    });
                }
                Err(failure) => resume = Some(self.after(failure)?),
            }
        }
    }

    /// Waits for the moment of the next attempt and for its turn in the queue.
    async fn wait(&mut self, resume: Option<Instant>) -> Result<Permit<'a>, AttemptError> {
        let traffic = self.traffic;
        let since = Instant::now();
        let turn = async {
            // Only then, because the timer may take a millisecond even for a moment that has passed.
            if let Some(moment) = resume {
                sleep_until(moment).await;
            }
            traffic.gate.enter(self.tokens).await
        };
        let permit = tokio::select! {
            biased;
            refusal = traffic.refusal(self.caller) => Err(refusal),
            permit = before(self.deadline, turn) => permit.ok_or_else(|| self.out_of_time()),
        };
        traffic.counted().waited += since.elapsed();
        permit
    }

    /// Makes one attempt, and drops its permit when it ends.
    async fn attempt<T>(
        &mut self,
        permit: Permit<'_>,
        attempt: impl Future<Output = Result<T, AttemptError>>,
        started: Instant,
    ) -> Result<T, AttemptError> {
        self.count_attempt();
        let settings = &self.traffic.settings;
        let call_deadline = *self
            .deadline
            .get_or_insert_with(|| later(started, settings.call_deadline));
        let limit = self.limit.min(call_deadline - started);
        let answer = timeout(limit, attempt).await;
        let answer = answer.unwrap_or_else(|_| Err(unanswered(limit, self.limit)));
        self.traffic.calls.moved();
        match &answer {
            Ok(_) => {
                permit.succeeded();
                self.traffic.answered(self.caller);
            }
            Err(failure) => {
                self.traffic.counted().unanswered += u64::from(failure.unanswered);
                if failure.contact == Contact::Heard {
                    self.traffic.heard();
                }
                if failure.overloaded && !failure.away {
                    self.traffic.overloaded(&permit);
                }
            }
        }
        answer
    }

    fn count_attempt(&mut self) {
        self.attempts += 1;
        let mut counted = self.traffic.counted();
        counted.attempts += 1;
        counted.retries += u64::from(self.attempts > 1);
    }

    /// Decides what follows a failure: another attempt from a moment on, or the end of the call.
    fn after(&mut self, failure: AttemptError) -> Result<Instant, AttemptError> {
        match failure.failure {
            Failure::Terminal => Err(self.traffic.refuse(self.caller, failure)),
            Failure::Content => Err(self.after_content(failure)),
            Failure::Transient if failure.away => self.after_away(failure),
            Failure::Transient => self.after_transient(failure),
        }
    }

    /// Ends the call. A refusal with an unknown status may concern every request, and becomes terminal when nothing else comes.
    fn after_content(&mut self, failure: AttemptError) -> AttemptError {
        let Some(status) = failure.unknown_status else {
            return failure;
        };
        let refusals = self.traffic.refusals.unknown(self.caller, status);
        if refusals < refusals::ENOUGH {
            return failure;
        }
        let failure = ended(failure, |source| TrafficError::Refusals {
            refusals,
            source,
        });
        self.traffic.refuse(
            self.caller,
            AttemptError {
                failure: Failure::Terminal,
                ..failure
            },
        )
    }

    /// Waits for a server that was there before, and has all other calls wait too.
    fn after_away(&mut self, failure: AttemptError) -> Result<Instant, AttemptError> {
        let settings = &self.traffic.settings;
        let away = self.traffic.away();
        // A caller that allows one attempt wants to know whether the server is there.
        let Some(away) = away.filter(|_| settings.max_attempts.get() > 1) else {
            return self.after_transient(failure);
        };
        if away >= settings.call_deadline {
            let failure = ended(failure, |source| TrafficError::Away { away, source });
            return Err(self.give_up(failure));
        }
        self.away += 1;
        let pause = self.traffic.backoff.pause(self.away);
        let resume = later(Instant::now(), pause);
        self.traffic.gate.close_until(resume);
        self.resumed(failure, resume)
    }

    fn after_transient(&mut self, failure: AttemptError) -> Result<Instant, AttemptError> {
        let settings = &self.traffic.settings;
        let now = Instant::now();
        let asked = failure.retry_after.unwrap_or(Duration::ZERO);
        if asked > settings.retry_after_cap {
            let now = SystemTime::now();
            let failure = ended(failure, |source| TrafficError::RetryAfter {
                asked,
                until: now.checked_add(asked).unwrap_or(now),
                source,
            });
            return Err(self.give_up(failure));
        }
        self.traffic.gate.close_until(later(now, asked));
        if self.attempts - self.away >= settings.max_attempts.get() {
            let attempts = self.attempts;
            let failure = ended(failure, |source| TrafficError::Attempts {
                attempts,
                source,
            });
            return Err(self.without_answer(failure));
        }
        let pause = self.traffic.backoff.pause(self.attempts).max(asked);
        let resume = later(now, pause);
        self.resumed(failure, resume)
    }

    fn out_of_time(&mut self) -> AttemptError {
        let attempts = self.attempts;
        let deadline = self.traffic.settings.call_deadline;
        let failure = self
            .last_failure
            .take()
            .expect("the deadline is known from the first attempt on, and only a failed one is followed by another");
        let failure = ended(failure, |source| TrafficError::CallDeadline {
            attempts,
            deadline,
            source,
        });
        self.without_answer(failure)
    }

    /// Ends every call if the server is of no use: if it was silent at all attempts and nobody ever heard of it, or if five calls used
    /// up their attempts and none ever succeeded. Each further call would take as long and end the same.
    fn without_answer(&self, failure: AttemptError) -> AttemptError {
        // A caller that allows one attempt wants to know whether the server is there.
        if self.traffic.settings.max_attempts.get() == 1 {
            return failure;
        }
        let is_absent = failure.contact == Contact::Silent && !self.traffic.is_heard();
        let exhausted = self.traffic.exhausted();
        let failure = if is_absent {
            failure
        } else if let Some(calls) = exhausted.filter(|calls| *calls >= refusals::ENOUGH) {
            ended(failure, |source| TrafficError::Useless { calls, source })
        } else {
            return failure;
        };
        self.give_up(failure)
    }

    /// Ends every call with the same key.
    fn give_up(&self, failure: AttemptError) -> AttemptError {
        let failure = AttemptError {
            failure: Failure::Terminal,
            reach: Reach::Account,
            ..failure
        };
        self.traffic.refuse(self.caller, failure)
    }

    /// The moment of the next attempt, unless the call has no time left then.
    fn resumed(&mut self, failure: AttemptError, resume: Instant) -> Result<Instant, AttemptError> {
        self.last_failure = Some(failure);
        if self.deadline.is_some_and(|deadline| resume >= deadline) {
            return Err(self.out_of_time());
        }
        Ok(resume)
    }
}

/// Waits for a future until a deadline, if there is one.
async fn before<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, future).await.ok(),
        None => Some(future.await),
    }
}

/// The failure of an attempt that reached its `limit`. It says something about the server only if it had the `usual` time.
fn unanswered(limit: Duration, usual: Duration) -> AttemptError {
    AttemptError {
        overloaded: limit == usual,
        unanswered: true,
        contact: if limit == usual {
            Contact::Silent
        } else {
            Contact::Unknown
        },
        ..AttemptError::new(Failure::Transient, TrafficError::Unanswered { limit })
    }
}

/// Turns the last failure into the failure of the call.
fn ended(
    failure: AttemptError,
    error: impl FnOnce(Arc<dyn Error + Send + Sync>) -> TrafficError,
) -> AttemptError {
    AttemptError {
        source: Arc::new(error(failure.source)),
        ..failure
    }
}

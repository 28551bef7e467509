//! The statistical core of a tuner: which settings to try on which questions, and what the result is worth. Pure and deterministic: no I/O, no
//! models, equal seeds and answers give equal results.
//!
//! [`Tuning::next_step`] returns what to measure next. The caller measures it and passes the answers to [`Tuning::record`].
//! At the end, [`Tuning::outcome`] returns the verdict. The search sees a part of the questions; on the rest, the settings that it chose meet
//! the user's own once.
//!
//! # What the verdict promises
//!
//! If no candidate is better than own settings, [`Verdict::Better`] comes in at most 5 % of tunings ([`Options::significance`]). Its test is
//! one-sided and joins two p values by Fisher's product, which holds because the parts share no question:
//!
//! - in the search, that of the largest statistic of all candidates under random signs (Westfall and Young's maxT), which allows for how many
//!   were tried and how alike they are;
//! - on the held-out part, that of the paired randomization test, with one sign for each cluster.
//!
//! The bound `at_least` is the largest gain that the same test rejects, so it is above 0 exactly where the verdict is better. Where nothing is
//! held out, the first p value decides alone, and the estimate comes from bootstrap bias corrected cross-validation.
//!
//! The bench `honesty` prints how often all of this holds.
//!
//! ```
//! use evals_tune::{Answered, Candidate, Knob, Options, Question, Setting, Space, Step, Tuning, Values, Verdict};
//!
//! let sizes = ["128", "256", "512"].map(str::to_owned).to_vec();
//! let knob = Knob { name: "processing.chunk_size".to_owned(), values: Values::Listed(sizes), rank: 0, idle_with: Vec::new() };
//! let own = Candidate(vec![Some(Setting::Listed(1))]);
//! let questions = vec![Question::default(); 90];
//! let mut tuning = Tuning::new(Space::new(vec![knob])?, own, &questions, Options::default())?;
//! while let Step::Measure(trials) = tuning.next_step() {
//!     for trial in trials {
//!         let gain = if tuning.candidate(trial.candidate).0[0] == Some(Setting::Listed(2)) { 0.2 } else { 0.0 };
//!         for question in trial.questions {
//!             let value = 0.5 + gain + 0.1 * (question as f64 + 3.0 * gain).sin();
//!             tuning.record(trial.candidate, question, Answered::of(value));
//!         }
//!     }
//! }
//! let outcome = tuning.outcome().expect("nothing is left to measure");
//! assert_eq!(outcome.chosen, Some(2));
//! assert!(matches!(outcome.verdict, Verdict::Better { at_least } if at_least > 0.1));
//! # Ok::<(), evals_tune::TuneError>(())
//! ```

mod answers;
mod choice;
mod error;
mod importance;
mod max_t;
mod options;
mod outcome;
mod race;
mod resampled;
mod simulation;
mod space;
mod split;
mod strategy;
mod trade_offs;
mod tuning;

pub use answers::{Answered, Figure};
pub use error::TuneError;
pub use importance::Importance;
pub use options::{Budget, Options};
pub use outcome::{Check, Outcome, Verdict};
pub use race::{Fate, OWN, Race};
pub use resampled::Resampled;
pub use simulation::{GAINS, Power, Simulated, Simulation};
pub use space::{Candidate, Knob, Setting, Space, Values};
pub use split::{FEW_QUESTIONS, LEAST_CLUSTERS, LEAST_QUESTIONS, NoHoldOut, Question, Split};
pub use strategy::{Goal, Racing, Strategy};
pub use tuning::{Standing, Step, Trial, Tuning};

//! One target of fuzzing: its seeds, its dictionary, and the run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::budget::Budget;
use crate::corpus::Corpus;
use crate::mutation::{Material, mutations};

/// Code that reads bytes, with examples and tokens of its format.
#[derive(Debug, Clone)]
pub struct Target {
    name: &'static str,
    corpus: PathBuf,
    seeds: Vec<Vec<u8>>,
    dictionary: Vec<Vec<u8>>,
}

impl Target {
    /// Makes a target. The inputs that once broke it are in the folder `corpus`, which need not exist.
    pub fn new(name: &'static str, corpus: impl AsRef<Path>) -> Self {
        Self {
            name,
            corpus: corpus.as_ref().join(name),
            seeds: Vec::new(),
            dictionary: Vec::new(),
        }
    }

    /// Adds an input to mutate, ideally a small valid one.
    #[must_use]
    pub fn seed(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.seeds.push(input.into());
        self
    }

    /// Adds tokens of the format, which mutations insert.
    #[must_use]
    pub fn dictionary<T: Into<Vec<u8>>>(mut self, tokens: impl IntoIterator<Item = T>) -> Self {
        self.dictionary.extend(tokens.into_iter().map(Into::into));
        self
    }

    /// Calls `check` with the seeds, with the inputs of the corpus, and with mutations of both.
    ///
    /// # Panics
    ///
    /// `check` panicked, and the message names the file with the smallest such input; or there is no seed.
    pub fn run(self, check: impl Fn(&[u8])) {
        assert!(!self.seeds.is_empty(), "a target needs a seed");
        let corpus = Corpus::new(&self.corpus);
        for (number, seed) in self.seeds.iter().enumerate() {
            self.known(&format!("seed {number}"), seed, &check);
        }
        let mut inputs = self.seeds.clone();
        for (path, input) in corpus.inputs() {
            self.known(&path.display().to_string(), &input, &check);
            inputs.push(input);
        }
        let material = Material {
            inputs: &inputs,
            dictionary: &self.dictionary,
        };
        self.mutate(material, &corpus, &check);
    }

    fn known(&self, input_name: &str, input: &[u8], check: &impl Fn(&[u8])) {
        let checked = catch_unwind(AssertUnwindSafe(|| check(input)));
        assert!(checked.is_ok(), "{}: {input_name} breaks it", self.name);
    }

    fn mutate(&self, material: Material<'_>, corpus: &Corpus, check: &impl Fn(&[u8])) {
        let mut budget = Budget::from_env();
        let seed = budget.seed();
        let is_timed = budget.is_timed();
        let mut runner = runner(seed);
        let strategy = (0..material.inputs.len(), mutations());
        let mut tried = 0_u64;
        loop {
            let cases = budget.next_batch();
            if cases == 0 {
                break;
            }
            for _ in 0..cases {
                let tree = strategy.new_tree(&mut runner);
                let tree = tree.expect("every draw is an input");
                let outcome = runner.run_one(tree, |(seed, mutations)| {
                    let input = material.mutated(seed, &mutations);
                    if is_timed {
                        corpus.note(&input);
                    }
                    check(&input);
                    Ok::<(), TestCaseError>(())
                });
                if let Err(TestError::Fail(reason, (smallest, mutations))) = outcome {
                    let input = material.mutated(smallest, &mutations);
                    corpus.clear_note();
                    let path = corpus.keep(&input);
                    panic!(
                        "{}: `{}` breaks it (seed {seed}): {reason}",
                        self.name,
                        path.display()
                    );
                }
                tried += 1;
            }
        }
        if is_timed {
            corpus.clear_note();
            report(self.name, tried, seed);
        }
    }
}

/// Prints the results of a timed run; cargo shows them with `--nocapture`.
#[expect(clippy::print_stdout, reason = "cargo captures what tests print")]
fn report(name: &str, tried: u64, seed: u64) {
    println!("{name}: {tried} mutations of seed {seed}");
}

/// A runner whose draws depend only on the seed.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_shrunk_saved_and_tried_first() {
        let folder = std::env::temp_dir().join(format!("evals-fuzz-{}", std::process::id()));
        let target = || {
            Target::new("quotes", &folder)
                .seed("a plain text of some length")
                .dictionary(["\"\"\""])
        };
        let check = |input: &[u8]| {
            assert!(
                !input.windows(3).any(|three| three == b"\"\"\""),
                "three quotes"
            );
        };
        let failed = catch_unwind(AssertUnwindSafe(|| target().run(check))).unwrap_err();
        let message = failed.downcast_ref::<String>().unwrap();
        assert!(message.contains("three quotes"), "{message}");
        let kept: Vec<_> = std::fs::read_dir(folder.join("quotes"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let [path] = kept.as_slice() else {
            panic!("one file is kept, not {kept:?}");
        };
        let input = std::fs::read(path).unwrap();
        assert!(input.windows(3).any(|three| three == b"\"\"\""));
        let again = catch_unwind(AssertUnwindSafe(|| target().run(check))).unwrap_err();
        let message = again.downcast_ref::<String>().unwrap();
        assert!(message.contains(path.to_str().unwrap()), "{message}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn mutations_reach_every_kind_of_damage() {
        use std::cell::RefCell;
        use std::collections::HashSet;
        let seen = RefCell::new(HashSet::new());
        let folder = std::env::temp_dir().join("evals-fuzz-none");
        Target::new("kinds", folder).seed("seed").run(|input| {
            seen.borrow_mut().insert(match input {
                b"seed" => "unchanged",
                [] => "empty",
                longer if longer.len() > 1_000 => "long",
                shorter if shorter.len() < 4 => "cut",
                _ => "other",
            });
        });
        assert_eq!(seen.into_inner().len(), 5);
    }
}

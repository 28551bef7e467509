//! How well rules that compare words agree with labels: see `tests/data/README.md`.

use std::collections::BTreeSet;

use evals_metrics::{Agreement, Confusion};
use serde::Deserialize;

use super::OverlapJudge;
use super::overlap::found;
use crate::answering::Idf;
use crate::text::{content_words, squad, words};

#[derive(Debug, Deserialize)]
struct Labelled {
    reference: String,
    answer: String,
    right: bool,
    held_out: bool,
    cosine: f64,
}

impl Labelled {
    fn share(&self) -> f64 {
        found(&self.answer, &self.reference).0
    }

    /// `score` if the answer has all numbers of the reference, else 0.
    fn with_numbers(&self, score: f64) -> f64 {
        if found(&self.answer, &self.reference).1 {
            score
        } else {
            0.0
        }
    }

    /// Whether the answer has the reference's words in capitals, apart from those that begin a sentence.
    fn has_names(&self) -> bool {
        let (given, mut after_word) = (words(&self.answer), false);
        self.reference.split_whitespace().all(|word| {
            let is_name = after_word && word.starts_with(char::is_uppercase);
            after_word = word.ends_with(|letter: char| letter.is_alphanumeric() || letter == ',');
            !is_name || words(word).is_subset(&given)
        })
    }
}

fn labelled() -> Vec<Labelled> {
    let lines = include_str!("../../tests/data/overlap-labels.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

type Rule<'a> = (&'a str, &'a dyn Fn(&Labelled) -> f64);

fn errors((_, score): Rule<'_>, threshold: f64, answers: &[Labelled], held_out: bool) -> Confusion {
    let mut counts = Confusion::default();
    for answer in answers.iter().filter(|answer| answer.held_out == held_out) {
        counts.add(answer.right, score(answer) >= threshold);
    }
    counts
}

fn kappa(counts: &Confusion) -> f64 {
    let kappa = Agreement::of_sample(counts, 0.95).kappa;
    kappa.map_or(0.0, |kappa| kappa.value)
}

/// The multiple of 0.05 with the best κ on the half for choosing; the middle one of several.
fn chosen(rule: Rule<'_>, answers: &[Labelled]) -> f64 {
    let at = |step: u32| f64::from(step) / 20.0;
    let kappas = (1..20).map(|step| (kappa(&errors(rule, at(step), answers, false)), step));
    let kappas: Vec<_> = kappas.collect();
    let best = kappas.iter().map(|(kappa, _)| *kappa).fold(0.0, f64::max);
    let best: Vec<_> = kappas
        .iter()
        .filter(|(kappa, _)| *kappa > best - 1e-9)
        .collect();
    at(best[best.len() / 2].1)
}

fn described(counts: &Confusion) -> String {
    let (wrong, right) = (counts.people_fail(), counts.people_pass());
    format!(
        "{} of {wrong} wrong answers passed, {} of {right} right ones failed",
        counts.false_passes, counts.false_fails
    )
}

#[test]
fn the_judge_agrees_with_labels_and_states_its_errors() {
    let answers = labelled();
    let idf = Idf::of(answers.iter().map(|answer| answer.reference.as_str()));
    let f1 = |it: &Labelled| squad::token_f1(&it.answer, &it.reference);
    let rare = |it: &Labelled| {
        let wanted: BTreeSet<_> = content_words(&it.reference);
        idf.overlap(&wanted, &it.answer)
    };
    let ours = |it: &Labelled| it.with_numbers(it.share());
    let names = |it: &Labelled| if it.has_names() { ours(it) } else { 0.0 };
    let both = |it: &Labelled| it.with_numbers(f64::midpoint(it.share(), it.cosine));
    let rules: [Rule<'_>; 8] = [
        ("token F1", &f1),
        ("cosine of the embedded embedder", &|it| it.cosine),
        ("share of the reference's words", &Labelled::share),
        ("the same, weighted by rarity", &rare),
        ("share of words, and all numbers", &ours),
        ("weighted by rarity, and all numbers", &|it| {
            it.with_numbers(rare(it))
        }),
        ("share of words, all numbers and names", &names),
        ("mean of share and cosine, and all numbers", &both),
    ];
    let row = |rule: Rule<'_>| {
        let threshold = chosen(rule, &answers);
        let counts = errors(rule, threshold, &answers, true);
        let (kappa, wrong, right) = (kappa(&counts), counts.false_passes, counts.false_fails);
        format!(
            "| {} | {threshold} | {kappa:.2} | {wrong} | {right} |\n",
            rule.0
        )
    };
    let table = rules.map(row).concat();
    let page = include_str!("../../../../docs/question-answering.md");
    assert!(
        page.contains(&table),
        "docs/question-answering.md should have\n{table}"
    );

    assert_eq!(
        chosen(rules[4], &answers).to_bits(),
        OverlapJudge::THRESHOLD.to_bits()
    );
    let counts = errors(rules[4], OverlapJudge::THRESHOLD, &answers, true);
    assert!(kappa(&counts) >= 0.6);
    assert_eq!(described(&counts), OverlapJudge::ERRORS);
    // What the default was before.
    let before = errors(rules[0], 0.15, &answers, true);
    assert_eq!(
        described(&before),
        "31 of 89 wrong answers passed, 4 of 11 right ones failed"
    );
}

//! Properties that hold for any ranking, judgements and samples.

use std::collections::BTreeMap;

use evals_metrics::{Judgements, Measure, Ranking, Run, ScoredDocument, score_all, trec};
use proptest::prelude::*;

use crate::measure;

const ALL: [&str; 10] = [
    "AP",
    "AP@5",
    "Judged@5",
    "nDCG",
    "nDCG(dcg='exp-log2')@5",
    "P@5",
    "Rprec",
    "R@5",
    "RR@5",
    "Success@5",
];

fn document() -> impl Strategy<Value = String> {
    (0_u8..30).prop_map(|number| format!("d{number}"))
}

fn judgements() -> impl Strategy<Value = Judgements> {
    prop::collection::btree_map(document(), -2..5, 0..25).prop_map(Judgements::from_iter)
}

/// Few different scores, so that ties are common.
fn rankings() -> impl Strategy<Value = Ranking> {
    prop::collection::btree_map(document(), -3_i8..4, 0..25).prop_map(|scores| {
        let documents = scores.into_iter().map(|(id, score)| ScoredDocument {
            id,
            score: f32::from(score),
        });
        Ranking::new(documents).unwrap()
    })
}

/// All judged documents, best grade first.
fn ideal(judgements: &Judgements) -> Ranking {
    let documents = judgements.iter().map(|(id, grade)| ScoredDocument {
        id: id.to_owned(),
        score: f32::from(i8::try_from(grade).unwrap()),
    });
    Ranking::new(documents).unwrap()
}

fn at(name: &str, cutoff: usize) -> Measure {
    measure(&format!("{name}@{cutoff}"))
}

proptest! {
    #[test]
    fn scores_are_shares(judgements in judgements(), ranking in rankings()) {
        for text in ALL {
            if let Ok(score) = measure(text).score(&judgements, &ranking) {
                prop_assert!((0.0..=1.0).contains(&score), "{text}: {score}");
            }
        }
    }

    #[test]
    fn scoring_by_all_measures_equals_scoring_by_each(
        judgements in judgements(),
        ranking in rankings(),
    ) {
        let measures = ALL.map(measure);
        let each = measures.map(|measure| measure.score(&judgements, &ranking));
        prop_assert_eq!(score_all(&measures, &judgements, &ranking), each);
    }

    #[test]
    fn the_ideal_ranking_is_perfect(judgements in judgements()) {
        prop_assume!(judgements.relevant().next().is_some());
        for text in ["AP", "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "P@1", "Rprec", "R@25", "RR",
            "Success@1", "Judged"] {
            let score = measure(text).score(&judgements, &ideal(&judgements)).unwrap();
            prop_assert!((score - 1.0).abs() < 1e-12, "{text}: {score}");
        }
    }

    #[test]
    fn an_irrelevant_document_at_the_end_raises_no_score(
        judgements in judgements(),
        ranking in rankings(),
    ) {
        let last = ScoredDocument { id: "irrelevant".to_owned(), score: -100.0 };
        let longer = Ranking::new(ranking.iter().cloned().chain([last])).unwrap();
        for text in ["AP", "AP@5", "nDCG", "nDCG@5", "nDCG(dcg='exp-log2')", "RR", "P@5", "R@5"] {
            let measure = measure(text);
            prop_assert_eq!(
                measure.score(&judgements, &longer),
                measure.score(&judgements, &ranking),
                "{}", text
            );
        }
    }

    #[test]
    fn a_deeper_cutoff_finds_no_less(
        judgements in judgements(),
        ranking in rankings(),
        cutoff in 1_usize..30,
    ) {
        for name in ["R", "Success", "RR", "AP"] {
            let shallow = at(name, cutoff).score(&judgements, &ranking);
            let deep = at(name, cutoff + 1).score(&judgements, &ranking);
            if let (Ok(shallow), Ok(deep)) = (shallow, deep) {
                prop_assert!(shallow <= deep, "{name}@{cutoff}: {shallow} > {deep}");
            }
        }
    }

    #[test]
    fn a_cutoff_equals_a_shorter_ranking(
        judgements in judgements(),
        ranking in rankings(),
        cutoff in 1_usize..30,
    ) {
        let mut short = ranking.clone();
        short.truncate(cutoff);
        for name in ["AP", "Judged", "nDCG", "P", "R", "RR", "Success"] {
            let measure = at(name, cutoff);
            prop_assert_eq!(
                measure.score(&judgements, &ranking),
                measure.score(&judgements, &short),
                "{}", name
            );
        }
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(
        scores in prop::collection::btree_map(document(), -3_i8..4, 0..25),
        seed in any::<u64>(),
    ) {
        let documents: Vec<_> = scores
            .into_iter()
            .map(|(id, score)| ScoredDocument { id, score: f32::from(score) })
            .collect();
        let mut shuffled = documents.clone();
        shuffled.sort_by_key(|document| {
            document.id.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(31))
        });
        prop_assert_eq!(Ranking::new(documents), Ranking::new(shuffled));
    }

    #[test]
    fn every_finite_score_survives_a_run_file(bits in any::<u32>()) {
        let score = f32::from_bits(bits);
        prop_assume!(score.is_finite());
        let ranking = Ranking::new([ScoredDocument { id: "d".to_owned(), score }]).unwrap();
        let run: Run = BTreeMap::from([("q".to_owned(), ranking)]);
        let mut file = Vec::new();
        trec::write_run(&mut file, &run, "tag").unwrap();
        prop_assert_eq!(trec::parse_run(str::from_utf8(&file).unwrap()).unwrap(), run);
    }
}

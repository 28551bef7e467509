//! Compares fused scores with `tests/golden/fusion.tsv`, which `fusion.py` computed with ranx, and checks edges.

use evals_metrics::fusion::{Fusion, FusionError, Method, Normalization, fuse};
use evals_metrics::{Run, trec};

const EXPECTED: &str = include_str!("../golden/fusion.tsv");

fn runs() -> Vec<Run> {
    [
        include_str!("../golden/fusion-1.trec"),
        include_str!("../golden/fusion-2.trec"),
        include_str!("../golden/fusion-3.trec"),
    ]
    .map(|text| trec::parse_run(text).unwrap())
    .to_vec()
}

fn method(name: &str) -> Method {
    match name {
        "rrf-60" => Method::Rrf { k: 60 },
        "rrf-5" => Method::Rrf { k: 5 },
        "isr" => Method::Isr,
        "log_isr" => Method::LogIsr,
        "bordafuse" => Method::BordaFuse,
        "rbc-0.8" => Method::Rbc { persistence: 0.8 },
        "sum" => Method::CombSum,
        "mnz" => Method::CombMnz,
        "anz" => Method::CombAnz,
        "max" => Method::CombMax,
        "min" => Method::CombMin,
        "med" => Method::CombMed,
        other => panic!("{other}"),
    }
}

fn normalization(name: &str) -> Normalization {
    match name {
        "min-max" => Normalization::MinMax,
        "max" => Normalization::Max,
        "sum" => Normalization::Sum,
        "zmuv" => Normalization::ZScore,
        "rank" => Normalization::Rank,
        "None" => Normalization::None,
        other => panic!("{other}"),
    }
}

#[test]
fn every_fused_score_equals_that_of_ranx() {
    let runs = runs();
    let mut compared = 0;
    for line in EXPECTED.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let fusion = Fusion {
            normalization: normalization(fields[1]),
            ..Fusion::new(method(fields[0]))
        };
        let fused = fuse(&runs, &fusion).unwrap();
        let documents = &fused[fields[2]];
        let score = documents
            .iter()
            .find(|it| it.id == fields[3])
            .unwrap()
            .score;
        let expected: f64 = fields[4].parse().unwrap();
        // Fused scores have single precision.
        let tolerance = f64::from(f32::EPSILON) * expected.abs().max(1e-3);
        assert!(
            (f64::from(score) - expected).abs() <= tolerance,
            "{line}: {score}"
        );
        compared += 1;
    }
    assert_eq!(compared, EXPECTED.lines().count());
    assert!(compared > 2000, "{compared}");
}

fn run(text: &str) -> Run {
    trec::parse_run(text).unwrap()
}

#[test]
fn a_run_without_a_query_has_no_share_in_it() {
    let runs = [run("q Q0 a 1 2 t\n"), run("p Q0 b 1 2 t\n")];
    let fused = fuse(&runs, &Fusion::new(Method::Rrf { k: 60 })).unwrap();
    assert_eq!(fused.keys().collect::<Vec<_>>(), ["p", "q"]);
    let scores: Vec<_> = fused["q"].iter().map(|it| it.score).collect();
    assert_eq!(scores, [1.0 / 61.0]);
}

#[test]
fn weights_multiply_and_depth_cuts() {
    let runs = [
        run("q Q0 a 1 2 t\nq Q0 b 2 1 t\n"),
        run("q Q0 b 1 2 t\nq Q0 a 2 1 t\n"),
    ];
    let fusion = Fusion {
        weights: Some(vec![1.0, 3.0]),
        depth: Some(1),
        ..Fusion::new(Method::CombSum)
    };
    let fused = fuse(&runs, &fusion).unwrap();
    let documents: Vec<_> = fused["q"]
        .iter()
        .map(|it| (it.id.as_str(), it.score))
        .collect();
    assert_eq!(documents, [("b", 3.0)]);
    for (weights, error) in [
        (
            vec![1.0],
            FusionError::Weights {
                weights: 1,
                runs: 2,
            },
        ),
        (vec![1.0, -1.0], FusionError::Weight { weight: -1.0 }),
    ] {
        let fusion = Fusion {
            weights: Some(weights),
            ..Fusion::new(Method::CombSum)
        };
        assert_eq!(fuse(&runs, &fusion), Err(error));
    }
}

#[test]
fn what_cannot_be_normalized_is_an_error_and_equal_scores_are_zero() {
    let runs = [run("q Q0 a 1 -2 t\nq Q0 b 2 -2 t\n")];
    let fusion = |normalization| Fusion {
        normalization,
        ..Fusion::new(Method::CombSum)
    };
    let error = fuse(&runs, &fusion(Normalization::Max)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "run 1 has no score above 0 for query `q`, so none can be divided by the greatest; choose `min-max`"
    );
    for normalization in [
        Normalization::MinMax,
        Normalization::Sum,
        Normalization::ZScore,
    ] {
        let fused = fuse(&runs, &fusion(normalization)).unwrap();
        let documents: Vec<_> = fused["q"]
            .iter()
            .map(|it| (it.id.as_str(), it.score))
            .collect();
        assert_eq!(documents, [("b", 0.0), ("a", 0.0)]);
    }
}

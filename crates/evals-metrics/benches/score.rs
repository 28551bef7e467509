//! Benchmarks of scoring a large run: 10,000 queries of 100 documents each, with eight measures.

use divan::Bencher;
use divan::counter::ItemsCount;
use evals_metrics::{
    Bootstrap, Measure, Qrels, Queries, Ranking, Run, ScoredDocument, score_run, trec,
};

const QUERIES: u32 = 10_000;
const DOCUMENTS: u32 = 100;
const MEASURES: [&str; 8] = [
    "RR",
    "AP",
    "nDCG@10",
    "nDCG@100",
    "P@10",
    "R@100",
    "Success@10",
    "Rprec",
];

fn main() {
    divan::main();
}

/// A fixed scramble: documents look unordered, and every run of the benchmark is the same.
fn scramble(number: u32) -> u32 {
    number.wrapping_mul(2_654_435_769).rotate_left(13)
}

fn qrels() -> Qrels {
    let mut qrels = Qrels::new();
    for query in 0..QUERIES {
        for document in 0..20 {
            let grade = scramble(query ^ document).count_ones() % 3;
            qrels.judge(
                &format!("q{query}"),
                format!("d{}", document * 7),
                grade.cast_signed(),
            );
        }
    }
    qrels
}

fn run() -> Run {
    let score = |query, document| {
        f32::from(u16::try_from(scramble(query * DOCUMENTS + document) >> 16).unwrap_or(u16::MAX))
    };
    let ranking = |query| {
        let documents = (0..DOCUMENTS).map(|document| ScoredDocument {
            id: format!("d{document}"),
            score: score(query, document),
        });
        Ranking::new(documents).expect("ids are unique and scores finite")
    };
    (0..QUERIES)
        .map(|query| (format!("q{query}"), ranking(query)))
        .collect()
}

fn measures() -> Vec<Measure> {
    MEASURES
        .iter()
        .map(|text| text.parse().expect("the notation is valid"))
        .collect()
}

#[divan::bench]
fn score(bencher: Bencher<'_, '_>) {
    let (qrels, run, measures) = (qrels(), run(), measures());
    bencher
        .counter(ItemsCount::new(QUERIES))
        .bench(|| score_run(&qrels, &run, &measures, Queries::Both));
}

#[divan::bench]
fn rank(bencher: Bencher<'_, '_>) {
    let run = run();
    bencher
        .counter(ItemsCount::new(QUERIES))
        .with_inputs(|| {
            run.values()
                .cloned()
                .map(Vec::from)
                .collect::<Vec<Vec<ScoredDocument>>>()
        })
        .bench_values(|rankings| -> Result<Vec<Ranking>, _> {
            rankings.into_iter().map(Ranking::new).collect()
        });
}

#[divan::bench]
fn parse_run(bencher: Bencher<'_, '_>) {
    let mut file = Vec::new();
    trec::write_run(&mut file, &run(), "bench").expect("memory can be written to");
    let text = String::from_utf8(file).expect("ids are text");
    bencher
        .counter(divan::counter::BytesCount::of_str(&text))
        .bench(|| trec::parse_run(&text));
}

#[divan::bench(args = [300, 10_000])]
fn bootstrap(bencher: Bencher<'_, '_>, values: u32) {
    let values: Vec<f64> = (0..values)
        .map(|value| f64::from(scramble(value)))
        .collect();
    bencher.bench(|| Bootstrap::default().percentile_interval(&values));
}

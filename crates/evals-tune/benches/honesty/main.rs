//! Simulates what a tuning promises: how often it calls settings better that are not, how often it finds those that are, how far its
//! intervals are right, and what the best of all candidates would have claimed without a held-out part.
//!
//! ```text
//! cargo bench -p evals-tune --bench honesty                     # 500 tunings for each row
//! cargo bench -p evals-tune --bench honesty -- --trials 5000    # with a smaller error
//! ```
//!
//! Everything is drawn from fixed seeds, so the numbers are the same every time.

#![expect(clippy::print_stdout, reason = "the table is the result")]

mod ranges;

use evals_metrics::{arithmetic_mean, as_f64};
use evals_tune::{Check, Simulated, Simulation, TuneError, Verdict};

/// The columns after the name of a row.
const HEADER: &str = "| simulated | chosen | declared | interval covers | gain in search | luck | held out | truth | best of all, same questions | work |
|---|---|---|---|---|---|---|---|---|---|";

fn main() -> Result<(), TuneError> {
    let mut trials = None;
    let mut is_bench = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--trials" => trials = arguments.next().and_then(|number| number.parse().ok()),
            "--bench" => is_bench = true,
            _ => {}
        }
    }
    // `cargo test --benches` runs benchmarks once, to see that they work.
    let trials = trials.unwrap_or(if is_bench { 500 } else { 2 });
    println!("{HEADER}");
    for (name, gain, simulation) in rows() {
        let all = simulation.repeat(gain, trials)?;
        println!("| {name} | {} |", cells(&all, gain > 0.0).join(" | "));
    }
    let of_ranges = [
        ("two ranges, nothing better", 0.0),
        ("two ranges, up to 0.05 better, within a fifth", 0.05),
    ];
    for (name, gain) in of_ranges {
        let all = ranges::repeat(gain, trials)?;
        println!("| {name} | {} |", cells(&all, gain > 0.0).join(" | "));
    }
    Ok(())
}

fn rows() -> Vec<(&'static str, f64, Simulation)> {
    let of = |questions, sharing| Simulation {
        questions,
        clusters: questions,
        sharing,
        ..Simulation::default()
    };
    let in_clusters = |sharing| Simulation {
        clusters: 100,
        ..of(300, sharing)
    };
    let spread = |sharing| Simulation {
        spread: 0.05,
        ..of(300, sharing)
    };
    vec![
        ("64 equal, 300 questions", 0.0, of(300, 0)),
        (
            "64 equal, 300 questions of 100 documents",
            0.0,
            in_clusters(0),
        ),
        ("64 equal, 90 questions", 0.0, of(90, 0)),
        ("64 equal, 40 questions", 0.0, of(40, 0)),
        (
            "20 equal, 100 questions",
            0.0,
            Simulation {
                candidates: 20,
                ..of(100, 0)
            },
        ),
        ("1 of 64 better by 0.02", 0.02, of(300, 1)),
        ("1 of 64 better by 0.05", 0.05, of(300, 1)),
        (
            "1 of 64 better by 0.05, 100 documents",
            0.05,
            in_clusters(1),
        ),
        ("16 of 64 better by 0.05", 0.05, of(300, 16)),
        ("1 of 64 better by 0.05, 450 questions", 0.05, of(450, 1)),
        ("1 of 64 better by 0.1", 0.1, of(300, 1)),
        ("1 of 64 better by 0.1, 40 questions", 0.1, of(40, 1)),
        ("64 scattered by 0.05", 0.0, spread(0)),
    ]
}

fn cells(all: &[Simulated], is_planted: bool) -> Vec<String> {
    let percent = |found: &[bool]| {
        let share = arithmetic_mean(
            &found
                .iter()
                .map(|it| f64::from(u8::from(*it)))
                .collect::<Vec<_>>(),
        );
        share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
    };
    let mean = |of: fn(&Simulated) -> Option<f64>| {
        let mean = arithmetic_mean(&all.iter().filter_map(of).collect::<Vec<_>>());
        mean.map_or("–".to_owned(), |mean| format!("{mean:.3}"))
    };
    let declared = |one: &Simulated| {
        matches!(one.outcome.verdict, Verdict::Better { .. }) && (one.found || !is_planted)
    };
    let chosen: Vec<bool> = all.iter().map(|one| one.found).collect();
    let covers: Vec<bool> = all.iter().filter_map(covers).collect();
    let work = arithmetic_mean(&all.iter().map(|one| one.work).collect::<Vec<_>>());
    vec![
        if is_planted {
            percent(&chosen)
        } else {
            "–".to_owned()
        },
        percent(&all.iter().map(declared).collect::<Vec<_>>()),
        format!("{} of {}", percent(&covers), as_f64(covers.len())),
        mean(|one| one.outcome.gain_in_search),
        mean(|one| one.outcome.luck),
        mean(|one| {
            one.outcome
                .gain_in_search
                .zip(one.outcome.optimism)
                .map(|(search, optimism)| search - optimism)
        }),
        mean(|one| Some(one.truth)),
        mean(|one| Some(one.naive)),
        work.map_or("–".to_owned(), |work| format!("{:.0} %", 100.0 * work)),
    ]
}

/// Whether the interval of the check has the true gain; `None` if there is no interval.
fn covers(one: &Simulated) -> Option<bool> {
    let has = |low, high| (low..=high).contains(&one.truth);
    match &one.outcome.check {
        Check::HeldOut(found) => found.interval.map(|it| has(it.low, it.high)),
        Check::Resampled(found) => Some(has(found.low, found.high)),
        Check::None => None,
    }
}

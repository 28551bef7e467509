//! The sentences below the tables of standings.

use std::collections::BTreeMap;

use evals_messages::quantity;
use evals_messages::visible::single_line;
use evals_metrics::Interval;

use super::change::{method, why_against_mean};
use super::clusters::{FEW_CASES, too_few_cases, too_few_clusters};
use super::glyphs::Glyphs;
use super::lead::lead;
use super::side_by_side::interruption;
use super::standings::{main, measure_title, report_title};
use super::{clusters, interval_methods};
use crate::naming::gathered;
use crate::probability::{p_value, percent, strictest};
use crate::{Adjustment, CaseId, Lead, PairOutcome, PairTest, RankedTime, Standings, Verdict};

/// How many cases a note names at most.
const NAMED: usize = 3;

/// What a reader has to know before the numbers.
pub(super) fn warnings(standings: &Standings) -> Vec<String> {
    let mut warnings: Vec<String> = standings.reports.iter().filter_map(interruption).collect();
    let few = standings.measures.iter().filter(|it| it.n < FEW_CASES);
    let least = few.map(|it| it.n).min();
    warnings.extend(least.map(too_few_cases));
    let pairs = standings.measures.iter().flat_map(|it| &it.pairs);
    warnings.extend(too_few_clusters(pairs.map(|it| &it.finding)));
    let counts = standings.reports.iter().find_map(|it| it.clusters.as_ref());
    let is_alone = standings.test.cluster.is_none();
    warnings.extend(clusters::undeclared(counts.filter(|_| is_alone)));
    warnings
}

/// The notes below the tables.
pub(super) fn notes(standings: &Standings, glyphs: &Glyphs) -> Vec<String> {
    let mut notes = best(standings);
    notes.extend(sizes(standings, glyphs));
    notes.extend(unshared(standings));
    notes.extend(of_one(standings));
    notes.extend(intervals(standings));
    notes.extend(family(standings));
    notes.extend(against_means(standings));
    notes.extend(untested(standings));
    notes.extend(times(standings));
    notes
}

/// The lead of the best report by the main measure and by cost.
fn best(standings: &Standings) -> Vec<String> {
    let main = main(standings);
    let cost = standings.measures.iter().find(|it| {
        it.measure == "cost" && it.is_ranked() && main.is_some_and(|main| main.measure != "cost")
    });
    let leads = main
        .into_iter()
        .chain(cost)
        .filter_map(|it| it.lead.as_ref());
    let title = |report| standings.title(report);
    let line = |it: &Lead| {
        let line = lead(it, &standings.test, title, "case");
        match unclear_alone(standings, it) {
            Some(p) => format!(
                "which run is best is one question, which needs no correction: {line}; as one of all pairs, this pair stays unclear (corrected {p})"
            ),
            None => line,
        }
    };
    leads.map(line).collect()
}

/// The corrected p of the best report and its rival, if the lead is significant and this pair alone is not.
fn unclear_alone(standings: &Standings, lead: &Lead) -> Option<String> {
    let measure = standings
        .measures
        .iter()
        .find(|it| it.measure == lead.measure)?;
    let pair = measure.pair(*lead.best.first()?, lead.rival?)?;
    let is_clear = matches!(pair.finding.verdict, Verdict::Better | Verdict::Worse);
    if lead.finding.verdict != Verdict::Better || is_clear {
        return None;
    }
    pair.finding.adjusted_p_value.map(p_value)
}

/// The pairs of the main measure whose test favours the run with the worse mean.
fn against_means(standings: &Standings) -> Option<String> {
    let measure = main(standings)?;
    let pairs = measure.pairs.iter();
    let pairs: Vec<String> = pairs
        .filter(|pair| measure.is_against_means(pair))
        .map(|pair| {
            let [better, worse] = match pair.finding.verdict {
                Verdict::Better => [pair.second, pair.first],
                _ => [pair.first, pair.second],
            };
            let [better, worse] = [better, worse].map(|report| report_title(standings, report));
            format!("{better} over {worse}")
        })
        .collect();
    (!pairs.is_empty()).then(|| {
        let test = standings.test.paired.method;
        format!(
            "against the means of {}, the {} favours {}. {}",
            measure_title(measure),
            test.name(),
            pairs.join(", "),
            why_against_mean(test)
        )
    })
}

/// The numbers of cases, and the cases left out.
fn sizes(standings: &Standings, glyphs: &Glyphs) -> Vec<String> {
    let n = standings.measures.iter().map(|measure| {
        let cases = quantity::of(measure.n, "case");
        (
            format!("n = {cases} that every run has a value for"),
            measure,
        )
    });
    let left_out = standings.measures.iter().flat_map(|measure| {
        let excluded = measure.excluded.iter().map(|(reason, count)| {
            let reason = single_line(reason);
            format!("excluded: {count} {} {reason}", glyphs.times)
        });
        let own = measure.standings.iter().filter(|it| it.without_value > 0);
        let without_value = own.map(|own| {
            let (count, run) = (own.without_value, report_title(standings, own.report));
            format!("left out of all runs: {count} without a value in {run}")
        });
        let texts = excluded.chain(without_value);
        texts.map(|text| (text, measure)).collect::<Vec<_>>()
    });
    let said = n.chain(left_out);
    let groups = gathered(said.map(|(text, measure)| (text, measure_title(measure))));
    let all = standings.measures.len();
    let line = |(text, titles): (String, Vec<String>)| {
        if titles.len() == all {
            text
        } else {
            format!("{text} ({})", titles.join(", "))
        }
    };
    groups.into_iter().map(line).collect()
}

/// The cases that not every report has with the same content.
fn unshared(standings: &Standings) -> Vec<String> {
    let mut notes = Vec::new();
    for (report, unshared) in standings.unshared.iter().enumerate() {
        let run = report_title(standings, report);
        let missing: Vec<&CaseId> = unshared.missing.iter().collect();
        let changed: Vec<&CaseId> = unshared.changed.iter().map(|case| &case.id).collect();
        notes.extend(listed(
            &format!("not compared, because {run} does not have them"),
            &missing,
        ));
        notes.extend(listed(
            &format!("not compared, because they differ between {run} and the first run"),
            &changed,
        ));
    }
    notes
}

fn listed(what: &str, ids: &[&CaseId]) -> Option<String> {
    let names = ids.iter().take(NAMED);
    let mut names: Vec<String> = names.map(|id| single_line(id.as_str())).collect();
    if ids.len() > NAMED {
        names.push(format!("and {} more", ids.len() - NAMED));
    }
    let count = quantity::of(ids.len(), "case");
    (!ids.is_empty()).then(|| format!("{count} {what}: {}", names.join(", ")))
}

fn of_one(standings: &Standings) -> Option<String> {
    let names = &standings.measures_of_one;
    let joined = single_line(&names.join(", "));
    (!names.is_empty()).then(|| format!("measures of one run only, not compared: {joined}"))
}

/// The methods of the intervals in the tables of the main measure.
fn intervals(standings: &Standings) -> Option<String> {
    let measure = main(standings)?;
    let of = |what: &str, interval: Option<Interval>| Some((what.to_owned(), interval?));
    let means = measure.standings.iter();
    let means = means.filter_map(|it| of("means", it.interval));
    let differences = measure.pairs.iter();
    let differences = differences.filter_map(|it| of("differences", it.difference.interval));
    interval_methods::note(means.chain(differences))
}

/// The test, its family, and the meaning of letters and of what is detectable.
fn family(standings: &Standings) -> Vec<String> {
    let all = standings.headline_tests + standings.tests;
    if all == 0 {
        return Vec::new();
    }
    let test = &standings.test;
    let runs = standings.reports.len();
    let pairs = quantity::of(runs * (runs - 1) / 2, "pair");
    let tests = |count: usize| quantity::of(count, "test");
    let headline = standings.headline.as_deref().unwrap_or_default();
    let families = [
        (standings.headline_tests, single_line(headline)),
        (standings.tests, "the other measures".to_owned()),
    ];
    let families = families.into_iter().filter(|(count, _)| *count > 0);
    let families: Vec<String> = families
        .map(|(count, what)| format!("{} of {what}", tests(count)))
        .collect();
    let families = families.join(", and for the ");
    let correction = match test.adjustment.adjective() {
        Some(adjective) => {
            format!("corrected p: {adjective} for the {families}, in {pairs} of runs")
        }
        None => format!("not corrected, although there are {families}, in {pairs} of runs"),
    };
    let level = percent(test.significance());
    let method = method(test);
    let is_headline = main(standings).is_some_and(|it| it.measure == headline);
    let count = if is_headline {
        standings.headline_tests
    } else {
        standings.tests
    };
    let strictest = strictest(test, count, &tests(count));
    let power = percent(test.power);
    vec![
        format!(
            "p: {method}; {correction}; pairs that agree in every case are not tests{}",
            floor(standings, all)
        ),
        "lead: the best run against each other run; p is not corrected, because it leads only if every test says so".to_owned(),
        format!(
            "letters: two runs share a letter exactly if the corrected p of their pair is above {level}. This does not prove that they are equal: \
             `ab` shares one with `a` and with `b`, which differ from each other"
        ),
        format!(
            "d_z: mean difference in standard deviations of the differences; detectable: the smallest true difference that these \
             cases detect with {power} power at a level of {strictest}"
        ),
    ]
}

/// Why pairs have no p value.
fn untested(standings: &Standings) -> Vec<String> {
    let pairs = standings.measures.iter().flat_map(|it| &it.pairs);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in pairs.filter_map(|pair| pair.finding.untested.as_deref()) {
        *reasons.entry(reason).or_default() += 1;
    }
    let line = |(reason, count)| {
        let differences = quantity::of(count, "difference");
        format!("no p value for {differences}: {}", single_line(reason))
    };
    reasons.into_iter().map(line).collect()
}

/// Why no p value is below a certain one, if the random swaps limit one.
fn floor(standings: &Standings, tests: usize) -> String {
    let swaps = standings.test.resolving(tests).resamples;
    let least = 1.0 / (f64::from(swaps.get()) + 1.0);
    let pairs = standings.measures.iter().filter(|it| it.is_ranked());
    let mut pairs = pairs.flat_map(|it| &it.pairs);
    let is_least = |it: &&PairOutcome| {
        !it.difference.is_exact && it.difference.p_value.is_some_and(|p| p <= least)
    };
    if standings.test.paired.method == PairTest::Randomization
        && let Some(pair) = pairs.find(is_least)
        && let Some(adjusted) = pair.finding.adjusted_p_value
    {
        format!(
            "; {} is the least that {swaps} random swaps can give",
            p_value(adjusted)
        )
    } else {
        String::new()
    }
}

fn times(standings: &Standings) -> Vec<String> {
    let mut notes = Vec::new();
    if !standings.times.is_empty() {
        let fastest = |time: &RankedTime| {
            let first = time.standings.first()?;
            let title = report_title(standings, first.report);
            Some(format!(
                "fastest by {}: {title} (load may explain this)",
                time.name
            ))
        };
        notes.extend(standings.times.iter().filter_map(fastest));
        let corrected = match standings.test.adjustment {
            Adjustment::None => "not corrected for the number of quantiles and pairs",
            Adjustment::Holm | Adjustment::Bh => {
                "corrected for all quantiles and pairs (Bonferroni)"
            }
        };
        let clusters = match standings.test.cluster {
            Some(_) => " Its intervals ignore clusters.",
            None => "",
        };
        notes.push(format!(
            "latency: the sum of a case's stages, even where stages overlap; two runs differ if the bootstrap interval of their difference excludes 0, \
             {corrected}.{clusters} Runs of different times or machines may differ by their load alone"
        ));
    }
    if !standings.untimed.is_empty() {
        let runs = standings.untimed.iter();
        let runs: Vec<String> = runs.map(|it| report_title(standings, *it)).collect();
        notes.push(format!(
            "latency not compared, fewer than 20 timed cases: {}",
            runs.join(", ")
        ));
    }
    notes
}

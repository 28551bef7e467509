//! Corrected means over all samples that could have been drawn, and the order of judging.

use evals_metrics::{
    IntervalMethod, Measure, NoStatistic, PoolUnit, Scale, corrected_mean, drawn_order,
    mean_interval,
};

use crate::random::Random;
use crate::{judgements, measure, ranking};

/// The upper quantile of Student's t with 4 degrees of freedom at 0.025.
const T4: f64 = 2.776_445_105_197_793;

const PEOPLE: [f64; 8] = [0.2, 0.9, 0.4, 1.0, 0.0, 0.7, 0.3, 0.6];
const MODEL: [f64; 8] = [0.5, 0.8, 0.9, 1.0, 0.4, 0.6, 0.8, 0.3];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_f64(values.len())
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// The units with these drawn.
fn units(people: &[Option<f64>], model: &[Option<f64>], drawn: &[usize]) -> Vec<PoolUnit> {
    let values = people.iter().zip(model).enumerate();
    let unit = |(question, (&people, &model))| PoolUnit {
        model,
        is_drawn: drawn.contains(&question),
        people,
    };
    values.map(unit).collect()
}

/// All ways to draw 5 of 8.
fn samples() -> Vec<Vec<usize>> {
    let sets = (0_u32..256).filter(|set| set.count_ones() == 5);
    sets.map(|set| (0..8).filter(|unit| set >> unit & 1 == 1).collect())
        .collect()
}

/// Over all samples, the mean of the estimates is the truth, and the mean of the estimated variances their variance.
#[test]
fn estimate_and_variance_are_unbiased() {
    let people = PEOPLE.map(Some);
    let truth = mean(&PEOPLE);
    for model in [[None; 8], MODEL.map(Some)] {
        let (mut values, mut variances) = (Vec::new(), Vec::new());
        for sample in samples() {
            let units = units(&people, &model, &sample);
            let found = corrected_mean(&units, 0.95).unwrap();
            values.push(mean(&found.contributions));
            variances.push(0.375 * found.spread.powi(2) / 5.0);
            assert!((values[values.len() - 1] - found.value).abs() < 1e-12);
        }
        assert_eq!(values.len(), 56);
        assert!((mean(&values) - truth).abs() < 1e-12);
        let squares: Vec<f64> = values.iter().map(|value| (value - truth).powi(2)).collect();
        assert!((mean(&variances) - mean(&squares)).abs() < 1e-12);
    }
}

/// People correct the first five by -0.3, 0.1, -0.5, 0 and -0.4.
#[test]
fn values_by_hand() {
    let (people, model) = (PEOPLE.map(Some), MODEL.map(Some));
    let units = units(&people, &model, &[0, 1, 2, 3, 4]);
    let found = corrected_mean(&units, 0.95).unwrap();
    assert!((found.value - (mean(&MODEL) - 0.22)).abs() < 1e-12);
    // The squared distances from -0.22 add up to 0.268.
    assert!((found.spread - (0.268_f64 / 4.0).sqrt()).abs() < 1e-12);
    let interval = found.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::PredictionPoweredFull);
    let reach = T4 * (0.375 * 0.067 / 5.0_f64).sqrt();
    assert!((interval.high - found.value - reach).abs() < 1e-9);

    let alone = self::units(&people, &[None; 8], &[0, 1, 2, 3, 4]);
    let alone = corrected_mean(&alone, 0.95).unwrap();
    assert!((alone.value - mean(&PEOPLE[..5])).abs() < 1e-12);
    assert_eq!(
        alone.interval.unwrap().method,
        IntervalMethod::InverseProbability
    );
}

/// People find nothing relevant in unit 4, and the model nothing in unit 6.
#[test]
fn undefined_units_are_left_out_of_the_mean() {
    let (mut people, mut model) = (PEOPLE.map(Some), MODEL.map(Some));
    people[4] = None;
    model[6] = None;
    let everything = units(&people, &model, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let found = corrected_mean(&everything, 0.95).unwrap();
    let defined: Vec<f64> = people.into_iter().flatten().collect();
    assert!((found.value - mean(&defined)).abs() < 1e-12);
    let interval = found.interval.unwrap();
    assert!(interval.high - interval.low < 1e-12, "everything is known");

    let values: Vec<f64> = samples()
        .iter()
        .map(|sample| {
            let units = units(&people, &model, sample);
            corrected_mean(&units, 0.95).unwrap().value
        })
        .collect();
    assert!(
        (mean(&values) - mean(&defined)).abs() < 0.02,
        "a quotient is biased a little"
    );
    let nothing = units(&[None; 8], &[None; 8], &[0, 1, 2, 3, 4]);
    let refused = corrected_mean(&nothing, 0.95);
    assert_eq!(refused, Err(NoStatistic::NoValues));
}

#[test]
fn bad_units_are_refused() {
    let (people, model) = (PEOPLE.map(Some), MODEL.map(Some));
    let of = |units: &[PoolUnit]| corrected_mean(units, 0.95).unwrap_err();
    let few = units(&people, &model, &[0, 1, 2, 3]);
    assert_eq!(of(&few), NoStatistic::TooFew { n: 4, least: 5 });
    let five = units(&people, &model, &[0, 1, 2, 3, 4]);
    let mut odd = five.clone();
    odd[7].model = Some(f64::NAN);
    assert_eq!(of(&odd), NoStatistic::NotFinite);
    assert_eq!(corrected_mean(&five, 1.0), Err(NoStatistic::Level));

    let right = units(&model, &model, &[0, 1, 2, 3, 4]);
    let found = corrected_mean(&right, 0.95).unwrap();
    assert!((found.value - mean(&MODEL)).abs() < 1e-12);
    assert_eq!(found.interval, None, "no spread was seen");
    assert_eq!(found.drawn_for(0.1), None);
}

#[test]
fn the_number_to_draw_gives_the_width() {
    let model: Vec<Option<f64>> = (0..200)
        .map(|unit| Some(f64::from(unit % 7) / 7.0))
        .collect();
    let people: Vec<Option<f64>> = (0..200)
        .map(|unit| Some(f64::from(unit % 5) / 5.0))
        .collect();
    let drawn: Vec<usize> = (0..200).step_by(3).collect();
    let found = corrected_mean(&units(&people, &model, &drawn), 0.95).unwrap();
    let interval = found.interval.unwrap();
    // 67 were drawn: their own width takes 67, and a slightly smaller one takes more.
    assert_eq!(
        found.drawn_for(interval.high - interval.low + 1e-9),
        Some(67)
    );
    assert_eq!(
        found.drawn_for((interval.high - interval.low) * 0.99),
        Some(68)
    );
    assert_eq!(found.drawn_for(1e-9), Some(200));
    assert_eq!(found.drawn_for(9.0), Some(5));
    assert_eq!(found.drawn_for(0.0), None);
}

const NAMES: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "q6"];

/// Who was drawn stays drawn when units join or are judged later.
#[test]
fn a_drawing_only_grows() {
    let order = |names: &[&'static str]| -> Vec<&str> {
        let order = drawn_order(names.iter().copied(), 3).into_iter();
        order.map(|unit| names[unit]).collect()
    };
    let all = order(&NAMES);
    let without_two: Vec<&str> = all
        .iter()
        .copied()
        .filter(|name| !["q2", "q5"].contains(name))
        .collect();
    assert_eq!(order(&["q6", "q4", "q1", "q3"]), without_two);
    assert!(order(&[]).is_empty());
}

/// Each of six units is the first one, and among the first three, as often as any other.
#[test]
fn every_unit_is_drawn_with_the_same_probability() {
    let (mut first, mut half) = ([0_u32; 6], [0_u32; 6]);
    for seed in 0..12_000 {
        let order = drawn_order(NAMES, seed);
        first[order[0]] += 1;
        order[..3].iter().for_each(|unit| half[*unit] += 1);
    }
    // Standard deviations are 41 and 55.
    assert!(first.iter().all(|n| n.abs_diff(2_000) < 160), "{first:?}");
    assert!(half.iter().all(|n| n.abs_diff(6_000) < 220), "{half:?}");
}

const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A judge that takes one in five passages for relevant that are not, and misses one in ten that are. Of 80 questions, people judge 8. The
/// bench `coverage` has the table for more collections and methods.
#[test]
fn corrected_intervals_cover_what_people_would_find() {
    let mut random = Random::seeded(11);
    let order = ranking(&IDS[..6]);
    let measures = ["nDCG@5", "AP", "R@5"].map(measure);
    let scores = |relevant: &[bool]| {
        let grades = IDS.into_iter().zip(relevant);
        let grades: Vec<(&str, i32)> = grades.map(|(id, &grade)| (id, i32::from(grade))).collect();
        let judgements = judgements(&grades);
        measures.map(|measure: Measure| measure.score(&judgements, &order).ok())
    };
    let collection: Vec<Vec<bool>> = (0..80)
        .map(|_| {
            let rate = 0.1 + 0.4 * random.uniform();
            (0..8)
                .map(|rank| rank == 2 || random.uniform() < rate)
                .collect()
        })
        .collect();
    let people: Vec<[Option<f64>; 3]> = collection.iter().map(|it| scores(it)).collect();
    let names: Vec<String> = (0..80).map(|question| format!("q{question}")).collect();
    let (mut corrected, mut uncorrected) = ([0; 3], [0; 3]);
    for seed in 0..600 {
        let model: Vec<[Option<f64>; 3]> = collection
            .iter()
            .map(|relevant| {
                let judge = relevant
                    .iter()
                    .map(|is| random.uniform() < if *is { 0.9 } else { 0.2 });
                scores(&judge.collect::<Vec<_>>())
            })
            .collect();
        let drawn = &drawn_order(names.iter().map(String::as_str), seed)[..8];
        for measure in 0..3 {
            let of =
                |side: &[[Option<f64>; 3]]| side.iter().map(|it| it[measure]).collect::<Vec<_>>();
            let truth: Vec<f64> = of(&people).into_iter().flatten().collect();
            let units = units(&of(&people), &of(&model), drawn);
            let found = corrected_mean(&units, 0.95).unwrap();
            let trusted: Vec<f64> = of(&model).into_iter().flatten().collect();
            let trusted = mean_interval(
                &trusted,
                None,
                Scale::Share,
                &evals_metrics::Bootstrap::default(),
            );
            for (count, interval) in [
                (&mut corrected, found.interval),
                (&mut uncorrected, trusted.ok()),
            ] {
                let covers =
                    |it: evals_metrics::Interval| it.low <= mean(&truth) && mean(&truth) <= it.high;
                count[measure] += usize::from(interval.is_some_and(covers));
            }
        }
    }
    // 93 to 97 % of 600 are 558 to 582, and a standard error is 5.
    assert!(
        corrected
            .iter()
            .all(|covered| (546..=592).contains(covered)),
        "{corrected:?}"
    );
    assert!(
        uncorrected.iter().all(|covered| *covered < 480),
        "{uncorrected:?}"
    );
}
